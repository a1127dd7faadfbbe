"""What can happen: the events of the log, past tense, versioned by tag.

Fields are only ever added, and always with a default; a changed meaning gets a new tag and an
upcaster in `events.codec`. Whatever came from a model, the clock, a random generator, a threshold
or a person stands in the event; what a fold can derive does not.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

import msgspec

from events.fingerprint import Fingerprint, Passage
from events.spaces import SPACES

WIDTH = len(SPACES)


class Modality(StrEnum):
    """What kind of content a memory holds (seeds 001 and 004)."""

    TEXT = "text"
    CODE = "code"
    IMAGE = "image"
    AUDIO = "audio"
    STRUCTURED = "structured"
    MIXED = "mixed"


class Quadrant(StrEnum):
    """The Johari windows, in the order of a row's soft weights."""

    OPEN = "Open"
    HIDDEN = "Hidden"
    BLIND = "Blind"
    UNKNOWN = "Unknown"


class JohariRow(msgspec.Struct, frozen=True):
    """Awareness in one space: soft weights of the four quadrants, summing to 1, and a confidence in [0, 1]."""

    weights: tuple[float, float, float, float]
    confidence: float

    @property
    def quadrant(self) -> Quadrant:
        """The quadrant that weighs most."""
        return tuple(Quadrant)[max(range(len(self.weights)), key=self.weights.__getitem__)]


class Learning(msgspec.Struct, frozen=True):
    """What the store of a memory taught (UTL): per space and in sum; all but the phase in [0, 1] or as named."""

    entropy: float
    coherence: float
    surprise: float
    emotional_weight: float
    """In [.5, 1.5]."""
    phase: float
    """In [0, pi]."""
    learning_score: float
    delta_s: tuple[float, ...]
    delta_c: tuple[float, ...]


class SpaceModel(msgspec.Struct, frozen=True):
    """What fills one space: the model or method, the SHA-256 (hex) of its weights or definition, the dimension."""

    key: str
    model: str
    sha256: str
    dimension: int


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


class Shredded(Event, frozen=True, kw_only=True, tag="shredded.1"):
    """Never written: what a reader gets in place of a sealed event whose key is gone."""

    kind: str


Known: TypeAlias = (
    SpacesDeclared | MemoryStored | MemoriesLinked | MemoryRecalled | MemoryForgotten | MemoryRestored | MemoryErased
)
"""Everything that a log may hold; `Known | Shredded` is everything that a fold may meet."""
