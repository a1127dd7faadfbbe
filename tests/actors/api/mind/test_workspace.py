"""The workspace: what locks with the focus and ignites, what that changes, what fades, and what a restart keeps."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from actors.api.pulse import read_pulse
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.ask import ask
from actors.store.messages import Append, ReadHistory
from events.fingerprint import Fingerprint
from events.spaces import SPACES
from events.vocabulary import FocusMoved, MemoryIgnited
from tests.actors.api.conftest import Way
from tests.actors.api.stream import GARDEN, NAMESPACE, SPRING, Lasting, Mind, awake, live, told
from tests.actors.conftest import Connect
from tests.events.memory_log import MemoryLog

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

PLANTING = GARDEN[2]
SEEDLINGS = PLANTING[4]
ASIDE = (
    "Bread is baked at four in the morning.",
    "The parliament votes on the budget in June.",
    "A whale can hold its breath for an hour.",
)
RED, BLUE = "The red bicycle stands in the cellar.", "The blue bicycle stands in the cellar."
AT = SPRING.isoformat()
BICYCLE = {"query": "Where is the bicycle?", "asked_at": AT, "explain": True}
WHALE = {"query": "How long can a whale dive?", "asked_at": AT}


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


@pytest.fixture
def mind(profile: EmbeddedProfile, tmp_path: Path, log: MemoryLog) -> Iterator[Mind]:
    with awake(profile, tmp_path, log) as mind:
        yield mind


async def keep(mind: Mind, *contents: str, **more: Any) -> list[str]:
    return [(await told(mind, content, created_at=AT, **more)).id for content in contents]


async def attended(mind: Mind) -> dict[str, Any]:
    """Return the state of the workspace, which has by then attended to all that came before."""
    return await mind("get_workspace_status")


def orders(status: dict[str, Any]) -> dict[str, float]:
    return {candidate["id"]: candidate["r"] for candidate in status["candidates"]}


def ignited(status: dict[str, Any]) -> set[str]:
    return {one["id"] for one in status["ignited"]}


@pytest.mark.requirement(
    "STORE-001/workspace/order-parameter", "STORE-001/workspace/ignites", "TOOL-INJECT-001/oscillators"
)
async def test_a_memory_ignites_when_its_spaces_agree_and_not_when_meaning_alone_does(
    mind: Mind, log: MemoryLog
) -> None:
    first, other, *_ = await keep(mind, SEEDLINGS, *ASIDE)
    alike, unlike = [
        (await ask(mind.hub.store, ReadHistory(memory=UUID(memory))))[0].event for memory in (first, other)
    ]
    parts = {space.key: (alike if space.key == "e1_semantic" else unlike).fingerprint[space.key] for space in SPACES}
    half = uuid4()
    event = msgspec.structs.replace(unlike, fingerprint=Fingerprint.of(parts))
    await ask(mind.hub.store, Append(id=half, event=event, actor="test", correlation_id=uuid4()))
    assert not (await attended(mind))["ignited"]

    (repeat,) = await keep(mind, SEEDLINGS)
    status = await attended(mind)
    measured = orders(status)
    assert all(0 <= order <= 1 for order in measured.values())
    assert list(measured.values()) == sorted(measured.values(), reverse=True)
    assert status["focus"]["memory_id"] == repeat
    assert measured[first] >= 0.8 > measured[str(half)]
    assert ignited(status) == {first}
    assert status["is_broadcasting"]
    assert [envelope.event.memory for envelope in log.read() if isinstance(envelope.event, MemoryIgnited)] == [
        UUID(first)
    ]
    focus = [envelope.event for envelope in log.read() if isinstance(envelope.event, FocusMoved)][-1]
    assert all(len(candidate.scores) == 4 * 13 for candidate in focus.candidates), "an oscillator for each space"


async def test_a_memory_in_focus_says_that_it_was_corrected(mind: Mind) -> None:
    first, *_ = await keep(mind, SEEDLINGS, *ASIDE)
    later = (await mind("store_memory", content="The seedlings moved to the shed.", supersedes=[first]))[
        "fingerprintId"
    ]
    await keep(mind, SEEDLINGS)
    shown = {one["id"]: one for one in (await attended(mind))["ignited"]}
    assert shown[first]["superseded_by"] == later


async def test_without_coupling_nothing_ignites(mind: Mind, log: MemoryLog) -> None:
    assert (await mind("adjust_coupling", new_k=0))["new_K"] == 0
    first, *_ = await keep(mind, SEEDLINGS, SEEDLINGS, *ASIDE, SEEDLINGS)
    status = await attended(mind)
    assert orders(status)
    assert max(orders(status).values()) < 0.4
    answer = await mind("trigger_workspace_broadcast", id=first)
    assert (answer["success"], answer["ignited"]) == (False, [])
    assert not any(isinstance(envelope.event, MemoryIgnited) for envelope in log.read())


async def test_raising_the_coupling_moves_the_state_from_dormant_to_hypersync(mind: Mind) -> None:
    await keep(mind, *PLANTING, SEEDLINGS)
    answers = [await mind("adjust_coupling", new_k=coupling) for coupling in (0, 0.5, 1, 2, 3, 4, 6, 10)]
    states = list(dict.fromkeys(answer["state"] for answer in answers))
    assert states[0] == "DORMANT"
    assert states[-2:] == ["CONSCIOUS", "HYPERSYNC"]
    assert len(states) >= 4
    assert [answer["previous_r"] for answer in answers[1:]] == [answer["r"] for answer in answers[:-1]]
    assert [answer["old_K"] for answer in answers] == [3, 0, 0.5, 1, 2, 3, 4, 6]
    assert answers[0]["ignited"] == []
    assert answers[-1]["ignited"]
    state = await mind("get_consciousness_state")
    assert (state["state"], state["coupling"], state["r"]) == ("HYPERSYNC", 10, answers[-1]["r"])


@pytest.mark.requirement("STORE-001/workspace/hysteresis")
async def test_between_the_thresholds_a_memory_stays_in_or_out_as_it_was(mind: Mind) -> None:
    await keep(mind, *PLANTING)
    asked = {"query": "tomato seedlings in the garden beds", "top_k": 5}
    await mind("search_graph", **asked)
    await attended(mind)
    # A coupling at which two memories lie between the thresholds.
    for tenth in range(10, 100):
        await mind("adjust_coupling", new_k=tenth / 10)
        status = await attended(mind)
        between = [memory for memory, order in orders(status).items() if 0.7 <= order < 0.8]
        if len(between) >= 2:
            break
    assert len(between) >= 2
    inside, outside, *_ = between
    assert not {inside, outside} & ignited(status), "none of them reached .8"
    await mind("trigger_workspace_broadcast", id=inside, force=True)
    assert ignited(await attended(mind)) >= {inside}
    assert outside not in ignited(await attended(mind))
    await mind("search_graph", **asked)
    status = await attended(mind)
    assert 0.7 <= orders(status)[inside] < 0.8
    assert 0.7 <= orders(status)[outside] < 0.8
    assert inside in ignited(status)
    assert outside not in ignited(status)


@pytest.mark.requirement("STORE-001/workspace/fades")
async def test_what_does_not_fit_the_next_focus_fades_and_waits_for_a_dream(mind: Mind) -> None:
    first, *_ = await keep(mind, SEEDLINGS, *ASIDE)
    answer = await mind("trigger_workspace_broadcast", id=first)
    assert (answer["success"], answer["ignited"]) == (True, [first])
    assert answer["r"] >= 0.8
    await mind("search_graph", **WHALE)
    status = await attended(mind)
    assert orders(status)[first] < 0.7
    assert status["ignited"] == []
    assert status["queued_for_rem"] == [first]
    assert status["empty_for_seconds"] >= 0
    assert status["suggested_action"].startswith("epistemic_action")
    assert status["focus"]["kind"] == "question"
    life = await mind.life(first)
    assert any(what.startswith("entered the workspace") for what in life)
    assert any(what.startswith("faded from the workspace") for what in life)
    await mind("trigger_workspace_broadcast", id=first)
    status = await attended(mind)
    assert (ignited(status), status["queued_for_rem"]) == ({first}, [])
    assert "empty_for_seconds" not in status
    await mind("memory_delete", id=first)
    status = await attended(mind)
    assert (status["ignited"], status["queued_for_rem"]) == ([], [])


async def test_several_memories_at_once_are_a_conflict(mind: Mind) -> None:
    first, second, *_ = await keep(mind, SEEDLINGS, SEEDLINGS, *ASIDE)
    await mind("trigger_workspace_broadcast", id=first)
    status = await attended(mind)
    assert status["has_conflict"]
    assert set(status["conflict_memories"]) == ignited(status) == {first, second}
    assert status["suggested_action"].startswith("critique_context")
    assert status["active_memory"]["id"] in {first, second}
    await mind("adjust_coupling", new_k=0)
    status = await attended(mind)
    assert (status["has_conflict"], status["conflict_memories"], status["active_memory"]) == (False, [], None)


async def test_the_workspace_holds_no_more_than_its_capacity(mind: Mind) -> None:
    ids = await keep(mind, *[SEEDLINGS] * 9)
    await mind("trigger_workspace_broadcast", id=ids[-1])
    status = await attended(mind)
    assert len(orders(status)) > len(status["ignited"]) == status["thresholds"]["capacity"]
    assert all(one["r"] >= status["thresholds"]["enter"] for one in status["ignited"])


@pytest.mark.requirement("TOOL-INJECT-001/broadcast")
async def test_what_is_in_the_workspace_is_primed_in_the_next_search(mind: Mind) -> None:
    await keep(mind, RED, BLUE, *ASIDE)
    # Too little for any of them to ignite by itself.
    await mind("adjust_coupling", new_k=1.5)
    before = (await mind("search_graph", **BICYCLE))["results"]
    ahead, behind = [result["fingerprintId"] for result in before[:2]]
    assert not (await attended(mind))["ignited"]
    assert all(result["contributions"]["priming"] == 0 for result in before)
    order = (await mind("trigger_workspace_broadcast", id=behind, force=True))["r"]

    after = (await mind("search_graph", **BICYCLE))["results"]
    assert [result["fingerprintId"] for result in after[:2]] == [behind, ahead]
    primed, other = after[:2]
    bonus = primed["contributions"]["priming"]
    assert 0 < bonus <= 0.1
    assert bonus == pytest.approx(0.1 * order, abs=1e-3)
    assert other["contributions"]["priming"] == 0
    assert other == before[0]
    assert primed["score"] == pytest.approx(before[1]["score"] + bonus, abs=1e-3)
    assert primed["similarity"] == before[1]["similarity"], "being attended to is no similarity"

    # That question itself is the new focus, with which it doesn't agree enough to stay.
    assert not (await attended(mind))["ignited"]
    assert (await mind("search_graph", **BICYCLE))["results"] == before


async def test_priming_can_be_switched_off_and_leaves_every_bit_as_it_was(
    profile: EmbeddedProfile, tmp_path: Path
) -> None:
    with awake(profile, tmp_path, MemoryLog(), priming=False) as mind:
        await keep(mind, RED, BLUE, *ASIDE)
        await mind("adjust_coupling", new_k=1.5)
        before = (await mind("search_graph", **BICYCLE))["results"]
        memory = before[1]["fingerprintId"]
        await mind("trigger_workspace_broadcast", id=memory, force=True)
        assert ignited(await attended(mind)) == {memory}, "the workspace works as ever"
        assert (await mind("search_graph", **BICYCLE))["results"] == before


async def test_the_tools_of_the_workspace_answer_and_refuse_alike_in_both_ways(way: Way) -> None:
    empty = await way("get_workspace_status")
    assert (empty["active_memory"], empty["ignited"], empty["candidates"], empty["focus"]) == (None, [], [], None)
    dormant = await way("get_consciousness_state")
    assert (dormant["C"], dormant["r"], dormant["state"]) == (0, 0, "DORMANT")
    unmoved = await way("adjust_coupling", new_k=2)
    assert (unmoved["old_K"], unmoved["new_K"], unmoved["r"]) == (3, 2, 0)

    memory = (await way("store_memory", content=SEEDLINGS))["fingerprintId"]
    await way("adjust_coupling", newK=1.5)
    refused = await way("trigger_workspace_broadcast", id=memory)
    assert (refused["success"], refused["is_broadcasting"], refused["ignited"]) == (False, False, [])
    assert "below 0.8" in refused["reason"]
    forced = await way("trigger_workspace_broadcast", memory_id=memory, force=True)
    assert (forced["success"], forced["ignited"], forced["r"]) == (True, [memory], refused["r"])
    assert "reason" not in forced
    assert ignited(await way("get_workspace_status")) == {memory}

    gone = (await way("store_memory", content=ASIDE[0]))["fingerprintId"]
    await way("memory_delete", id=gone)
    for tool, bad, code in (
        ("adjust_coupling", {}, -32602),
        ("adjust_coupling", {"new_k": -0.1}, -32602),
        ("adjust_coupling", {"new_k": 10.1}, -32602),
        ("adjust_coupling", {"new_k": "much"}, -32602),
        ("trigger_workspace_broadcast", {}, -32602),
        ("trigger_workspace_broadcast", {"id": memory, "force": "yes"}, -32602),
        ("trigger_workspace_broadcast", {"id": str(uuid4())}, -32010),
        ("trigger_workspace_broadcast", {"id": gone}, -32010),
        ("get_workspace_status", {"verbose": True}, -32602),
        ("get_consciousness_state", {"verbose": True}, -32602),
    ):
        assert (await way.refused(tool, **bad))["code"] == code
    assert (await way("get_workspace_status"))["coupling"] == 1.5


@pytest.mark.requirement("STORE-001/consciousness", "TOOL-INJECT-001/differentiation")
async def test_consciousness_is_the_product_of_its_three_measured_parts(mind: Mind) -> None:
    await live(mind)
    await mind("search_graph", query="compost heaps", namespace=NAMESPACE)
    await mind("discover_goals", namespace=NAMESPACE)
    await mind("trigger_workspace_broadcast", id=(await told(mind, SEEDLINGS, namespace=NAMESPACE)).id)
    state = await mind("get_consciousness_state")
    parts = {name: state[name] for name in ("integration", "reflection", "differentiation")}
    assert all(0 < part <= 1 for part in parts.values())
    assert state["C"] == pytest.approx(math.prod(parts.values()), abs=1e-3)
    assert parts[state["limiting_factor"]] == min(parts.values())
    assert state["integration"] == state["r"] >= 0.8
    assert state["reflection"] == state["meta_learning"]["accuracy"]
    assert (state["state"], state["coherence_level"], state["fragmented"]) == ("CONSCIOUS", "High", False)

    active = state["workspace"]["active_memory"]
    assert active["id"] == (await attended(mind))["active_memory"]["id"]


@pytest.mark.requirement("STORE-001/consciousness", "TOOL-INJECT-001/differentiation")
async def test_a_store_without_goals_and_outcomes_is_conscious_to_a_degree_that_differs(mind: Mind) -> None:
    twins = await keep(mind, SEEDLINGS, SEEDLINGS)
    await keep(mind, *ASIDE)
    await mind("trigger_workspace_broadcast", id=twins[0])
    state = await mind("get_consciousness_state")
    assert (state["state"], state["meta_learning"]["accuracy"]) in {("CONSCIOUS", None), ("HYPERSYNC", None)}
    assert state["reflection"] == state["meta_learning"]["expected_accuracy"] > 0
    assert state["C"] > 0
    spreads = set()
    for query in ("tomato seedlings", "Who has a key?", "What is on the table?", "noon"):
        await mind("search_graph", query=query)
        spreads.add((await mind("get_consciousness_state"))["differentiation"])
    assert len(spreads) >= 3
    assert 0 <= min(spreads) < max(spreads) - 0.05 <= 0.95


@pytest.mark.requirement("TOOL-INJECT-001/meta-utl")
async def test_reflection_is_how_well_usefulness_was_foretold(mind: Mind, connect: Connect) -> None:
    ids = await keep(mind, *PLANTING)
    state = await mind("get_consciousness_state")
    foreseen = {memory: (await mind("memory_retrieve", id=memory))["utl"]["usefulness"] for memory in ids}
    expected = math.fsum(p**2 + (1 - p) ** 2 for p in foreseen.values()) / len(foreseen)
    assert state["reflection"] == pytest.approx(expected, abs=1e-3), "what the forecasts expect of themselves"
    assert state["meta_learning"] == {"accuracy": None, "expected_accuracy": state["reflection"], "scored": 0}
    assert all(0 <= usefulness <= 1 for usefulness in foreseen.values())
    assert len(set(foreseen.values())) > 1

    recalled: list[str] = []
    reflections = []
    async with connect(mind.context) as agent:
        for query in ("lettuce and slugs", "radishes and carrots", "zucchini"):
            found = await agent.call("search_graph", query=query, top_k=1)
            recalled += [result["fingerprintId"] for result in found["results"]]
            state = await agent.call("get_consciousness_state")
            errors = [1 - foreseen[memory] for memory in recalled]
            assert state["meta_learning"]["scored"] == len(set(recalled)) == len(recalled)
            assert state["reflection"] == pytest.approx(1 - math.fsum(errors) / len(errors), abs=1e-3)
            reflections.append(state["reflection"])
        assert len(set(reflections)) == len(reflections), "it moves with every recall"

        # What a hundred more interactions don't recall wasn't useful soon.
        for _ in range(100):
            await agent.call("search_graph", query="zucchini", top_k=1)
        state = await agent.call("get_consciousness_state")
    errors = [abs(usefulness - (memory in recalled)) for memory, usefulness in foreseen.items()]
    assert state["meta_learning"]["scored"] == len(ids)
    assert state["reflection"] == pytest.approx(1 - math.fsum(errors) / len(errors), abs=1e-3)


def timeless(answer: Any) -> Any:
    """Return an answer without what goes on with the clock."""
    if isinstance(answer, dict):
        passing = {"seconds", "empty_for_seconds", "queryLatencyMs", "search_time_ms", "milliseconds"}
        return {name: timeless(value) for name, value in answer.items() if name not in passing}
    return [timeless(value) for value in answer] if isinstance(answer, list) else answer


def nameless(goals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return goals without the ids that each discovery gives anew."""
    return [{name: value for name, value in goal.items() if not name.endswith("goal_id")} for goal in goals]


