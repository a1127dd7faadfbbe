"""The consolidator as an actor: one job after the other; requests are answered between two slices."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pykka
import pytest

from actors.consolidator import messages as msg
from actors.runtime.faults import InternalFault, NotFoundFault
from actors.runtime.messages import QueryReceived
from events.vocabulary import ConsolidationFinished, ConsolidationSkipped, ConsolidationStarted, GoalDiscovered
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from tests.actors.consolidator.asleep import BOUND, Gate, Night, asleep, wanted


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    """A store with a duplicate, a trivial memory, and enough others for a dream in many slices."""
    with asleep(tmp_path) as night:
        night.twins("The tide is high at noon.")
        night.trivial("A gull sat on the rail.")
        for number in range(9):
            night.store(f"Boat {number} came in.")
        yield night


def settled(night: Night) -> None:
    """Wait until all jobs that the consolidator has begun are done: this one writes nothing and comes last."""
    assert night.ask(msg.CorrectDrift(namespace="nobody's", on_progress=lambda _done, _total: None)) is None


def requested_at_once(night: Night) -> tuple[Gate, msg.Consolidate, msg.Consolidate, list[pykka.Future[Any]]]:
    """Request two runs; the first waits at the gate."""
    gate = Gate()
    first, second = wanted(on_progress=gate), wanted()
    replies = [night.asking(first), night.asking(second)]
    gate.reached()
    return gate, first, second, replies


def order(night: Night) -> list[object]:
    """Return which runs began and ended, in order."""
    ends = night.envelopes(ConsolidationStarted, ConsolidationFinished)
    return [(type(one.event), one.event.run) for one in ends]


def test_two_runs_requested_at_once_run_one_after_the_other(night: Night):
    gate, first, second, replies = requested_at_once(night)
    gate.open()
    slept: list[msg.RunResult] = [reply.get(timeout=BOUND) for reply in replies]
    assert order(night) == [
        (ConsolidationStarted, first.run),
        (ConsolidationFinished, first.run),
        (ConsolidationStarted, second.run),
        (ConsolidationFinished, second.run),
    ]
    assert (slept[0].finished.counts.merged, slept[0].finished.counts.pruned) == (1, 1)
    assert (slept[1].finished.counts.merged, slept[1].finished.counts.pruned) == (0, 0), (
        "it begins where the first has ended"
    )


def test_a_discovery_requested_during_a_run_is_queued(night: Night):
    gate, seen = Gate(), list[int]()
    run = night.asking(wanted(on_progress=gate))
    gate.reached()
    message = msg.FindGoals(
        namespace="default", min_confidence=0.0, max_goals=5, on_progress=lambda *_: seen.append(night.log.head.seq)
    )
    reply = night.asking(message)
    gate.open()
    run.get(timeout=BOUND)
    found: msg.GoalDiscovery = reply.get(timeout=BOUND)
    assert found.memories == 10
    (finished,) = night.envelopes(ConsolidationFinished)
    assert seen[0] >= finished.seq
    assert all(one.seq > finished.seq for one in night.envelopes(GoalDiscovered))


def test_short_messages_are_answered_between_two_slices_of_a_run(night: Night):
    gate = Gate()
    message = wanted(on_progress=gate)
    reply = night.asking(message)
    gate.reached()
    asked = [
        night.asking(one)
        for one in (msg.ReadRuns(), msg.MeasureDrift(namespace="default", memories=100), msg.ReadDream())
    ]
    gate.step()
    gate.reached()
    runs, drift, dream = (one.get(timeout=BOUND) for one in asked)
    assert isinstance(runs, msg.RunList)
    assert isinstance(dream, msg.DreamState)
    assert runs.running == message.run
    assert [run.finished for run in runs.runs] == [None]
    assert drift is None
    assert dream.running == runs.runs[0]
    assert (dream.mode, dream.phase, dream.dreams) == (Mode.DEEP, None, 0), "a deep run never dreams"
    assert night.envelopes(ConsolidationFinished) == [], "it is held before its next slice"
    gate.open()
    slept: msg.RunResult = reply.get(timeout=BOUND)
    assert slept.finished.counts.pruned == 1
    assert night.ask(msg.ReadRuns()).running is None


def test_pruning_candidates_are_read_after_the_active_run_from_what_it_left(night: Night):
    gate = Gate()
    run = night.asking(wanted(on_progress=gate))
    gate.reached()
    asked = [night.asking(one) for one in (msg.ReadCandidates(namespace=None, salience_threshold=0.3), msg.ReadRuns())]
    gate.step()
    gate.reached()
    assert asked[1].get(timeout=BOUND).running is not None, "it was asked later, and is quick"
    gate.open()
    slept: msg.RunResult = run.get(timeout=BOUND)
    candidates: msg.PruningCandidates = asked[0].get(timeout=BOUND)
    assert slept.finished.counts.pruned == 1
    assert [one for one in candidates.found if one.protection is None] == [], "the run has pruned it"
    assert candidates.looked_at == slept.finished.memories == 10


def test_active_and_queued_dreams_are_counted(night: Night):
    gate = Gate()
    replies = [night.asking(wanted(Mode.DREAM, on_progress=gate)), night.asking(wanted(Mode.DREAM))]
    gate.reached()
    asked = night.asking(msg.ReadDream())
    gate.step()
    assert asked.get(timeout=BOUND).dreams == 2
    gate.open()
    for reply in replies:
        reply.get(timeout=BOUND)
    dream: msg.DreamState = night.ask(msg.ReadDream())
    assert (dream.dreams, dream.completed) == (0, 2)


def test_a_query_ends_a_dream_with_abort_on_query_before_its_next_slice(night: Night):
    gate = Gate()
    message = wanted(Mode.DREAM, on_progress=gate, abort_on_query=True)
    reply = night.asking(message)
    gate.reached()
    night.hub.consolidator.tell(QueryReceived(at=perf_counter()))
    gate.open()
    slept: msg.RunResult = reply.get(timeout=BOUND)
    assert len(gate.steps) == 1, "no further slice began"
    assert (slept.finished.outcome, slept.finished.reason) == (Outcome.ABORTED, "a query came")
    record = night.record(message.run)
    assert (record.outcome, record.counts) == (Outcome.ABORTED, Counts())
    dream: msg.DreamState = night.ask(msg.ReadDream())
    assert dream.running is None
    assert dream.completed == 0
    assert dream.last is not None
    assert dream.last.run == message.run
    assert dream.abort_milliseconds is not None
    assert dream.abort_milliseconds > 0


def test_a_query_does_not_end_a_run_without_abort_on_query(night: Night):
    gate = Gate()
    reply = night.asking(wanted(Mode.DREAM, on_progress=gate))
    gate.reached()
    night.hub.consolidator.tell(QueryReceived(at=perf_counter()))
    gate.open()
    assert reply.get(timeout=BOUND).finished.outcome is Outcome.FINISHED
    dream: msg.DreamState = night.ask(msg.ReadDream())
    assert (dream.completed, dream.abort_milliseconds) == (1, None)


def test_a_query_does_not_end_a_discovery_before_a_queued_dream(night: Night):
    gate = Gate()
    discovery = night.asking(
        msg.FindGoals(namespace="default", min_confidence=0.0, max_goals=5, on_progress=lambda *_: gate(0, None))
    )
    dream = night.asking(wanted(Mode.DREAM, abort_on_query=True))
    gate.reached()
    night.hub.consolidator.tell(QueryReceived(at=perf_counter()))
    gate.open()
    assert discovery.get(timeout=BOUND).memories == 12
    assert dream.get(timeout=BOUND).finished.outcome is Outcome.FINISHED, "it began after the query"


@pytest.mark.parametrize("phase", [msg.DreamPhase.NREM, msg.DreamPhase.REM])
def test_a_dream_of_one_phase_runs_that_phase_only(night: Night, phase: msg.DreamPhase):
    gate = Gate()
    reply = night.asking(wanted(Mode.DREAM, phase=phase, on_progress=gate))
    if phase is msg.DreamPhase.REM:
        gate.reached()
        asked = night.asking(msg.ReadDream())
        gate.step()
        assert asked.get(timeout=BOUND).phase is msg.DreamPhase.REM
        gate.open()
    assert reply.get(timeout=BOUND).finished.outcome is Outcome.FINISHED
    assert any("surveyed" in step for step in gate.steps) == (phase is msg.DreamPhase.REM)


def test_a_cancelled_run_ends_before_its_next_slice(night: Night):
    gate = Gate()
    message = wanted(on_progress=gate)
    reply = night.asking(message)
    gate.reached()
    message.cancelled.set()
    gate.open()
    assert reply.get(timeout=BOUND).finished.outcome is Outcome.ABORTED
    assert len(gate.steps) == 1
    record = night.record(message.run)
    assert (record.outcome, record.reason, record.counts) == (Outcome.ABORTED, "it was withdrawn", Counts())
    assert night.run().finished.counts.merged == 1, "the next one is not held up"


def test_a_run_cancelled_in_the_queue_never_starts(night: Night):
    gate, _, second, replies = requested_at_once(night)
    second.cancelled.set()
    gate.open()
    assert replies[0].get(timeout=BOUND).finished.outcome is Outcome.FINISHED
    with pytest.raises(InternalFault):
        replies[1].get(timeout=BOUND)
    assert night.written(second.run) == []


def test_closing_the_store_aborts_the_active_run_and_fails_queued_ones(night: Night):
    gate, first, second, replies = requested_at_once(night)
    rest = night.asking(msg.StopRuns())
    gate.open()
    assert replies[0].get(timeout=BOUND).finished.outcome is Outcome.ABORTED
    with pytest.raises(InternalFault, match="closed"):
        replies[1].get(timeout=BOUND)
    rest.get(timeout=BOUND)
    assert len(gate.steps) == 1
    assert (night.record(first.run).outcome, night.written(second.run)) == (Outcome.ABORTED, [])
    assert night.live() == 12
    assert night.ask(msg.ReadRuns()).running is None


def test_no_run_starts_after_the_store_closes(night: Night):
    night.ask(msg.StopRuns())
    before = night.log.head
    night.hub.consolidator.tell(msg.StartScheduledRun(mode=Mode.LIGHT, trigger=Trigger.SCHEDULE, thorough=True))
    settled(night)
    assert night.log.head == before, "neither a run nor a note"
    assert night.live() == 12


def test_a_scheduled_run_due_during_another_is_recorded_as_skipped(night: Night):
    gate = Gate()
    message = wanted(on_progress=gate)
    reply = night.asking(message)
    gate.reached()
    night.hub.consolidator.tell(msg.StartScheduledRun(mode=Mode.LIGHT, trigger=Trigger.SCHEDULE, thorough=True))
    gate.open()
    reply.get(timeout=BOUND)
    settled(night)
    (skipped,) = night.envelopes(ConsolidationSkipped)
    assert (skipped.event.mode, skipped.event.trigger, skipped.actor) == (Mode.LIGHT, Trigger.SCHEDULE, "scheduler")
    assert [run.run for run in night.ask(msg.ReadRuns()).runs] == [message.run]
    assert [one.reason for _, one in night.ask(msg.ReadRuns()).skipped] == [skipped.event.reason]


@pytest.mark.parametrize("thorough", [False, True])
def test_a_scheduled_run_prunes_only_with_permission(night: Night, *, thorough: bool):
    night.hub.consolidator.tell(msg.StartScheduledRun(mode=Mode.DEEP, trigger=Trigger.IDLE, thorough=thorough))
    settled(night)
    (run,) = night.ask(msg.ReadRuns()).runs
    assert (run.params.trigger, run.mode) == (Trigger.IDLE, Mode.DEEP)
    assert run.finished.counts.merged == 1
    assert run.finished.counts.pruned == int(thorough)


def test_a_failing_run_answers_its_error_and_the_next_one_starts(night: Night):
    def fail(*_: object) -> None:
        raise RuntimeError("nobody can be told")

    message = wanted(on_progress=fail)
    with pytest.raises(RuntimeError, match="nobody can be told"):
        night.ask(message)
    assert night.record(message.run).outcome is Outcome.FAILED
    assert night.run().finished.counts.merged == 1


def test_an_unknown_run_is_named(night: Night):
    message = msg.ReadRuns(run=wanted().run)
    with pytest.raises(NotFoundFault, match=str(message.run)):
        night.ask(message)
