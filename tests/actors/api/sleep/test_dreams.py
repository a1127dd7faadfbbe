"""Dreams that somebody wants: what they go through again, which links they strengthen, and that a query ends them."""

import asyncio
from typing import Any

import pytest

from actors.consolidator.messages import Consolidate, DreamPhase
from actors.runtime.faults import RateLimitFault
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, LinksStrengthened, MemoriesReplayed
from events.vocabulary.values import Mode, Outcome
from tests.actors.api.conftest import Way
from tests.actors.api.sleeper import Sleeper, asking, end, found, hits, kinds, meanwhile, settled

pytestmark = pytest.mark.anyio

FLOOD = (
    "It rained for three weeks without a pause.",
    "The river burst its banks.",
    "Half of the village stood under water.",
    "Lessons were held in the gym of the next town.",
)


async def chain(sleeper: Sleeper) -> list[str]:
    """Store memories each of which links to the one before it."""
    ids: list[str] = []
    for text in FLOOD:
        answer = await sleeper.mind("store_memory", content=text, namespace="village", link_to=ids[-1:])
        ids.append(answer["fingerprintId"])
    return ids


async def walk(sleeper: Sleeper, ids: list[str]) -> dict[str, Any]:
    """Walk the whole chain, from its end to its beginning."""
    path = await sleeper.mind("find_causal_path", start_concept=ids[-1], end_concept=ids[0])
    await settled(sleeper.mind)
    return path


async def dream(sleeper: Sleeper, **more: Any) -> dict[str, Any]:
    """Dream, and wait for the end."""
    wanted = {"rationale": "much was said today", "blocking": True, "force": True} | more
    return await sleeper.mind("trigger_dream", **wanted)


async def test_links_that_were_walked_together_get_surer_and_a_long_path_a_shortcut(sleeper: Sleeper) -> None:
    ids = await chain(sleeper)
    before = await walk(sleeper, ids)
    for _ in range(3):
        await walk(sleeper, ids)
    assert (await dream(sleeper, phase="nrem"))["shortcuts"] == 0, "four walks are too few"
    first = found(sleeper.log, LinksStrengthened)[-1]
    assert {(str(one.step.source), str(one.step.target)) for one in first.links} == {
        (start, stop) for start, stop in zip(ids[1:], ids, strict=False)
    }
    fifth = await walk(sleeper, ids)
    assert fifth["path_confidence"] > before["path_confidence"]
    answer = await dream(sleeper, phase="nrem")
    assert (answer["links_strengthened"], answer["shortcuts"]) == (3, 1)
    (edge,) = [edge for edge in (await sleeper.memory(ids[-1]))["edges"] if edge["relation"] == "shortcut"]
    assert (edge["id"], edge["forward"]) == (ids[0], True)
    short = await walk(sleeper, ids)
    assert short["hop_count"] == 1
    assert short["path"][1]["edge_type"] == "shortcut"
    assert short["path_confidence"] > fifth["path_confidence"]
    await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
    assert [node["node_id"] for node in (await walk(sleeper, ids))["path"]] == ids[::-1]


async def test_links_weigh_what_they_weighed_once_the_dream_is_undone(sleeper: Sleeper) -> None:
    ids = await chain(sleeper)
    await walk(sleeper, ids)

    async def weighed() -> list[tuple[float, float]]:
        return [(edge["weight"], edge["confidence"]) for edge in (await sleeper.memory(ids[1]))["edges"]]

    before = await weighed()
    answer = await dream(sleeper)
    after = await weighed()
    assert all(now[1] > then[1] for now, then in zip(after, before, strict=True))
    await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
    assert await weighed() == before


async def test_links_that_nobody_walks_keep_their_weight(sleeper: Sleeper) -> None:
    ids = await chain(sleeper)
    before = (await sleeper.memory(ids[1]))["edges"]
    for _ in range(3):
        await dream(sleeper, phase="nrem", namespace="village")
    assert (await sleeper.memory(ids[1]))["edges"] == before