async def test_a_restart_knows_the_same_by_replay_alone(profile: EmbeddedProfile, tmp_path: Path) -> None:
    log = Lasting()

    async def known(mind: Mind, memories: list[str]) -> Any:
        return timeless(
            {
                "consciousness": await mind("get_consciousness_state"),
                "workspace": await attended(mind),
                "pulse": msgspec.to_builtins(await read_pulse(mind.context)),
                "drift": await mind("get_alignment_drift", namespace=NAMESPACE, include_history=True),
                "memories": [await mind("memory_retrieve", id=memory) for memory in memories],
                "around": [await mind("get_neighborhood", id=memory, depth=2) for memory in memories],
            }
        )

    async def asked(mind: Mind, start: str, end: str) -> Any:
        search = {"query": "tomato seedlings in the beds", "namespace": NAMESPACE, "asked_at": AT, "explain": True}
        answers = {
            "path": await mind("find_causal_path", start_concept=start, end_concept=end, path_type="semantic"),
            "search": await mind("search_graph", **search),
            "purpose": await mind("search_by_purpose", memory_id=start, namespace=NAMESPACE),
        }
        await attended(mind)
        return timeless(answers)

    with awake(profile, tmp_path, log) as mind:
        lived = await live(mind)
        strange, repeat = lived.strange[0].id, lived.repeats[2].id
        await mind("memory_delete", id=lived.topic[1].id)
        found = await mind("discover_goals", namespace=NAMESPACE, max_goals=20)
        middle, start, end, *_ = found["north_star"]["members"]
        memories = [middle, start, end, strange, repeat]
        await mind("adjust_coupling", new_k=5)
        await mind("trigger_workspace_broadcast", id=strange)
        # Twice, so that the second time it is primed by what it ignites itself.
        await asked(mind, start, end)
        answers = await asked(mind, start, end)
        before = await known(mind, memories)
    assert answers["path"]["path_found"]
    assert any(result["contributions"]["priming"] for result in answers["search"]["results"])
    assert before["workspace"]["ignited"]
    assert strange in before["workspace"]["queued_for_rem"]
    assert before["consciousness"]["C"] > 0
    assert any(edge["traversals"] for memory in before["memories"] for edge in memory["edges"])

    with awake(profile, tmp_path, log) as mind:
        assert await known(mind, memories) == before
        assert await asked(mind, start, end) == answers
        again = await mind("discover_goals", namespace=NAMESPACE, max_goals=20)
    assert again["north_star"] == found["north_star"]
    assert again["north_star_chosen"] is False
    members = [[goal["members"] for goal in each["discovered_goals"]] for each in (found, again)]
    assert members[0] == members[1]
    described = [goal for goal in nameless(found["discovered_goals"]) if goal["level"] != "NorthStar"]
    assert all(goal in nameless(again["discovered_goals"]) for goal in described)
