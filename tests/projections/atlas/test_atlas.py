"""The atlas as a fold: rows, states, purposes and clusters."""

from uuid import UUID

import msgspec
import numpy as np
import pytest

from events import vocabulary as ev
from events.spaces import SPACES
from events.vocabulary.values import WIDTH, SpaceModel
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.atlas.fingerprints import NULLABLE
from projections.projection import MemoryState
from tests.events.samples import DIMENSIONS
from tests.projections.atlas.atlases import MEMORIES, atlas_of, e1, found
from tests.projections.history import folded, history, memory_id, passage, read_later
from tests.projections.sleeps import RUNS, erased, formed, group, merged, pruned, undone


def test_rows_follow_arrival():
    atlas = atlas_of(*MEMORIES[:3])
    assert [atlas.row_of(memory_id(number)) for number in (1, 2, 3)] == [0, 1, 2]
    assert atlas.ids([2, 0]) == [memory_id(3), memory_id(1)]
    assert len(atlas) == 3
    with pytest.raises(KeyError):
        atlas.row_of(memory_id(4))


def test_a_forgotten_memory_is_not_found_until_it_is_restored():
    query = MEMORIES[4].fingerprint
    events = (*MEMORIES, ev.MemoryForgotten(memory=memory_id(5)), ev.MemoryForgotten(memory=memory_id(5)))
    forgotten, restored = atlas_of(*events), atlas_of(*events, ev.MemoryRestored(memory=memory_id(5)))
    before = atlas_of(*MEMORIES)
    for space in SPACES:
        assert 4 not in found(forgotten, space.key, query[space.key], count=30)
        assert found(restored, space.key, query[space.key], 30) == found(before, space.key, query[space.key], 30)
    assert forgotten.digest() != before.digest()
    assert restored.digest() == before.digest()


@pytest.mark.parametrize("before", [(), (ev.MemoryForgotten(memory=memory_id(4)),)])
def test_an_erased_memory_leaves_an_empty_row_however_late_the_log_is_replayed(before: tuple[ev.Event, ...]):
    long = msgspec.structs.replace(MEMORIES[3], passages=(passage(98, 0, 500),), tags=("t",), session="s")
    log = history(
        *MEMORIES[:3],
        long,
        *before,
        ev.MemoryErased(memory=memory_id(4)),
        ev.MemoryErased(memory=memory_id(4)),
        ev.MemoryRestored(memory=memory_id(4)),
        *MEMORIES[4:],
    )
    live, later = (folded(Atlas(DIMENSIONS), each) for each in (log, read_later(log)))
    assert live.digest() == later.digest()
    assert later.row_of(log[-1].id) == len(MEMORIES) - 1
    for atlas in (live, later):
        assert not atlas.facets.live[3]
        for space in SPACES:
            assert 3 not in found(atlas, space.key, long.fingerprint[space.key], count=30)
        assert 3 not in atlas.recall_prefix(e1(long), 30, atlas.facets.live)


def test_erased_content_is_overwritten_in_memory():
    atlas = atlas_of(MEMORIES[0], MEMORIES[1], ev.MemoryErased(memory=memory_id(1)))
    for space in SPACES:
        if space.key != "e9_hdc":  # where all-zero bits agree with half of any others
            (score,) = atlas.scores(space.key, MEMORIES[0].fingerprint[space.key], np.array([0]))
            assert score == 0 or (space.key in NULLABLE and np.isnan(score))


def test_two_replays_give_the_same_atlas():
    events = (*MEMORIES, ev.MemoryForgotten(memory=memory_id(2)))
    assert atlas_of(*events).digest() == atlas_of(*events).digest()
    assert atlas_of(*MEMORIES).digest() != atlas_of(*events).digest()
    assert atlas_of(*MEMORIES[:5]).digest() != atlas_of(*reversed(MEMORIES[:5])).digest()


def declaration(**dimensions: int) -> ev.SpacesDeclared:
    sizes = {**DIMENSIONS, **dimensions}
    return ev.SpacesDeclared(
        profile="test", spaces=tuple(SpaceModel(key, "random", "", size) for key, size in sizes.items())
    )


def test_an_atlas_takes_its_dimensions_from_the_declaration_and_refuses_others():
    atlas = folded(Atlas.of(declaration()), history(declaration(), *MEMORIES[:2]))
    assert found(atlas, "e7_code", MEMORIES[1].fingerprint["e7_code"], count=1) == [1]
    with pytest.raises(ValueError, match="other dimensions"):
        atlas.apply(history(declaration(e1_semantic=768))[0])


# ── purpose ─────────────────────────────────────────────────────────────────────────────────────────

GOAL = memory_id(4_711)


def realigned(purposes: dict[int, float], goal: UUID = GOAL) -> ev.PurposesRealigned:
    """Return the event that measures these rows anew, each the same in all spaces."""
    rows = np.array([[alignment] * WIDTH for alignment in purposes.values()], "<f4")
    memories = tuple(memory_id(row + 1) for row in purposes)
    return ev.PurposesRealigned(goal=goal, memories=memories, purposes=rows.tobytes())


def alignments(atlas: Atlas) -> list[float]:
    return atlas.purposes.alignments(np.arange(len(atlas))).tolist()


def test_purposes_are_those_that_were_measured_last():
    before = msgspec.structs.replace(MEMORIES[2], north_star=GOAL)
    atlas = atlas_of(*MEMORIES[:2], before, realigned({0: 0.25, 1: 0.5}), realigned({1: 0.75}, memory_id(9)))
    assert alignments(atlas) == pytest.approx([0.25, 0.75, float(np.mean(MEMORIES[2].purpose))])
    assert [atlas.purposes.goal(row) for row in range(3)] == [GOAL, memory_id(9), GOAL]