async def test_what_faded_from_the_workspace_is_replayed_and_leaves_the_queue(sleeper: Sleeper) -> None:
    ids = await chain(sleeper)
    for memory in ids:
        await sleeper.mind("trigger_workspace_broadcast", id=memory, force=True)
    faded = (await settled(sleeper.mind))["queued_for_rem"]
    assert {*faded} & {*ids}
    dry = await sleeper("rem", dry_run=True, salience_threshold=0)
    assert (await settled(sleeper.mind))["queued_for_rem"] == faded
    assert dry["memories_replayed"] > 0
    answer = await sleeper("rem", salience_threshold=0)
    (replayed,) = found(sleeper.log, MemoriesReplayed)
    assert {str(one) for one in replayed.memories} >= {*faded} & {*ids}
    assert answer["memories_replayed"] == len(replayed.memories) == dry["memories_replayed"]
    assert (await settled(sleeper.mind))["queued_for_rem"] == []


async def test_a_dream_needs_a_reason_which_is_kept(way: Way) -> None:
    for arguments in ({}, {"rationale": ""}, {"rationale": "  "}, {"rationale": "x" * 1_025}):
        error = await way.refused("trigger_dream", **arguments)
        assert error["code"] == -32602
        assert "rationale" in error["message"].casefold()
    for field, value in (("phase", "light"), ("force", 1), ("colour", "red")):
        error = await way.refused("trigger_dream", rationale="r", **{field: value})
        assert (error["code"], field in error["message"]) == (-32602, True)
    dreamt = await way("trigger_dream", rationale="a long day", blocking=True)
    assert (dreamt["triggered"], dreamt["phase"], dreamt["outcome"]) == (True, "full_cycle", "finished")
    (run,) = (await way("list_consolidations", run_id=dreamt["run_id"]))["runs"]
    assert (run["mode"], run["rationale"]) == ("dream", "a long day")
    status = await way("get_dream_status")
    assert (status["state"], status["is_dreaming"], status["completed_cycles"]) == ("Awake", False, 1)
    assert status["last_dream"]["run_id"] == dreamt["run_id"]
    assert status["time_since_last_dream_secs"] >= 0
    assert {"light", "deep", "rem"} == status["scheduler"]["modes"].keys()


async def test_a_second_dream_waits_a_minute_unless_it_is_forced(sleeper: Sleeper) -> None:
    await dream(sleeper)
    fault = await sleeper.refused("trigger_dream", rationale="again")
    assert isinstance(fault, RateLimitFault)
    assert 0 < fault.data["retry_after_ms"] <= 60_000
    assert len(found(sleeper.log, ConsolidationStarted)) == 1
    assert (await dream(sleeper, force=True))["outcome"] == "finished"
    assert (await sleeper("rem"))["outcome"] == "finished", "the pause is one of dreams"


async def test_while_a_dream_is_under_way_another_one_needs_force(sleeper: Sleeper) -> None:
    asked: list[asyncio.Task[Any]] = []

    async def ask() -> None:
        refused = sleeper.refused("trigger_dream", rationale="at once")
        asked.extend(await asking(sleeper, refused, sleeper.mind("get_dream_status")))

    await meanwhile(sleeper, "dream", ask)
    fault, status = [await one for one in asked]
    assert isinstance(fault, RateLimitFault)
    assert fault.data["retry_after_ms"] == 60_000, "it isn't over"
    assert status["is_dreaming"] is True
    assert len(found(sleeper.log, ConsolidationStarted)) == 1
    assert (await sleeper.mind("get_dream_status"))["is_dreaming"] is False


@pytest.mark.parametrize(("mode", "state"), [("light", "Light"), ("deep", "Deep")])
async def test_sleep_without_dreams_has_its_own_name(sleeper: Sleeper, mode: str, state: str) -> None:
    asked: list[asyncio.Task[dict[str, Any]]] = []

    async def ask() -> None:
        asked.extend(await asking(sleeper, sleeper.mind("get_dream_status")))

    await meanwhile(sleeper, mode, ask)
    during, after = await asked[0], await sleeper.mind("get_dream_status")
    assert (during["state"], during["is_dreaming"]) == (state, False)
    assert (after["state"], after["completed_cycles"], after["last_dream"]) == ("Awake", 0, None)


