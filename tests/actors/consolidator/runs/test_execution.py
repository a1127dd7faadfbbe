"""A run writes that it began, then all that it decided and that it ended, or only the latter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pykka
import pytest

from actors.comparator.messages import ScorePairs
from actors.consolidator.goals.manager import GoalManager
from actors.consolidator.jobs import RunInterrupted
from actors.consolidator.messages import Consolidate
from actors.consolidator.runs.execution import RunExecution
from actors.runtime.actor import Actor
from events import vocabulary as ev
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from projections.projection import MemoryState
from tests.actors.consolidator.asleep import BOUND, NOW, Night, asleep, wanted
from tests.actors.slices import worked_off


class Faltering(Actor):
    """A comparator that fails where duplicates are compared."""

    def __init__(self, comparator: pykka.ActorRef[Any]) -> None:
        super().__init__()
        self._comparator = comparator

    def on_receive(self, message: object) -> Any:
        match message:
            case ScorePairs():
                raise RuntimeError("the index is upside down")
            case _:
                return self._comparator.ask(message, timeout=BOUND)


class Planted(msgspec.Struct):
    """A store in which a deep run finds something of each kind to hide."""

    night: Night
    copies: tuple[UUID, UUID]
    more: tuple[UUID, UUID]
    near: tuple[UUID, UUID]
    trivia: tuple[UUID, UUID]

    def execution(self, message: Consolidate) -> RunExecution:
        return RunExecution(self.night.clients, GoalManager(self.night.clients), message, lambda: NOW)


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    with asleep(tmp_path) as night:
        yield Planted(
            night,
            night.twins("The tide is high at noon."),
            night.twins("The ferry leaves at six."),
            night.near("The lighthouse was repaired.", "The lighthouse was mended."),
            (night.trivial("A gull sat on the rail."), night.trivial("Somebody hummed.")),
        )


def hidden(written: list[Any]) -> set[UUID]:
    """Return the memories that what a run wrote hides."""
    absorbed = {one for event in written if isinstance(event, ev.MemoriesMerged) for one in event.absorbed}
    pruned = {one.memory for event in written if isinstance(event, ev.MemoriesPruned) for one in event.pruned}
    assert absorbed.isdisjoint(pruned)
    return absorbed | pruned


def test_a_finished_run_wrote_all_that_its_counts_say(planted: Planted):
    message = wanted()
    _, slept = worked_off(planted.execution(message).work())
    started, *decided, finished = planted.night.written(message.run)
    assert isinstance(started, ev.ConsolidationStarted)
    assert isinstance(finished, ev.ConsolidationFinished)
    gone = {planted.copies[1], planted.more[1], planted.near[1], *planted.trivia}
    assert hidden(decided) == gone
    assert (finished.counts.merged, finished.counts.pruned) == (3, 2)
    assert finished.counts == slept.finished.counts
    assert finished.memories == planted.night.live() == 3
    assert {memory for memory in gone if planted.night.state(memory) is MemoryState.LIVE} == set()


def test_a_dry_run_counts_what_a_real_run_does_and_appends_only_its_record(planted: Planted):
    dry, real = wanted(dry_run=True), wanted()
    worked_off(planted.execution(dry).work())
    record = planted.night.record(dry.run)
    assert (record.outcome, record.memories) == (Outcome.FINISHED, 8)
    _, slept = worked_off(planted.execution(real).work())
    assert record.counts == slept.finished.counts
    assert record.counts.merged == 3


def test_a_run_that_takes_too_long_leaves_its_record_alone(planted: Planted):
    message = wanted(max_seconds=1e-9)
    _, slept = worked_off(planted.execution(message).work())
    record = planted.night.record(message.run)
    assert (record.outcome, slept.finished.outcome) == (Outcome.TIMED_OUT, Outcome.TIMED_OUT)
    assert "max_seconds" in (record.reason or "")
    assert record.counts == slept.finished.counts == Counts()
    assert (slept.merged, slept.pruned) == ((), ())
    assert record.memories == planted.night.live() == 8


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DEEP])
def test_a_run_that_is_stopped_between_any_two_slices_leaves_its_record_alone(planted: Planted, mode: Mode):
    slices, _ = worked_off(planted.execution(wanted(mode, dry_run=True)).work())
    assert slices > 2
    for after in range(1, slices + 1):
        message = wanted(mode)
        work = planted.execution(message).work()
        for _ in range(after):
            next(work)
        with pytest.raises(StopIteration) as stopped:
            work.throw(RunInterrupted(Outcome.ABORTED, "a query came"))
        record = planted.night.record(message.run)
        assert (record.outcome, record.reason, record.counts) == (Outcome.ABORTED, "a query came", Counts())
        assert stopped.value.value.finished.outcome is Outcome.ABORTED
    assert planted.night.live() == 8


def test_a_run_that_fails_says_so_leaves_its_record_alone_and_hands_on_what_went_wrong(planted: Planted):
    message = wanted()
    execution = planted.execution(message)
    faltering = Faltering.start(planted.night.hub.comparator)
    execution._clients = msgspec.structs.replace(planted.night.clients, comparator=faltering)
    with pytest.raises(RuntimeError, match="upside down"):
        worked_off(execution.work())
    record = planted.night.record(message.run)
    assert (record.outcome, record.reason, record.counts) == (Outcome.FAILED, "RuntimeError", Counts())
    assert planted.night.live() == 8
    faltering.stop(timeout=BOUND)


def test_what_is_deleted_after_it_was_decided_is_left_out_and_the_counts_agree_with_what_is_written(planted: Planted):
    slices, _ = worked_off(planted.execution(wanted(dry_run=True)).work())
    message = wanted()
    work = planted.execution(message).work()
    for _ in range(slices):
        next(work)
    night = planted.night
    night.append(ev.MemoryErased(memory=planted.copies[1]))
    night.append(ev.MemoryForgotten(memory=planted.more[0]))
    night.append(ev.MemoryForgotten(memory=planted.trivia[0]))
    with pytest.raises(StopIteration) as stopped:
        next(work)
    _, *decided, finished = night.written(message.run)
    assert hidden(decided) == {planted.near[1], planted.trivia[1]}
    assert isinstance(finished, ev.ConsolidationFinished)
    assert (finished.counts.merged, finished.counts.pruned) == (1, 1)
    assert stopped.value.value.finished.counts == finished.counts
    assert {one.survivor for one in stopped.value.value.merged} == {planted.near[0]}
    assert finished.memories == night.live() == 3, "eight, less three deleted, one merged and one pruned"
    assert night.state(planted.more[1]) is MemoryState.LIVE, "its survivor is gone, so it stays"


@pytest.mark.parametrize(
    ("trigger", "actor"),
    [(Trigger.REQUEST, "consolidator"), (Trigger.SCHEDULE, "scheduler"), (Trigger.IDLE, "scheduler")],
)
def test_all_that_a_run_writes_bears_the_name_of_who_wanted_it(planted: Planted, trigger: Trigger, actor: str):
    message = wanted(trigger=trigger)
    worked_off(planted.execution(message).work())
    by = [one for one in planted.night.log.read() if one.correlation_id == message.run]
    assert len(by) > 4
    assert {one.actor for one in by} == {actor}


def test_without_leave_a_run_merges_exact_copies_and_nothing_else(planted: Planted):
    message = wanted(thorough=False)
    worked_off(planted.execution(message).work())
    assert hidden(planted.night.written(message.run)) == {planted.copies[1], planted.more[1]}
