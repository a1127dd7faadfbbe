"""What can happen: the events of the log, past tense, versioned by tag.

Fields are only ever added, and always with a default; a changed meaning gets a new tag and an
upcaster in `events.codec`. Whatever came from a model, the clock, a random generator, a threshold
or a person stands in the event; what a fold can derive does not.
"""

import struct
from datetime import datetime
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

import msgspec

from events.fingerprint import Fingerprint, Passage
from events.values import WIDTH, DriftLevel, GoalLevel, JohariRow, Learning, Modality, Resonance, SpaceModel, Step


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Anything that happened."""

    sealed: ClassVar[bool] = False
    """A sealed event is encrypted with a key of its own, which a hard delete destroys."""


class SpacesDeclared(Event, frozen=True, kw_only=True, tag="spaces_declared.1"):
    """From here on memories are embedded with this profile."""

    profile: str
    spaces: tuple[SpaceModel, ...]


class MemoryStored(Event, frozen=True, kw_only=True, tag="memory_stored.1"):
    """A memory was stored. The id of the event is the id of the memory."""

    sealed: ClassVar[bool] = True

    content: bytes
    """UTF-8, compressed (`events.codec.compress`)."""
    sha256: bytes
    """Of the UTF-8 content."""
    created_at: datetime
    """When what it tells happened or was said; the time of the store unless the caller knew better."""
    fingerprint: Fingerprint
    passages: tuple[Passage, ...] = ()
    """The windows of a content longer than one; empty when the model saw all of it at once."""
    namespace: str
    session: str | None = None
    position: int = 0
    """Rank in its session, from 0; 0 throughout without a session."""
    modality: Modality = Modality.TEXT
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    rationale: str | None = None
    memory_type: str | None = None
    """What its teller calls it: a fact, a decision, an episode."""
    metadata: dict[str, Any] = {}
    purpose: tuple[float, ...]
    north_star: UUID | None = None
    """The goal that `purpose` was measured against; None for the neutral zeros."""
    johari: tuple[JohariRow, ...]
    learning: Learning

    def __post_init__(self) -> None:
        """Refuse a memory whose purpose, Johari rows or learning aren't as wide as the spaces."""
        rows = (self.purpose, self.johari, self.learning.delta_s, self.learning.delta_c)
        if any(len(row) != WIDTH for row in rows):
            message = f"purpose, johari, delta_s and delta_c need {WIDTH} entries each"
            raise ValueError(message)


class MemoriesLinked(Event, frozen=True, kw_only=True, tag="memories_linked.1"):
    """Edges were drawn from one memory to others."""

    source: UUID
    targets: tuple[UUID, ...]
    relation: str
    weight: float


class MemoryRecalled(Event, frozen=True, kw_only=True, tag="memory_recalled.1"):
    """An answer contained these memories, best first; the query stands here by its hash alone."""

    memories: tuple[UUID, ...]
    query_sha256: bytes


class MemoryForgotten(Event, frozen=True, kw_only=True, tag="memory_forgotten.1"):
    """A memory was taken out of every search; it can be restored."""

    memory: UUID
    reason: str | None = None


class MemoryRestored(Event, frozen=True, kw_only=True, tag="memory_restored.1"):
    """A forgotten memory was brought back."""

    memory: UUID


class MemoryErased(Event, frozen=True, kw_only=True, tag="memory_erased.1"):
    """A memory's key was destroyed: nobody can read its body again."""

    memory: UUID
    reason: str | None = None


class LinksTraversed(Event, frozen=True, kw_only=True, tag="links_traversed.1"):
    """A path along these links was shown as an answer, from its start to its end."""

    steps: tuple[Step, ...]


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

    def __post_init__(self) -> None:
        """Refuse purposes that aren't one row for each memory."""
        if len(self.purposes) != 4 * WIDTH * len(self.memories):
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


class Shredded(Event, frozen=True, kw_only=True, tag="shredded.1"):
    """Never written: what a reader gets in place of a sealed event whose key is gone."""

    kind: str


Known: TypeAlias = (
    SpacesDeclared
    | MemoryStored
    | MemoriesLinked
    | LinksTraversed
    | MemoryRecalled
    | MemoryForgotten
    | MemoryRestored
    | MemoryErased
    | GoalDiscovered
    | NorthStarChosen
    | PurposesRealigned
    | DriftDetected
    | FocusMoved
    | MemoryIgnited
    | MemoryFaded
    | WorkspaceConflicted
    | WorkspaceEmptied
    | CouplingAdjusted
)
"""Everything that a log may hold; `Known | Shredded` is everything that a fold may meet."""
