"""Everything that one actor may ask or tell another: frozen commands and the answers to them."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import msgspec

from actors.settings import SearchProfile
from events.fingerprint import Embedding, Fingerprint, Passage
from events.log import Envelope, Head
from events.vocabulary import Event, JohariRow, Learning, Modality, SpaceModel, SpacesDeclared
from projections.facets import Filter
from projections.links import Link


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command; it is never logged."""


# ── told by the store to the owner of every projection ──────────────────────────────────────────────


class Appended(Message, frozen=True, kw_only=True):
    """These events are in the log: fold them. During a replay they come in the same shape."""

    envelopes: tuple[Envelope, ...]


# ── embedder ────────────────────────────────────────────────────────────────────────────────────────


class Load(Message, frozen=True, kw_only=True):
    """Load the models of the profile, if they aren't; answers `tuple[SpaceModel, ...]`."""


class EmbedMemory(Message, frozen=True, kw_only=True):
    """Make all thirteen embeddings of a memory; answers a future of `EmbeddedMemory`."""

    content: str
    modality: Modality
    created_at: datetime
    namespace: str
    session: str | None = None
    linked: tuple[Fingerprint, ...] = ()
    """Of the memories that this one links to: part of its context (E8)."""
    on_progress: Callable[[int, int], object] | None = None
    """Told (done, total) windows of a long content, from the embedder's thread."""


class EmbeddedMemory(Message, frozen=True, kw_only=True):
    """Thirteen embeddings, the passages of a long content, and the turn that it is in its session."""

    fingerprint: Fingerprint
    passages: tuple[Passage, ...]
    position: int
    milliseconds: float


class EmbedQuery(Message, frozen=True, kw_only=True):
    """Embed a question in every space that it speaks to; answers a future of `EmbeddedQuery`."""

    text: str
    at: datetime
    """When it is asked: the point from which recency and rhythm are seen."""
    namespace: str
    session: str | None = None


class EmbeddedQuery(Message, frozen=True, kw_only=True):
    """A question's embeddings by space key. Without a session it has no position (E4)."""

    embeddings: dict[str, Embedding]


EmbedderMessage: TypeAlias = Load | EmbedMemory | EmbedQuery | Appended


# ── comparator ──────────────────────────────────────────────────────────────────────────────────────


class FindNeighbours(Message, frozen=True, kw_only=True):
    """The nearest stored memories of a fingerprint, space by space; answers `Neighbours`."""

    fingerprint: Fingerprint
    namespace: str


class Neighbours(Message, frozen=True, kw_only=True):
    """Per space (row) the similarities of the pool, best first, in [0, 1]; rows are empty in an empty store."""

    similarities: tuple[tuple[float, ...], ...]


class Search(Message, frozen=True, kw_only=True):
    """Rank memories for a question; answers `Found`, best first."""

    text: str
    embeddings: dict[str, Embedding]
    profile: SearchProfile
    filter: Filter
    limit: int
    min_similarity: float = 0.0


class SpaceScore(Message, frozen=True, kw_only=True):
    """What one space says of one memory: similarity in [0, 1], and its weighted share of the fused score."""

    similarity: float
    contribution: float


class Hit(Message, frozen=True, kw_only=True):
    """One found memory: the fused score that ranks it, and what each space said."""

    memory: UUID
    score: float
    similarity: float
    """The weighted mean of the spaces' similarities, in [0, 1]."""
    spaces: dict[str, SpaceScore]
    """Those that found it first come first."""
    passage: tuple[int, int] | None
    """The characters [start, end) of a long memory that matched best."""
    context: float
    """What the neighbouring turns lent to `score`."""


class Stage(Message, frozen=True, kw_only=True):
    """One stage of the search: how many memories left it, and how long it took."""

    name: str
    candidates: int
    milliseconds: float


class Found(Message, frozen=True, kw_only=True):
    """An answer, best first, with the weights that were applied and the stages it went through."""

    hits: tuple[Hit, ...]
    profile: SearchProfile
    weights: dict[str, float]
    stages: tuple[Stage, ...]


class ReadLinks(Message, frozen=True, kw_only=True):
    """The edges of a memory; answers `Edges`."""

    memory: UUID


class Edges(Message, frozen=True, kw_only=True):
    """The edges from a memory and to it, as they were drawn."""

    outgoing: tuple[Link, ...]
    incoming: tuple[Link, ...]


ComparatorMessage: TypeAlias = FindNeighbours | Search | ReadLinks | Appended


# ── workspace ───────────────────────────────────────────────────────────────────────────────────────


class Judge(Message, frozen=True, kw_only=True):
    """Judge a memory by its neighbours before it is stored; answers `Judgement`."""

    content: str
    fingerprint: Fingerprint
    namespace: str


class Judgement(Message, frozen=True, kw_only=True):
    """How much a memory teaches, how each space knows it, and what it serves."""

    purpose: tuple[float, ...]
    johari: tuple[JohariRow, ...]
    learning: Learning


class ReadPulse(Message, frozen=True, kw_only=True):
    """Answers the current `Pulse`."""


class Pulse(Message, frozen=True, kw_only=True):
    """The state of learning that goes with every answer (seeds 001 and 004)."""

    entropy: float
    coherence: float
    learning_score: float
    quadrant: str
    suggested_action: str


WorkspaceMessage: TypeAlias = Judge | ReadPulse | Appended


# ── store ───────────────────────────────────────────────────────────────────────────────────────────


class Replay(Message, frozen=True, kw_only=True):
    """Read the whole log once and tell it to every owner; answers its `Head`."""


class Declare(Message, frozen=True, kw_only=True):
    """Record which models fill the spaces, or raise `StorageFault` if the store was made with others."""

    profile: str
    spaces: tuple[SpaceModel, ...]


class Append(Message, frozen=True, kw_only=True):
    """Append an event and its consequences, all or none.

    Answers a future of the first one's `Envelope`, set once they are durable and every owner was told.
    """

    id: UUID
    event: Event
    consequences: tuple[Event, ...] = ()
    actor: str
    correlation_id: UUID


class Read(Message, frozen=True, kw_only=True):
    """Read a memory back from the log, through another cursor than the one that wrote it; answers its `Envelope`."""

    memory: UUID


class Describe(Message, frozen=True, kw_only=True):
    """Answers the catalog's `Entry` for each id; an unknown id is a `NotFoundFault` that names it."""

    memories: tuple[UUID, ...]


class FindContent(Message, frozen=True, kw_only=True):
    """Answers the id of the oldest live memory with this content in this namespace, or None."""

    sha256: bytes
    namespace: str


class ReadHistory(Message, frozen=True, kw_only=True):
    """Answers every `Envelope` that touched a memory, in order."""

    memory: UUID


class ReadStatus(Message, frozen=True, kw_only=True):
    """Answers `Status`."""


class Status(Message, frozen=True, kw_only=True):
    """What the store holds."""

    live: int
    forgotten: int
    erased: int
    namespaces: dict[str, int]
    head: Head
    declared: SpacesDeclared | None


StoreMessage: TypeAlias = Replay | Declare | Append | Read | Describe | FindContent | ReadHistory | ReadStatus
