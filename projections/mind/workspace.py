"""The global workspace: its focus, the ignited memories, what these prime, and the faded ones queued for REM replay."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from projections.memories.lifecycle import Lifecycle
from projections.projection import MemoryState, digest_of

DEFAULT_COUPLING: Final = 3.0
"""Kuramoto coupling K, with which full agreement of the spaces reaches r = .94 and agreement of half of them .55."""

IGNITION_THRESHOLD: Final = 0.8
"""Order parameter r at which a memory enters the workspace (STORE-001/workspace/ignites)."""

FADING_THRESHOLD: Final = 0.7
"""Order parameter r below which a memory leaves the workspace (STORE-001/workspace/fades)."""

CAPACITY: Final = 7
"""Maximum number of memories in the workspace, the span of human working memory (Miller 1956)."""

MAX_FADED: Final = 256
"""Length of the queue for REM replay; the oldest entries are dropped beyond it."""


class IgnitedMemory(msgspec.Struct, frozen=True):
    """A memory in the workspace."""

    memory: UUID
    order: float
    since: datetime
    forced: bool
    """Whether a client ignited it regardless of its order."""


class FadedMemory(msgspec.Struct, frozen=True):
    """A memory that left the workspace, with its order parameter and time."""

    memory: UUID
    order: float
    at: datetime


class WorkspaceState:
    """State of the workspace; a memory leaves it when it is excluded from search."""

    coupling: float
    focus: ev.FocusMoved | None
    focused_at: datetime | None
    ignited: dict[UUID, IgnitedMemory]
    """In the order of ignition."""
    faded: dict[UUID, FadedMemory]
    """The queue for REM replay, the oldest first."""
    ignitions: Counter[UUID]
    conflict: tuple[UUID, ...]
    """The ignited memories of the last conflict, the highest order first; none if fewer than two are left."""
    emptied_at: datetime | None
    """Since when the workspace is empty; None if it isn't, or never was filled."""

    def __init__(self) -> None:
        self.coupling = DEFAULT_COUPLING
        self.focus = self.focused_at = self.emptied_at = None
        self.ignited = {}
        self.faded = {}
        self.ignitions = Counter()
        self.conflict = ()
        self._lifecycle = Lifecycle()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        changes = self._lifecycle.apply(envelope)
        self._exclude({change.memory for change in changes if change.after is not MemoryState.LIVE}, envelope.at)
        match envelope.event:
            case ev.CouplingAdjusted(coupling=coupling):
                self.coupling = coupling
            case ev.FocusMoved() as focus:
                self._move_focus(focus, envelope.at)
            case ev.MemoryIgnited() as ignited:
                self._ignite(ignited, envelope.at)
            case ev.MemoryFaded(memory=memory, order=order):
                self._fade(FadedMemory(memory, order, envelope.at))
            case ev.WorkspaceConflicted(memories=memories):
                self.conflict = self._rivals(memories)
            case ev.WorkspaceEmptied():
                self.emptied_at = envelope.at
            case ev.MemoriesReplayed(memories=memories):
                for memory in memories:
                    self.faded.pop(memory, None)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state and of life cycle states."""
        held = (list(self.ignited.values()), list(self.faded.values()), self.ignitions)
        state = (self.coupling, self.focus, self.focused_at, *held, self.conflict, self.emptied_at)
        return digest_of(*state, self._lifecycle.digest())

    def _move_focus(self, focus: ev.FocusMoved, at: datetime) -> None:
        self.focus, self.focused_at = focus, at
        self._remove_erased_from_focus()
        for candidate in focus.candidates:
            if ignited := self.ignited.get(candidate.memory):
                self.ignited[candidate.memory] = msgspec.structs.replace(ignited, order=candidate.order)

    def _ignite(self, event: ev.MemoryIgnited, at: datetime) -> None:
        memory = event.memory
        if self._lifecycle.state(memory) is not MemoryState.LIVE:  # excluded between the decision and its event
            return
        ignited = self.ignited.get(memory)
        if ignited is None:
            self.ignitions[memory] += 1
        self.ignited[memory] = IgnitedMemory(memory, event.order, ignited.since if ignited else at, event.forced)
        self.faded.pop(memory, None)
        self.emptied_at = None

    def _fade(self, faded: FadedMemory) -> None:
        if faded.memory not in self.ignited:  # excluded from search since: not to be replayed
            return
        del self.ignited[faded.memory]
        self.conflict = self._rivals(self.conflict)
        self.faded[faded.memory] = faded
        if len(self.faded) > MAX_FADED:
            del self.faded[next(iter(self.faded))]

    def _exclude(self, memories: set[UUID], at: datetime) -> None:
        """Remove memories that are excluded from search; no `WorkspaceEmptied` follows if they were the last ones."""
        if not memories:
            return
        if self.ignited and self.ignited.keys() <= memories:
            self.emptied_at = at
        for memory in memories:
            self.ignited.pop(memory, None)
            self.faded.pop(memory, None)
            if self._lifecycle.state(memory) is MemoryState.ERASED:
                self.ignitions.pop(memory, None)
        self.conflict = self._rivals(self.conflict)
        self._remove_erased_from_focus()
        self._remove_candidates(memories)

    def _remove_erased_from_focus(self) -> None:
        """Remove erased candidates, or the whole focus if its subject is erased, as all its scores derive from that."""
        if self.focus is None:
            return
        if self.focus.subject is not None and self._lifecycle.state(self.focus.subject) is MemoryState.ERASED:
            self.focus = self.focused_at = None
        else:
            candidates = (one.memory for one in self.focus.candidates)
            self._remove_candidates({one for one in candidates if self._lifecycle.state(one) is MemoryState.ERASED})

    def _remove_candidates(self, memories: set[UUID]) -> None:
        """Remove candidates of the focus, which a change of coupling could otherwise ignite."""
        if self.focus is not None:
            left = tuple(one for one in self.focus.candidates if one.memory not in memories)
            self.focus = msgspec.structs.replace(self.focus, candidates=left)

    def _rivals(self, memories: tuple[UUID, ...]) -> tuple[UUID, ...]:
        rivals = tuple(memory for memory in memories if memory in self.ignited)
        return rivals if len(rivals) > 1 else ()


class Priming:
    """Order parameters of the ignited memories, except those that are excluded from search."""

    orders: dict[UUID, float]

    def __init__(self) -> None:
        self.orders = {}

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case ev.MemoryIgnited(memory=memory, order=order):
                self.orders[memory] = order
            case ev.MemoryFaded(memory=memory) | ev.MemoryForgotten(memory=memory) | ev.MemoryErased(memory=memory):
                self._remove((memory,))
            case ev.MemoriesMerged(absorbed=absorbed):
                self._remove(absorbed)
            case ev.MemoriesPruned(pruned=pruned):
                self._remove(one.memory for one in pruned)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of all order parameters, in the order of ignition."""
        return digest_of(list(self.orders.items()))

    def _remove(self, memories: Iterable[UUID]) -> None:
        for memory in memories:
            self.orders.pop(memory, None)
