"""What memories serve: goals found in them, the North Star, purpose vectors, and drift."""

import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pytest

from actors.api.context import Context
from actors.api.mcp.tool_schemas import listed
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.mind.goals import DiscoverGoals, discover_goals
from actors.api.params.fields import Reading
from actors.api.params.parsing import parse
from actors.api.tools.agent_tools import BY_NAME
from actors.comparator.compare.alignment import MIN_COHESION, GoalProfile
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many, raw_each_to_many
from actors.embedder.profiles.embedded import EmbeddedProfile
from events.spaces import INDEX, SPACES, TEMPORAL
from events.vocabulary import MemoryStored, SpacesDeclared
from projections.atlas.atlas import Atlas
from projections.mind.goals import Goals
from tests.actors.api.conftest import Way
from tests.actors.api.stream import BOAT, GARDEN, NAMESPACE, SPRING, Lived, Mind, Told, awake, live, told
from tests.actors.conftest import store
from tests.events.memory_log import MemoryLog

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

LEVELS = ("None", "Low", "Medium", "High", "Critical")
ON_TOPIC = {"garden", "beds", "tomatoes", "compost", "planted", "seedlings", "soil", "harvest"}
NEUTRAL = [0.0] * 13


class Aligned(NamedTuple):
    """A mind that has lived through the stream, before and after it found its North Star."""

    lived: Lived
    log: MemoryLog
    forgotten: Told
    before: dict[str, dict[str, Any]]
    """What was known of each memory before."""
    searched: dict[str, Any]
    """A search in which purpose was asked for before."""
    found: dict[str, Any]
    """What the discovery answered."""

    @property
    def mind(self) -> Mind:
        return self.lived.mind

    async def memory(self, one: Told) -> dict[str, Any]:
        """Return what is known of a memory."""
        return await self.mind("memory_retrieve", id=one.id)


@pytest.fixture(scope="module")
async def aligned(
    anyio_backend: str,
    profile: EmbeddedProfile,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Aligned]:
    log = MemoryLog()
    # Without priming, so that purpose alone tells two rankings apart.
    with awake(profile, tmp_path_factory.mktemp("aligned"), log, priming=False) as mind:
        lived = await live(mind)
        forgotten = lived.topic[5]
        await mind("memory_delete", id=forgotten.id)
        yield Aligned(
            lived=lived,
            log=log,
            forgotten=forgotten,
            before={one.id: await mind("memory_retrieve", id=one.id) for one in lived.all},
            searched=await mind("search_graph", query="compost", include_purpose_alignment=True, explain=True),
            found=await mind("discover_goals", namespace=NAMESPACE),
        )


def stage(answer: dict[str, Any], name: str) -> dict[str, Any]:
    return next(stage for stage in answer["stages"] if stage["name"] == name)


async def test_without_a_north_star_purpose_is_neutral_and_alignment_is_skipped(aligned: Aligned) -> None:
    for memory in aligned.before.values():
        assert memory["purposeVector"] == NEUTRAL
        assert memory["alignmentBand"] is None
    assert stage(aligned.searched, "alignment")["skipped"]
    assert all(result["purposeAlignment"] is None for result in aligned.searched["results"])
    asked = {"query": "compost", "namespace": NAMESPACE, "explain": True}
    now = await aligned.mind("search_graph", **asked, include_purpose_alignment=True)
    assert "skipped" not in stage(now, "alignment")
    assert all(result["contributions"]["alignment"] > 0 for result in now["results"])
    assert stage(await aligned.mind("search_graph", **asked), "alignment")["skipped"], "nobody asked for it"