async def test_a_dream_that_waits_for_its_turn_is_one_already(sleeper: Sleeper) -> None:
    asked: list[asyncio.Task[Any]] = []

    async def ask() -> None:
        waiting = Consolidate(mode=Mode.DREAM, salience_threshold=0.0)
        sleeper.mind.hub.consolidator.ask(waiting, block=False)
        refused = sleeper.refused("trigger_dream", rationale="at once")
        asked.extend(await asking(sleeper, sleeper.mind("get_dream_status"), refused))

    await meanwhile(sleeper, "deep", ask)
    status, fault = [await one for one in asked]
    assert (status["state"], status["is_dreaming"]) == ("Deep", True)
    assert fault.data["retry_after_ms"] == 60_000


async def test_a_dry_run_of_rem_is_no_dream(sleeper: Sleeper) -> None:
    await sleeper("rem", dry_run=True)
    status = await sleeper.mind("get_dream_status")
    assert (status["completed_cycles"], status["last_dream"], status["time_since_last_dream_secs"]) == (
        0,
        None,
        None,
    )
    real = await sleeper("rem")
    status = await sleeper.mind("get_dream_status")
    assert (status["completed_cycles"], status["last_dream"]["run_id"]) == (1, real["run_id"])


@pytest.mark.parametrize("phase", DreamPhase)
async def test_a_dream_neither_merges_nor_prunes(sleeper: Sleeper, phase: DreamPhase) -> None:
    answer = await dream(sleeper, phase=phase.value)
    assert (answer["merged_count"], answer["pruned_count"], answer["clusters_discovered"]) == (0, 0, 0)
    assert answer["final_memory_count"] == 52
    assert answer["memories_looked_at"] == 52


async def test_a_dream_that_nobody_waits_for_is_seen_in_its_status(sleeper: Sleeper) -> None:
    begun = await sleeper.mind("trigger_dream", rationale="in the background", abort_on_query=False)
    assert begun["triggered"]
    done = await dream(sleeper)  # waits for its turn
    assert done["run_id"] != begun["run_id"]
    outcomes = {event.run: event.outcome for event in found(sleeper.log, ConsolidationFinished)}
    assert len(outcomes) == 2
    assert {*outcomes.values()} == {Outcome.FINISHED}
    assert begun["run_id"] in {str(run) for run in outcomes}


async def test_the_status_tells_what_is_under_way(sleeper: Sleeper) -> None:
    asked: list[asyncio.Task[dict[str, Any]]] = []

    async def ask() -> None:
        asked.extend(await asking(sleeper, sleeper.mind("get_dream_status")))

    slept = await meanwhile(sleeper, "rem", ask)
    during, after = await asked[0], await sleeper.mind("get_dream_status")
    assert during["running"]["run_id"] == str(slept.finished.run)
    assert (during["running"]["outcome"], during["completed_cycles"]) == ("running", 0)
    assert during["state"] != "Awake"
    assert (after["state"], after["running"], after["completed_cycles"]) == ("Awake", None, 1)


async def test_a_query_ends_a_dream_that_shall_make_way_and_nothing_of_it_is_written(sleeper: Sleeper) -> None:
    ids = await chain(sleeper)
    for _ in range(5):
        await walk(sleeper, ids)
    start = end(sleeper.log)

    async def ask() -> None:
        assert await hits(sleeper.mind, "Who signed the lease?", top_k=1)

    slept = await meanwhile(sleeper, "dream", ask, abort_on_query=True)
    await settled(sleeper.mind)
    assert (slept.finished.outcome, slept.finished.reason) == (Outcome.ABORTED, "a query came")
    written = kinds(sleeper.log, start)
    assert (written["ConsolidationStarted"], written["ConsolidationFinished"]) == (1, 1)
    assert not written.keys() & {"LinksStrengthened", "ShortcutsDrawn", "PatternDiscovered", "MemoriesReplayed"}
    status = await sleeper.mind("get_dream_status")
    assert (status["last_dream"]["outcome"], status["completed_cycles"]) == ("aborted", 0)
    assert status["abort_latency_ms"] > 0
    assert (await dream(sleeper))["shortcuts"] == 1, "the next one does it"


@pytest.mark.parametrize("mode", ["dream", "deep", "rem"])
async def test_a_query_leaves_a_run_alone_that_need_not_make_way(sleeper: Sleeper, mode: str) -> None:

    async def ask() -> None:
        assert await hits(sleeper.mind, "Who signed the lease?", top_k=1)

    slept = await meanwhile(sleeper, mode, ask, abort_on_query=False)
    assert slept.finished.outcome is Outcome.FINISHED
