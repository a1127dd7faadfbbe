"""Parameters of operations that store, read, delete and compare memories. Docstrings are the descriptions of tools."""

from typing import Annotated, Any, ClassVar
from uuid import UUID

import msgspec
from msgspec import Meta

from actors.api.params.fields import (
    DEFAULT_NAMESPACE,
    MAX_BATCH,
    UNLISTED,
    Content,
    CreatedAt,
    Importance,
    Name,
    Namespace,
    Reason,
    Redact,
    Session,
    Similarity,
    Tags,
)
from actors.api.params.parsing import Params, check_size
from actors.runtime.settings import Strategy
from actors.runtime.types import JsonObject
from events.vocabulary.values import Modality


class MemoryFields(Params, frozen=True, kw_only=True):
    """The fields of a new memory."""

    not_blank = ("content",)

    content: Content
    importance: Importance = 0.5
    modality: Modality = Modality.TEXT
    tags: Tags = ()
    link_to: Annotated[tuple[UUID, ...], Meta(max_length=64, description="Ids of related memories")] = ()
    namespace: Namespace = DEFAULT_NAMESPACE
    session: Session | None = None
    memory_type: Name | None = None
    metadata: JsonObject = {}
    created_at: CreatedAt | None = None
    redact: Redact = False

    def check(self) -> None:
        """Refuse blank texts and oversized metadata."""
        super().check()
        check_size(self.metadata, "metadata", 16_384)


class StoreMemory(MemoryFields, frozen=True, kw_only=True):
    """Store a text for later sessions: a fact, a decision, a preference, a turn."""

    not_blank = ("content", "rationale")

    rationale: Annotated[Reason | None, Meta(description="Why store it")] = None


class InjectContext(MemoryFields, frozen=True, kw_only=True):
    """Store a text with the reason why, and get how new it is (entropy) and how well it fits in (coherence).

    Takes the other arguments of store_memory too.
    """

    not_blank = ("content", "rationale")

    rationale: Reason


class MemoryInject(Params, frozen=True, kw_only=True):
    """As store_memory, with a summary of each of the thirteen spaces."""

    content: Content
    memory_type: Name | None = None
    namespace: Namespace = DEFAULT_NAMESPACE
    metadata: JsonObject = {}
    session: Session | None = None
    created_at: CreatedAt | None = None
    redact: Redact = False

    def to_store_memory(self) -> StoreMemory:
        """Return the equivalent parameters of `store_memory`."""
        return StoreMemory(**msgspec.structs.asdict(self))

    def check(self) -> None:
        """Refuse what `store_memory` refuses."""
        self.to_store_memory().check()


class MemoryInjectBatch(Params, frozen=True, kw_only=True):
    """Store up to 100 memories at once; an invalid item fails alone."""

    aliases: ClassVar[dict[str, str]] = {"contents": "items"}

    items: Annotated[
        tuple[Any, ...],
        Meta(min_length=1, max_length=MAX_BATCH, description="Texts, or objects as memory_inject takes"),
    ]


class OneMemory(Params, frozen=True, kw_only=True):
    """The id of a memory, also under the names that answers use for it."""

    aliases: ClassVar[dict[str, str]] = {"memory_id": "id", "fingerprint_id": "id"}

    id: UUID


class MemoryRetrieve(OneMemory, frozen=True, kw_only=True):
    """Read one memory in full, with metadata, links, purpose and history."""

    include_embeddings: bool = False


class MemoryDelete(OneMemory, frozen=True, kw_only=True):
    """Take a memory out of every search, when the user asks to forget it or it is wrong.

    memory_restore undoes it; soft=false destroys it for good.
    """

    soft: bool = True
    reason: Reason | None = None


class MemoryRestore(OneMemory, frozen=True, kw_only=True):
    """Undo a soft memory_delete or a pruning."""


class MemoryCompare(Params, frozen=True, kw_only=True):
    """Compare two memories: similarity, 0 to 1, and the space where it is highest."""

    memory_a: UUID
    memory_b: UUID
    include_per_embedder: bool = False
    strategy: Strategy = Strategy.GRADED


StrategyAsInCompare = Annotated[Strategy, Meta(extra_json_schema={UNLISTED: "As in memory_compare"})]


class MemoryBatchCompare(Params, frozen=True, kw_only=True):
    """Rank memories by similarity to a reference."""

    reference: UUID
    targets: Annotated[tuple[UUID, ...], Meta(min_length=1, max_length=1_000)]
    include_per_embedder: bool = False
    strategy: StrategyAsInCompare = Strategy.GRADED
    min_similarity: Similarity = 0.0


class MemorySimilarityMatrix(Params, frozen=True, kw_only=True):
    """Compare memories pair by pair."""

    memory_ids: Annotated[tuple[UUID, ...], Meta(min_length=2, max_length=200)]
    strategy: StrategyAsInCompare = Strategy.GRADED