@pytest.mark.requirement("STORE-001/goals-emerge")
async def test_the_north_star_emerges_from_the_memories_and_is_named_in_their_words(aligned: Aligned) -> None:
    found = aligned.found
    star = found["north_star"]
    assert found["north_star_chosen"]
    assert star in found["discovered_goals"]
    assert star["level"] == "NorthStar"
    words = star["description"].replace(",", "").split()
    assert ON_TOPIC.intersection(words)
    texts = {one.id: one.content for one in aligned.lived.all}
    topic = {one.content for one in aligned.lived.topic}
    for goal in found["discovered_goals"]:
        assert goal["member_count"] >= len(goal["members"]) >= 3
        assert all(texts[member] in topic for member in goal["members"]), "what is strange serves nothing"
        members = " ".join(texts[member] for member in goal["members"]).casefold()
        assert any(word.casefold() in members for word in goal["description"].replace(",", "").split())
        assert not TEMPORAL.intersection(goal["dominant_embedders"]), "time tells when, not what"
        assert 0.5 <= goal["confidence"] <= 1 or goal == star
    assert len({goal["goal_id"] for goal in found["discovered_goals"]}) == len(found["discovered_goals"])
    assert found["cluster_analysis"]["memories"] == len(aligned.lived.all) - 1


@pytest.mark.requirement("STORE-001/purpose-realigned")
async def test_every_stored_memory_is_measured_when_the_north_star_is_chosen(aligned: Aligned) -> None:
    star = aligned.found["north_star"]["goal_id"]
    assert aligned.found["memories_realigned"] == len(aligned.lived.all), "the forgotten one too"
    await aligned.mind("memory_restore", id=aligned.forgotten.id)
    for one in aligned.lived.all:
        memory = await aligned.memory(one)
        assert any(memory["purposeVector"])
        assert all(0 <= entry <= 1 for entry in memory["purposeVector"])
        assert memory["thetaToNorthStar"] == pytest.approx(math.fsum(memory["purposeVector"]) / 13, abs=1e-3)
        created, *_ = memory["evolutionSnapshots"]
        assert (created["trigger"], created["purpose"]) == ("Created", NEUTRAL)
        (changed,) = [shot for shot in memory["evolutionSnapshots"] if shot["trigger"] == "GoalChanged"]
        assert (changed["old"], changed["new"]) == (None, star)
        assert changed["purpose"] == memory["purposeVector"]


async def test_alignment_bands_tell_the_members_of_the_goal_from_what_is_strange(aligned: Aligned) -> None:
    members = [await aligned.mind("memory_retrieve", id=one) for one in aligned.found["north_star"]["members"]]
    strange = [await aligned.memory(one) for one in aligned.lived.strange]
    assert {memory["alignmentBand"] for memory in members} <= {"Optimal", "Acceptable"}
    assert {memory["alignmentBand"] for memory in strange} == {"Critical"}
    served = await aligned.mind("search_graph", query="tomatoes", namespace=NAMESPACE, top_k=100, min_alignment=0.55)
    shown = {result["fingerprintId"]: result["purposeAlignment"] for result in served["results"]}
    assert {memory["id"] for memory in members} <= shown.keys()
    assert not shown.keys() & {memory["id"] for memory in strange}
    assert min(shown.values()) >= 0.55


def by_hand(log: MemoryLog, memory: UUID) -> npt.NDArray[np.float64]:
    """Fold the log up to a memory, and measure it against the North Star of that moment, by the formula."""
    goals, atlas, calibration = Goals(), None, None
    for envelope in log.read():
        if isinstance(envelope.event, SpacesDeclared):
            atlas, calibration = Atlas.of(envelope.event), Calibration.of(envelope.event)
        assert atlas is not None
        assert calibration is not None
        if envelope.id == memory:
            break
        goals.apply(envelope)
        atlas.apply(envelope)
    assert isinstance(envelope.event, MemoryStored)
    star = goals.north_star(envelope.event.namespace)
    assert star is not None
    exemplars = np.array([atlas.row_of(one) for one in goals.exemplars(star.goal)])
    query = {space.key: envelope.event.fingerprint[space.key] for space in SPACES}
    silent = [INDEX["e4_temporal_positional"], INDEX["e8_graph"]]
    towards = calibration.apply_all(raw_each_to_many(atlas, [query], [exemplars])[0]).mean(axis=0, dtype=np.float64)
    between = np.stack([one_to_many(atlas, calibration, int(row), exemplars) for row in exemplars])
    cohesion = between[~np.eye(len(exemplars), dtype=bool)].mean(axis=0, dtype=np.float64)
    aligned = np.minimum(1, towards / np.maximum(cohesion, MIN_COHESION))
    assert set(np.flatnonzero(np.isnan(aligned))) <= set(silent)
    return np.where(np.isnan(aligned), np.nanmean(aligned), aligned)


