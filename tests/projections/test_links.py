from events.vocabulary import MemoriesLinked, MemoryErased
from projections.links import CONFIDENCE, Link, Links
from tests.events.samples import stored
from tests.projections.history import history, memory_id, read_later

ONE, TWO, THREE = memory_id(1), memory_id(2), memory_id(3)
SAMPLE = stored()
LOG = history(
    SAMPLE,
    SAMPLE,
    SAMPLE,
    MemoriesLinked(source=ONE, targets=(TWO, THREE), relation="supports", weight=0.4),
    MemoriesLinked(source=THREE, targets=(TWO,), relation="causes", weight=0.8),
    MemoriesLinked(source=ONE, targets=(TWO,), relation="supports", weight=0.9),
)
ERASED = [*LOG, *history(*(envelope.event for envelope in LOG), MemoryErased(memory=ONE))[-1:]]


def links_of(log: list) -> Links:
    links = Links()
    for envelope in log:
        links.apply(envelope)
    return links


def test_an_edge_is_found_from_both_ends():
    links = links_of(LOG)
    strong = Link(ONE, TWO, "supports", 0.9)
    cause = Link(THREE, TWO, "causes", 0.8)
    assert links.outgoing(ONE) == (strong, Link(ONE, THREE, "supports", 0.4))
    assert links.incoming(TWO) == (strong, cause)
    assert links.outgoing(THREE) == (cause,)
    assert links.outgoing(TWO) == ()
    assert cause.confidence == CONFIDENCE


def test_erasing_an_end_erases_the_edge():
    links = links_of(ERASED)
    assert links.outgoing(ONE) == ()
    assert links.incoming(THREE) == ()
    assert links.incoming(TWO) == (Link(THREE, TWO, "causes", 0.8),)


def test_a_replay_gives_the_same_edges_even_after_an_erasure():
    assert links_of(LOG).digest() == links_of(LOG).digest()
    assert links_of(read_later(ERASED)).digest() == links_of(ERASED).digest()
    assert links_of(ERASED).digest() != links_of(LOG).digest()
