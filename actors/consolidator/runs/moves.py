"""Moves of memories between namespaces, as runs of their own, and the events that move them back."""

from collections.abc import Iterator
from time import perf_counter
from uuid import UUID

from actors.consolidator.clients import ActorClients
from actors.consolidator.jobs import Sliced
from actors.consolidator.messages import MoveMemories, MoveResult
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.runtime.settings import MoveKind
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, MemoriesMoved
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from events.wording import counted
from projections.memories.entries import Entry
from projections.mind.runs import Run

SLICE = 1_000


def move(clients: ActorClients, request: MoveMemories) -> Sliced[MoveResult]:
    """Put memories into another namespace; a dry run appends nothing.

    Raises:
        NotFoundFault: A namespace or a memory does not exist.
        InvalidParamsFault: The target is the source, or exists where it must not.
    """
    start = perf_counter()
    chosen = yield from _chosen(clients, request)
    renamed = request.kind is MoveKind.RENAME
    moved = tuple(
        MemoriesMoved(run=request.run, source=source, target=request.target, memories=memories, renamed=renamed)
        for source, memories in chosen.items()
    )
    result = MoveResult(run=request.run, moved=moved, dry_run=request.dry_run)
    if not request.dry_run:
        started = ConsolidationStarted(
            run=request.run,
            mode=Mode.MOVE,
            trigger=Trigger.REQUEST,
            namespace=request.source,
            salience_threshold=0.0,
            max_memories=0,
            dry_run=False,
            thorough=False,
            rationale=request.rationale,
        )
        finished = ConsolidationFinished(
            run=request.run,
            outcome=Outcome.FINISHED,
            counts=Counts(looked_at=result.count, moved=result.count),
            memories=result.count,
            milliseconds=(perf_counter() - start) * 1e3,
        )
        clients.append((started, *moved, finished), actor=request.actor, correlation=request.run)
    return result


def moves_back(clients: ActorClients, run: Run) -> Iterator[MemoriesMoved]:
    """Yield the events that move the memories of a run back, without those that were erased since.

    Raises:
        InvalidParamsFault: Some of them were moved again, or merged with memories that the run did not move.
    """
    for moved in run.moved:
        entries = [entry for entry in clients.describe(moved.memories, own=True) if entry.body is not None]
        ids = {entry.id for entry in entries}
        for entry in entries:
            if entry.body and entry.body.namespace != moved.target:
                raise _undo_refused(f"memory {entry.id} was moved to '{entry.body.namespace}' since")
            if not ids.issuperset((entry.merged_into or entry.id, *entry.lineage)):
                raise _undo_refused(f"memory {entry.id} was merged with one of '{moved.target}' since")
        occupied = bool(clients.memories(moved.source, forgotten=True))
        yield MemoriesMoved(
            run=None,
            source=moved.target,
            target=moved.source,
            memories=tuple(entry.id for entry in entries),
            renamed=moved.renamed and not occupied,
        )


def _chosen(clients: ActorClients, request: MoveMemories) -> Sliced[dict[str, tuple[UUID, ...]]]:
    """Return the memories to move by their namespace, with those that are merged with them."""
    source, target = request.source, request.target
    if source == target:
        raise InvalidParamsFault(f"Invalid target: the namespace is '{target}' already", parameter="target")
    memories = request.memories if source is None else clients.memories(source, forgotten=True)
    if source is not None and not memories:
        raise NotFoundFault(f"Namespace not found: {source}", namespace=source)
    if source is not None and request.kind is not MoveKind.MOVE:
        _check_target(clients, request)
        return {source: memories}
    roots: dict[UUID, Entry] = {}
    for first in range(0, len(memories), SLICE):
        for entry in clients.describe(memories[first : first + SLICE]):
            if entry.body is None:
                raise NotFoundFault(f"Memory was erased: {entry.id}", id=str(entry.id))
            if request.session in {None, entry.body.session}:
                roots[entry.id] = entry
        yield
    members = dict.fromkeys(one for root in roots.values() for one in (root.id, *root.lineage))
    if source is not None and not members:
        raise NotFoundFault(f"Session not found in '{source}': {request.session}", session=request.session)
    chosen: dict[str, list[UUID]] = {}
    for entry in clients.describe(tuple(members), own=True):
        if entry.body is not None and entry.body.namespace != target:
            chosen.setdefault(entry.body.namespace, []).append(entry.id)
    if not chosen:
        raise InvalidParamsFault(f"Invalid ids: all of them are in '{target}' already", parameter="ids")
    return {namespace: tuple(ids) for namespace, ids in chosen.items()}


def _check_target(clients: ActorClients, request: MoveMemories) -> None:
    """Refuse to rename to a namespace that has memories, and to merge into one that has none."""
    there = len(clients.memories(request.target, forgotten=True))
    if request.kind is MoveKind.RENAME and there:
        raise InvalidParamsFault(
            f"Invalid target: '{request.target}' has {counted(there, 'memory')}; merge joins two namespaces",
            parameter="target",
        )
    if request.kind is MoveKind.MERGE and not there:
        raise NotFoundFault(
            f"Namespace not found: {request.target}; rename gives '{request.source}' a new name",
            namespace=request.target,
        )


def _undo_refused(problem: str) -> InvalidParamsFault:
    return InvalidParamsFault(f"Invalid run_id: {problem}; undo that first", parameter="run_id")
