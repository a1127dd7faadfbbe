from typing import Any
from uuid import UUID

import msgspec
import pytest

from events import vocabulary as ev
from events.vocabulary.values import (
    WIDTH,
    Counts,
    DriftLevel,
    Group,
    Mode,
    Outcome,
    Pruned,
    Salience,
    Shortcut,
    Step,
    Strengthened,
    Trigger,
)
from projections.mind.runs import MAX_SKIPPED, Runs
from tests.events.samples import started
from tests.projections.history import folded, history, memory_id

FIRST, SECOND, THIRD = (UUID(int=number) for number in (801, 802, 803))
A, B, C, D, E = (memory_id(number) for number in range(1, 6))
TIDES, MOONS, BOATS = (UUID(int=number) for number in (901, 902, 903))
STEP = Step(A, B, "semantic")
SALIENCE = Salience(importance=0.1, recency=0.05, access=0.0, alignment=0.0, ignition=0.0)


def start(run: UUID, **fields: Any) -> ev.ConsolidationStarted:
    return started(run, **{"mode": Mode.DEEP} | fields)


def finish(run: UUID) -> ev.ConsolidationFinished:
    return ev.ConsolidationFinished(
        run=run, outcome=Outcome.FINISHED, counts=Counts(merged=1), memories=4, milliseconds=12.5
    )


def pattern(identity: UUID, run: UUID, *members: UUID, namespace: str = "default") -> ev.PatternDiscovered:
    return ev.PatternDiscovered(
        run=run,
        pattern=identity,
        namespace=namespace,
        description="tides and moons",
        terms=("tide", "moon"),
        members=members,
        coherence=0.8,
        confidence=0.7,
    )


def erase(memory: UUID) -> ev.MemoryErased:
    return ev.MemoryErased(memory=memory)


def pruned(memory: UUID) -> Pruned:
    return Pruned(memory=memory, salience=SALIENCE)


def after(*events: ev.Event) -> Runs:
    return folded(Runs(), history(*events))


MERGE = ev.MemoriesMerged(run=FIRST, survivor=A, absorbed=(B, C), similarities=(1.0, 0.97))
DECISIONS: dict[str, tuple[ev.Event, Any]] = {
    "merged": (MERGE, (MERGE,)),
    "pruned": (ev.MemoriesPruned(run=FIRST, pruned=(pruned(D),)), (pruned(D),)),
    "clusters": (
        ev.ClustersFormed(run=FIRST, namespace="default", clusters=(Group((A, D), (0.9, 0.8)), Group((E,), (1.0,)))),
        2,
    ),
    "strengthened": (
        ev.LinksStrengthened(run=FIRST, links=(Strengthened(STEP, 0.6, 0.8),)),
        (Strengthened(STEP, 0.6, 0.8),),
    ),
    "shortcuts": (
        ev.ShortcutsDrawn(run=FIRST, shortcuts=(Shortcut(STEP, 0.2, 0.7, (C,)),)),
        (Shortcut(STEP, 0.2, 0.7, (C,)),),
    ),
    "replayed": (ev.MemoriesReplayed(run=FIRST, memories=(D, E)), (D, E)),
    "adjusted": (
        adjusted := ev.GoalAdjusted(run=FIRST, namespace="default", previous=TIDES, goal=MOONS, level=DriftLevel.HIGH),
        (adjusted,),
    ),
    "realigned": (
        ev.PurposesRealigned(
            goal=MOONS, memories=(A,), purposes=bytes(4 * WIDTH), run=FIRST, previous=bytes(4 * WIDTH)
        ),
        (2,),
    ),
}


def test_a_run_is_recorded_from_its_start_with_its_parameters():
    runs = after(start(FIRST, mode=Mode.REM, trigger=Trigger.IDLE, namespace="work"))
    run = runs.get(FIRST)
    assert run is not None
    assert (run.run, run.mode, run.params.trigger, run.namespace) == (FIRST, Mode.REM, Trigger.IDLE, "work")
    assert (run.started_at, run.finished, run.undone_at) == (history(start(FIRST))[0].at, None, None)
    assert runs.get(SECOND) is None


def test_a_run_without_an_end_is_interrupted():
    runs = after(start(FIRST), start(SECOND), finish(SECOND), start(THIRD))
    assert [(run.run, run.finished is None) for run in runs.latest()] == [(THIRD, True), (SECOND, False), (FIRST, True)]


@pytest.mark.parametrize("field", DECISIONS)
def test_a_run_shows_what_it_decided(field: str):
    event, told = DECISIONS[field]
    log = history(start(FIRST), event, finish(FIRST))
    run = folded(Runs(), log).get(FIRST)
    assert run is not None
    assert getattr(run, field) == told
    assert (run.finished, run.finished_at) == (log[2].event, log[2].at)


@pytest.mark.parametrize("field", DECISIONS)
def test_decisions_of_one_kind_add_up(field: str):
    event, told = DECISIONS[field]
    run = after(start(FIRST), event, event, finish(FIRST)).get(FIRST)
    assert getattr(run, field) == (told + told if field != "realigned" else (2, 3))


def test_purposes_that_no_run_measured_belong_to_none():
    measured = ev.PurposesRealigned(goal=MOONS, memories=(A,), purposes=bytes(4 * WIDTH))
    run = after(start(FIRST), measured).get(FIRST)
    assert run is not None
    assert run.realigned == ()


def test_an_undone_run_leaves_only_its_record():
    log = history(start(FIRST), MERGE, DECISIONS["pruned"][0], finish(FIRST), ev.ConsolidationUndone(run=FIRST))
    run = folded(Runs(), log).get(FIRST)
    assert run is not None
    assert run.undone_at == log[-1].at
    assert (run.merged, run.pruned) == ((MERGE,), (pruned(D),))
    assert (run.active_merges, run.active_pruned) == ((), ())


