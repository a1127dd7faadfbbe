from typing import Any
from uuid import UUID

import msgspec
import pytest

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import WIDTH, DriftLevel, GoalLevel
from projections.mind.goals import EXEMPLARS, MAX_DRIFTS, DriftRecord, Goals, NorthStars
from tests.events.samples import stored
from tests.projections.history import folded, history, memory_id, read_later
from tests.projections.sleeps import GOALS, RUNS, adjusted, merged, pruned, undone

SAMPLE = stored()
MEMORIES = 12
TIDES, MOONS, BOATS = (UUID(int=number) for number in (901, 902, 903))


def goal(identity: UUID, *members: int, **fields: Any) -> ev.GoalDiscovered:
    told: dict[str, Any] = {
        "goal": identity,
        "namespace": "default",
        "level": GoalLevel.TACTICAL,
        "description": "tides and moons",
        "terms": ("tide", "moon"),
        "members": tuple(memory_id(number) for number in members),
        "centrality": tuple(1 / (1 + place) for place in range(len(members))),
        "coherence": 0.8,
        "confidence": 0.7,
        "spaces": ("e1_semantic",),
        **fields,
    }
    return ev.GoalDiscovered(**told)


def choose(identity: UUID, previous: UUID | None = None, namespace: str = "default") -> ev.NorthStarChosen:
    return ev.NorthStarChosen(namespace=namespace, goal=identity, previous=previous)


def forget(number: int) -> ev.MemoryForgotten:
    return ev.MemoryForgotten(memory=memory_id(number))


def restore(number: int) -> ev.MemoryRestored:
    return ev.MemoryRestored(memory=memory_id(number))


def erase(number: int) -> ev.MemoryErased:
    return ev.MemoryErased(memory=memory_id(number))


def log_of(*requests: tuple[ev.Event, ...] | ev.Event) -> list[Envelope]:
    """Wrap twelve memories and then these requests, each of one event or of several with the same correlation id."""
    events, correlations = [SAMPLE] * MEMORIES, [UUID(int=1)] * MEMORIES
    for number, request in enumerate(requests, start=2):
        together = request if isinstance(request, tuple) else (request,)
        events += together
        correlations += [UUID(int=number)] * len(together)
    return [
        msgspec.structs.replace(envelope, correlation_id=correlation)
        for envelope, correlation in zip(history(*events), correlations, strict=True)
    ]


def after(*requests: tuple[ev.Event, ...] | ev.Event) -> Goals:
    return folded(Goals(), log_of(*requests))


def ids(goals: Goals, namespace: str = "default") -> list[UUID]:
    return [found.goal for found in goals.current(namespace)]


def numbers(goals: Goals, identity: UUID, count: int = EXEMPLARS) -> list[int]:
    return [member.int for member in goals.exemplars(identity, count)]


def without_words(log: list[Envelope], *identities: UUID) -> list[Envelope]:
    """Return what a reader of the log gets once these goals are shredded."""
    shredded = ev.Shredded(kind="goal_discovered.1")
    return [
        msgspec.structs.replace(envelope, event=shredded)
        if isinstance(envelope.event, ev.GoalDiscovered) and envelope.event.goal in identities
        else envelope
        for envelope in log
    ]


def test_before_any_discovery_there_are_no_goals_and_no_star():
    goals = after()
    assert (goals.current("default"), goals.north_star("default")) == ((), None)
    assert (goals.get(TIDES), goals.exemplars(TIDES)) == (None, ())


def test_the_goals_of_a_discovery_are_current_until_the_next_one():
    first = (goal(TIDES, 1, 2), goal(MOONS, 3, 4))
    goals = after(first)
    assert goals.current("default") == first
    goals = after(first, goal(BOATS, 5, 6))
    assert ids(goals) == [BOATS]
    assert goals.get(TIDES) == first[0]


def test_each_namespace_has_goals_and_a_star_of_its_own():
    goals = after((goal(TIDES, 1), choose(TIDES)), goal(MOONS, 2, namespace="work"))
    assert (ids(goals), ids(goals, "work")) == ([TIDES], [MOONS])
    assert goals.north_star("default") == goal(TIDES, 1)
    assert goals.north_star("work") is None


