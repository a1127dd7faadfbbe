"""Taking back what a run did, whole or for one memory, and what can't be taken back."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest

from actors.consolidator.messages import ReadRuns, UndoResult, UndoRun
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from events.vocabulary import ConsolidationUndone, MemoryErased, MemoryForgotten, MemoryRestored
from events.vocabulary.values import Mode
from projections.projection import MemoryState
from tests.actors.consolidator.asleep import Night, asleep, wanted
from tests.events.samples import started


class Slept(msgspec.Struct):
    """A store in which a deep run merged three and two, and pruned two."""

    night: Night
    run: UUID
    tides: tuple[UUID, ...]
    ferries: tuple[UUID, ...]
    trivia: tuple[UUID, ...]

    @property
    def hidden(self) -> set[UUID]:
        return {*self.tides[1:], *self.ferries[1:], *self.trivia}

    def found(self) -> set[UUID]:
        """Return those memories that can be found."""
        every = {*self.tides, *self.ferries, *self.trivia}
        return {memory for memory in every if self.night.state(memory) is MemoryState.LIVE}

    def undo(self, memory: UUID | None = None, run: UUID | None = None) -> UndoResult:
        return self.night.ask(UndoRun(run=run or self.run, memory=memory))


@pytest.fixture
def slept(tmp_path: Path) -> Iterator[Slept]:
    with asleep(tmp_path) as night:
        tides = (*night.twins("The tide is high at noon."), night.store("The tide is high at noon."))
        ferries = night.twins("The ferry leaves at six.")
        trivia = (night.trivial("A gull sat on the rail."), night.trivial("Somebody hummed."))
        slept = Slept(night, night.run().finished.run, tides, ferries, trivia)
        assert slept.found() == {tides[0], ferries[0]}
        yield slept


def test_undone_whole_a_run_hides_nothing_any_more(slept: Slept):
    undone = slept.undo()
    assert set(undone.restored) == slept.hidden
    assert (undone.erased, undone.stars) == ((), ())
    assert slept.found() == {*slept.tides, *slept.ferries, *slept.trivia}
    assert slept.night.entry(slept.tides[0]).lineage == ()
    (envelope,) = slept.night.envelopes(ConsolidationUndone)
    assert envelope.actor == "front"
    (run,) = slept.night.ask(ReadRuns(run=slept.run)).runs
    assert run.undone_at == envelope.at


@pytest.mark.parametrize("name", ["tides", "trivia"])
def test_undone_for_one_memory_it_brings_back_that_alone(slept: Slept, name: str):
    memory = getattr(slept, name)[1]
    undone = slept.undo(memory)
    assert undone.restored == (memory,)
    assert slept.found() == {slept.tides[0], slept.ferries[0], memory}
    assert slept.night.entry(slept.ferries[0]).lineage == slept.ferries[1:]


def test_undone_for_a_survivor_it_brings_back_all_that_this_one_absorbed(slept: Slept):
    assert set(slept.undo(slept.tides[0]).restored) == {*slept.tides[1:]}
    assert slept.found() == {*slept.tides, slept.ferries[0]}


def test_one_memory_after_the_other_and_then_the_rest_can_be_undone(slept: Slept):
    slept.undo(slept.tides[1])
    slept.undo(slept.trivia[0])
    assert set(slept.undo().restored) == slept.hidden - {slept.tides[1], slept.trivia[0]}
    assert slept.found() == {*slept.tides, *slept.ferries, *slept.trivia}


def test_what_was_erased_since_is_named_and_stays_erased(slept: Slept):
    slept.night.append(MemoryErased(memory=slept.tides[1]))
    undone = slept.undo()
    assert undone.erased == (slept.tides[1],)
    assert set(undone.restored) == slept.hidden - {slept.tides[1]}
    assert slept.night.state(slept.tides[1]) is MemoryState.ERASED


def test_what_was_forgotten_since_is_named_with_what_was_merged_into_it_and_stays_so(slept: Slept):
    slept.night.append(MemoryForgotten(memory=slept.tides[0]))
    undone = slept.undo()
    assert set(undone.forgotten) == {*slept.tides[1:]}
    assert set(undone.restored) == slept.hidden - {*slept.tides[1:]}
    assert slept.night.state(slept.tides[1]) is MemoryState.FORGOTTEN


def test_what_somebody_brought_back_already_isn_t_counted_again(slept: Slept):
    slept.night.append(MemoryRestored(memory=slept.trivia[0]))
    assert set(slept.undo().restored) == slept.hidden - {slept.trivia[0]}


def refused(
    slept: Slept, kind: type[Exception], says: str, memory: UUID | None = None, run: UUID | None = None
) -> None:
    """Undo, expecting that it is refused and that nothing is written."""
    before = slept.night.log.head
    with pytest.raises(kind, match=says):
        slept.undo(memory, run)
    assert slept.night.log.head == before


def test_an_unknown_run_can_t_be_undone(slept: Slept):
    unknown = uuid4()
    refused(slept, NotFoundFault, str(unknown), run=unknown)


def test_a_run_is_undone_once(slept: Slept):
    slept.undo()
    refused(slept, InvalidParamsFault, "was undone at")
    refused(slept, InvalidParamsFault, "was undone at", memory=slept.tides[1])


def test_a_memory_is_brought_back_once(slept: Slept):
    slept.undo(slept.tides[1])
    refused(slept, NotFoundFault, str(slept.tides[1]), memory=slept.tides[1])


def test_a_memory_to_which_the_run_did_nothing_can_t_be_brought_back_by_it(slept: Slept):
    other = slept.night.store("The harbour is empty.")
    refused(slept, NotFoundFault, str(other), memory=other)


def test_a_dry_run_can_t_be_undone(slept: Slept):
    refused(slept, InvalidParamsFault, "dry run", run=slept.night.run(dry_run=True).finished.run)


def test_a_run_that_was_stopped_can_t_be_undone(slept: Slept):
    refused(slept, InvalidParamsFault, "did not finish", run=slept.night.run(max_seconds=1e-9).finished.run)


def test_a_run_that_was_cut_off_can_t_be_undone(slept: Slept):
    message = wanted(Mode.LIGHT)
    slept.night.append(started(message.run, message.mode, message.trigger))
    refused(slept, InvalidParamsFault, "did not finish", run=message.run)


def test_undoing_the_later_of_two_runs_leaves_what_the_earlier_one_did(slept: Slept):
    again = slept.night.store("The tide is high at noon.")
    later = slept.night.run().finished.run
    assert slept.night.state(again) is MemoryState.MERGED
    assert slept.undo(run=later).restored == (again,)
    assert slept.found() == {slept.tides[0], slept.ferries[0]}
    assert slept.night.entry(slept.tides[0]).lineage == slept.tides[1:]
