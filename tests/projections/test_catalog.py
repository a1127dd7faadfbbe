from datetime import timedelta

import pytest

from events.vocabulary import (
    MemoriesLinked,
    MemoryErased,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
)
from projections.catalog import Catalog
from projections.projection import State
from tests.events.samples import NOON, stored
from tests.projections.history import history, memory_id, passage, read_later

ONE, TWO, THREE = memory_id(1), memory_id(2), memory_id(3)
TIDE, MOON = stored("The tide is high."), stored("The moon is full.", namespace="sky", passages=(passage(1, 0, 8),))


def catalog_of(log: list) -> Catalog:
    catalog = Catalog()
    for envelope in log:
        catalog.apply(envelope)
    return catalog


def test_a_stored_memory_can_be_read():
    catalog = catalog_of(history(TIDE, MOON))
    entry = catalog.get(TWO)
    assert entry.body is not None
    assert entry.body.text == "The moon is full."
    assert entry.body.namespace == "sky"
    assert entry.body.passages == ((0, 8),)
    assert entry.body.created_at == NOON
    assert (entry.seq, entry.stored_at) == (2, NOON + timedelta(minutes=2))
    assert (entry.state, entry.access_count, entry.events) == (State.LIVE, 0, (2,))
    assert catalog.count() == 2
    assert TWO in catalog
    assert THREE not in catalog


def test_the_same_content_is_found_again_in_its_namespace_alone():
    catalog = catalog_of(history(TIDE, MOON, TIDE))
    assert catalog.by_sha(TIDE.sha256, "default") == (ONE, THREE)
    assert catalog.by_sha(TIDE.sha256, "sky") == ()


def test_recalls_and_links_are_counted_and_dated():
    linked = MemoriesLinked(source=ONE, targets=(TWO,), relation="related", weight=1.0)
    catalog = catalog_of(history(TIDE, MOON, linked, *[MemoryRecalled(memories=(TWO, ONE), query_sha256=b"")] * 2))
    entry = catalog.get(ONE)
    assert (entry.access_count, entry.last_accessed) == (2, NOON + timedelta(minutes=5))
    assert entry.events == (1, 3, 4, 5)
    assert catalog.get(TWO).events == (2, 3, 4, 5)


def test_a_forgotten_memory_is_no_duplicate_until_it_is_restored():
    log = history(
        TIDE,
        MOON,
        MemoryForgotten(memory=ONE, reason="outdated"),
        MemoryForgotten(memory=ONE),
        MemoryRestored(memory=ONE),
    )
    forgotten = catalog_of(log[:4])
    entry = forgotten.get(ONE)
    assert (entry.state, entry.reason, entry.state_since) == (State.FORGOTTEN, "outdated", log[2].at)
    assert entry.body is not None
    assert forgotten.by_sha(TIDE.sha256, "default") == ()
    assert forgotten.count() == 1
    restored = catalog_of(log)
    assert restored.get(ONE).state is State.LIVE
    assert restored.by_sha(TIDE.sha256, "default") == (ONE,)
    assert restored.count() == 2


@pytest.mark.parametrize("before", [(), (MemoryForgotten(memory=ONE),)])
def test_an_erased_memory_is_known_by_its_events_alone_and_stays_erased(before: tuple):
    events = (TIDE, MOON, *before, MemoryErased(memory=ONE, reason="asked"), MemoryRestored(memory=ONE))
    catalog = catalog_of(history(*events))
    entry = catalog.get(ONE)
    assert (entry.state, entry.body, entry.reason) == (State.ERASED, None, "asked")
    assert entry.events[-2:] == (len(events) - 1, len(events))
    assert catalog.by_sha(TIDE.sha256, "default") == ()
    assert catalog.count() == 1


def test_an_event_about_an_unknown_memory_is_an_error():
    with pytest.raises(KeyError):
        catalog_of(history(TIDE, MemoryForgotten(memory=memory_id(9))))


def test_a_replay_gives_the_same_catalog_even_after_an_erasure():
    other: MemoryStored = stored("Low tide.", metadata={"b": 1, "a": [2]})
    log = history(
        TIDE,
        other,
        MemoriesLinked(source=ONE, targets=(TWO,), relation="related", weight=1.0),
        MemoryRecalled(memories=(ONE, TWO), query_sha256=b"q"),
        MemoryErased(memory=ONE),
        MemoryRecalled(memories=(TWO,), query_sha256=b"q"),
    )
    assert catalog_of(log).digest() == catalog_of(log).digest()
    assert catalog_of(read_later(log)).digest() == catalog_of(log).digest()
    assert catalog_of(log[:5]).digest() != catalog_of(log).digest()
