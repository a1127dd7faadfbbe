from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest

from events import vocabulary as ev
from events.vocabulary.values import WIDTH
from projections.memories.catalog import Catalog
from projections.projection import MemoryState
from projections.registry import StoreProjections
from tests.events.samples import NOON, stored
from tests.projections.dumping import through_bytes
from tests.projections.history import folded, history, memory_id, passage, read_later
from tests.projections.sleeps import RUNS, erased, forgotten, merged, pruned, restored, undone

ONE, TWO, THREE = memory_id(1), memory_id(2), memory_id(3)
TIDE, MOON = stored("The tide is high."), stored("The moon is full.", namespace="sky", passages=(passage(1, 0, 8),))


def test_a_stored_memory_can_be_read():
    catalog = folded(Catalog(), history(TIDE, MOON))
    entry = catalog.get(TWO)
    assert entry.body is not None
    assert entry.body.text == "The moon is full."
    assert entry.body.namespace == "sky"
    assert entry.body.passages == ((0, 8),)
    assert entry.body.created_at == NOON
    assert (entry.seq, entry.stored_at) == (2, NOON + timedelta(minutes=2))
    assert (entry.state, entry.access_count, entry.events) == (MemoryState.LIVE, 0, (2,))
    assert catalog.namespaces().total() == 2
    assert TWO in catalog
    assert THREE not in catalog


def test_what_a_memory_superseded_is_listed_alike_before_and_after_a_restart():
    def took(memory: UUID, by: UUID) -> ev.MemorySuperseded:
        return ev.MemorySuperseded(memory=memory, by=by, rule=ev.memories.STATED)

    four = memory_id(4)
    events = (took(ONE, by=four), took(TWO, by=THREE), took(ONE, by=THREE))
    store = StoreProjections(catalog=folded(Catalog(), history(TIDE, MOON, TIDE, TIDE, *events)))
    reloaded = through_bytes(store)
    assert isinstance(reloaded, StoreProjections)
    assert store.catalog.get(THREE).supersedes == reloaded.catalog.get(THREE).supersedes == (ONE, TWO)


def test_the_same_content_is_found_again_in_its_namespace_alone():
    catalog = folded(Catalog(), history(TIDE, MOON, TIDE))
    assert list(catalog.by_sha(TIDE.sha256, "default")) == [ONE, THREE]
    assert list(catalog.by_sha(TIDE.sha256, "sky")) == []


def test_recalls_and_links_are_counted_and_dated():
    linked = ev.MemoriesLinked(source=ONE, targets=(TWO,), relation="related", weight=1.0)
    catalog = folded(
        Catalog(), history(TIDE, MOON, linked, *[ev.MemoryRecalled(memories=(TWO, ONE), query_sha256=b"")] * 2)
    )
    entry = catalog.get(ONE)
    assert (entry.access_count, entry.last_accessed) == (2, NOON + timedelta(minutes=5))
    assert entry.events == (1, 3, 4, 5)
    assert catalog.get(TWO).events == (2, 3, 4, 5)


def test_a_forgotten_memory_is_no_duplicate_until_it_is_restored():
    log = history(
        TIDE,
        MOON,
        ev.MemoryForgotten(memory=ONE, reason="outdated"),
        ev.MemoryForgotten(memory=ONE),
        ev.MemoryRestored(memory=ONE),
    )
    forgotten = folded(Catalog(), log[:4])
    entry = forgotten.get(ONE)
    assert (entry.state, entry.reason, entry.state_since) == (MemoryState.FORGOTTEN, "outdated", log[2].at)
    assert entry.body is not None
    assert list(forgotten.by_sha(TIDE.sha256, "default")) == []
    assert forgotten.namespaces().total() == 1
    restored = folded(Catalog(), log)
    assert restored.get(ONE).state is MemoryState.LIVE
    assert list(restored.by_sha(TIDE.sha256, "default")) == [ONE]
    assert restored.namespaces().total() == 2


@pytest.mark.parametrize("before", [(), (ev.MemoryForgotten(memory=ONE),)])
def test_an_erased_memory_keeps_only_its_events_and_stays_erased(before: tuple):
    events = (TIDE, MOON, *before, ev.MemoryErased(memory=ONE, reason="asked"), ev.MemoryRestored(memory=ONE))
    catalog = folded(Catalog(), history(*events))
    entry = catalog.get(ONE)
    assert (entry.state, entry.body, entry.reason) == (MemoryState.ERASED, None, "asked")
    assert entry.events[-2:] == (len(events) - 1, len(events))
    assert list(catalog.by_sha(TIDE.sha256, "default")) == []
    assert catalog.namespaces().total() == 1


