"""Messages of the embedder and their answers."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from actors.runtime.messages import Answer, Appended, Cancellable, Message, OwnerMessage
from events.fingerprint import Embedding, Fingerprint, Passage
from events.vocabulary.values import Modality, SpaceModel
from projections.time.time_mentions import NO_HINTS, QueryHints


class EmbeddedMemory(Answer, frozen=True, kw_only=True):
    """The thirteen embeddings of a memory, the passages of a long content, and its position in its session."""

    fingerprint: Fingerprint
    passages: tuple[Passage, ...]
    position: int
    milliseconds: float


class EmbeddedQuery(Answer, frozen=True, kw_only=True):
    """The embeddings of a query by space key. Without a session it has no position (E4)."""

    embeddings: dict[str, Embedding]


class LoadModels(Message[tuple[SpaceModel, ...]], frozen=True, kw_only=True):
    """Load the models of the profile unless they are loaded; answers what fills each space."""


class EmbedMemory(Cancellable[EmbeddedMemory], frozen=True, kw_only=True):
    """Compute all thirteen embeddings of a memory."""

    content: str
    modality: Modality
    created_at: datetime
    namespace: str
    session: str | None = None
    linked: tuple[Fingerprint, ...] = ()
    """Fingerprints of the memories that this one links to, part of its context (E8)."""
    on_progress: Callable[[int, int], object] | None = None
    """Called in the embedder's thread with (done, total) windows of a long content."""


class EmbedQuery(Cancellable[EmbeddedQuery], frozen=True, kw_only=True):
    """Embed a query in every space that applies to it."""

    text: str
    at: datetime
    """The time of the query, the reference of recency (E2) and periodicity (E3)."""
    namespace: str
    session: str | None = None
    cues: QueryHints = NO_HINTS
    """What it says beside its words: a time, the end of a session, a modality that it looks for."""


EmbedderMessage: TypeAlias = LoadModels | EmbedMemory | EmbedQuery | Appended | OwnerMessage