@pytest.mark.requirement("STORE-001/purpose-aligned")
async def test_a_new_memory_is_measured_against_the_north_star_in_every_space(aligned: Aligned) -> None:
    on, off = [
        await told(aligned.mind, content, namespace=NAMESPACE)
        for content in ("Two tomato plants in the garden bed broke in the wind.", "The tram to the airport is late.")
    ]
    purposes = []
    for one in (on, off):
        memory = await aligned.memory(one)
        purposes.append(memory["purposeVector"])
        assert memory["purposeVector"] == pytest.approx(by_hand(aligned.log, UUID(one.id)), abs=1e-3)
        assert [shot["trigger"] for shot in memory["evolutionSnapshots"]] == ["Created"]
        assert memory["evolutionSnapshots"][0]["purpose"] == memory["purposeVector"]
    apart = np.subtract(*purposes)
    assert all(gap > 0 for space, gap in zip(SPACES, apart, strict=True) if space.key not in TEMPORAL)


@pytest.mark.requirement("S002/multi/purpose-alignment")
async def test_serving_the_north_star_reranks_search_graph_and_is_only_shown_by_search_multi(aligned: Aligned) -> None:
    at = SPRING.isoformat()
    off, on = [
        (await told(aligned.mind, content, namespace=NAMESPACE, created_at=at)).id
        for content in (
            "Nadia lost her watch on the tennis court.",
            "Piet lost his old watch among the garden vegetables.",
        )
    ]
    asked = {"query": "Who lost a watch?", "namespace": NAMESPACE, "asked_at": at, "top_k": 5}
    plain = (await aligned.mind("search_graph", **asked, explain=True))["results"]
    served = (await aligned.mind("search_graph", **asked, explain=True, include_purpose_alignment=True))["results"]
    assert [result["fingerprintId"] for result in plain[:2]] == [off, on]
    assert [result["fingerprintId"] for result in served[:2]] == [on, off]
    assert plain[0]["similarity"] == pytest.approx(plain[1]["similarity"], abs=0.05)
    for before, after in zip(plain[:2], served[1::-1], strict=True):
        share = after["contributions"].pop("alignment")
        assert after["contributions"] == before["contributions"]
        assert after["score"] == pytest.approx(before["score"] + share, abs=1e-3)
        assert after["purposeAlignment"] is not None
    multi = [
        (await aligned.mind("search_multi", **asked, include_purpose_alignment=purpose))["results"]
        for purpose in (False, True)
    ]
    assert [[result["id"] for result in results[:2]] for results in multi] == [[off, on], [off, on]]
    assert [result["purpose_alignment"] is not None for result in multi[1][:2]] == [True, True]
    assert not any("purpose_alignment" in result for result in multi[0])


async def test_memories_can_be_found_by_what_they_serve(aligned: Aligned) -> None:
    member = aligned.found["north_star"]["members"][0]
    results = (await aligned.mind("search_by_purpose", memory_id=member, namespace=NAMESPACE, top_k=1_000))["results"]
    assert results[0]["id"] == member
    near = [result["similarity"] for result in results]
    assert near == sorted(near, reverse=True)
    places = {result["id"]: place for place, result in enumerate(results)}
    of_members = [places[one] for one in aligned.found["north_star"]["members"]]
    of_strange = [places[one.id] for one in aligned.lived.strange]
    assert sum(of_members) / len(of_members) < sum(of_strange) / len(of_strange)
    assert all(result["purpose_alignment"] is not None for result in results)


