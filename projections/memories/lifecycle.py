"""Life cycle of memories: states, the merge forest (which survivor absorbed which), and what events say of them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from projections.projection import MemoryState, digest_of


class StateChange(NamedTuple):
    """Transition of one memory."""

    memory: UUID
    before: MemoryState
    after: MemoryState
    previous_survivor: UUID | None
    """Which memory had absorbed it, if it was merged before."""


class _Status(msgspec.Struct, frozen=True):
    state: MemoryState
    run: UUID | None = None
    survivor: UUID | None = None


_LIVE = _Status(MemoryState.LIVE)


class Lifecycle:
    """State machine of all memories; live is the default and takes no space.

    Absorbed memories point at their survivors. Only live memories absorb and are absorbed, so that pointers form a
    forest over any number of runs.

    A memory becomes erased by `MemoryErased`, not where its `MemoryStored` is shredded, so that a replay after the
    erasure passes through the live states.
    """

    _statuses: dict[UUID, _Status]
    """Of the memories that aren't live."""
    _absorbed: dict[UUID, dict[UUID, None]]
    """Children of each survivor, in merge order."""
    _hidden: dict[UUID, dict[UUID, None]]
    """Memories that each run currently excludes."""

    def __init__(self) -> None:
        self._statuses = {}
        self._absorbed = {}
        self._hidden = {}

    def apply(self, envelope: Envelope) -> tuple[StateChange, ...]:
        """Fold the next event of the log; return what changed, each memory once."""
        match envelope.event:
            case ev.MemoryForgotten(memory=memory) if self.state(memory) in {MemoryState.LIVE, MemoryState.PRUNED}:
                return self._transition((memory,), self.state(memory), _Status(MemoryState.FORGOTTEN))
            case ev.MemoryRestored(memory=memory) if self.state(memory) in {MemoryState.FORGOTTEN, MemoryState.PRUNED}:
                return self._transition((memory,), self.state(memory), _LIVE)
            case ev.MemoriesPruned(run=run, pruned=pruned):
                memories = (one.memory for one in pruned)
                return self._transition(memories, MemoryState.LIVE, _Status(MemoryState.PRUNED, run))
            case ev.MemoriesMerged(run=run, survivor=survivor, absorbed=absorbed) if (
                self.state(survivor) is MemoryState.LIVE
            ):
                memories = (memory for memory in absorbed if memory != survivor)
                return self._transition(memories, MemoryState.LIVE, _Status(MemoryState.MERGED, run, survivor))
            case ev.ConsolidationUndone() as undone:
                return self._undo(undone)
            case ev.MemoryErased(memory=memory):
                freed = tuple(self._absorbed.get(memory, ()))
                erased = self._transition((memory,), self.state(memory), _Status(MemoryState.ERASED))
                return erased + self._transition(freed, MemoryState.MERGED, _LIVE)
            case _:
                return ()

    def state(self, memory: UUID) -> MemoryState:
        """Return the state of a memory; live for an unknown one."""
        return self._statuses.get(memory, _LIVE).state

    def survivor(self, memory: UUID) -> UUID | None:
        """Return which memory absorbed this one; None unless it is merged."""
        return self._statuses.get(memory, _LIVE).survivor

    @property
    def has_merges(self) -> bool:
        """Whether any memory is merged at present."""
        return bool(self._absorbed)

    def root(self, memory: UUID) -> UUID:
        """Return the last survivor in a memory's chain of merges; itself unless it is merged."""
        while (survivor := self.survivor(memory)) is not None:
            memory = survivor
        return memory

    def absorbed(self, memory: UUID) -> tuple[UUID, ...]:
        """Return all descendants of a survivor in the merge forest, in pre-order."""
        return tuple(self._descendants(memory)) if memory in self._absorbed else ()

    def run_of(self, memory: UUID) -> UUID | None:
        """Return the run that pruned or merged a memory; None if it is neither."""
        return self._statuses.get(memory, _LIVE).run

    def digest(self) -> bytes:
        """Return the SHA-256 of the states that aren't live, by memory, and of the merge forest in its order."""
        return digest_of(self._statuses, {survivor: list(children) for survivor, children in self._absorbed.items()})

    def _descendants(self, memory: UUID) -> Iterator[UUID]:
        stack = [*reversed(self._absorbed[memory])]
        while stack:
            child = stack.pop()
            yield child
            stack += reversed(self._absorbed.get(child, {}))

    def _undo(self, undone: ev.ConsolidationUndone) -> tuple[StateChange, ...]:
        hidden = tuple(self._hidden.get(undone.run, ()))
        if undone.memories:
            selected = {*undone.memories}
            hidden = tuple(one for one in hidden if one in selected or self.survivor(one) in selected)
        # Forgetting a survivor includes what it had absorbed by then.
        forgotten = [one for one in hidden if self.state(self.root(one)) is MemoryState.FORGOTTEN]
        return (
            *self._transition(hidden, MemoryState.PRUNED, _LIVE),
            *self._transition(forgotten, MemoryState.MERGED, _Status(MemoryState.FORGOTTEN)),
            *self._transition(hidden, MemoryState.MERGED, _LIVE),
        )

    def _transition(self, memories: Iterable[UUID], before: MemoryState, new: _Status) -> tuple[StateChange, ...]:
        """Give the new status to those of the memories that are in the state `before`."""
        changes: list[StateChange] = []
        for memory in memories:
            old = self._statuses.get(memory, _LIVE)
            if old.state is before is not new.state:
                self._unset(memory, old)
                self._set(memory, new)
                changes.append(StateChange(memory, before, new.state, old.survivor))
        return tuple(changes)

    def _set(self, memory: UUID, status: _Status) -> None:
        if status.state is not MemoryState.LIVE:
            self._statuses[memory] = status
        if status.run is not None:
            self._hidden.setdefault(status.run, {})[memory] = None
        if status.survivor is not None:
            self._absorbed.setdefault(status.survivor, {})[memory] = None

    def _unset(self, memory: UUID, status: _Status) -> None:
        self._statuses.pop(memory, None)
        for index, key in ((self._hidden, status.run), (self._absorbed, status.survivor)):
            if key is not None:
                del index[key][memory]
                if not index[key]:
                    del index[key]