def test_an_event_about_an_unknown_memory_is_an_error():
    with pytest.raises(KeyError):
        folded(Catalog(), history(TIDE, ev.MemoryForgotten(memory=memory_id(9))))


def test_a_replay_gives_the_same_catalog_even_after_an_erasure():
    other: ev.MemoryStored = stored("Low tide.", metadata={"b": 1, "a": [2]})
    log = history(
        TIDE,
        other,
        ev.MemoriesLinked(source=ONE, targets=(TWO,), relation="related", weight=1.0),
        ev.MemoryRecalled(memories=(ONE, TWO), query_sha256=b"q"),
        ev.MemoryErased(memory=ONE),
        ev.MemoryRecalled(memories=(TWO,), query_sha256=b"q"),
    )
    assert folded(Catalog(), log).digest() == folded(Catalog(), log).digest()
    assert folded(Catalog(), read_later(log)).digest() == folded(Catalog(), log).digest()
    assert folded(Catalog(), log[:5]).digest() != folded(Catalog(), log).digest()


# ── purpose and workspace ───────────────────────────────────────────────────────────────────────────

GOAL = memory_id(4_711)


def realigned(**purposes: float) -> ev.PurposesRealigned:
    """Return the event that measures these memories anew, each the same in all spaces."""
    memories = {"one": ONE, "two": TWO, "three": THREE}
    rows = np.array([[alignment] * WIDTH for alignment in purposes.values()], "<f4")
    return ev.PurposesRealigned(goal=GOAL, memories=tuple(map(memories.__getitem__, purposes)), purposes=rows.tobytes())


def test_a_memory_has_the_purpose_that_was_measured_last():
    log = history(TIDE, MOON, realigned(one=0.25), realigned(two=0.5, one=0.75))
    before, between, after = (folded(Catalog(), log[:end]) for end in (2, 3, 4))
    assert before.get(ONE).purpose == TIDE.purpose
    assert between.get(ONE).purpose == (0.25,) * WIDTH
    assert between.get(TWO).purpose == MOON.purpose
    assert after.get(ONE).purpose == (0.75,) * WIDTH
    assert after.get(TWO).purpose == (0.5,) * WIDTH
    assert (after.get(ONE).events, after.get(TWO).events) == ((1, 3, 4), (2, 4))
    assert len({catalog.digest() for catalog in (before, between, after)}) == 3


def test_ignitions_and_fadings_are_events_of_that_memory_only():
    ignition, fading = ev.MemoryIgnited(memory=TWO, order=0.9), ev.MemoryFaded(memory=TWO, order=0.4)
    catalog = folded(
        Catalog(), history(TIDE, MOON, ignition, fading, ev.MemoryIgnited(memory=ONE, order=0.8, forced=True))
    )
    assert catalog.get(TWO).events == (2, 3, 4)
    assert catalog.get(ONE).events == (1, 5)
    assert catalog.get(TWO).access_count == 0
    with pytest.raises(KeyError):
        folded(Catalog(), history(TIDE, ev.MemoryIgnited(memory=TWO, order=0.9)))


def test_a_forgotten_memory_is_measured_too_and_keeps_that_when_it_is_restored():
    log = history(TIDE, ev.MemoryForgotten(memory=ONE), realigned(one=0.5), ev.MemoryRestored(memory=ONE))
    assert folded(Catalog(), log).get(ONE).purpose == (0.5,) * WIDTH


@pytest.mark.parametrize("measured", ["before", "after", "before and after"])
def test_an_erased_memory_has_no_purpose_live_or_replayed(measured: str):
    log = history(
        TIDE,
        MOON,
        *([realigned(one=0.5, two=0.25)] if "before" in measured else []),
        ev.MemoryIgnited(memory=ONE, order=0.9),
        ev.MemoryErased(memory=ONE),
        ev.MemoryFaded(memory=ONE, order=0.1),
        *([realigned(one=0.75, two=0.5)] if "after" in measured else []),
    )
    live, later = folded(Catalog(), log), folded(Catalog(), read_later(log))
    assert live.digest() == later.digest()
    assert live.get(ONE).purpose == ()
    assert live.get(ONE).state is MemoryState.ERASED
    assert live.get(ONE).events == tuple(seq for seq in range(1, len(log) + 1) if seq != 2)
    assert live.get(TWO).purpose == ((0.5 if "after" in measured else 0.25),) * WIDTH


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────

FIRST, SECOND, *_ = RUNS
LOW = stored("Low tide.", tags=("low", "sea"))
HIGH = stored("High tide.", tags=("sea", "high"))
SPRING = stored("Spring tide.", tags=("spring",))


def recalled(memory: object) -> ev.MemoryRecalled:
    return ev.MemoryRecalled(memories=(memory,), query_sha256=b"")


