"""What the embedder is asked, and answers."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from actors.runtime.messages import Answer, Appended, Cancellable, Message, OwnerMessage
from events.fingerprint import Embedding, Fingerprint, Passage
from events.vocabulary.values import Modality, SpaceModel
from projections.time.time_mentions import NO_HINTS, QueryHints


class EmbeddedMemory(Answer, frozen=True, kw_only=True):
    """Thirteen embeddings, the passages of a long content, and the turn that it is in its session."""

    fingerprint: Fingerprint
    passages: tuple[Passage, ...]
    position: int
    milliseconds: float


class EmbeddedQuery(Answer, frozen=True, kw_only=True):
    """A question's embeddings by space key. Without a session it has no position (E4)."""

    embeddings: dict[str, Embedding]


class Load(Message[tuple[SpaceModel, ...]], frozen=True, kw_only=True):
    """Load the models of the profile, if they aren't; answers `tuple[SpaceModel, ...]`."""


class EmbedMemory(Cancellable[EmbeddedMemory], frozen=True, kw_only=True):
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


class EmbedQuery(Cancellable[EmbeddedQuery], frozen=True, kw_only=True):
    """Embed a question in every space that it speaks to; answers a future of `EmbeddedQuery`."""

    text: str
    at: datetime
    """When it is asked: the point from which recency and rhythm are seen."""
    namespace: str
    session: str | None = None
    cues: QueryHints = NO_HINTS
    """What it says beside its words: a time, the end of a session, a modality that it looks for."""


EmbedderMessage: TypeAlias = Load | EmbedMemory | EmbedQuery | Appended | OwnerMessage