def concerned(event: ev.Event) -> Iterator[UUID]:
    """Yield the memories that an event concerns, recalls and measurements aside."""
    match event:
        case (
            ev.MemoryForgotten(memory=memory)
            | ev.MemoryRestored(memory=memory)
            | ev.MemoryReinstated(memory=memory)
            | ev.MemoryErased(memory=memory)
            | ev.MemoryIgnited(memory=memory)
            | ev.MemoryFaded(memory=memory)
        ):
            yield memory
        case ev.MemorySuperseded(memory=memory, by=by):
            yield from (memory, by)
        case ev.CausesLinked(links=links):
            yield from dict.fromkeys(end for link in links for end in (link.source, link.target))
        case ev.MemoriesLinked(source=first, targets=others) | ev.MemoriesMerged(survivor=first, absorbed=others):
            yield from (first, *others)
        case ev.MemoriesPruned(pruned=pruned):
            yield from (one.memory for one in pruned)
        case ev.MemoriesReplayed(memories=memories) | ev.ConsolidationUndone(memories=memories):
            yield from memories
        case _:
            pass


def changed(changes: tuple[StateChange, ...]) -> Iterator[UUID]:
    """Yield the memories whose state changed, and their previous survivors."""
    for change in changes:
        yield change.memory
        if change.previous_survivor is not None:
            yield change.previous_survivor


def restores_single_memories(event: ev.Event) -> bool:
    """Tell whether an event makes chosen memories live, rather than undoing a whole run."""
    return isinstance(event, ev.MemoryRestored) or (isinstance(event, ev.ConsolidationUndone) and bool(event.memories))


def reasons_of(event: ev.Event) -> dict[UUID, str | None]:
    """Return why an event excludes memories from search."""
    match event:
        case ev.MemoryForgotten(memory=memory, reason=reason) | ev.MemoryErased(memory=memory, reason=reason):
            return {memory: reason}
        case ev.MemoriesMerged(survivor=survivor, absorbed=absorbed):
            return dict.fromkeys(absorbed, f"merged into {survivor}")
        case ev.MemoriesPruned(pruned=pruned):
            return {one.memory: f"pruned: salience {one.salience.total:.2f}" for one in pruned}
        case _:
            return {}
