"""Events of goals, drift and the workspace."""

import struct
from typing import ClassVar
from uuid import UUID

from events.vocabulary.event import Event
from events.vocabulary.values import WIDTH, DriftLevel, GoalLevel, Resonance


class GoalDiscovered(Event, frozen=True, kw_only=True, tag="goal_discovered.1"):
    """A goal was found in the memories. Its words come from them, so it is encrypted."""

    sealed: ClassVar[bool] = True

    goal: UUID
    namespace: str
    level: GoalLevel
    description: str
    terms: tuple[str, ...]
    """Words that distinguish its members from other memories, the most distinctive first."""
    members: tuple[UUID, ...]
    """The most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: its similarity to the centroid."""
    coherence: float
    """Share of its members' connections to nearest neighbours that stay inside; once the mean of `centrality`."""
    confidence: float
    spaces: tuple[str, ...]
    """Keys of up to three spaces that distinguish its members from other memories, the best first."""
    parent: UUID | None = None
    """The goal above this one."""
    run: UUID | None = None
    """The consolidation run that found it; undone with it."""


class NorthStarChosen(Event, frozen=True, kw_only=True, tag="north_star_chosen.1"):
    """The memories of a namespace are measured against this goal from now on."""

    namespace: str
    goal: UUID
    previous: UUID | None = None


class PurposesRealigned(Event, frozen=True, kw_only=True, tag="purposes_realigned.1"):
    """The purpose of these memories was measured again, against this goal."""

    goal: UUID
    memories: tuple[UUID, ...]
    purposes: bytes
    """float32, one row of `WIDTH` for each memory."""
    run: UUID | None = None
    """The consolidation run that did it."""
    previous: bytes = b""
    """The purposes before, so that a run can be undone; empty outside of a run."""

    def __post_init__(self) -> None:
        """Refuse anything but one row for each memory."""
        expected = 4 * WIDTH * len(self.memories)
        if len(self.purposes) != expected or len(self.previous) not in {0, expected}:
            message = f"{len(self.memories)} memories need {WIDTH} float32 each, not {len(self.purposes)} bytes"
            raise ValueError(message)

    def rows(self) -> list[tuple[float, ...]]:
        """Return the purpose vector of each memory, in their order."""
        return list(struct.iter_unpack(f"<{WIDTH}f", self.purposes))

    def of(self, memory: UUID) -> tuple[float, ...]:
        """Return the purpose vector of one of the memories (`ValueError` for another)."""
        return self.rows()[self.memories.index(memory)]


class DriftDetected(Event, frozen=True, kw_only=True, tag="drift_detected.1"):
    """The nearness of the latest memories to their nearest goal is on another level than at the last check."""

    namespace: str
    goal: UUID
    level: DriftLevel
    similarity: float
    """Mean nearness of the latest memories, in [0, 1]; once their alignment with the North Star."""
    spaces: tuple[float, ...]
    """The same by space."""
    memories: int
    """How many were measured."""


class FocusMoved(Event, frozen=True, kw_only=True, tag="focus_moved.1"):
    """The workspace has a new focus, a query or a memory, and measured which memories agree with it."""

    subject: UUID | None
    """The memory that was stored or broadcast; None for a query."""
    namespace: str | None
    """Whose memories were measured; None for all."""
    coupling: float
    candidates: tuple[Resonance, ...]
    """The most synchronous first."""


class MemoryIgnited(Event, frozen=True, kw_only=True, tag="memory_ignited.1"):
    """A memory entered the workspace, because its spaces agree on the focus."""

    memory: UUID
    order: float
    """Its order parameter r in [0, 1]."""
    forced: bool = False
    """Whether a request put it there, whatever its order."""


class MemoryFaded(Event, frozen=True, kw_only=True, tag="memory_faded.1"):
    """A memory left the workspace, and is queued for REM."""

    memory: UUID
    order: float


class WorkspaceConflicted(Event, frozen=True, kw_only=True, tag="workspace_conflicted.1"):
    """Several memories are in the workspace at once, the most synchronous first."""

    memories: tuple[UUID, ...]


class WorkspaceEmptied(Event, frozen=True, kw_only=True, tag="workspace_emptied.1"):
    """The last memory left the workspace."""


class CouplingAdjusted(Event, frozen=True, kw_only=True, tag="coupling_adjusted.1"):
    """The coupling strength of the oscillators was changed."""

    previous: float
    coupling: float
    """K in [0, 10]."""