@pytest.mark.parametrize(
    ("undone", "merged", "left"),
    [
        ((), (MERGE,), (pruned(D), pruned(E))),
        ((B,), (msgspec.structs.replace(MERGE, absorbed=(C,), similarities=(0.97,)),), (pruned(D), pruned(E))),
        ((B, C), (), (pruned(D), pruned(E))),
        ((A,), (), (pruned(D), pruned(E))),
        ((D,), (MERGE,), (pruned(E),)),
    ],
)
def test_undoing_a_run_for_single_memories_leaves_the_rest(undone: tuple[UUID, ...], merged: Any, left: Any):
    lost = ev.MemoriesPruned(run=FIRST, pruned=(pruned(D), pruned(E)))
    undoings = [ev.ConsolidationUndone(run=FIRST, memories=(memory,)) for memory in undone]
    run = after(start(FIRST), MERGE, lost, finish(FIRST), *undoings).get(FIRST)
    assert run is not None
    assert (run.undone, run.undone_at) == (undone, None)
    assert (run.active_merges, run.active_pruned) == (merged, left)


def test_patterns_are_listed_by_the_run_that_found_them():
    tides, moons = pattern(TIDES, FIRST, A, B), pattern(MOONS, FIRST, C, namespace="work")
    boats = pattern(BOATS, SECOND, D)
    runs = after(start(FIRST), tides, moons, finish(FIRST), start(SECOND), boats, start(THIRD), finish(THIRD))
    assert runs.patterns_of(SECOND) == (boats,)
    assert runs.patterns_of(FIRST) == (tides, moons)
    assert runs.patterns_of(THIRD) == ()


def test_a_run_that_was_undone_still_lists_its_patterns():
    tides, boats = pattern(TIDES, FIRST, A), pattern(BOATS, SECOND, D)
    runs = after(start(FIRST), tides, start(SECOND), boats, finish(SECOND), ev.ConsolidationUndone(run=SECOND))
    assert runs.patterns_of(FIRST) == (tides,)
    assert runs.patterns_of(SECOND) == (boats,)


def test_a_run_that_is_undone_for_one_memory_keeps_its_patterns():
    tides = pattern(TIDES, FIRST, A)
    assert after(start(FIRST), tides, ev.ConsolidationUndone(run=FIRST, memories=(B,))).patterns_of(FIRST) == (tides,)


def test_a_pattern_lists_no_erased_member_and_is_gone_with_its_last():
    found = start(FIRST), pattern(TIDES, FIRST, A, B, C), pattern(MOONS, FIRST, B)
    (left,) = after(*found, erase(B)).patterns_of(FIRST)
    assert (left.pattern, left.members) == (TIDES, (A, C))
    assert after(*found, erase(B), erase(A), erase(C)).patterns_of(FIRST) == ()


def test_a_member_that_was_erased_before_its_pattern_was_written_down_never_appears():
    (left,) = after(erase(A), start(FIRST), pattern(TIDES, FIRST, A, B)).patterns_of(FIRST)
    assert left.members == (B,)


def test_the_record_of_a_run_outlives_the_memories_in_it():
    run = after(start(FIRST), MERGE, finish(FIRST), erase(B)).get(FIRST)
    assert run is not None
    assert run.merged == (MERGE,)


def test_the_latest_runs_that_never_began_are_kept_with_their_times():
    events = [
        ev.ConsolidationSkipped(mode=Mode.LIGHT, trigger=Trigger.SCHEDULE, reason=str(number))
        for number in range(MAX_SKIPPED + 5)
    ]
    log = history(*events)
    assert folded(Runs(), log).skipped() == tuple((envelope.at, envelope.event) for envelope in log[-MAX_SKIPPED:])


LIFE = (
    start(FIRST),
    *(event for event, _ in DECISIONS.values()),
    pattern(TIDES, FIRST, A, B),
    pattern(MOONS, FIRST, C, D),
    finish(FIRST),
    erase(A),
)


@pytest.mark.parametrize(
    ("departures", "shredded"),
    [
        ((), ()),
        ((erase(B),), (TIDES,)),
        ((erase(D), erase(C)), (MOONS,)),
        ((erase(B), erase(C), erase(D)), (TIDES, MOONS)),
    ],
)
def test_a_replay_after_erasures_gives_the_same_runs_and_patterns(
    departures: tuple[ev.Event, ...], shredded: tuple[UUID, ...]
):
    log = history(*LIFE, *departures)
    later = [
        msgspec.structs.replace(envelope, event=ev.Shredded(kind="pattern_discovered.1"))
        if isinstance(envelope.event, ev.PatternDiscovered) and envelope.event.pattern in shredded
        else envelope
        for envelope in log
    ]
    assert folded(Runs(), log).digest() == folded(Runs(), later).digest()
    assert folded(Runs(), log).patterns_of(FIRST) == folded(Runs(), later).patterns_of(FIRST)


@pytest.mark.parametrize(
    "more",
    [
        start(SECOND),
        pattern(BOATS, FIRST, E),
        ev.ConsolidationUndone(run=FIRST),
        ev.ConsolidationUndone(run=FIRST, memories=(B,)),
        ev.ConsolidationSkipped(mode=Mode.LIGHT, trigger=Trigger.IDLE, reason="busy"),
        erase(E),
        erase(B),
        *(event for event, _ in DECISIONS.values()),
    ],
)
def test_every_change_of_runs_changes_the_digest(more: ev.Event):
    assert after(*LIFE, more).digest() != after(*LIFE).digest()