def test_a_realigned_memory_equals_one_stored_with_that_purpose():
    later = [msgspec.structs.replace(one, purpose=(0.5,) * WIDTH, north_star=GOAL) for one in MEMORIES[:3]]
    measured = atlas_of(*MEMORIES[:3], realigned({0: 0.5, 1: 0.5, 2: 0.5}))
    assert measured.digest() == atlas_of(*later).digest()
    assert measured.digest() != atlas_of(*MEMORIES[:3]).digest()
    assert measured.digest() != atlas_of(*later[:2], MEMORIES[2]).digest()


def test_a_forgotten_memory_is_realigned_too():
    events = (MEMORIES[0], ev.MemoryForgotten(memory=memory_id(1)), realigned({0: 0.5}))
    assert alignments(atlas_of(*events)) == [0.5]
    assert alignments(atlas_of(*events, ev.MemoryRestored(memory=memory_id(1)))) == [0.5]


@pytest.mark.parametrize("measured", ["before", "after", "before and after"])
def test_an_erased_memory_has_no_purpose_live_or_replayed(measured: str):
    log = history(
        *MEMORIES[:2],
        *([realigned({0: 0.25, 1: 0.25})] if "before" in measured else []),
        ev.MemoryErased(memory=memory_id(1)),
        *([realigned({0: 0.5, 1: 0.5})] if "after" in measured else []),
    )
    live, later = (folded(Atlas(DIMENSIONS), each) for each in (log, read_later(log)))
    assert live.digest() == later.digest()
    for atlas in (live, later):
        np.testing.assert_allclose(alignments(atlas), [np.nan, 0.5 if "after" in measured else 0.25])
        assert atlas.purposes.goal(0) is None
        assert np.isnan(atlas.purposes.at(0)).all()


def test_membership_is_having_a_row():
    atlas = atlas_of(*MEMORIES[:2], ev.MemoryErased(memory=memory_id(1)))
    assert memory_id(1) in atlas
    assert memory_id(2) in atlas
    assert memory_id(4) not in atlas


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────

FIRST, SECOND, *_ = RUNS
ONE, TWO, THREE, FOUR = (memory_id(number) for number in range(1, 5))


def tagged(atlas: Atlas, *tags: str) -> list[int]:
    return np.flatnonzero(atlas.facets.eligible(Filter(tags=tags))).tolist()


def test_memories_excluded_by_a_run_are_not_found_nor_counted_until_it_is_undone():
    stored_, query = MEMORIES[:4], MEMORIES[1].fingerprint
    before, slept = atlas_of(*stored_), atlas_of(*stored_, pruned(FIRST, TWO), merged(FIRST, THREE, FOUR))
    assert [slept.facets.state(row) for row in range(4)] == [
        MemoryState.LIVE,
        MemoryState.PRUNED,
        MemoryState.LIVE,
        MemoryState.MERGED,
    ]
    for space in SPACES:
        assert sorted(found(slept, space.key, query[space.key])) == [0, 2]
    few = atlas_of(MEMORIES[0], MEMORIES[2])
    rows = np.array([0, 2])
    asked = {space.key: query[space.key] for space in SPACES}
    for key in ("e6_sparse", "e11_entity", "e12_late_interaction"):
        here, there = slept.ranking_scores(key, asked, rows), few.ranking_scores(key, asked, np.arange(2))
        assert here.tobytes() == there.tobytes()
    back = atlas_of(*stored_, pruned(FIRST, TWO), merged(FIRST, THREE, FOUR), undone(FIRST))
    assert back.digest() == before.digest()


def test_a_survivor_is_found_by_the_tags_of_its_chain_until_that_is_undone():
    told = [msgspec.structs.replace(one, tags=(tag,)) for one, tag in zip(MEMORIES, "abc", strict=False)]
    chain = (*told, merged(FIRST, TWO, ONE), merged(SECOND, THREE, TWO))
    atlas = atlas_of(*chain)
    assert [atlas.survivor(memory) for memory in (ONE, TWO, THREE)] == [THREE] * 3
    assert tagged(atlas, "a", "b", "c") == [2]
    assert tagged(atlas_of(*chain, undone(FIRST)), "a") == [0]
    assert tagged(atlas_of(*chain, undone(FIRST)), "b", "c") == [2]
    without = atlas_of(*chain, erased(TWO))
    assert (tagged(without, "a"), tagged(without, "b"), tagged(without, "c")) == ([0], [], [2])
    assert without.survivor(ONE) == ONE


def test_only_the_latest_clusters_that_are_not_undone_are_current():
    former, latter = formed(FIRST, group(ONE, TWO)), formed(SECOND, group(THREE, FOUR))
    stored_ = MEMORIES[:4]
    assert atlas_of(*stored_, former, latter, undone(SECOND)).digest() == atlas_of(*stored_, former).digest()
    assert atlas_of(*stored_, former, latter, undone(FIRST)).digest() == atlas_of(*stored_, latter).digest()
    assert atlas_of(*stored_, former, undone(FIRST, ONE)).digest() == atlas_of(*stored_, former).digest()
    assert atlas_of(*stored_, former, undone(FIRST)).digest() == atlas_of(*stored_).digest()


def test_a_context_stays_as_it_was_stored_whatever_clusters_form():
    atlas = atlas_of(*MEMORIES[:3], formed(FIRST, group(TWO, ONE, THREE)))
    for row, memory in enumerate(MEMORIES[:3]):
        assert atlas.embedding("e8_graph", row) == memory.fingerprint["e8_graph"]