def test_the_star_outlives_the_discovery_that_found_it():
    goals = after((goal(TIDES, 1), goal(MOONS, 2), choose(TIDES)), goal(BOATS, 3))
    assert ids(goals) == [TIDES, BOATS]


def test_the_latest_choice_is_the_star():
    found = (goal(TIDES, 1), goal(MOONS, 2))
    assert after(found, choose(TIDES)).north_star("default") == found[0]
    assert after(found, choose(TIDES), choose(MOONS, TIDES)).north_star("default") == found[1]


def test_exemplars_are_the_most_central_live_members():
    every = goal(TIDES, *range(12, 0, -1))
    assert numbers(after(every), TIDES) == [12, 11, 10, 9, 8, 7, 6, 5]
    assert numbers(after(every, forget(11), erase(12)), TIDES, 3) == [10, 9, 8]
    assert numbers(after(every, forget(11), erase(12), restore(11), restore(12)), TIDES, 3) == [11, 10, 9]


@pytest.mark.parametrize("gone", [forget, erase])
def test_a_north_star_without_live_members_is_none(gone: Any):
    goals = after((goal(TIDES, 1, 2), choose(TIDES)), gone(1))
    assert goals.north_star("default") is not None
    goals = after((goal(TIDES, 1, 2), choose(TIDES)), gone(1), gone(2))
    assert goals.north_star("default") is None


def test_a_star_comes_back_with_its_members():
    goals = after((goal(TIDES, 1), choose(TIDES)), forget(1), restore(1))
    assert goals.north_star("default") == goal(TIDES, 1)


def test_an_erased_member_leaves_no_trace_in_goals():
    goals = after((goal(TIDES, 1, 2, 3), goal(MOONS, 1)), erase(1))
    left = goals.get(TIDES)
    assert left is not None
    assert (left.members, left.centrality) == ((memory_id(2), memory_id(3)), (1 / 2, 1 / 3))
    assert goals.get(MOONS) is None
    assert ids(goals) == [TIDES]


def test_a_member_that_was_erased_before_its_goal_was_written_down_never_appears():
    assert numbers(after(erase(1), goal(TIDES, 1, 2)), TIDES) == [2]


def test_a_choice_of_a_goal_that_cannot_be_read_means_no_star():
    log = log_of((goal(TIDES, 1), goal(MOONS, 2), choose(MOONS)))
    goals = folded(Goals(), without_words(log, MOONS))
    assert goals.north_star("default") is None
    assert ids(goals) == [TIDES]


def drift(similarity: float, namespace: str = "default") -> ev.DriftDetected:
    return ev.DriftDetected(
        namespace=namespace,
        goal=TIDES,
        level=DriftLevel.LOW,
        similarity=similarity,
        spaces=(similarity,) * WIDTH,
        memories=20,
    )


def test_the_latest_findings_of_drift_are_kept_with_their_times():
    events = [drift(number / 200) for number in range(MAX_DRIFTS + 5)]
    log = log_of(*events, drift(0.9, "work"))
    found = folded(Goals(), log).drifts("default")
    assert found == tuple(DriftRecord(envelope.at, envelope.event) for envelope in log[-MAX_DRIFTS - 1 : -1])
    assert [one.drift.similarity for one in folded(Goals(), log).drifts("work")] == [0.9]


LIFE = (
    (goal(TIDES, 1, 2, 3), goal(MOONS, 4, 5), choose(TIDES)),
    drift(0.6),
    forget(2),
    forget(6),
    erase(1),
    (goal(BOATS, 6, 7), choose(BOATS, TIDES)),
)


@pytest.mark.parametrize(
    ("departures", "shredded"),
    [
        ((erase(4), erase(2), restore(2)), ()),
        ((forget(4), erase(4), erase(5)), (MOONS,)),
        ((erase(7), erase(6)), (BOATS,)),
        ((erase(3), erase(2), erase(4), erase(5)), (TIDES, MOONS)),
    ],
)
def test_a_replay_after_erasures_gives_the_same_goals(departures: tuple[ev.Event, ...], shredded: tuple[UUID, ...]):
    log = log_of(*LIFE, *departures)
    later = read_later(log)
    assert (
        folded(Goals(), log).digest()
        == folded(Goals(), later).digest()
        == folded(Goals(), without_words(later, *shredded)).digest()
    )
    assert folded(Goals(), log).current("default") == folded(Goals(), without_words(later, *shredded)).current(
        "default"
    )


