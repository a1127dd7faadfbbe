"""What happens to memories when somebody stores, links, finds and deletes them."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from events.fingerprint import Fingerprint, Passage
from events.vocabulary.event import Event
from events.vocabulary.values import WIDTH, JohariRow, Learning, Modality, SpaceModel, Step


class SpacesDeclared(Event, frozen=True, kw_only=True, tag="spaces_declared.1"):
    """From here on memories are embedded with this profile."""

    profile: str
    spaces: tuple[SpaceModel, ...]


class MemoryStored(Event, frozen=True, kw_only=True, tag="memory_stored.3"):
    """A memory was stored. The id of the event is the id of the memory.

    In version 1 vectors were float16, and the body as long as it is.
    """

    sealed: ClassVar[bool] = True

    content: bytes
    """UTF-8, compressed (`events.vocabulary.codec.compress`)."""
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


class LinksTraversed(Event, frozen=True, kw_only=True, tag="links_traversed.1"):
    """A path along these links was shown as an answer, from its start to its end."""

    steps: tuple[Step, ...]


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