async def test_a_second_discovery_keeps_the_north_star_and_answers_the_same_goals(aligned: Aligned) -> None:
    star = aligned.found["north_star"]["goal_id"]
    again = await aligned.mind("discover_goals", namespace=NAMESPACE, max_goals=1)
    assert (again["north_star"]["goal_id"], again["north_star_chosen"]) == (star, False)
    assert again["memories_realigned"] == 0
    assert len(again["discovered_goals"]) == 1
    twice = await aligned.mind("discover_goals", namespace=NAMESPACE, max_goals=1)
    assert twice["discovered_goals"] == again["discovered_goals"]
    sure = await aligned.mind("discover_goals", namespace=NAMESPACE, min_confidence=1.0)
    assert sure["discovered_goals"] == []
    assert sure["cluster_analysis"]["clusters"] > 0


async def test_goals_of_one_namespace_never_mention_those_of_another(aligned: Aligned) -> None:
    boats = [await told(aligned.mind, content, namespace="club") for content in BOAT]
    assert (await aligned.memory(boats[0]))["purposeVector"] == NEUTRAL, "it has no North Star yet"
    found = await aligned.mind("discover_goals", namespace="club")
    ids = {one.id for one in boats}
    assert found["north_star_chosen"]
    assert found["memories_realigned"] == len(boats)
    for goal in found["discovered_goals"]:
        assert ids.issuperset(goal["members"])
        assert not ON_TOPIC.intersection(goal["description"].replace(",", "").split())
    there = await aligned.mind("discover_goals", namespace=NAMESPACE)
    assert there["north_star"]["goal_id"] == aligned.found["north_star"]["goal_id"]
    for namespace, star in ((NAMESPACE, there["north_star"]), ("club", found["north_star"])):
        drift = await aligned.mind("get_alignment_drift", namespace=namespace)
        assert drift["north_star_id"] == star["goal_id"]
        assert {*drift["north_star"].split(", ")} == {*star["description"].split(", ")}


async def test_progress_is_told_while_memories_are_measured(context: Context) -> None:
    heard: list[tuple[float, float | None, str]] = []

    async def hear(done: float, total: float | None, what: str) -> None:
        heard.append((done, total, what))

    for content in BOAT:
        await store(context, content)
    await discover_goals(context.for_request(hear), parse({}, DiscoverGoals))
    assert (len(BOAT), len(BOAT), "memories measured") in heard


async def test_the_tools_of_purpose_answer_and_refuse_alike_in_both_ways(way: Way) -> None:
    nothing = await way("discover_goals")
    assert (nothing["discovered_goals"], nothing["north_star"]) == ([], None)
    drift = await way("get_alignment_drift")
    assert drift["status"] == "not_configured"
    assert "discover_goals" in drift["hint"]
    assert "discover_goals" in (await way("search_by_purpose", purpose_vector=[0.5] * 13))["hint"]
    assert "min_confidence" in nothing["hint"]
    correction = await way("trigger_drift_correction")
    assert (correction["status"], correction["applied"]) == ("not_configured", False)
    for content in BOAT:
        await way("store_memory", content=content)
    found = await way("discover_goals", min_confidence=0.5, max_goals=3)
    assert 0 < len(found["discovered_goals"]) <= 3
    assert found["memories_realigned"] == len(BOAT)
    drift = await way("get_alignment_drift", memories=10, include_history=True)
    assert (drift["status"], drift["memories"]) == ("measured", 10)
    assert drift["drift_score"] == pytest.approx(1 - drift["similarity"], abs=1e-3)
    assert list(drift["per_embedder_similarity"]) == [space.key for space in SPACES]
    done = await way("trigger_drift_correction")
    assert done["north_star_id"] == found["north_star"]["goal_id"], "so near to it nothing needs correcting"
    assert (done["strategy_applied"], done["applied"], done["improvement"]) == ("no_action", False, 0)
    for tool, bad in (
        ("discover_goals", {"min_confidence": 2}),
        ("discover_goals", {"max_goals": 0}),
        ("discover_goals", {"north_star": "boats"}),
        ("get_alignment_drift", {"memories": 0}),
        ("get_alignment_drift", {"include_history": "yes"}),
        ("trigger_drift_correction", {"namespace": ""}),
        ("trigger_drift_correction", {"goal": found["north_star"]["goal_id"]}),
    ):
        error = await way.refused(tool, **bad)
        assert (error["code"], error["data"]["parameter"]) == (-32602, next(iter(bad)))


