import msgspec

from events import vocabulary as ev
from events.vocabulary.causes import CausalLink
from events.vocabulary.values import GoalLevel, Shortcut, Step, Strengthened
from projections.graph.links import Links
from projections.graph.relations import CONFIDENCE, Link, RelationKind, relation_kind
from tests.events.samples import stored
from tests.projections.history import folded, history, memory_id, read_later
from tests.projections.sleeps import RUNS, erased, formed, group, linked, merged, undone

ONE, TWO, THREE = memory_id(1), memory_id(2), memory_id(3)
SAMPLE = stored()
LOG = history(
    SAMPLE,
    SAMPLE,
    SAMPLE,
    ev.MemoriesLinked(source=ONE, targets=(TWO, THREE), relation="supports", weight=0.4),
    ev.MemoriesLinked(source=THREE, targets=(TWO,), relation="causes", weight=0.8),
    ev.MemoriesLinked(source=ONE, targets=(TWO,), relation="supports", weight=0.9),
)
ERASED = [*LOG, *history(*(envelope.event for envelope in LOG), ev.MemoryErased(memory=ONE))[-1:]]
CAUSED, TURN = Step(THREE, TWO, "causes"), Step(ONE, TWO, "next")


def goal(members: dict, number: int = 9) -> ev.GoalDiscovered:
    """A goal with these members and how central each is."""
    return ev.GoalDiscovered(
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


def test_an_edge_is_found_from_both_ends():
    links = folded(Links(), LOG)
    strong = Link(ONE, TWO, "supports", 0.9)
    cause = Link(THREE, TWO, "causes", 0.8)
    assert links.outgoing(ONE) == (strong, Link(ONE, THREE, "supports", 0.4))
    assert links.incoming(TWO) == (strong, cause)
    assert links.outgoing(THREE) == (cause,)
    assert links.outgoing(TWO) == ()
    assert cause.confidence == CONFIDENCE


def test_edges_from_causes_to_effects_carry_their_evidence_until_their_run_is_undone():
    found = CausalLink(ONE, TWO, "because", 0.7, TWO, (8, 20), (22, 40))
    again = CausalLink(ONE, TWO, "so", 0.6, ONE, (0, 9), (13, 30))
    first, second = RUNS[:2]
    log = [
        ev.CausesLinked(run=first, examined=(ONE, TWO), links=(found,)),
        ev.CausesLinked(run=second, examined=(), links=(again,)),
    ]
    both = folded(Links(), history(SAMPLE, SAMPLE, SAMPLE, *log))
    assert both.outgoing(ONE) == (Link(ONE, TWO, "causes", 0.6, evidence=again, run=second),)
    after = folded(Links(), history(SAMPLE, SAMPLE, SAMPLE, *log, undone(second)))
    assert after.incoming(TWO) == (Link(ONE, TWO, "causes", 0.7, evidence=found, run=first),)
    assert folded(Links(), history(SAMPLE, SAMPLE, SAMPLE, *log, undone(second), undone(first))).incoming(TWO) == ()


def test_erasing_an_end_erases_the_edge():
    links = folded(Links(), ERASED)
    assert links.outgoing(ONE) == ()
    assert links.incoming(THREE) == ()
    assert links.incoming(TWO) == (Link(THREE, TWO, "causes", 0.8),)


def test_a_replay_gives_the_same_edges_even_after_an_erasure():
    assert folded(Links(), LOG).digest() == folded(Links(), LOG).digest()
    assert folded(Links(), read_later(ERASED)).digest() == folded(Links(), ERASED).digest()
    assert folded(Links(), ERASED).digest() != folded(Links(), LOG).digest()


def test_a_goal_draws_an_edge_from_each_other_member_to_the_most_central_one():
    links = folded(Links(), history(SAMPLE, SAMPLE, SAMPLE, goal({TWO: 0.9, ONE: 0.7, THREE: 0.6})))
    assert links.incoming(TWO) == (Link(ONE, TWO, "cluster", 0.7), Link(THREE, TWO, "cluster", 0.6))
    assert links.outgoing(TWO) == ()


def test_a_later_discovery_of_a_goal_replaces_its_edge():
    links = folded(Links(), history(SAMPLE, SAMPLE, goal({TWO: 0.9, ONE: 0.7}), goal({TWO: 0.9, ONE: 0.5}, number=10)))
    assert links.outgoing(ONE) == (Link(ONE, TWO, "cluster", 0.5),)


def test_a_goal_of_one_memory_draws_no_edge():
    links = folded(Links(), history(SAMPLE, goal({ONE: 1.0})))
    assert links.outgoing(ONE) == links.incoming(ONE) == ()


def test_an_erased_member_leaves_no_edge_of_its_goal_behind():
    events = (SAMPLE, SAMPLE, SAMPLE, goal({TWO: 0.9, ONE: 0.7, THREE: 0.6}))
    log = history(*events, ev.MemoryErased(memory=ONE))
    links = folded(Links(), log)
    assert links.incoming(TWO) == (Link(THREE, TWO, "cluster", 0.6),)
    assert folded(Links(), read_later(log)).digest() == links.digest()
    assert folded(Links(), history(*events, ev.MemoryErased(memory=TWO))).outgoing(THREE) == ()


def test_an_edge_to_an_erased_memory_is_not_added():
    late = (goal({ONE: 0.9, TWO: 0.8}), ev.MemoriesLinked(source=TWO, targets=(ONE,), relation="link_to", weight=1.0))
    links = folded(Links(), history(SAMPLE, SAMPLE, ev.MemoryErased(memory=ONE), *late))
    assert links.outgoing(TWO) == links.incoming(ONE) == ()


def test_every_traversal_of_an_edge_counts():
    log = [
        *(envelope.event for envelope in LOG),
        ev.LinksTraversed(steps=(CAUSED, TURN)),
        ev.LinksTraversed(steps=(CAUSED,)),
    ]
    links = folded(Links(), history(*log))
    assert links.outgoing(THREE) == (Link(THREE, TWO, "causes", 0.8, traversals=2),)
    assert links.incoming(TWO)[1].traversals == 2
    assert links.outgoing(ONE)[0].traversals == 0
    assert links.digest() != folded(Links(), LOG).digest()


def test_a_step_between_turns_counts_though_no_edge_is_stored_for_it():
    links = folded(Links(), history(SAMPLE, SAMPLE, ev.LinksTraversed(steps=(TURN,))))
    assert links._traversals[TURN] == 1
    assert links._traversals[CAUSED] == 0
    assert links.outgoing(ONE) == ()


def test_an_edge_that_is_drawn_again_keeps_its_count():
    drawn = ev.MemoriesLinked(source=THREE, targets=(TWO,), relation="causes", weight=0.8)
    again = ev.MemoriesLinked(source=THREE, targets=(TWO,), relation="causes", weight=0.6)
    links = folded(Links(), history(SAMPLE, SAMPLE, SAMPLE, drawn, ev.LinksTraversed(steps=(CAUSED,)), again))
    assert links.outgoing(THREE) == (Link(THREE, TWO, "causes", 0.6, traversals=1),)


def test_steps_to_an_erased_memory_are_neither_kept_nor_counted_again():
    walked = ev.LinksTraversed(steps=(CAUSED, TURN))
    log = history(SAMPLE, SAMPLE, SAMPLE, walked, ev.MemoryErased(memory=ONE), walked)
    links = folded(Links(), log)
    assert links._traversals[TURN] == 0
    assert links._traversals[CAUSED] == 2
    assert folded(Links(), read_later(log)).digest() == links.digest()


def test_a_relation_of_an_unknown_name_is_semantic():
    assert [relation_kind(relation) for relation in ("link_to", "cluster", "supports")] == [RelationKind.SEMANTIC] * 3
    assert relation_kind("causes") is RelationKind.CAUSAL
    assert relation_kind("next") is RelationKind.TEMPORAL


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────

FIRST, SECOND, *_ = RUNS
FOUR = memory_id(4)


def woken(*events: ev.Event) -> Links:
    return folded(Links(), history(*[SAMPLE] * 4, *events))


def test_a_survivor_has_the_edges_of_what_it_absorbed_and_gives_them_back():
    drawn = (linked(ONE, THREE, 0.4), linked(TWO, THREE, 0.9), linked(TWO, ONE, 0.7), linked(FOUR, TWO, 0.3))
    merge = merged(FIRST, ONE, TWO)
    links = woken(*drawn, merge)
    assert links.outgoing(ONE) == links.outgoing(TWO) == (Link(ONE, THREE, "link_to", 0.9),)
    assert links.incoming(THREE) == (Link(ONE, THREE, "link_to", 0.9),)
    assert links.incoming(ONE) == links.incoming(TWO) == (Link(FOUR, ONE, "link_to", 0.3),)
    assert woken(*drawn, merge, undone(FIRST)).digest() == woken(*drawn).digest()
    assert woken(*drawn, merge, undone(FIRST)).outgoing(TWO) == woken(*drawn).outgoing(TWO)
    assert woken(*drawn, merge, erased(ONE)).outgoing(TWO) == (Link(TWO, THREE, "link_to", 0.9),)


def test_an_edge_resolves_to_the_last_survivor_and_sums_traversals():
    first, second = Step(FOUR, ONE, "link_to"), Step(FOUR, THREE, "link_to")
    links = woken(
        linked(FOUR, ONE, 0.4),
        ev.LinksTraversed(steps=(first,)),
        merged(FIRST, TWO, ONE),
        merged(SECOND, THREE, TWO),
        ev.LinksTraversed(steps=(second,)),
    )
    assert links.outgoing(FOUR) == links.incoming(ONE) == (Link(FOUR, THREE, "link_to", 0.4, traversals=2),)
    assert links.traversed_links() == links.outgoing(FOUR)


def test_current_clusters_add_spokes_to_their_most_central_member():
    former, latter = formed(FIRST, group(TWO, ONE, THREE)), formed(SECOND, group(THREE, ONE))
    links = woken(former)
    assert links.incoming(TWO) == (Link(ONE, TWO, "cluster", 0.85), Link(THREE, TWO, "cluster", 0.75))
    assert links.outgoing(ONE) == (Link(ONE, TWO, "cluster", 0.85),)
    assert links.outgoing(TWO) == ()
    assert woken(former, latter).incoming(TWO) == ()
    assert woken(former, latter).incoming(THREE) == (Link(ONE, THREE, "cluster", 0.85),)
    assert woken(former, latter, undone(SECOND)).digest() == links.digest()
    assert woken(former, erased(TWO)).outgoing(THREE) == (Link(THREE, ONE, "cluster", 0.75),)


def test_the_heavier_of_a_goals_and_a_clusters_spoke_is_valid():
    found = msgspec.structs.replace(goal({TWO: 0.9, ONE: 0.8, FOUR: 0.7}), run=FIRST)
    links = woken(found, formed(SECOND, group(TWO, ONE)))
    assert links.incoming(TWO) == (Link(ONE, TWO, "cluster", 0.85), Link(FOUR, TWO, "cluster", 0.7))
    assert woken(found, formed(SECOND, group(TWO, ONE)), undone(FIRST)).incoming(TWO) == (
        Link(ONE, TWO, "cluster", 0.85),
    )
    assert woken(found, formed(SECOND, group(TWO, ONE)), undone(SECOND)).outgoing(ONE) == (
        Link(ONE, TWO, "cluster", 0.8),
    )
    assert woken(found, undone(FIRST, ONE)).digest() == woken(found).digest()


def test_undoing_a_goal_leaves_the_spoke_that_was_drawn_before_it():
    first, second = goal({TWO: 0.9, ONE: 0.8}), goal({TWO: 0.9, ONE: 0.5}, number=10)
    second = msgspec.structs.replace(second, run=FIRST)
    assert woken(first, second).outgoing(ONE) == (Link(ONE, TWO, "cluster", 0.5),)
    assert woken(first, second, undone(FIRST)).digest() == woken(first).digest()


def strengthened(run: object, step: Step, weight: float, confidence: float = 0.9) -> ev.LinksStrengthened:
    return ev.LinksStrengthened(run=run, links=(Strengthened(step, weight, confidence),))


def test_an_edge_has_the_weight_of_the_latest_run_that_is_not_undone():
    drawn, step = linked(ONE, TWO, 0.4), Step(ONE, TWO, "link_to")
    runs = (drawn, strengthened(FIRST, step, 0.6), strengthened(SECOND, step, 0.7, 0.95))
    assert woken(*runs).outgoing(ONE) == woken(*runs).incoming(TWO) == (Link(ONE, TWO, "link_to", 0.7, 0.95),)
    assert woken(*runs, undone(SECOND)).outgoing(ONE) == (Link(ONE, TWO, "link_to", 0.6, 0.9),)
    assert woken(*runs, undone(FIRST)).outgoing(ONE) == (Link(ONE, TWO, "link_to", 0.7, 0.95),)
    assert woken(*runs, undone(FIRST), undone(SECOND)).digest() == woken(drawn).digest()
    assert woken(strengthened(FIRST, step, 0.6)).outgoing(ONE) == ()


def test_a_merged_edge_can_be_strengthened():
    step = Step(ONE, THREE, "link_to")
    events = (linked(TWO, THREE, 0.4), merged(FIRST, ONE, TWO), strengthened(SECOND, step, 0.6))
    assert woken(*events).outgoing(ONE) == (Link(ONE, THREE, "link_to", 0.6, 0.9),)
    assert woken(*events, undone(FIRST)).outgoing(TWO) == (Link(TWO, THREE, "link_to", 0.4),)


def test_shortcuts_are_edges_of_their_kind_until_their_run_is_undone():
    step = Step(ONE, FOUR, "causal_shortcut")
    drawn = ev.ShortcutsDrawn(run=FIRST, shortcuts=(Shortcut(step, 0.3, 0.8, (TWO, THREE)),))
    assert woken(drawn).outgoing(ONE) == woken(drawn).incoming(FOUR) == (Link(ONE, FOUR, "causal_shortcut", 0.3, 0.8),)
    assert woken(drawn, undone(FIRST)).digest() == woken().digest()
    assert relation_kind("causal_shortcut") is RelationKind.CAUSAL
    assert relation_kind("shortcut") is RelationKind.SEMANTIC


def test_long_paths_are_counted_unless_they_contain_an_erased_memory():
    one, two, three = Step(ONE, TWO, "causes"), Step(TWO, THREE, "causes"), Step(THREE, FOUR, "causes")
    long, back = ev.LinksTraversed(steps=(one, two, three)), ev.LinksTraversed(steps=(three, two, one))
    events = (back, long, long, ev.LinksTraversed(steps=(one, two)))
    links = woken(*events)
    assert links.traversed_paths() == [((one, two, three), 2), ((three, two, one), 1)]
    assert links.digest() != woken(*events[1:]).digest()
    assert woken(*events, erased(TWO), long).traversed_paths() == []


def test_only_traversed_edges_are_candidates_for_strengthening():
    drawn = (linked(ONE, TWO), linked(TWO, THREE), formed(FIRST, group(FOUR, ONE)))
    walked = ev.LinksTraversed(steps=(Step(TWO, THREE, "link_to"), Step(ONE, FOUR, "cluster"), TURN))
    assert woken(*drawn, walked).traversed_links() == (
        Link(ONE, FOUR, "cluster", 0.85, traversals=1),
        Link(TWO, THREE, "link_to", 0.5, traversals=1),
    )


def test_no_edge_leads_from_a_memory_to_itself():
    assert woken(linked(ONE, ONE)).outgoing(ONE) == ()
