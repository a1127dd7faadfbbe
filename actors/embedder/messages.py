"""Messages of the embedder."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from actors.runtime.messages import Answer, Appended, Cancellable, Message, ProjectionMessage
from events.fingerprint import Embedding, Fingerprint, Passage
from events.vocabulary.values import Modality, SpaceModel
from projections.time.time_mentions import NO_HINTS, QueryHints


class EmbeddedMemory(Answer, frozen=True, kw_only=True):
    """Thirteen embeddings, the passages of a long content, and the position within the session."""

    fingerprint: Fingerprint
    passages: tuple[Passage, ...]
    names: tuple[str, ...] = ()
    """The people, places and things that the content names, as far as the profile looks for them."""
    position: int
    milliseconds: float


class EmbeddedQuery(Answer, frozen=True, kw_only=True):
    """A query's embeddings by space key. E4 is missing without a session, which gives the position."""

    embeddings: dict[str, Embedding]


class LoadModels(Message[tuple[SpaceModel, ...]], frozen=True, kw_only=True):
    """Load the models of the profile, unless they are loaded."""


class EmbedMemory(Cancellable[EmbeddedMemory], frozen=True, kw_only=True):
    """Embed a memory in all thirteen spaces."""

    content: str
    modality: Modality
    created_at: datetime
    namespace: str
    session: str | None = None
    linked: tuple[Fingerprint, ...] = ()
    """Fingerprints of the memories it links to, part of its context (E8)."""
    on_progress: Callable[[int, int], object] | None = None
    """Called with (done, total) windows of a long content, in the embedder's thread."""


class EmbedQuery(Cancellable[EmbeddedQuery], frozen=True, kw_only=True):
    """Embed a query in every space that applies to it."""

    text: str
    at: datetime
    """Time of the query, from which recency and recurrence are measured."""
    namespace: str
    session: str | None = None
    hints: QueryHints = NO_HINTS
    """Times, session ends and modalities that the text mentions."""


EmbedderMessage: TypeAlias = LoadModels | EmbedMemory | EmbedQuery | Appended | ProjectionMessage
