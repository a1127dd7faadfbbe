"""What people did to single memories holds against every later run, and against the undo of an earlier one."""

from typing import Any

import pytest

from actors.runtime.faults import NotFoundFault
from events.vocabulary import MemoriesMerged, MemoriesPruned
from tests.actors.api.conftest import Bed
from tests.actors.api.sleeper import MODES, Sleeper, copy_of, everywhere, found, hits, merges, settled
from tests.actors.consolidator.planted_memories import Kind

pytestmark = pytest.mark.anyio

SMALL = {"importance": 0.1, "created_at": "2020-02-02T00:00:00+00:00"}
"""Of what would be pruned if nothing protected it."""

SNEEZE = "Somebody sneezed twice."
AWNING = "The awning over the shop window is torn at its left corner."


async def shelved(sleeper: Sleeper, content: str, **more: Any) -> str:
    """Store a memory apart from all that is planted."""
    return (await sleeper.mind("store_memory", content=content, namespace="shelf", **more))["fingerprintId"]


async def state(sleeper: Sleeper, memory: str) -> str:
    return (await sleeper.memory(memory))["state"]


async def history(sleeper: Sleeper, memory: str) -> list[str]:
    """Return what happened to a memory, in words."""
    return await sleeper.mind.life(memory)


# ── brought back singly ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", ["memory_restore", "undo_consolidation"])
async def test_a_pruned_memory_that_somebody_brought_back_is_never_pruned_again(
    sleeper: Sleeper, mode: str, way: str
) -> None:
    one, *others = sleeper.planted.of(Kind.TRIVIAL)
    first = await sleeper("light")
    arguments = {"id": one} if way == "memory_restore" else {"run_id": first["run_id"], "memory_id": one}
    await sleeper.mind(way, **arguments)
    await sleeper.mind("undo_consolidation", run_id=first["run_id"])
    (shown,) = [
        candidate
        for candidate in (await sleeper.mind("get_pruning_candidates", limit=1_000))["candidates"]
        if candidate["memory_id"] == one
    ]
    assert shown["protected"] == "restored"
    again = await sleeper(mode)
    assert {pruned["id"] for pruned in again["pruned"]} == {*others}, "a whole undo says nothing of single memories"
    assert await state(sleeper, one) == "live"


@pytest.mark.parametrize("mode", MODES)
async def test_what_was_taken_out_of_its_survivor_is_never_merged_again(sleeper: Sleeper, mode: str) -> None:
    first = await sleeper("light")
    (one, _), *others = sleeper.planted.repeats(Kind.EXACT, Kind.RESPACED).items()
    await sleeper.mind("undo_consolidation", run_id=first["run_id"], memory_id=one)
    await sleeper.mind("undo_consolidation", run_id=first["run_id"])
    again = merges(await sleeper(mode))
    assert again.items() >= {*others}, "a whole undo says nothing of single memories"
    assert one not in {*again, *again.values()}
    assert (await sleeper.memory(one))["id"] == one


async def test_what_a_survivor_gave_back_is_merged_neither_with_it_nor_with_each_other(sleeper: Sleeper) -> None:
    survivor, *absorbed = [await shelved(sleeper, AWNING, importance=part) for part in (0.9, 0.5, 0.4)]
    first = await sleeper("light", namespace="shelf")
    await sleeper.mind("undo_consolidation", run_id=first["run_id"], memory_id=survivor)
    assert merges(await sleeper("deep", namespace="shelf")) == {}
    new = await shelved(sleeper, AWNING, importance=0.3)
    assert merges(await sleeper("light", namespace="shelf")) == {new: survivor}
    assert [(await sleeper.memory(one))["id"] for one in absorbed] == absorbed


