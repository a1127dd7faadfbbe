"""What the global workspace holds: the focus, what is ignited, and what faded and waits for REM (seeds 001 and 004)."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    CouplingAdjusted,
    FocusMoved,
    MemoriesReplayed,
    MemoryFaded,
    MemoryIgnited,
    WorkspaceConflicted,
    WorkspaceEmptied,
)
from projections.memories.lifecycle import Lifecycle
from projections.projection import MemoryState, digest_of

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

    coupling: float
    focus: FocusMoved | None
    focused_at: datetime | None
    ignited: dict[UUID, Ignition]
    """In the order in which they entered."""
    faded: dict[UUID, Fading]
    """The queue for REM replay, oldest first."""
    ignitions: Counter[UUID]
    """How often each memory entered."""
    conflict: tuple[UUID, ...]
    """Those of the last conflict that are still in, the most synchronous first; none when fewer than two are."""
    emptied_at: datetime | None
    """Since when nothing is in, once something was."""

    def __init__(self) -> None:
        self.coupling = DEFAULT_COUPLING
        self.focus = self.focused_at = self.emptied_at = None
        self.ignited = {}
        self.faded = {}
        self.ignitions = Counter()
        self.conflict = ()
        self._presence = Lifecycle()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        changes = self._presence.apply(envelope)
        self._let_go([change.memory for change in changes if change.after is not MemoryState.LIVE], envelope.at)
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
            case MemoriesReplayed(memories=memories):
                for memory in memories:
                    self.faded.pop(memory, None)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state and of which memories can't be found."""
        whole = (
            self.coupling,
            (self.focus, self.focused_at),
            list(self.ignited.values()),
            list(self.faded.values()),
            sorted(self.ignitions.items()),
            (self.conflict, self.emptied_at),
        )
        return digest_of(msgspec.msgpack.encode(whole), self._presence.digest())

    def _turn(self, focus: FocusMoved, at: datetime) -> None:
        self.focus, self.focused_at = focus, at
        self._keep_focus_clean()
        for candidate in focus.candidates:
            if held := self.ignited.get(candidate.memory):
                self.ignited[candidate.memory] = msgspec.structs.replace(held, order=candidate.order)

    def _ignite(self, ignition: MemoryIgnited, at: datetime) -> None:
        memory = ignition.memory
        if self._presence.state(memory) is not MemoryState.LIVE:  # it went between the decision and its event
            return
        held = self.ignited.get(memory)
        if held is None:
            self.ignitions[memory] += 1
        since = held.since if held else at
        self.ignited[memory] = Ignition(memory, ignition.order, since, ignition.forced)
        self.faded.pop(memory, None)
        self.emptied_at = None

    def _fade(self, fading: Fading) -> None:
        if fading.memory not in self.ignited:  # it can't be found any more: nothing is left to replay
            return
        del self.ignited[fading.memory]
        self.conflict = self._still_in(self.conflict)
        self.faded[fading.memory] = fading
        if len(self.faded) > QUEUE:
            del self.faded[next(iter(self.faded))]

    def _let_go(self, memories: Collection[UUID], at: datetime) -> None:
        """Let memories go that can't be found any more; if they were the last in, no `WorkspaceEmptied` says so."""
        if not memories:
            return
        if self.ignited and self.ignited.keys() <= {*memories}:
            self.emptied_at = at
        for memory in memories:
            self.ignited.pop(memory, None)
            self.faded.pop(memory, None)
            if self._presence.state(memory) is MemoryState.ERASED:
                self.ignitions.pop(memory, None)
        self.conflict = self._still_in(self.conflict)
        self._keep_focus_clean()
        self._unsee({*memories})

    def _keep_focus_clean(self) -> None:
        """Take erased memories out of the focus; one on an erased memory goes whole, as all its scores tell of that."""
        if self.focus is None:
            return
        if self.focus.subject is not None and self._presence.state(self.focus.subject) is MemoryState.ERASED:
            self.focus = self.focused_at = None
        else:
            states = {one.memory: self._presence.state(one.memory) for one in self.focus.candidates}
            self._unsee({memory for memory, state in states.items() if state is MemoryState.ERASED})

    def _unsee(self, memories: Collection[UUID]) -> None:
        """Take memories out of what the focus found, so that no change of coupling lets them in."""
        if self.focus is not None:
            left = tuple(one for one in self.focus.candidates if one.memory not in memories)
            self.focus = msgspec.structs.replace(self.focus, candidates=left)

    def _still_in(self, memories: tuple[UUID, ...]) -> tuple[UUID, ...]:
        rivals = tuple(memory for memory in memories if memory in self.ignited)
        return rivals if len(rivals) > 1 else ()
