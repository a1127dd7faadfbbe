"""What the global workspace holds: the focus, what is ignited, and what faded and waits for REM (seeds 001 and 004)."""

from collections import Counter
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from events.log import Envelope
from events.vocabulary import (
    CouplingAdjusted,
    FocusMoved,
    MemoryErased,
    MemoryFaded,
    MemoryForgotten,
    MemoryIgnited,
    MemoryRestored,
    WorkspaceConflicted,
    WorkspaceEmptied,
)
from projections.projection import digest_of

DEFAULT_COUPLING: Final = 3.0
"""K until somebody adjusts it: where full agreement reaches r = .94 and half of it .55 (design 6)."""

QUEUE: Final = 256
"""How many faded memories wait for REM at most; beyond it the oldest give way."""


class Ignition(msgspec.Struct, frozen=True):
    """A memory in the workspace."""

    memory: UUID
    order: float
    """Its order parameter r in [0, 1], as it was last measured."""
    since: datetime
    forced: bool
    """Whether somebody let it in whatever its order."""


class Fading(msgspec.Struct, frozen=True):
    """A memory that left the workspace, with the order and the time at which it did."""

    memory: UUID
    order: float
    at: datetime


class WorkspaceState:
    """The workspace as the log tells it.

    An erased memory leaves it with `MemoryErased`, which follows every erasure, and not already where its body can't be
    read: nothing here comes from a body, so a later reader of the log passes through the same states.
    """

    def __init__(self) -> None:
        self.coupling = DEFAULT_COUPLING
        self.focus: FocusMoved | None = None
        self.focused_at: datetime | None = None
        self.ignited: dict[UUID, Ignition] = {}
        """In the order in which they entered."""
        self.faded: dict[UUID, Fading] = {}
        """The queue for REM replay, oldest first."""
        self.ignitions: Counter[UUID] = Counter()
        """How often each memory entered."""
        self.conflict: tuple[UUID, ...] = ()
        """Those of the last conflict that are still in, the most synchronous first; none when fewer than two are."""
        self.emptied_at: datetime | None = None
        """Since when nothing is in, once something was."""
        self._forgotten: set[UUID] = set()
        self._erased: set[UUID] = set()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case CouplingAdjusted(coupling=coupling):
                self.coupling = coupling
            case FocusMoved() as focus:
                self._turn(focus, envelope.at)
            case MemoryIgnited() as ignition:
                self._ignite(ignition, envelope.at)
            case MemoryFaded(memory=memory, order=order):
                self._fade(Fading(memory, order, envelope.at))
            case WorkspaceConflicted(memories=memories):
                self.conflict = self._still_in(memories)
            case WorkspaceEmptied():
                self.emptied_at = envelope.at
            case MemoryForgotten(memory=memory):
                self._forgotten.add(memory)
                self._leave(memory, envelope.at)
                self._unsee({memory})
            case MemoryRestored(memory=memory):
                self._forgotten.discard(memory)
            case MemoryErased(memory=memory):
                self._erase(memory, envelope.at)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state and of which memories were forgotten or erased."""
        whole = (
            self.coupling,
            (self.focus, self.focused_at),
            list(self.ignited.values()),
            list(self.faded.values()),
            sorted(self.ignitions.items()),
            (self.conflict, self.emptied_at),
            sorted(self._forgotten),
            sorted(self._erased),
        )
        return digest_of(msgspec.msgpack.encode(whole))

    def _turn(self, focus: FocusMoved, at: datetime) -> None:
        self.focus, self.focused_at = focus, at
        self._keep_focus_clean()
        for candidate in focus.candidates:
            if held := self.ignited.get(candidate.memory):
                self.ignited[candidate.memory] = msgspec.structs.replace(held, order=candidate.order)

    def _ignite(self, ignition: MemoryIgnited, at: datetime) -> None:
        memory = ignition.memory
        if memory in self._erased or memory in self._forgotten:  # deleted between the decision and its event
            return
        held = self.ignited.get(memory)
        if held is None:
            self.ignitions[memory] += 1
        since = held.since if held else at
        self.ignited[memory] = Ignition(memory, ignition.order, since, ignition.forced)
        self.faded.pop(memory, None)
        self.emptied_at = None

    def _fade(self, fading: Fading) -> None:
        if fading.memory not in self.ignited:  # it was forgotten or erased meanwhile: nothing is left to replay
            return
        self._remove(fading.memory)
        self.faded[fading.memory] = fading
        if len(self.faded) > QUEUE:
            del self.faded[next(iter(self.faded))]

    def _remove(self, memory: UUID) -> None:
        self.ignited.pop(memory, None)
        self.faded.pop(memory, None)
        self.conflict = self._still_in(self.conflict)

    def _leave(self, memory: UUID, at: datetime) -> None:
        """Let a deleted memory go; if it was the last one in, no `WorkspaceEmptied` says so."""
        if [*self.ignited] == [memory]:
            self.emptied_at = at
        self._remove(memory)

    def _erase(self, memory: UUID, at: datetime) -> None:
        self._erased.add(memory)
        self._leave(memory, at)
        self.ignitions.pop(memory, None)
        self._keep_focus_clean()

    def _keep_focus_clean(self) -> None:
        """Take erased memories out of the focus; one on an erased memory goes whole, as all its scores tell of that."""
        if self.focus is None:
            return
        if self.focus.subject in self._erased:
            self.focus = self.focused_at = None
        else:
            self._unsee(self._erased)

    def _unsee(self, memories: AbstractSet[UUID]) -> None:
        """Take memories out of what the focus found, so that no change of coupling lets them in."""
        if self.focus is not None:
            left = tuple(one for one in self.focus.candidates if one.memory not in memories)
            self.focus = msgspec.structs.replace(self.focus, candidates=left)

    def _still_in(self, memories: tuple[UUID, ...]) -> tuple[UUID, ...]:
        rivals = tuple(memory for memory in memories if memory in self.ignited)
        return rivals if len(rivals) > 1 else ()