async def test_what_was_forgotten_by_a_person_and_brought_back_is_kept_too(sleeper: Sleeper) -> None:
    one, twin = [await shelved(sleeper, SNEEZE, **SMALL) for _ in range(2)]
    other = await shelved(sleeper, "It drizzled.", **SMALL)
    await sleeper.mind("memory_delete", id=twin)
    await sleeper.mind("memory_restore", id=twin)
    answer = await sleeper("deep", namespace="shelf")
    assert (answer["merged_count"], {pruned["id"] for pruned in answer["pruned"]}) == (0, {one, other})
    assert await state(sleeper, twin) == "live"


async def test_a_restart_knows_what_was_brought_back(bed: Bed) -> None:
    with bed() as sleeper:
        one = sleeper.planted.of(Kind.TRIVIAL)[0]
        await sleeper("light")
        await sleeper.mind("memory_restore", id=one)
        log = copy_of(sleeper.log)
    with bed(log) as again:
        assert (await again("deep"))["pruned_count"] == 0
        assert await state(again, one) == "live"


# ── merged and judged in one run ────────────────────────────────────────────────────────────────────


async def test_a_young_copy_protects_what_survives_it(sleeper: Sleeper) -> None:
    old = await shelved(sleeper, SNEEZE, **SMALL)
    young = await shelved(sleeper, SNEEZE, importance=0.1)
    lone = await shelved(sleeper, "It drizzled.", **SMALL)
    looked = await sleeper.mind("get_pruning_candidates", namespace="shelf")
    assert {one["memory_id"]: one["protected"] for one in looked["candidates"]} | {old: "young"} == {
        lone: None,
        old: "young",
    }, "nobody would be pruned but the one without a copy"
    answer = await sleeper("light", namespace="shelf")
    assert merges(answer) == {young: old}
    assert [one["id"] for one in answer["pruned"]] == [lone]


async def test_a_young_copy_protects_what_survives_it_in_the_runs_of_the_same_day_too(sleeper: Sleeper) -> None:
    await shelved(sleeper, SNEEZE, **SMALL)
    await shelved(sleeper, SNEEZE, importance=0.1)
    counts = [await sleeper("light", namespace="shelf") for _ in range(2)]
    assert [(one["merged_count"], one["pruned_count"]) for one in counts] == [(1, 0), (0, 0)]
    assert await hits(sleeper.mind, SNEEZE, namespace="shelf"), "it was told today"


async def test_links_of_a_copy_protect_what_survives_it(sleeper: Sleeper) -> None:
    old, copy = [await shelved(sleeper, SNEEZE, **SMALL) for _ in range(2)]
    for text in ("The window is open.", "A cat jumped up.", "The vase fell over."):
        await shelved(sleeper, text, link_to=[copy])
    answer = await sleeper("light", namespace="shelf")
    assert (merges(answer), answer["pruned_count"]) == ({copy: old}, 0)


@pytest.mark.parametrize("threshold", [0.2, 0.3, 0.5, 1.0])
async def test_candidates_are_exactly_what_light_then_prunes_copies_included(
    sleeper: Sleeper, threshold: float
) -> None:
    twins = [await shelved(sleeper, SNEEZE, **SMALL) for _ in range(2)]
    await shelved(sleeper, "It drizzled.", **SMALL)
    await shelved(sleeper, "It drizzled.", importance=0.1)
    for _ in range(4):
        await hits(sleeper.mind, SNEEZE, namespace="shelf")
    await settled(sleeper.mind)  # what it turns to is salient
    shown = await sleeper.mind("get_pruning_candidates", salience_threshold=threshold, limit=1_000)
    await sleeper("light", salience_threshold=threshold)
    (event,) = found(sleeper.log, MemoriesPruned)
    expected = {one["memory_id"]: one["salience"] for one in shown["candidates"] if one["protected"] is None}
    assert expected == {str(one.memory): pytest.approx(one.salience.total, abs=1e-3) for one in event.pruned}
    assert shown["would_be_pruned"] == len(event.pruned)
    assert twins[1] not in {one["memory_id"] for one in shown["candidates"]}, "it would be merged, not pruned"
    merged = {str(memory) for event in found(sleeper.log, MemoriesMerged) for memory in event.absorbed}
    assert not merged & expected.keys()