@pytest.mark.parametrize(
    "more", [goal(UUID(int=904), 8), choose(MOONS), drift(0.5), forget(8), restore(2), erase(8), erase(3)]
)
def test_every_change_of_goals_changes_the_digest(more: ev.Event):
    assert after(*LIFE, more).digest() != after(*LIFE).digest()


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────

FIRST, SECOND, *_ = RUNS


def test_only_memories_that_can_be_found_stand_for_a_goal():
    every = goal(TIDES, *range(1, 5))
    assert numbers(after(every, pruned(FIRST, memory_id(1)), forget(2)), TIDES) == [3, 4]
    assert numbers(after(every, pruned(FIRST, memory_id(1)), undone(FIRST)), TIDES) == [1, 2, 3, 4]


def test_an_absorbed_member_is_represented_once_by_its_survivor():
    every = goal(TIDES, 1, 2, 3)
    assert numbers(after(every, merged(FIRST, memory_id(2), memory_id(1))), TIDES) == [2, 3]
    assert numbers(after(every, merged(FIRST, memory_id(9), memory_id(1), memory_id(3))), TIDES) == [9, 2]
    chain = (merged(FIRST, memory_id(9), memory_id(1)), merged(SECOND, memory_id(8), memory_id(9)))
    assert numbers(after(every, *chain), TIDES) == [8, 2, 3]
    assert numbers(after(every, *chain, forget(8)), TIDES) == [2, 3]
    assert numbers(after(every, *chain, undone(FIRST)), TIDES) == [1, 2, 3]


def test_undoing_a_run_removes_its_goals_and_restores_the_previous_star():
    first, second = goal(TIDES, 1, 2), goal(MOONS, 3, 4, run=FIRST)
    requests = ((first, choose(TIDES)), (second, choose(MOONS, TIDES)))
    assert after(*requests).north_star("default") == second
    undone_ = after(*requests, undone(FIRST))
    assert (undone_.north_star("default"), undone_.current("default")) == (first, (first,))
    assert (undone_.get(MOONS), undone_.exemplars(MOONS)) == (None, ())
    assert after(*requests, undone(FIRST, memory_id(3))).north_star("default") == second
    assert after(*requests, undone(SECOND)).north_star("default") == second
    assert after(*requests, undone(FIRST), erase(3)).north_star("default") == first


def test_a_run_that_adjusts_the_goal_chooses_the_star_until_it_is_undone():
    found = (goal(TIDES, 1, 2), goal(MOONS, 3, 4), choose(TIDES))
    assert after(found, adjusted(FIRST, MOONS)).north_star("default") == found[1]
    assert after(found, adjusted(FIRST, MOONS), undone(FIRST)).digest() == after(found).digest()
    assert after(found, adjusted(FIRST, MOONS), undone(FIRST, memory_id(3))).north_star("default") == found[1]


def test_a_star_whose_last_member_was_erased_gives_way_to_the_one_before_it():
    requests = (goal(TIDES, 1), choose(TIDES), goal(MOONS, 2), choose(MOONS, TIDES), erase(2))
    log = log_of(*requests)
    assert (
        folded(Goals(), log).north_star("default")
        == folded(Goals(), without_words(log, MOONS)).north_star("default")
        == goal(TIDES, 1)
    )


def chosen_after(*events: object) -> dict[str, UUID]:
    stars = folded(NorthStars(), history(*events))
    return stars.chosen


def test_the_goal_that_was_chosen_last_counts_in_its_namespace():
    elsewhere = ev.NorthStarChosen(namespace="sea", goal=GOALS[2])
    assert chosen_after(choose(GOALS[0]), choose(GOALS[1]), elsewhere) == {"default": GOALS[1], "sea": GOALS[2]}


def test_an_adjustment_counts_until_its_run_is_undone():
    events = (choose(GOALS[0]), adjusted(RUNS[0], GOALS[1]))
    assert chosen_after(*events) == {"default": GOALS[1]}
    assert chosen_after(*events, undone(RUNS[1])) == {"default": GOALS[1]}
    assert chosen_after(*events, undone(RUNS[0])) == {"default": GOALS[0]}
