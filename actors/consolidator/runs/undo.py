"""Taking back what a run did: projections unfold its decisions; what was overwritten is written again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from actors.comparator.messages import ReadGoals
from actors.consolidator.clients import ActorClients
from actors.consolidator.messages import Undo, Undone
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from events.vocabulary import ConsolidationUndone, Event, GoalAdjusted, PurposesRealigned
from events.vocabulary.values import Outcome
from projections.mind.runs import Run, Runs
from projections.projection import MemoryState

if TYPE_CHECKING:
    from actors.comparator.messages import GoalState


def undo(others: ActorClients, runs: Runs, wanted: Undo) -> Undone:
    """Take back a run, whole or for one memory that it absorbed, let survive, or pruned.

    Raises:
        NotFoundFault: there is no such run, or it did nothing to this memory.
        InvalidParamsFault: the run changed nothing, or was undone already.
    """
    run, memory = wanted.run, wanted.memory
    known = runs.get(run)
    if known is None:
        raise NotFoundFault(f"Run not found: {run}", run_id=str(run))
    _check(known)
    only = None if memory is None else {memory}
    absorbed = {
        one for merge in known.active_merges for one in merge.absorbed if only is None or only & {one, merge.survivor}
    }
    hidden = absorbed | {one.memory for one in known.active_pruned if only is None or one.memory in only}
    if memory is not None and not hidden:
        raise NotFoundFault(f"Run {run} neither merged nor pruned this memory, or it is back: {memory}", id=str(memory))
    entries = others.describe(sorted(hidden), own=True)
    answering = others.describe(sorted(hidden))
    restored = tuple(
        entry.id
        for entry, root in zip(entries, answering, strict=True)
        if entry.run == run and root.state is not MemoryState.FORGOTTEN  # what was forgotten since stays so
    )
    if memory is not None and not restored:
        raise NotFoundFault(
            f"Nothing of run {run} can be taken back for this memory any more: {memory}", id=str(memory)
        )
    events: list[Event] = [ConsolidationUndone(run=run, memories=() if memory is None else (memory,))]
    stars: list[str] = []
    if memory is None:
        for adjusted in known.adjusted:
            again = list(_as_before(others, adjusted, known.realigned))
            events += again
            stars += [adjusted.namespace] if again else []
    others.append(events, actor="front", correlation=wanted.request)
    return Undone(
        run=known,
        restored=restored,
        erased=tuple(entry.id for entry in entries if entry.state is MemoryState.ERASED),
        stars=tuple(stars),
    )


def _check(run: Run) -> None:
    """Refuse a run of which there is nothing to take back."""
    parameter = "run_id"
    if run.undone_at is not None:
        raise InvalidParamsFault(f"Invalid {parameter}: the run was undone at {run.undone_at}", parameter=parameter)
    if run.params.dry_run:
        raise InvalidParamsFault(f"Invalid {parameter}: a dry run changed nothing", parameter=parameter)
    if run.finished is None or run.finished.outcome is not Outcome.FINISHED:
        raise InvalidParamsFault(
            f"Invalid {parameter}: the run wasn't finished, and changed nothing", parameter=parameter
        )


def _as_before(others: ActorClients, adjusted: GoalAdjusted, realigned: Sequence[int]) -> Iterator[Event]:
    """Yield what makes all purposes what they were, unless another North Star was chosen since.

    That the one before holds again follows from the undo.
    """
    state: GoalState = others.compare(ReadGoals(namespace=adjusted.namespace))
    if state.star is None or state.star.goal != adjusted.goal:
        return
    for envelope in others.events(realigned):
        event = envelope.event
        if isinstance(event, PurposesRealigned) and event.goal == adjusted.goal:
            yield msgspec.structs.replace(
                event, goal=adjusted.previous, purposes=event.previous, run=None, previous=b""
            )
