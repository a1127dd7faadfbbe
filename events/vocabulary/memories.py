"""Events of storing, linking, recalling and deleting memories."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from msgspec import UNSET, UnsetType

from events.fingerprint import Fingerprint, Passage
from events.local_time import at_offset
from events.vocabulary.event import Event
from events.vocabulary.values import WIDTH, Image, JohariRow, Learning, Modality, SpaceCurve, SpaceModel, Span, Step

STATED = "stated"
"""The rule of a supersession that the client asked for."""


class SpacesDeclared(Event, frozen=True, kw_only=True, tag="spaces_declared.1"):
    """The following memories are embedded with this profile."""

    profile: str
    spaces: tuple[SpaceModel, ...]


class SimilaritiesCalibrated(Event, frozen=True, kw_only=True, tag="similarities_calibrated.1"):
    """The similarities of a chosen model were calibrated on texts of the store."""

    texts: int
    related: int
    """Pairs of these texts that the packaged model calls related."""
    curves: tuple[SpaceCurve, ...]


class MemoryStored(Event, frozen=True, kw_only=True, tag="memory_stored.3"):
    """A memory was stored, under the id of this event.

    Version 1 had vectors in float16 and no compression, version 2 tokens in int8.
    """

    sealed: ClassVar[bool] = True

    content: bytes
    """UTF-8, compressed (`events.vocabulary.codec.compress`)."""
    sha256: bytes
    """Of the UTF-8 content."""
    created_at: datetime
    """When its content happened or was said, in UTC; the time of the request by default."""
    utc_offset: int | UnsetType = UNSET
    """Of the time zone in which that was said, in minutes; left out for UTC, for an unknown one, and before 2026-12."""
    fingerprint: Fingerprint
    passages: tuple[Passage, ...] = ()
    """The windows of a content that is longer than one; otherwise empty."""
    names: tuple[str, ...] = ()
    """People, places and things that it names, casefolded, as the embedder's rules found them; none before 2026-11."""
    namespace: str
    session: str | None = None
    position: int = 0
    """Rank in its session, from 0; 0 without a session."""
    modality: Modality = Modality.TEXT
    image: Image | None = None
    """What it shows, if it is an image; `content` is then its caption. None before 2026-11."""
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    rationale: str | None = None
    memory_type: str | None = None
    """As the client calls it: a fact, a decision, an episode."""
    metadata: dict[str, Any] = {}
    purpose: tuple[float, ...]
    north_star: UUID | None = None
    """The goal that `purpose` was measured against; None if there was none, and `purpose` is zero."""
    johari: tuple[JohariRow, ...]
    learning: Learning

    def __post_init__(self) -> None:
        """Refuse purpose, Johari rows and learning without one entry for each space."""
        rows = (self.purpose, self.johari, self.learning.delta_s, self.learning.delta_c)
        if any(len(row) != WIDTH for row in rows):
            message = f"purpose, johari, delta_s and delta_c need {WIDTH} entries each"
            raise ValueError(message)

    @property
    def said_at(self) -> datetime:
        """`created_at` in the time zone in which it was said."""
        return at_offset(self.created_at, self.utc_offset)


class MemoriesLinked(Event, frozen=True, kw_only=True, tag="memories_linked.1"):
    """Links were added from one memory to others."""

    source: UUID
    targets: tuple[UUID, ...]
    relation: str
    weight: float


class LinksTraversed(Event, frozen=True, kw_only=True, tag="links_traversed.1"):
    """An answer contained a path along these links, from its start to its end."""

    steps: tuple[Step, ...]


class MemoryRecalled(Event, frozen=True, kw_only=True, tag="memory_recalled.1"):
    """An answer contained these memories, best first. Of the query only the hash is stored."""

    memories: tuple[UUID, ...]
    query_sha256: bytes


class MemoryForgotten(Event, frozen=True, kw_only=True, tag="memory_forgotten.1"):
    """A memory was hidden from every search; it can be restored."""

    memory: UUID
    reason: str | None = None


class MemoryRestored(Event, frozen=True, kw_only=True, tag="memory_restored.1"):
    """A forgotten or pruned memory became searchable again."""

    memory: UUID


class MemoriesMoved(Event, frozen=True, kw_only=True, tag="memories_moved.1"):
    """Memories were put into another namespace."""

    run: UUID | None
    """The run that moved them; None where such a run was undone."""
    source: str
    target: str
    memories: tuple[UUID, ...]
    renamed: bool = False
    """Whether the namespace changed its name: its goals, North Star and clusters follow.

    Those of an earlier namespace of that name take its own, so that moving back reverts it.
    """


class MemoryErased(Event, frozen=True, kw_only=True, tag="memory_erased.1"):
    """A memory's key was destroyed: its body can't be read again."""

    memory: UUID
    reason: str | None = None


class MemorySuperseded(Event, frozen=True, kw_only=True, tag="memory_superseded.1"):
    """A memory took the place of another, mostly an earlier one: asked for the present, that one holds."""

    memory: UUID
    """The one that is out of date."""
    by: UUID
    """The one that holds, which a client may have stored before the other."""
    rule: str
    """What shows it: `STATED`, or the kind of the value that differs between their texts."""
    was: Span | None = None
    """The value in the earlier text; None where the rule names none."""
    now: Span | None = None
    """What the later text says instead."""


class MemoryTagged(Event, frozen=True, kw_only=True, tag="memory_tagged.1"):
    """The tags of a memory were replaced. Sealed, since tags say what a memory is about, and erased with it."""

    sealed: ClassVar[bool] = True

    memory: UUID
    tags: tuple[str, ...]
    was: tuple[str, ...]
    """Those before."""


class MemoryReinstated(Event, frozen=True, kw_only=True, tag="memory_reinstated.1"):
    """A superseded memory holds again: nothing supersedes it any more."""

    memory: UUID
