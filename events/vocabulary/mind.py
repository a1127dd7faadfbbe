"""What the memories serve, and what is attended to."""

import struct
from typing import ClassVar
from uuid import UUID

from events.vocabulary.event import Event
from events.vocabulary.values import WIDTH, DriftLevel, GoalLevel, Resonance


class GoalDiscovered(Event, frozen=True, kw_only=True, tag="goal_discovered.1"):
    """A goal was found in the memories. Its words come from them, so it is encrypted as they are."""

    sealed: ClassVar[bool] = True

    goal: UUID
    namespace: str
    level: GoalLevel
    description: str
    terms: tuple[str, ...]
    """Words that tell its members from the rest, most telling first."""
    members: tuple[UUID, ...]
    """The most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: its similarity to the middle of them all."""
    coherence: float
    """The mean of `centrality`."""
    confidence: float
    spaces: tuple[str, ...]
    """Keys of up to three spaces that tell its members from the rest, the best first."""
    parent: UUID | None = None
    """The goal that this one serves."""
    run: UUID | None = None
    """Of the consolidator, in which it was found; undone with it."""


class NorthStarChosen(Event, frozen=True, kw_only=True, tag="north_star_chosen.1"):
    """From here on the memories of a namespace are measured against this goal."""

    namespace: str
    goal: UUID
    previous: UUID | None = None


class PurposesRealigned(Event, frozen=True, kw_only=True, tag="purposes_realigned.1"):
    """The purpose of these memories was measured anew, against the goal named."""

    goal: UUID
    memories: tuple[UUID, ...]
    purposes: bytes
    """float32, one row of `WIDTH` for each memory."""
    run: UUID | None = None
    """Of the consolidator, by which it was done."""
    previous: bytes = b""
    """The purposes as they were before, so that a run can be undone; empty where it isn't the work of one."""

    def __post_init__(self) -> None:
        """Refuse purposes that aren't one row for each memory."""
        expected = 4 * WIDTH * len(self.memories)
        if len(self.purposes) != expected or len(self.previous) not in {0, expected}:
            message = f"{len(self.memories)} memories need {WIDTH} float32 each, not {len(self.purposes)} bytes"
            raise ValueError(message)

    def rows(self) -> list[tuple[float, ...]]:
        """Return the purpose vector of each memory, in their order."""
        return list(struct.iter_unpack(f"<{WIDTH}f", self.purposes))

    def of(self, memory: UUID) -> tuple[float, ...]:
        """Return the purpose vector of one of the memories; another one is a ValueError."""
        return self.rows()[self.memories.index(memory)]


class DriftDetected(Event, frozen=True, kw_only=True, tag="drift_detected.1"):
    """The latest memories were seen to serve the North Star at another level than when it was last looked at."""

    namespace: str
    goal: UUID
    level: DriftLevel
    similarity: float
    """Mean alignment of the latest memories, in [0, 1]."""
    spaces: tuple[float, ...]
    """The same, space by space."""
    memories: int
    """How many were looked at."""


class FocusMoved(Event, frozen=True, kw_only=True, tag="focus_moved.1"):
    """The workspace turned to a new question or memory, and measured what agrees with it."""

    subject: UUID | None
    """The memory that was stored or broadcast; None for a question."""
    namespace: str | None
    """Within which memories were looked at; None for all."""
    coupling: float
    candidates: tuple[Resonance, ...]
    """The most synchronous first."""


class MemoryIgnited(Event, frozen=True, kw_only=True, tag="memory_ignited.1"):
    """A memory entered the workspace: its spaces agree on the present focus."""

    memory: UUID
    order: float
    """Its order parameter r in [0, 1]."""
    forced: bool = False
    """Whether somebody let it in whatever its order."""


class MemoryFaded(Event, frozen=True, kw_only=True, tag="memory_faded.1"):
    """A memory left the workspace; REM will replay it."""

    memory: UUID
    order: float


class WorkspaceConflicted(Event, frozen=True, kw_only=True, tag="workspace_conflicted.1"):
    """Several memories are in the workspace at once, the most synchronous first."""

    memories: tuple[UUID, ...]


class WorkspaceEmptied(Event, frozen=True, kw_only=True, tag="workspace_emptied.1"):
    """Nothing is left in the workspace."""


class CouplingAdjusted(Event, frozen=True, kw_only=True, tag="coupling_adjusted.1"):
    """Somebody changed how strongly spaces pull on each other."""

    previous: float
    coupling: float
    """K in [0, 10]."""
