"""Messages of the embedder."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

import msgspec

from actors.runtime.messages import Answer, Appended, Cancellable, Message, ProjectionMessage
from events.fingerprint import E, Embedding, Fingerprint, Passage, of_kind
from events.vocabulary.values import Image, Modality, SpaceModel
from projections.time.time_mentions import NO_HINTS, QueryHints

READS_IMAGES = "texts and images/"
"""In the name of an E10 model that embeds images; the version of the embedding follows."""


class Content(msgspec.Struct, frozen=True):
    """All of a memory that its embeddings depend on, apart from the store."""

    text: str
    modality: Modality
    created_at: datetime
    image: bytes | None = None
    """What the text is the caption of: the bytes of its file."""


class EmbeddedMemory(Answer, frozen=True, kw_only=True):
    """Thirteen embeddings, the passages of a long content, and the position within the session."""

    fingerprint: Fingerprint
    """E8 is null where it follows from connections: the atlas computes it."""
    passages: tuple[Passage, ...]
    names: tuple[str, ...] = ()
    """The people, places and things that the content names, as far as the profile looks for them."""
    position: int
    image: Image | None = None
    milliseconds: float


class Lexemes(NamedTuple):
    """What E11 is made of: the distinct entities and stems of a text, in its order."""

    entities: tuple[str, ...]
    stems: tuple[str, ...]


NO_LEXEMES: Final = Lexemes((), ())


class EmbeddedContent(Answer, frozen=True, kw_only=True):
    """The embeddings of a memory that depend on its content and time alone, and the names and passages in it."""

    embeddings: dict[str, Embedding]
    passages: tuple[Passage, ...]
    names: tuple[str, ...] = ()
    lexemes: Lexemes = NO_LEXEMES
    """With them E11 is made again where the store has other names for its entities."""
    packaged: Embedding | None = None
    """E1 by the packaged model, where a chosen one fills E1."""
    image: Image | None = None
    """What the content is the caption of."""

    def take(self, key: str, kind: type[E]) -> E:
        """Return the embedding of one space; another kind is a TypeError."""
        return of_kind(self.embeddings[key], kind, key)


class EmbeddedQuery(Answer, frozen=True, kw_only=True):
    """A query's embeddings by space key. E4 is missing without a session, which gives the position."""

    embeddings: dict[str, Embedding]
    unfamiliar: float = 0.0
    """Share of its words that the model of E1 doesn't read whole: large in other languages."""
    respellings: dict[str, tuple[str, ...]] = {}
    """Words that are none of the model of E1, each with those of the model that it may be a misspelling of."""


class LoadModels(Message[tuple[SpaceModel, ...]], frozen=True, kw_only=True):
    """Load the models of the profile, unless they are loaded."""


class EmbedMemory(Cancellable[EmbeddedMemory], frozen=True, kw_only=True):
    """Embed a memory in all thirteen spaces."""

    content: Content
    namespace: str
    session: str | None = None
    linked: tuple[Fingerprint, ...] = ()
    """Fingerprints of the memories it links to, part of its context (E8)."""
    on_progress: Callable[[int, int], object] | None = None
    """Called with (done, total) windows of a long content, in the embedder's thread."""


class EmbedContent(Cancellable[EmbeddedContent], frozen=True, kw_only=True):
    """Embed a text that is no memory of its own, such as a clause of one; sessions and mentions stay as they are."""

    content: Content


class EmbedQuery(Cancellable[EmbeddedQuery], frozen=True, kw_only=True):
    """Embed a query in every space that applies to it."""

    text: str
    at: datetime
    """Time of the query, from which recency and recurrence are measured."""
    namespace: str
    session: str | None = None
    hints: QueryHints = NO_HINTS
    """Times, session ends and modalities that the text mentions."""


EmbedderMessage: TypeAlias = LoadModels | EmbedMemory | EmbedContent | EmbedQuery | Appended | ProjectionMessage