@pytest.mark.requirement("INTEG-001/arch-03/no-goal-by-hand")
def test_no_parameter_of_a_tool_that_changes_anything_says_what_the_memories_shall_serve() -> None:
    writing = [tool for tool in listed() if not issubclass(BY_NAME[tool.name].params, Reading)]
    assert {"store_memory", "discover_goals", "trigger_drift_correction"} <= {tool.name for tool in writing}
    suspicious = {
        (tool.name, name)
        for tool in writing
        for name in tool.input_schema.get("properties", {})
        if any(part in name for part in ("goal", "star", "purpose", "align"))
    }
    assert suspicious == {("discover_goals", "max_goals")}


@pytest.mark.requirement("TOOL-INJECT-001/purpose-failed")
async def test_a_purpose_that_cannot_be_computed_refuses_the_memory(
    context: Context, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_star: GoalProfile, _similarities: object) -> None:
        raise ValueError("no such similarity")

    for content in BOAT:
        await store(context, content)
    await way("discover_goals")
    await way("get_workspace_status")  # answers once the workspace has written down what it turned to
    before = await store_status(context)
    with monkeypatch.context() as patch:
        patch.setattr(GoalProfile, "alignment", broken)
        for tool, more in (
            ("inject_context", {"rationale": "to try it"}),
            ("store_memory", {}),
            ("memory_inject", {}),
        ):
            error = await way.refused(tool, content="The boat sails again.", **more)
            assert error["code"] == -32006
            assert error["message"].startswith("Purpose vector computation failed")
    after = await store_status(context)
    assert after["log"] == before["log"], "nothing is stored"
    answer = await way("store_memory", content="The boat sails again.")
    assert any((await way("memory_retrieve", id=answer["fingerprintId"]))["purposeVector"])


class Drifted(NamedTuple):
    """Drift as it was measured while a club for boats turned into one for gardens, and what a correction did."""

    mind: Mind
    first: dict[str, Any]
    mended: dict[str, Any]
    """The first correction, early on."""
    stages: list[dict[str, Any]]
    """After each session about the garden."""
    last: dict[str, Any]
    corrected: dict[str, Any]
    after: dict[str, Any]


@pytest.fixture(scope="module")
async def drifted(
    anyio_backend: str,
    profile: EmbeddedProfile,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Drifted]:
    with awake(profile, tmp_path_factory.mktemp("drifted"), MemoryLog()) as mind:
        for content in BOAT:
            await told(mind, content)
        await mind("discover_goals")
        first = await mind("get_alignment_drift", include_history=True)
        stages = []
        mended: dict[str, Any] = {}
        for turns in GARDEN:
            for content in turns:
                await told(mind, content)
            mended = mended or await mind("trigger_drift_correction")
            stages.append(await mind("get_alignment_drift"))
        last = await mind("get_alignment_drift", include_history=True)
        corrected = await mind("trigger_drift_correction")
        after = await mind("get_alignment_drift")
        yield Drifted(mind, first, mended, stages, last, corrected, after)


@pytest.mark.requirement("STORE-001/drift")
async def test_another_topic_is_seen_as_drift_that_names_its_spaces_and_its_trend(drifted: Drifted) -> None:
    first, last = drifted.first, drifted.last
    assert LEVELS.index(last["level"]) > LEVELS.index(first["level"])
    course = [stage["similarity"] for stage in (first, *drifted.stages)]
    assert course == sorted(course, reverse=True)
    assert (first["trend"], last["trend"]) == (None, "Worsening")
    moved = last["most_drifted_embedders"]
    assert 0 < len(moved) <= 5
    assert not TEMPORAL.intersection(one["space"] for one in moved)
    scores = [one["drift_score"] for one in moved]
    assert scores == sorted(scores, reverse=True)
    for one in moved:
        assert one["similarity"] == last["per_embedder_similarity"][one["space"]]
        assert one["similarity"] < first["per_embedder_similarity"][one["space"]]
    assert last["recommendations"]
    assert first["recommendations"] == []


