from events.vocabulary import GoalDiscovered, GoalLevel, LinksTraversed, MemoriesLinked, MemoryErased, Step
from projections.links import CONFIDENCE, Link, Links, RelationKind, kind_of
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
CAUSED, TURN = Step(THREE, TWO, "causes"), Step(ONE, TWO, "next")


def goal(members: dict, number: int = 9) -> GoalDiscovered:
    """A goal with these members and how central each is."""
    return GoalDiscovered(
        goal=memory_id(number),
        namespace="home",
        level=GoalLevel.TACTICAL,
        description="harbour, tide",
        terms=("harbour", "tide"),
        members=tuple(members),
        centrality=tuple(members.values()),
        coherence=0.8,
        confidence=0.7,
        spaces=("e1_semantic",),
    )


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


def test_a_goal_draws_an_edge_from_each_other_member_to_the_most_central_one():
    links = links_of(history(SAMPLE, SAMPLE, SAMPLE, goal({TWO: 0.9, ONE: 0.7, THREE: 0.6})))
    assert links.incoming(TWO) == (Link(ONE, TWO, "cluster", 0.7), Link(THREE, TWO, "cluster", 0.6))
    assert links.outgoing(TWO) == ()


def test_of_two_discoveries_of_a_goal_the_later_edge_holds():
    links = links_of(history(SAMPLE, SAMPLE, goal({TWO: 0.9, ONE: 0.7}), goal({TWO: 0.9, ONE: 0.5}, number=10)))
    assert links.outgoing(ONE) == (Link(ONE, TWO, "cluster", 0.5),)


def test_a_goal_of_one_memory_draws_no_edge():
    links = links_of(history(SAMPLE, goal({ONE: 1.0})))
    assert links.outgoing(ONE) == links.incoming(ONE) == ()


def test_an_erased_member_leaves_no_edge_of_its_goal_behind():
    events = (SAMPLE, SAMPLE, SAMPLE, goal({TWO: 0.9, ONE: 0.7, THREE: 0.6}))
    log = history(*events, MemoryErased(memory=ONE))
    links = links_of(log)
    assert links.incoming(TWO) == (Link(THREE, TWO, "cluster", 0.6),)
    assert links_of(read_later(log)).digest() == links.digest()
    assert links_of(history(*events, MemoryErased(memory=TWO))).outgoing(THREE) == ()


def test_nothing_is_drawn_to_a_memory_that_was_erased_meanwhile():
    late = (goal({ONE: 0.9, TWO: 0.8}), MemoriesLinked(source=TWO, targets=(ONE,), relation="link_to", weight=1.0))
    links = links_of(history(SAMPLE, SAMPLE, MemoryErased(memory=ONE), *late))
    assert links.outgoing(TWO) == links.incoming(ONE) == ()


def test_each_time_that_an_edge_is_walked_counts():
    log = [*(envelope.event for envelope in LOG), LinksTraversed(steps=(CAUSED, TURN)), LinksTraversed(steps=(CAUSED,))]
    links = links_of(history(*log))
    assert links.outgoing(THREE) == (Link(THREE, TWO, "causes", 0.8, traversals=2),)
    assert links.incoming(TWO)[1].traversals == 2
    assert links.outgoing(ONE)[0].traversals == 0
    assert links.digest() != links_of(LOG).digest()


def test_a_step_between_turns_counts_though_no_edge_is_stored_for_it():
    links = links_of(history(SAMPLE, SAMPLE, LinksTraversed(steps=(TURN,))))
    assert links.traversals(TURN) == 1
    assert links.traversals(CAUSED) == 0
    assert links.outgoing(ONE) == ()


def test_an_edge_that_is_drawn_again_keeps_its_count():
    drawn = MemoriesLinked(source=THREE, targets=(TWO,), relation="causes", weight=0.8)
    again = MemoriesLinked(source=THREE, targets=(TWO,), relation="causes", weight=0.6)
    links = links_of(history(SAMPLE, SAMPLE, SAMPLE, drawn, LinksTraversed(steps=(CAUSED,)), again))
    assert links.outgoing(THREE) == (Link(THREE, TWO, "causes", 0.6, traversals=1),)


def test_steps_to_an_erased_memory_are_neither_kept_nor_counted_again():
    walked = LinksTraversed(steps=(CAUSED, TURN))
    log = history(SAMPLE, SAMPLE, SAMPLE, walked, MemoryErased(memory=ONE), walked)
    links = links_of(log)
    assert links.traversals(TURN) == 0
    assert links.traversals(CAUSED) == 2
    assert links_of(read_later(log)).digest() == links.digest()


def test_a_relation_of_an_unknown_name_is_semantic():
    assert [kind_of(relation) for relation in ("link_to", "cluster", "supports")] == [RelationKind.SEMANTIC] * 3
    assert kind_of("causes") is RelationKind.CAUSAL
    assert kind_of("next") is RelationKind.TEMPORAL
