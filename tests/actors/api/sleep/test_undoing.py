"""Whatever a run did can be seen memory by memory, and taken back: the whole of it, or for one memory."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from actors.api.operations.administration.maintenance import store_status
from events.vocabulary import ConsolidationUndone, PatternDiscovered
from tests.actors.api.conftest import Bed, Ways
from tests.actors.api.sleeper import MODES, Sleeper, answers, end, everywhere, found, kinds, merges, settled
from tests.actors.consolidator.planted_memories import Kind

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 21, tzinfo=UTC)


async def whole(sleeper: Sleeper, run: str) -> dict[str, Any]:
    """Return all that is told of a run."""
    (told,) = (await sleeper.mind("list_consolidations", run_id=run))["runs"]
    return told


@pytest.mark.requirement("INTEG-013/undo")
@pytest.mark.parametrize("mode", MODES)
async def test_after_undo_every_search_answers_as_before_to_the_last_bit(sleeper: Sleeper, mode: str) -> None:
    at = sleeper.planted.at
    before = await answers(sleeper.mind, at)
    answer = await sleeper(mode)
    hidden = {*merges(answer), *(one["id"] for one in answer["pruned"])}
    asleep = await answers(sleeper.mind, at)
    assert asleep != before
    assert not hidden & {one[0] for results in asleep for one in results}
    undone = await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
    assert undone["restored_count"] == len(hidden)
    assert {*undone["restored"]} == hidden
    assert await answers(sleeper.mind, at) == before
    assert (await store_status(sleeper.mind.context))["memories"]["live"] == 52
    for one in hidden:
        memory = await sleeper.memory(one)
        assert (memory["id"], memory["state"], memory["lineage"]) == (one, "live", [])


@pytest.mark.parametrize("mode", ["deep", "rem"])
async def test_after_undo_a_question_about_causes_is_answered_as_before(sleeper: Sleeper, mode: str) -> None:
    async def scores() -> list[tuple[str, float]]:
        asked = {"query": "What caused the flood in the cellar?", "namespace": "cellar", "asked_at": NOW.isoformat()}
        return [(one["content"], one["score"]) for one in (await sleeper.mind("search_graph", **asked))["results"]]

    for text in (
        "The cellar was flooded because a drain pipe had cracked in the frost.",
        "The cellar is swept every second Saturday.",
    ):
        await sleeper.mind("store_memory", content=text, namespace="cellar")
    before = await scores()
    answer = await sleeper(mode, namespace="cellar")
    assert (await whole(sleeper, answer["run_id"]))["counts"]["clauses"] == 1
    assert await scores() != before, "the run found what the first memory states"
    await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
    assert await scores() == before


async def test_a_restart_after_an_undo_answers_the_same(bed: Bed) -> None:
    with bed() as sleeper:
        before = await answers(sleeper.mind, NOW)
        answer = await sleeper("rem")
        await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
        log = sleeper.log
    with bed(log) as again:
        assert await answers(again.mind, NOW) == before
        assert (await whole(again, answer["run_id"]))["undone_at"] is not None


async def test_one_absorbed_memory_is_taken_out_of_its_survivor_alone(sleeper: Sleeper) -> None:
    answer = await sleeper("light")
    (one, survivor), *others = sleeper.planted.repeats(Kind.EXACT, Kind.RESPACED).items()
    undone = await sleeper.mind("undo_consolidation", run_id=answer["run_id"], memory_id=one)
    assert undone["restored"] == [one]
    assert (await sleeper.memory(one))["id"] == one
    assert (await sleeper.memory(survivor))["lineage"] == []
    assert all([(await sleeper.memory(absorbed))["id"] == kept for absorbed, kept in others])
    assert {one, survivor} <= await everywhere(sleeper.mind, (await sleeper.memory(one))["content"])
    told = await whole(sleeper, answer["run_id"])
    assert (told["undone_memories"], told["undone_at"], told["can_be_undone"]) == ([one], None, True)
    fault = await sleeper.refused("undo_consolidation", run_id=answer["run_id"], memory_id=one)
    assert fault.code == -32010
    rest = await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
    assert rest["restored_count"] == answer["merged_count"] + answer["pruned_count"] - 1


async def test_a_survivor_gives_back_all_that_it_absorbed(sleeper: Sleeper) -> None:
    text = "The awning over the shop window is torn at its left corner."
    told = [
        (await sleeper.mind("store_memory", content=text, namespace="shelf", importance=importance))
        for importance in (0.9, 0.5, 0.4)
    ]
    survivor, *absorbed = [one["fingerprintId"] for one in told]
    answer = await sleeper("light", namespace="shelf")
    undone = await sleeper.mind("undo_consolidation", run_id=answer["run_id"], memory_id=survivor)
    assert {*undone["restored"]} == {*absorbed}


async def test_one_pruned_memory_is_brought_back_alone(sleeper: Sleeper) -> None:
    answer = await sleeper("light")
    one, *others = sleeper.planted.of(Kind.TRIVIAL)
    undone = await sleeper.mind("undo_consolidation", run_id=answer["run_id"], memory_id=one)
    assert undone["restored"] == [one]
    states = [(await sleeper.memory(memory))["state"] for memory in (one, *others)]
    assert states == ["live", *["pruned"] * len(others)]


async def test_what_a_person_brought_back_or_erased_meanwhile_stays_as_they_left_it(sleeper: Sleeper) -> None:
    answer = await sleeper("light")
    back, erased, forgotten, *_ = sleeper.planted.of(Kind.TRIVIAL)
    await sleeper.mind("memory_restore", id=back)
    await sleeper.mind("memory_delete", id=back, reason="after all")
    await sleeper.mind("memory_delete", id=erased, soft=False)
    undone = await sleeper.mind("undo_consolidation", run_id=answer["run_id"])
    assert undone["erased_since"] == [erased]
    assert not {back, erased} & {*undone["restored"]}
    assert forgotten in undone["restored"]
    assert (await sleeper.memory(back))["state"] == "forgotten"
    assert (await sleeper.refused("memory_retrieve", id=erased)).code == -32010


async def test_a_run_that_is_named_shows_each_memory_that_it_hid_and_what_that_said(sleeper: Sleeper) -> None:
    text = dict(zip(sleeper.planted.ids, (one.arguments["content"] for one in sleeper.planted.told), strict=True))
    answer = await sleeper("light")
    told = await whole(sleeper, answer["run_id"])
    shown = {merge["survivor"]: merge["content"] for merge in told["merges"]}
    shown |= {one["id"]: one["content"] for merge in told["merges"] for one in merge["absorbed"]}
    shown |= {one["id"]: one["content"] for one in told["pruned"]}
    assert len(shown) == 2 * answer["merged_count"] + answer["pruned_count"]
    assert shown == {memory: " ".join(text[memory].split()) for memory in shown}
    assert told["rationale"] is None
    gone = told["pruned"][0]["id"]
    await sleeper.mind("memory_delete", id=gone, soft=False)
    left = {one["id"]: one["content"] for one in (await whole(sleeper, answer["run_id"]))["pruned"]}
    assert left[gone] is None, "its words went with it"
    (listed,) = (await sleeper.mind("list_consolidations"))["runs"]
    assert listed["run_id"] == answer["run_id"]
    assert "merges" not in listed, "only one that is named is shown memory by memory"


async def test_what_can_not_be_undone_is_refused_by_its_name(sleeper: Sleeper, ways: Ways) -> None:
    async with ways(sleeper.mind.context) as way:
        done = await way("consolidate_memories")
        dry = (await sleeper("light", dry_run=True))["run_id"]
        late = (await sleeper("light", max_seconds=1e-6))["run_id"]
        run = done["run_id"]
        await way("undo_consolidation", run_id=run)
        for refused, word in ((run, "undone"), (dry, "dry run"), (late, "did not finish")):
            error = await way.refused("undo_consolidation", run_id=refused)
            assert error["code"] == -32602
            assert "run_id" in error["message"]
            assert word in error["message"]
        for arguments in ({"run_id": str(uuid4())}, {"run_id": str(uuid4()), "memory_id": str(uuid4())}):
            assert (await way.refused("undo_consolidation", **arguments))["code"] == -32010
        for arguments in ({}, {"run_id": "no id"}, {"run_id": run, "memory_id": "no id"}):
            assert (await way.refused("undo_consolidation", **arguments))["code"] == -32602
    assert len(found(sleeper.log, ConsolidationUndone)) == 1


async def test_a_memory_that_a_run_left_alone_can_not_be_taken_out_of_it(sleeper: Sleeper) -> None:
    answer = await sleeper("light")
    for memory in (sleeper.planted.of(Kind.ORDINARY)[2], str(uuid4())):
        fault = await sleeper.refused("undo_consolidation", run_id=answer["run_id"], memory_id=memory)
        assert fault.code == -32010
    assert found(sleeper.log, ConsolidationUndone) == []


async def test_runs_are_told_the_latest_first_and_memory_by_memory(sleeper: Sleeper, ways: Ways) -> None:
    dry = await sleeper("deep", dry_run=True)
    real = await sleeper("deep")
    async with ways(sleeper.mind.context) as way:
        listed = (await way("list_consolidations"))["runs"]
        assert [run["run_id"] for run in listed] == [real["run_id"], dry["run_id"]]
        assert [run["can_be_undone"] for run in listed] == [True, False]
        assert listed[0]["counts"]["merged"] == real["merged_count"]
        assert listed[0]["trigger"] == "request"
        assert "merges" not in listed[0]
        assert len((await way("list_consolidations", limit=1))["runs"]) == 1
        (run,) = (await way("list_consolidations", run_id=real["run_id"]))["runs"]
        assert (await way.refused("list_consolidations", run_id=str(uuid4())))["code"] == -32010
    assert merges(run) == merges(real)
    assert {one["id"]: one["parts"] for one in run["pruned"]} == {one["id"]: one["parts"] for one in real["pruned"]}
    assert run["final_memory_count"] == real["final_memory_count"]


async def test_an_undo_is_one_event_and_a_second_night_does_the_same_again(sleeper: Sleeper) -> None:
    first = await sleeper("rem")
    await settled(sleeper.mind)
    start = end(sleeper.log)
    await sleeper.mind("undo_consolidation", run_id=first["run_id"])
    assert kinds(sleeper.log, start) == {"ConsolidationUndone": 1}
    second = await sleeper("rem")
    assert merges(second) == merges(first)
    assert {one["id"] for one in second["pruned"]} == {one["id"] for one in first["pruned"]}
    assert len(found(sleeper.log, PatternDiscovered)) == len(first["new_patterns"]) + len(second["new_patterns"])