async def test_memories_in_which_the_goals_were_found_have_no_trend(profile: EmbeddedProfile, tmp_path: Path) -> None:
    with awake(profile, tmp_path, MemoryLog()) as mind:
        for content in [*BOAT, *(content for turns in GARDEN[:4] for content in turns)]:
            await told(mind, content)
        await mind("discover_goals")
        found = await mind("get_alignment_drift", include_history=True)
    first, _, last = [sample["similarity"] for sample in found["history"]]
    assert first > last, "one window is nearer to the goals than another"
    assert (found["level"], found["trend"]) == ("None", None)


async def test_the_history_of_drift_is_measured_window_by_window(drifted: Drifted) -> None:
    history = drifted.last["history"]
    assert [sample["memories"] for sample in history] == [20] * 4
    assert len(drifted.first["history"]) == 1
    boats, *gardens = [sample["similarity"] for sample in history]
    assert all(boats > garden for garden in gardens)
    assert "history" not in drifted.after
    few = await drifted.mind("get_alignment_drift", memories=20, include_history=True)
    assert few["similarity"] == few["history"][-1]["similarity"]


async def test_a_correction_takes_a_north_star_that_serves_the_latest_memories_better(drifted: Drifted) -> None:
    done = drifted.corrected
    assert (done["strategy_applied"], done["applied"]) == ("refine", True)
    assert done["north_star_id"] != drifted.last["north_star_id"]
    assert done["alignment_before"] == drifted.last["similarity"]
    assert done["alignment_after"] == drifted.after["similarity"] > done["alignment_before"]
    assert (done["level_before"], done["level_after"]) == (drifted.last["level"], drifted.after["level"])
    assert done["improvement"] == pytest.approx(done["alignment_after"] - done["alignment_before"], abs=1e-3)
    assert done["north_star_id"] == drifted.after["north_star_id"]
    assert done["memories_realigned"] == len(BOAT) + sum(map(len, GARDEN))


async def test_a_correction_measures_purposes_again_once_central_members_of_the_north_star_are_gone(mind: Mind) -> None:
    for content in BOAT:
        await told(mind, content)
    star = (await mind("discover_goals"))["north_star"]
    strange = [content for turns in GARDEN for content in turns][:16]
    *_, last = [await told(mind, content) for content in strange]
    for member in star["members"]:
        await mind("memory_delete", id=member)
    drift = await mind("get_alignment_drift")
    assert drift["level"] == "Medium"
    before = await mind("memory_retrieve", id=last.id)
    done = await mind("trigger_drift_correction")
    assert (done["strategy_applied"], done["applied"]) == ("reinforce", True)
    assert done["memories_realigned"] == len(BOAT) + len(strange)
    assert done["north_star_id"] == star["goal_id"]
    assert done["alignment_after"] == drift["similarity"], "drift is never measured by stored purposes"
    after = await mind("memory_retrieve", id=last.id)
    assert after["purposeVector"] != before["purposeVector"]
    again = await mind("trigger_drift_correction")
    assert (again["strategy_applied"], again["applied"]) == ("reinforce", False), "they are up to date"


async def test_measuring_again_what_has_not_changed_is_left_as_it_would_not_help(drifted: Drifted) -> None:
    done = drifted.mended
    assert done["strategy_applied"] in {"no_action", "reinforce"}, "drift lies near the threshold"
    assert done["applied"] is False
    assert done["north_star_id"] == drifted.first["north_star_id"]
    assert (done["memories_realigned"], done["improvement"]) == (0, 0)
