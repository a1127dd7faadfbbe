"""E8 that follows connections: computed when it is read, from what holds then."""

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from events.fingerprint import Dense
from events.vocabulary import Event
from projections.atlas.atlas import Atlas
from projections.graph.connections import MOST, NARROW, RARE
from tests.events.samples import DIMENSIONS, stored
from tests.projections.history import folded, history, memory_id
from tests.projections.sleeps import COUNT, OF_A_LIFE, STORED, erased, linked, log_of

NAMES = ("albatross", "bergen", "mara lind")


def e8(atlas: Atlas, row: int) -> np.ndarray:
    embedding = atlas.embedding("e8_graph", row)
    assert isinstance(embedding, Dense)
    return embedding.levels


def atlas_of(*events: Event) -> Atlas:
    return folded(Atlas(DIMENSIONS, connected=True), history(*events))


named = st.lists(st.lists(st.sampled_from(NAMES), max_size=2, unique=True), min_size=COUNT, max_size=COUNT)
sessions = st.lists(st.sampled_from([None, "s", "t"]), min_size=COUNT, max_size=COUNT)
more_links = st.lists(st.tuples(st.integers(1, COUNT), st.integers(1, COUNT)), max_size=24)


@settings(max_examples=30)
@given(named, sessions, more_links, st.lists(OF_A_LIFE, min_size=4, max_size=24))
def test_e8_read_after_every_event_is_e8_read_at_last(
    names: list[list[str]], spoken: list[str | None], links: list[tuple[int, int]], events: list[Event]
):
    log = log_of(*(linked(memory_id(one), memory_id(other)) for one, other in links), *events)
    for place, (envelope, mentioned, session) in enumerate(zip(log[:COUNT], names, spoken, strict=True)):
        event = msgspec.structs.replace(STORED[place], names=tuple(mentioned), session=session)
        log[place] = msgspec.structs.replace(envelope, event=event)
    often, once = (Atlas(DIMENSIONS, connected=True) for _ in range(2))
    for envelope in log:
        often.apply(envelope)
        often.digest()
        once.apply(envelope)
    assert often.digest() == once.digest()


def test_a_busy_memory_connects_no_others_with_each_other_and_follows_its_latest_links():
    memories = [stored(f"memory {n}") for n in range(MOST + 2)]
    ids = [memory_id(n + 1) for n in range(MOST + 2)]
    few = atlas_of(*memories, *(linked(one, ids[0]) for one in ids[1 : NARROW + 1]))
    assert not np.array_equal(e8(few, 1), memories[0].fingerprint.take("e1_semantic", Dense).levels)
    many = atlas_of(*memories, *(linked(one, ids[0]) for one in ids[1:]))
    assert np.array_equal(e8(many, 1), memories[0].fingerprint.take("e1_semantic", Dense).levels)
    later = atlas_of(*memories, *(linked(one, ids[0]) for one in ids[2:]))
    assert np.array_equal(e8(many, 0), e8(later, 0)), "of more links than it follows, the first counts no more"


def test_a_name_that_becomes_common_connects_nothing_until_one_of_those_that_hold_it_is_erased():
    memories = [stored(f"memory {n}", names=("albatross",)) for n in range(RARE + 2)]
    rare, common = atlas_of(*memories[:-1]), atlas_of(*memories)
    assert e8(rare, 0).any()
    assert not e8(common, 0).any()
    again = atlas_of(*memories, erased(memory_id(RARE + 2)))
    assert np.array_equal(e8(again, 0), e8(rare, 0))
