"""Parameters of operations that store, read, delete and compare memories. Docstrings are the descriptions of tools."""

from typing import Annotated, Any, ClassVar
from uuid import UUID

from msgspec import Meta

from actors.api.params.fields import (
    DEFAULT_NAMESPACE,
    MAX_BATCH,
    MAX_CONTENT,
    MemoryId,
    MinSimilarity,
    Moment,
    Name,
    Namespace,
    PerEmbedder,
    Reading,
    Reason,
    Tags,
)
from actors.api.params.parsing import Params, check_size, invalid
from actors.proxy.namespaces import EVERYWHERE, problem_of
from actors.runtime.settings import Strategy
from actors.runtime.types import JsonObject
from events.vocabulary.values import Modality

# A blank one is refused with an error of its own.
Content = Annotated[
    str, Meta(max_length=MAX_CONTENT, description="The text to remember", extra_json_schema={"minLength": 1})
]
# Its length is checked with its bytes: a limit in base64 would be listed in every conversation.
Image = Annotated[str | None, Meta(description="Path or data URI")]
Redact = Annotated[bool, Meta(description="Leave out secrets")]
# Values outside 0 to 1 are clamped, not refused; the published schema lists the limits.
Importance = Annotated[float, Meta(description="How much it matters", extra_json_schema={"minimum": 0, "maximum": 1})]
Session = Annotated[Name | None, Meta(description="Its conversation")]


class StoreMemory(Params, frozen=True, kw_only=True):
    """Store a text for later sessions: a fact, a decision, a preference, a turn."""

    not_blank = ("content", "rationale")
    times = ("created_at",)
    names_namespace: ClassVar[bool] = True
    """Whether the namespace is given now, and not by an export of a store that has it."""

    content: Content
    rationale: Annotated[Reason | None, Meta(description="Why store it")] = None
    importance: Importance = 0.5
    modality: Annotated[Modality, Meta(description="audio as transcript")] = Modality.TEXT
    image: Image = None
    tags: Annotated[Tags, Meta(description="To filter by")] = ()
    link_to: Annotated[tuple[UUID, ...], Meta(max_length=64, description="Related memories")] = ()
    supersedes: Annotated[tuple[UUID, ...], Meta(max_length=64, description="Memories it corrects")] = ()
    namespace: Namespace = DEFAULT_NAMESPACE
    session: Session = None
    memory_type: Annotated[Name | None, Meta(description="Such as episode")] = None
    metadata: Annotated[JsonObject, Meta(description="JSON, 16 KB; speaker is searched for")] = {}
    created_at: Annotated[Moment | None, Meta(description="When said, ISO 8601; now")] = None
    redact: Redact = False

    def check(self) -> None:
        """Refuse blank texts, a wrong time and oversized metadata."""
        super().check()
        if self.namespace == EVERYWHERE:
            raise invalid("namespace", f"'{EVERYWHERE}' stands for all namespaces in a search")
        if self.names_namespace and (problem := problem_of(self.namespace)):
            raise invalid("namespace", problem)
        check_size(self.metadata, "metadata", 16_384)
        if self.modality is not Modality.IMAGE and self.image is not None:
            raise invalid("image", "only with modality image", modality=self.modality.value)


class InjectContext(StoreMemory, frozen=True, kw_only=True):
    """Store a text and why; get how new it is (entropy) and how well it fits in (coherence)."""

    # Keyword-only fields may be required after optional ones.
    rationale: Annotated[  # pyright: ignore[reportGeneralTypeIssues]
        Reason, Meta(description="Why store it", extra_json_schema={"minLength": 1})
    ]


class MemoryInject(StoreMemory, frozen=True, kw_only=True):
    """As store_memory, with a summary of each of the thirteen spaces."""


class MemoryInjectBatch(Params, frozen=True, kw_only=True):
    """Store up to 100 memories at once; an invalid item fails alone."""

    aliases: ClassVar[dict[str, str]] = {"contents": "items"}

    items: Annotated[
        tuple[Annotated[Any, Meta(extra_json_schema={"anyOf": [{"type": "string"}, {"type": "object"}]})], ...],
        Meta(min_length=1, max_length=MAX_BATCH, description="Texts, or objects of inject_context; rationale optional"),
    ]


ID_ALIASES = {"memory_id": "id", "fingerprint_id": "id"}
"""The names that answers use for the id of a memory."""


class OneMemory(Params, frozen=True, kw_only=True):
    """The id of a memory."""

    aliases: ClassVar[dict[str, str]] = ID_ALIASES

    id: MemoryId


class MemoryRetrieve(Reading, frozen=True, kw_only=True):
    """Read one memory in full, with links, purpose and history."""

    aliases: ClassVar[dict[str, str]] = ID_ALIASES

    id: MemoryId
    include_embeddings: Annotated[bool, Meta(description="Add the vectors")] = False
    include_image: Annotated[bool, Meta(description="As a data URI")] = False


class MemoryDelete(OneMemory, frozen=True, kw_only=True):
    """Hide a memory from every search, when the user asks to forget it.

    soft=false destroys it.
    """

    soft: Annotated[bool, Meta(description="Keep it for memory_restore")] = True
    reason: Annotated[Reason | None, Meta(description="Why")] = None


class MemoryRestore(OneMemory, frozen=True, kw_only=True):
    """Undo a soft memory_delete, a pruning or a correction."""


class MemorySupersede(OneMemory, frozen=True, kw_only=True):
    """Say which memory holds instead of an outdated one."""

    by: Annotated[UUID, Meta(description="The one that holds")]


class MemoryTag(OneMemory, frozen=True, kw_only=True):
    """Replace the tags of a memory; those that it was stored with stay in the log."""

    tags: Annotated[Tags, Meta(description="All that it shall have")]


Combination = Annotated[Strategy, Meta(description="How the spaces are combined")]


class MemoryCompare(Reading, frozen=True, kw_only=True):
    """Compare two memories: similarity, 0 to 1, and the space where it is highest."""

    memory_a: MemoryId
    memory_b: MemoryId
    include_per_embedder: PerEmbedder = False
    strategy: Combination = Strategy.GRADED


class MemoryBatchCompare(Reading, frozen=True, kw_only=True):
    """Rank memories by similarity to a reference."""

    reference: MemoryId
    targets: Annotated[tuple[UUID, ...], Meta(min_length=1, max_length=1_000, description="Ids of memories")]
    include_per_embedder: PerEmbedder = False
    strategy: Combination = Strategy.GRADED
    min_similarity: MinSimilarity = 0.0


class MemorySimilarityMatrix(Reading, frozen=True, kw_only=True):
    """Compare memories pair by pair."""

    memory_ids: Annotated[tuple[UUID, ...], Meta(min_length=1, max_length=200, description="Ids of memories")]
    strategy: Combination = Strategy.GRADED