# ── forgotten by a person ───────────────────────────────────────────────────────────────────────────


async def test_what_a_forgotten_survivor_had_absorbed_stays_forgotten_through_an_undo(sleeper: Sleeper) -> None:
    survivor, absorbed = [await shelved(sleeper, AWNING, importance=part) for part in (0.9, 0.5)]
    run = (await sleeper("light", namespace="shelf"))["run_id"]
    await sleeper.mind("memory_delete", id=survivor, reason="it was mended")
    await sleeper.mind("undo_consolidation", run_id=run)
    assert await state(sleeper, absorbed) == await state(sleeper, survivor) == "forgotten"
    assert (await sleeper.memory(absorbed))["id"] == absorbed
    assert not {survivor, absorbed} & await everywhere(sleeper.mind, AWNING)
    await sleeper.mind("memory_restore", id=absorbed)
    assert await state(sleeper, survivor) == "forgotten"
    assert await hits(sleeper.mind, AWNING, namespace="shelf") == [absorbed]
    await sleeper.mind("memory_restore", id=survivor)
    assert {*await hits(sleeper.mind, AWNING, namespace="shelf")} == {survivor, absorbed}


async def test_an_undo_counts_as_restored_what_can_be_found_again_and_nothing_else(sleeper: Sleeper) -> None:
    survivor, absorbed = [await shelved(sleeper, AWNING, importance=part) for part in (0.9, 0.5)]
    trivial = await shelved(sleeper, SNEEZE, **SMALL)
    run = (await sleeper("light", namespace="shelf"))["run_id"]
    await sleeper.mind("memory_delete", id=survivor)
    undone = await sleeper.mind("undo_consolidation", run_id=run)
    assert (undone["restored"], undone["restored_count"]) == ([trivial], 1)
    assert await state(sleeper, absorbed) == "forgotten"


async def test_a_pruned_memory_can_be_forgotten_and_only_a_restore_brings_it_back(sleeper: Sleeper) -> None:
    one, other, *_ = sleeper.planted.of(Kind.TRIVIAL)
    run = (await sleeper("light"))["run_id"]
    await sleeper.mind("memory_delete", id=one, reason="for good")
    assert await state(sleeper, one) == "forgotten"
    assert isinstance(await sleeper.refused("undo_consolidation", run_id=run, memory_id=one), NotFoundFault)
    undone = await sleeper.mind("undo_consolidation", run_id=run)
    assert (one in undone["restored"], other in undone["restored"]) == (False, True)
    assert (await state(sleeper, one), await state(sleeper, other)) == ("forgotten", "live")
    await sleeper.mind("memory_restore", id=one)
    assert await state(sleeper, one) == "live"


async def test_the_history_of_a_memory_tells_what_runs_did_to_it_in_words(sleeper: Sleeper) -> None:
    survivor, absorbed = [await shelved(sleeper, AWNING, importance=part) for part in (0.9, 0.5)]
    trivial = await shelved(sleeper, SNEEZE, **SMALL)
    answer = await sleeper("light", namespace="shelf")
    run = answer["run_id"]
    salience = answer["pruned"][0]["salience"]
    assert f"absorbed {absorbed} (run {run})" in await history(sleeper, survivor)
    assert f"merged into {survivor}, similarity 1.000 (run {run})" in await history(sleeper, absorbed)
    (told,) = [what for what in await history(sleeper, trivial) if what.startswith("pruned")]
    assert told.startswith(f"pruned, salience {salience:.2f} (run {run}): importance 0.05, recency ")
    await sleeper.mind("memory_restore", id=trivial)
    assert (await history(sleeper, trivial))[-1] == "restored"
    await sleeper.mind("undo_consolidation", run_id=run)
    for memory in (survivor, absorbed):
        assert (await history(sleeper, memory))[-1] == f"what run {run} did to it was undone"
    assert (await history(sleeper, trivial))[-1] == "restored", "it was back already"
