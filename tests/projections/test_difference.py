"""Net effect of a section of the log."""

from collections.abc import Iterable
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Mode, Shortcut, Step
from projections.difference import Difference, Recovery, difference
from projections.memories.lifecycle import Lifecycle
from projections.projection import MemoryState
from tests.projections.history import read_later
from tests.projections.sleeps import (
    GOALS,
    IDS,
    OF_A_LIFE,
    RUNS,
    STORED,
    choose,
    erased,
    forgotten,
    goal,
    linked,
    log_of,
    merged,
    pruned,
    restored,
    undone,
)

X, Y, S, T, U, *_ = IDS
FIRST, SECOND, *_ = RUNS
KEPT = len(STORED)
"""The event after which all memories are stored, and nothing else has happened."""

Standings = dict[UUID, tuple[MemoryState, UUID | None]]


def standings(log: Iterable[Envelope], until: int) -> Standings:
    """Return how each memory stood after an event, found out by another way."""
    presence, known = Lifecycle(), list[UUID]()
    for envelope in log:
        if envelope.seq > until:
            break
        presence.apply(envelope)
        if envelope.seq <= KEPT:
            known.append(envelope.id)
    return {memory: (presence.state(memory), presence.survivor(memory)) for memory in known}


def applied(before: Standings, found: Difference) -> Standings:
    """Return how each memory stands once a difference happened to it."""
    after = before | dict.fromkeys(found.stored, (MemoryState.LIVE, None))
    for state, memories in found.moved.items():
        after |= {memory: (state, found.survivors.get(memory)) for memory in memories}
    for memories in found.recovered.values():
        after |= dict.fromkeys(memories, (MemoryState.LIVE, None))
    return after


def of(log: list[Envelope], a: int, b: int) -> Difference:
    return difference(log[:b], a)


@settings(max_examples=300, deadline=None)
@given(st.lists(OF_A_LIFE, min_size=4, max_size=24), st.data())
def test_a_difference_applied_to_the_earlier_states_gives_the_later_ones(events: list, data: st.DataObject):
    log = log_of(*events)
    a = data.draw(st.integers(0, len(log)))
    b = data.draw(st.integers(a, len(log)))
    found = of(log, a, b)
    assert applied(standings(log, a), found) == standings(log, b)
    told = [memory for memories in (*found.moved.values(), *found.recovered.values()) for memory in memories]
    assert len(told) == len({*told}), "a memory moves one way at most"
    assert found.event_counts.total() == b - a


@settings(max_examples=50, deadline=None)
@given(st.lists(OF_A_LIFE, min_size=4, max_size=16))
def test_shredded_bodies_do_not_change_the_difference(events: list):
    log = log_of(*events)
    live, later = of(log, KEPT, len(log)), of(read_later(log), KEPT, len(log))
    assert (live.stored, live.moved, live.survivors, live.recovered) == (
        later.stored,
        later.moved,
        later.survivors,
        later.recovered,
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(OF_A_LIFE, min_size=1, max_size=16))
def test_the_difference_of_a_moment_to_itself_is_empty(events: list):
    log = log_of(*events)
    found = of(log, len(log), len(log))
    assert not any((found.stored, *found.moved.values(), *found.recovered.values(), found.links, found.goals))
    assert not found.north_stars
    assert found.schedule[0] == found.schedule[1]
    assert found.event_counts.total() == 0


def test_each_exclusion_and_each_recovery_is_distinguished():
    log = log_of(
        forgotten(X),
        pruned(FIRST, Y),
        merged(FIRST, S, T),
        merged(SECOND, U, IDS[5]),
        restored(X),
        undone(FIRST),
        erased(U),
    )
    away = of(log, KEPT, KEPT + 4)
    assert away.moved == {
        MemoryState.FORGOTTEN: (X,),
        MemoryState.PRUNED: (Y,),
        MemoryState.MERGED: (T, IDS[5]),
        MemoryState.ERASED: (),
    }
    assert away.survivors == {T: S, IDS[5]: U}
    back = of(log, KEPT + 4, len(log))
    assert back.recovered == {Recovery.RESTORED: (X,), Recovery.UNDONE: (Y, T), Recovery.FREED: (IDS[5],)}
    assert back.moved[MemoryState.ERASED] == (U,)
    whole = of(log, KEPT, len(log))
    assert not any(whole.recovered.values()), "what went and came back in between changed nothing"
    assert {state for state, memories in whole.moved.items() if memories} == {MemoryState.ERASED}


def test_a_memory_that_was_merged_into_another_survivor_than_before_has_moved():
    log = log_of(merged(FIRST, S, X), undone(FIRST), merged(SECOND, T, X))
    found = of(log, KEPT + 1, len(log))
    assert (found.moved[MemoryState.MERGED], found.survivors) == ((X,), {X: T})


def test_a_memory_stored_in_between_is_listed_as_stored_and_by_its_state():
    log = log_of(forgotten(X), erased(Y))
    found = of(log, 0, len(log))
    assert found.stored == tuple(IDS)
    assert (found.moved[MemoryState.FORGOTTEN], found.moved[MemoryState.ERASED]) == ((X,), (Y,))


def test_links_are_those_that_are_still_drawn():
    shortcut = Step(X, T, "shortcut")
    drawn = ev.ShortcutsDrawn(run=FIRST, shortcuts=(Shortcut(shortcut, 0.5, 0.5, (Y,)),))
    log = log_of(linked(S, T), linked(X, Y), drawn, linked(U, X), erased(U), undone(FIRST))
    assert of(log, KEPT + 1, KEPT + 3).links == (Step(X, Y, "link_to"), shortcut)
    assert of(log, KEPT + 1, KEPT + 5).links == (Step(X, Y, "link_to"), shortcut), "an end of the last one is erased"
    assert of(log, KEPT + 1, len(log)).links == (Step(X, Y, "link_to"),)


def test_goals_and_north_stars_are_given_before_and_after():
    log = log_of(goal(GOALS[0], (X, Y)), choose(GOALS[0]), goal(GOALS[1], (S, T)), choose(GOALS[1]))
    found = of(log, KEPT + 2, len(log))
    assert [one.goal for one in found.goals] == [GOALS[1]]
    before, after = found.north_stars["default"]
    assert before is not None
    assert after is not None
    assert (before.goal, after.goal) == (GOALS[0], GOALS[1])
    first = of(log, KEPT, KEPT + 2).north_stars["default"]
    assert first[0] is None


def test_the_schedule_is_given_before_and_after():
    log = log_of(
        ev.ScheduleChanged(mode=Mode.DEEP, when="90m"),
        ev.ScheduleSwitched(paused=True),
        ev.PruningPermitted(permitted=True),
    )
    before, after = of(log, KEPT, len(log)).schedule
    assert (before.when[Mode.DEEP], after.when[Mode.DEEP]) == ("30 3 * * *", "90m")
    assert (before.paused, after.paused, before.permitted, after.permitted) == (False, True, False, True)


def test_events_are_counted_by_name_also_when_shredded():
    log = log_of(ev.MemoryRecalled(memories=(X,), query_sha256=b""), ev.MemoryErased(memory=Y))
    expected = {"memory_stored": KEPT, "memory_recalled": 1, "memory_erased": 1}
    assert of(log, 0, len(log)).event_counts == of(read_later(log), 0, len(log)).event_counts == expected
