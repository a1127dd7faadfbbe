"""Which memories can be found, and which memory answers for each that was absorbed."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    ConsolidationUndone,
    MemoriesMerged,
    MemoriesPruned,
    MemoryErased,
    MemoryForgotten,
    MemoryRestored,
)
from projections.projection import MemoryState, digest_of


class Change(NamedTuple):
    """A memory that went from one state to another."""

    memory: UUID
    before: MemoryState
    after: MemoryState
    left: UUID | None
    """What had absorbed it, if it was merged before."""


class _Fate(msgspec.Struct, frozen=True):
    """Why a memory can't be found."""

    state: MemoryState
    run: UUID | None = None
    survivor: UUID | None = None


_LIVE = _Fate(MemoryState.LIVE)


class Lifecycle:
    """The states of all memories; one that no event named is live, and nothing is kept of it.

    Absorbed memories point at their survivors. Only live ones are absorbed, and only by live ones, so that pointers
    form a forest, however many runs drew them.

    Nothing here comes from a body, so a shredded one is erased with its `MemoryErased`, which follows every erasure,
    and not before. A later reader of the log therefore passes through the same states as a live process.
    """

    _fates: dict[UUID, _Fate]
    _absorbed: dict[UUID, dict[UUID, None]]
    """Those that point at each memory, in the order in which they were merged."""
    _hidden: dict[UUID, dict[UUID, None]]
    """Those that each run hides at present."""

    def __init__(self) -> None:
        self._fates = {}
        self._absorbed = {}
        self._hidden = {}

    def apply(self, envelope: Envelope) -> tuple[Change, ...]:
        """Take in the next event of the log, and return what changed, each memory once."""
        match envelope.event:
            case MemoryForgotten(memory=memory) if self.state(memory) in {MemoryState.LIVE, MemoryState.PRUNED}:
                return self._turn((memory,), self.state(memory), _Fate(MemoryState.FORGOTTEN))
            case MemoryRestored(memory=memory) if self.state(memory) in {MemoryState.FORGOTTEN, MemoryState.PRUNED}:
                return self._turn((memory,), self.state(memory), _LIVE)
            case MemoriesPruned(run=run, pruned=pruned):
                return self._turn((one.memory for one in pruned), MemoryState.LIVE, _Fate(MemoryState.PRUNED, run))
            case MemoriesMerged(run=run, survivor=survivor, absorbed=absorbed) if (
                self.state(survivor) is MemoryState.LIVE
            ):
                others = (memory for memory in absorbed if memory != survivor)
                return self._turn(others, MemoryState.LIVE, _Fate(MemoryState.MERGED, run, survivor))
            case ConsolidationUndone() as undone:
                return self._undo(undone)
            case MemoryErased(memory=memory):
                freed = tuple(self._absorbed.get(memory, ()))
                erased = self._turn((memory,), self.state(memory), _Fate(MemoryState.ERASED))
                return erased + self._turn(freed, MemoryState.MERGED, _LIVE)
            case _:
                return ()

    def state(self, memory: UUID) -> MemoryState:
        """Return where a memory is in its life."""
        return self._fates.get(memory, _LIVE).state

    def survivor(self, memory: UUID) -> UUID | None:
        """Return what absorbed a memory; None unless it is merged."""
        return self._fates.get(memory, _LIVE).survivor

    def root(self, memory: UUID) -> UUID:
        """Return the memory that answers for this one: the last survivor in its chain, or itself."""
        while (survivor := self.survivor(memory)) is not None:
            memory = survivor
        return memory

    def absorbed(self, memory: UUID) -> tuple[UUID, ...]:
        """Return all that this memory answers for: the tree below it, each before those that it had absorbed."""
        return tuple(self._below(memory)) if memory in self._absorbed else ()

    def run_of(self, memory: UUID) -> UUID | None:
        """Return the run that pruned or merged a memory; None if it is neither."""
        return self._fates.get(memory, _LIVE).run

    def digest(self) -> bytes:
        """Return the SHA-256 of the states that aren't live, by memory, and of the order in which trees are walked."""
        trees = sorted((survivor, list(below)) for survivor, below in self._absorbed.items())
        return digest_of(msgspec.msgpack.encode((sorted(self._fates.items()), trees)))

    def _below(self, memory: UUID) -> Iterator[UUID]:
        waiting = [memory]
        while waiting:
            one = waiting.pop()
            if one != memory:
                yield one
            waiting += reversed(self._absorbed.get(one, {}))

    def _undo(self, undone: ConsolidationUndone) -> tuple[Change, ...]:
        hidden = tuple(self._hidden.get(undone.run, ()))
        if undone.memories:
            named = {*undone.memories}
            hidden = tuple(one for one in hidden if one in named or self.survivor(one) in named)
        # Whoever forgot the survivor meant what it answered for as well.
        forgotten = [one for one in hidden if self.state(self.root(one)) is MemoryState.FORGOTTEN]
        return (
            *self._turn(hidden, MemoryState.PRUNED, _LIVE),
            *self._turn(forgotten, MemoryState.MERGED, _Fate(MemoryState.FORGOTTEN)),
            *self._turn(hidden, MemoryState.MERGED, _LIVE),
        )

    def _turn(self, memories: Iterable[UUID], before: MemoryState, fate: _Fate) -> tuple[Change, ...]:
        """Give this fate to those of the memories that are in the state `before`."""
        changes: list[Change] = []
        for memory in memories:
            held = self._fates.get(memory, _LIVE)
            if held.state is before is not fate.state:
                self._forget(memory, held)
                self._keep(memory, fate)
                changes.append(Change(memory, before, fate.state, held.survivor))
        return tuple(changes)

    def _keep(self, memory: UUID, fate: _Fate) -> None:
        if fate.state is not MemoryState.LIVE:
            self._fates[memory] = fate
        if fate.run is not None:
            self._hidden.setdefault(fate.run, {})[memory] = None
        if fate.survivor is not None:
            self._absorbed.setdefault(fate.survivor, {})[memory] = None

    def _forget(self, memory: UUID, fate: _Fate) -> None:
        self._fates.pop(memory, None)
        for index, key in ((self._hidden, fate.run), (self._absorbed, fate.survivor)):
            if key is not None:
                del index[key][memory]
                if not index[key]:
                    del index[key]
