"""Undo of a run: projections reverse its decisions; overwritten purposes are appended again."""

from collections.abc import Iterator, Sequence

import msgspec

from actors.consolidator.clients import ActorClients
from actors.consolidator.messages import UndoResult, UndoRun
from actors.consolidator.runs.moves import moves_back
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.store.messages import ReadEvents
from events.vocabulary import ConsolidationUndone, Event, GoalAdjusted, PurposesRealigned
from events.vocabulary.values import Outcome
from projections.mind.runs import Run, Runs, hidden_by
from projections.projection import MemoryState


def undo(clients: ActorClients, runs: Runs, request: UndoRun) -> UndoResult:
    """Undo a run, whole or for one memory that it absorbed, let survive, or pruned.

    Raises:
        NotFoundFault: There is no such run, or it left nothing to undo for this memory.
        InvalidParamsFault: The run changed nothing, or was undone already.
    """
    memory = request.memory
    run = runs.get(request.run)
    if run is None:
        raise NotFoundFault(f"Run not found: {request.run}", run_id=str(request.run))
    _check_undoable(run)
    hidden = hidden_by(run.active_merges, run.active_pruned, memory)
    if memory is not None and not hidden:
        raise NotFoundFault(
            f"Run {run.run} neither merged nor pruned this memory, or it is restored: {memory}", id=str(memory)
        )
    entries = clients.describe(sorted(hidden), own=True)
    survivors = clients.describe(sorted(hidden))
    restored = tuple(
        entry.id
        for entry, survivor in zip(entries, survivors, strict=True)
        if entry.run == run.run and survivor.state is not MemoryState.FORGOTTEN
    )
    if memory is not None and not restored:
        raise NotFoundFault(f"Nothing of run {run.run} can be undone for this memory: {memory}", id=str(memory))
    events: list[Event] = [ConsolidationUndone(run=run.run, memories=() if memory is None else (memory,))]
    stars: list[str] = []
    for adjusted in run.adjusted if memory is None else ():
        if previous := list(_previous_purposes(clients, adjusted, run.realigned)):
            events += previous
            stars.append(adjusted.namespace)
    back = list(moves_back(clients, run))
    clients.append([*events, *back], actor=request.actor, correlation=request.request)
    return UndoResult(
        run=run,
        restored=(*restored, *(one for moved in back for one in moved.memories)),
        erased=tuple(entry.id for entry in entries if entry.state is MemoryState.ERASED),
        forgotten=tuple(
            entry.id
            for entry, survivor in zip(entries, survivors, strict=True)
            if MemoryState.FORGOTTEN in {entry.state, survivor.state} and entry.state is not MemoryState.ERASED
        ),
        stars=tuple(stars),
    )


def _check_undoable(run: Run) -> None:
    """Reject a run that left nothing to undo."""
    reason = None
    if run.undone_at is not None:
        reason = f"the run was undone at {run.undone_at:%Y-%m-%dT%H:%M:%SZ}"
    elif run.params.dry_run:
        reason = "a dry run changed nothing"
    elif run.finished is None or run.finished.outcome is not Outcome.FINISHED:
        reason = "the run did not finish, and changed nothing"
    elif not run.can_be_undone:
        reason = "the run changed nothing"
    if reason:
        raise InvalidParamsFault(f"Invalid run_id: {reason}", parameter="run_id")


def _previous_purposes(
    clients: ActorClients, adjusted: GoalAdjusted, realigned: Sequence[int]
) -> Iterator[PurposesRealigned]:
    """Yield the purposes before an adjustment, unless another North Star was chosen since."""
    state = clients.goals(adjusted.namespace)
    if state.star is None or state.star.goal != adjusted.goal:
        return
    for envelope in clients.ask_store(ReadEvents(seqs=tuple(realigned))):
        event = envelope.event
        if isinstance(event, PurposesRealigned) and event.goal == adjusted.goal:
            yield msgspec.structs.replace(
                event, goal=adjusted.previous, purposes=event.previous, run=None, previous=b""
            )