def test_a_survivor_has_the_tags_accesses_and_ids_of_what_it_absorbed():
    log = history(
        LOW, HIGH, SPRING, recalled(TWO), recalled(THREE), merged(FIRST, ONE, THREE, TWO), recalled(ONE), recalled(TWO)
    )
    catalog = folded(Catalog(), log)
    entry = catalog.get(ONE)
    assert entry.body is not None
    assert entry.body.tags == ("low", "sea", "high", "spring")
    assert (entry.access_count, entry.last_accessed, entry.lineage) == (4, log[-1].at, (TWO, THREE))
    assert entry.events == (1, 6, 7)
    absorbed = catalog.get(TWO)
    assert (absorbed.state, absorbed.run, absorbed.merged_into) == (MemoryState.MERGED, FIRST, ONE)
    assert (absorbed.reason, absorbed.state_since) == (f"merged into {ONE}", log[5].at)
    assert (absorbed.access_count, absorbed.lineage, absorbed.events) == (2, (), (2, 4, 6, 8))
    assert catalog.resolve(TWO) == catalog.resolve(ONE) == entry
    assert list(catalog.by_sha(HIGH.sha256, "default")) == []
    assert (catalog.namespaces().total(), catalog.namespaces()["default"]) == (1, 1)


def test_undoing_a_merge_restores_the_entries_except_for_event_numbers():
    merge = (LOW, HIGH, SPRING, recalled(TWO), merged(FIRST, TWO, THREE), merged(SECOND, ONE, TWO))
    chain = folded(Catalog(), history(*merge))
    assert chain.get(ONE).lineage == (TWO, THREE)
    assert chain.resolve(THREE).id == ONE
    freed = folded(Catalog(), history(*merge, undone(FIRST)))
    assert (freed.get(ONE).lineage, freed.resolve(THREE).id) == ((TWO,), THREE)
    assert freed.get(THREE).events == (3, 5, 7)
    assert freed.get(TWO).events == (2, 4, 5, 6, 7)
    assert freed.get(ONE).events == (1, 6)
    before, after = (
        folded(Catalog(), history(*merge[:4])),
        folded(Catalog(), history(*merge, undone(FIRST), undone(SECOND))),
    )
    for memory in (ONE, TWO, THREE):
        entry = after.get(memory)
        assert (entry.body, entry.access_count, entry.reason) == (
            before.get(memory).body,
            before.get(memory).access_count,
            None,
        )
        assert (entry.state, entry.run, entry.merged_into, entry.lineage) == (MemoryState.LIVE, None, None, ())
    assert after.namespaces().total() == 3


def test_a_pruned_memory_has_a_reason_and_can_be_restored():
    log = history(LOW, HIGH, pruned(FIRST, ONE), restored(ONE))
    entry = folded(Catalog(), log[:3]).get(ONE)
    assert (entry.state, entry.reason, entry.run) == (MemoryState.PRUNED, "pruned: salience 0.21", FIRST)
    assert list(folded(Catalog(), log[:3]).by_sha(LOW.sha256, "default")) == []
    back = folded(Catalog(), log).get(ONE)
    assert (back.state, back.reason, back.run, back.events) == (MemoryState.LIVE, None, None, (1, 3, 4))


def test_every_memory_is_counted_in_its_state():
    catalog = folded(
        Catalog(),
        history(
            *[LOW] * 6, pruned(FIRST, ONE), merged(FIRST, TWO, THREE), forgotten(memory_id(4)), erased(memory_id(5))
        ),
    )
    assert catalog.states() == {
        MemoryState.PRUNED: 1,
        MemoryState.LIVE: 2,
        MemoryState.MERGED: 1,
        MemoryState.FORGOTTEN: 1,
        MemoryState.ERASED: 1,
    }
    assert catalog.namespaces().total() == 2


def test_an_erased_survivor_takes_none_of_what_it_absorbed_with_it():
    log = history(LOW, HIGH, SPRING, merged(FIRST, ONE, TWO, THREE), erased(THREE), erased(ONE))
    catalog = folded(Catalog(), log)
    entry = catalog.get(TWO)
    assert (entry.state, entry.reason, entry.merged_into, entry.events) == (MemoryState.LIVE, None, None, (2, 4, 6))
    assert catalog.namespaces().total() == 1
    assert folded(Catalog(), read_later(log)).digest() == catalog.digest()


def test_a_replay_is_part_of_a_life_and_a_cluster_is_not():
    log = history(LOW, ev.MemoriesReplayed(run=FIRST, memories=(ONE,)))
    assert folded(Catalog(), log).get(ONE).events == (1, 2)
    clusters = ev.ClustersFormed(run=FIRST, namespace="default", clusters=())
    assert folded(Catalog(), history(LOW, clusters)).digest() == folded(Catalog(), history(LOW)).digest()
