"""What each operation takes: names, types and limits, by the seeds (000, 001, 002, 004) and facts 7.2, 7.3 and 12.

Descriptions are for agents and paid for in every conversation; a name that says it all has none.
"""

from typing import Annotated, Any, ClassVar
from uuid import UUID

import msgspec
from msgspec import Meta

from actors.api.params.fields import (
    DEFAULT_NAMESPACE,
    LEAST_TOKENS,
    MAX_BATCH,
    MAX_LINKS,
    MAX_MATRIX,
    MAX_METADATA,
    MAX_RESULTS,
    MAX_TAGS,
    MAX_TARGETS,
    PLACE,
    SHORTEST,
    UNLISTED,
    Alignment,
    Content,
    Cursor,
    Importance,
    Moment,
    Name,
    Purpose,
    Query,
    QueryType,
    Ranked,
    Reason,
    Similarity,
    Spaces,
    Weights,
    check_spaces,
    check_weights,
)
from actors.api.params.parsing import Params, check_size, check_text, invalid
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.settings import SearchProfile, Strategy
from events.vocabulary.values import Modality, Quadrant

# ── storing ─────────────────────────────────────────────────────────────────────────────────────────


Whose = Annotated[Name, Meta(description="Project or person")]
Conversation = Annotated[Name, Meta(description="The conversation it is a turn of")]
Said = Annotated[Moment, Meta(description="When it was said, ISO 8601, if not now")]


class Kept(Params, frozen=True, kw_only=True):
    """What every way of storing accepts and keeps."""

    content: Content
    importance: Importance = 0.5
    modality: Modality = Modality.TEXT
    tags: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS)] = ()
    link_to: Annotated[tuple[UUID, ...], Meta(max_length=MAX_LINKS, description="Ids of related memories")] = ()
    namespace: Whose = DEFAULT_NAMESPACE
    session: Conversation | None = None
    memory_type: Name | None = None
    metadata: dict[str, Any] = {}
    created_at: Said | None = None

    def check(self) -> None:
        """Refuse blank content, and metadata that the log can't keep."""
        check_text(self.content, "content")
        check_size(self.metadata, "metadata", MAX_METADATA)


class StoreMemory(Kept, frozen=True, kw_only=True):
    """Arguments of `store_memory` (seed 001)."""

    rationale: Annotated[Reason | None, Meta(description="Why it is worth keeping")] = None

    def check(self) -> None:
        """Refuse a blank rationale too."""
        super().check()
        check_text(self.rationale, "rationale")


class InjectContext(Kept, frozen=True, kw_only=True):
    """Arguments of `inject_context` (seed 004)."""

    rationale: Reason

    def check(self) -> None:
        """Refuse a blank rationale too."""
        super().check()
        check_text(self.rationale, "rationale")


class MemoryInject(Params, frozen=True, kw_only=True):
    """Arguments of `memory/inject` (seed 000), and of each item of a batch."""

    content: Content
    memory_type: Name | None = None
    namespace: Whose = DEFAULT_NAMESPACE
    metadata: dict[str, Any] = {}
    session: Conversation | None = None
    created_at: Said | None = None

    def kept(self) -> StoreMemory:
        """Return the same as a memory to store."""
        return StoreMemory(**msgspec.structs.asdict(self))

    def check(self) -> None:
        """Refuse what any memory is refused for."""
        self.kept().check()


class MemoryInjectBatch(Params, frozen=True, kw_only=True):
    """Arguments of `memory/inject_batch` (seed 000); each item is parsed alone, so that a bad one fails alone."""

    aliases: ClassVar[dict[str, str]] = {"contents": "items"}

    items: Annotated[
        tuple[Any, ...],
        Meta(
            min_length=1,
            max_length=MAX_BATCH,
            description="Texts, or objects as memory_inject takes",
        ),
    ]


# ── one memory ──────────────────────────────────────────────────────────────────────────────────────


class OneMemory(Params, frozen=True, kw_only=True):
    """What every operation on one memory takes: its id, also by the names under which stores answer with it."""

    aliases: ClassVar[dict[str, str]] = {"memory_id": "id", "fingerprint_id": "id"}

    id: UUID


class MemoryRetrieve(OneMemory, frozen=True, kw_only=True):
    """Arguments of `memory/retrieve`."""

    include_embeddings: bool = False


class MemoryDelete(OneMemory, frozen=True, kw_only=True):
    """Arguments of `memory/delete`."""

    soft: bool = True
    reason: Reason | None = None


class MemoryRestore(OneMemory, frozen=True, kw_only=True):
    """Arguments of `memory/restore`."""


# ── finding ─────────────────────────────────────────────────────────────────────────────────────────


class Asked(Params, frozen=True, kw_only=True):
    """What every search by text accepts."""

    query: Query
    namespace: Name | None = None
    session: Name | None = None

    def check(self) -> None:
        """Refuse a blank query."""
        check_text(self.query, "query")


class MemorySearch(Asked, frozen=True, kw_only=True):
    """Arguments of `memory/search` (seed 000)."""

    top_k: Annotated[int, Meta(ge=1, le=MAX_RESULTS)] = 10
    min_similarity: Similarity = 0.0


class SearchGraph(MemorySearch, frozen=True, kw_only=True):
    """Arguments of `search_graph`."""

    profile: SearchProfile = SearchProfile.AUTO
    speaker: Annotated[Name | None, Meta(description="Of metadata.speaker")] = None
    modality: Modality | None = None
    quadrant: Annotated[Quadrant | None, Meta(description="Johari window in E1")] = None
    tags: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS, description="All of them")] = ()
    since: Moment | None = None
    until: Moment | None = None
    asked_at: Annotated[Moment | None, Meta(description="ISO 8601, if not now")] = None
    min_alignment: Annotated[Alignment | None, Meta(description="Drop what serves the North Star less")] = None
    include_purpose_alignment: Annotated[bool, Meta(description="Serving the North Star counts")] = False
    max_tokens: Annotated[
        Annotated[int, Meta(ge=LEAST_TOKENS)] | None, Meta(description="Size limit of the answer")
    ] = None
    cursor: Annotated[Cursor | None, Meta(description="next_cursor")] = None
    explain: Annotated[bool, Meta(description="Add scores, weights, stages")] = False


class MemorySearchMultiPerspective(Asked, frozen=True, kw_only=True):
    """Arguments of `memory/search_multi_perspective` (seed 000; facts 7.3)."""

    perspectives: Annotated[Spaces | None, Meta(description="Spaces, 0 = E1 to 12 = E13; all")] = None
    top_k: Ranked = 10
    min_similarity: Similarity = 0.0
    fusion_k: Annotated[int, Meta(ge=1, le=1_000)] = 60
    asked_at: Moment | None = None

    def check(self) -> None:
        """Refuse spaces that don't exist, or stand there twice."""
        super().check()
        check_spaces(self.perspectives, "perspectives")


class SearchMulti(Params, frozen=True, kw_only=True):
    """Arguments of `search/multi` (seed 002, thirteen wide)."""

    query: Annotated[Query | dict[str, Any], Meta(description='Text, or {"embeddings": vectors of memory_retrieve}')]
    query_type: QueryType = QueryType.SEMANTIC_SEARCH
    weights: Annotated[Weights | None, Meta(description="Sum to 1, with query_type custom")] = None
    active_spaces: Annotated[Spaces | None, Meta(description="0 to 12; all")] = None
    top_k: Ranked = 10
    min_similarity: Similarity = 0.5
    include_per_embedder_scores: bool = True
    include_purpose_alignment: Annotated[bool, Meta(description="Show it, and let it count")] = False
    namespace: Name | None = None
    session: Name | None = None
    asked_at: Moment | None = None

    def check(self) -> None:
        """Refuse weights that are missing, superfluous, not thirteen or don't sum to 1, and spaces that don't exist."""
        if isinstance(self.query, str):
            check_text(self.query, "query")
        check_spaces(self.active_spaces, "active_spaces")
        if self.weights is None:
            if self.query_type is QueryType.CUSTOM:
                problem = "Missing 'weights' parameter: query_type custom needs them"
                raise InvalidParamsFault(problem, parameter="weights", reason="missing_custom_weights")
            return
        if self.query_type is not QueryType.CUSTOM:
            raise invalid("weights", f"they need query_type custom, not {self.query_type}", reason="invalid_weights")
        check_weights(self.weights)
        if self.active_spaces is not None and not any(self.weights[space] for space in self.active_spaces):
            raise invalid(
                "weights", "none of the active spaces weighs anything", reason="invalid_weights", weights=self.weights
            )


class SearchSingleSpace(Params, frozen=True, kw_only=True):
    """Arguments of `search/single_space` (seed 002); a text may stand in for the embedding."""

    space_index: Annotated[int, Meta(description="0 = E1 to 12 = E13", extra_json_schema=PLACE)]
    query_embedding: Annotated[Any, Meta(description="One of the vectors of memory_retrieve")] = None
    query: Annotated[Query | None, Meta(description="Text, instead of query_embedding")] = None
    top_k: Ranked = 10
    min_similarity: Similarity = 0.0
    namespace: Name | None = None
    session: Name | None = None
    asked_at: Moment | None = None

    def check(self) -> None:
        """Refuse a space that doesn't exist, and anything but one of embedding and text."""
        check_spaces((self.space_index,), "space_index")
        if self.query is None and self.query_embedding is None:
            raise InvalidParamsFault("Missing 'query_embedding' parameter", parameter="query_embedding")
        if self.query is not None and self.query_embedding is not None:
            raise invalid("query", "give it or query_embedding, not both")
        check_text(self.query, "query")


class SearchByPurpose(Params, frozen=True, kw_only=True):
    """Arguments of `search/by_purpose` (seed 002): a purpose vector, or the memory whose purpose is meant."""

    purpose_vector: Purpose | None = None
    memory_id: UUID | None = None
    top_k: Ranked = 10
    min_similarity: Alignment = 0.0
    namespace: Name | None = None

    @property
    def purpose(self) -> tuple[float, ...] | UUID:
        """The one of both that was given.

        Raises:
            InvalidParamsFault: none was, or both.
        """
        match self.purpose_vector, self.memory_id:
            case (vector, None) if vector is not None:
                return vector
            case (None, memory) if memory is not None:
                return memory
            case _:
                problem = "Give 'purpose_vector' or 'memory_id', and not both"
                raise InvalidParamsFault(problem, parameter="purpose_vector")

    def check(self) -> None:
        """Refuse anything but one of vector and memory, and a vector without direction."""
        _ = self.purpose
        if self.purpose_vector is not None and max(map(abs, self.purpose_vector)) < SHORTEST:
            raise invalid("purpose_vector", "all zero: it points nowhere")


class SearchWeightProfiles(Params, frozen=True, kw_only=True):
    """`search/weight_profiles` takes no arguments."""


# ── comparing ───────────────────────────────────────────────────────────────────────────────────────


AsInCompare = Annotated[Strategy, Meta(extra_json_schema={UNLISTED: "As in memory_compare"})]
"""The choices are listed once."""


class MemoryCompare(Params, frozen=True, kw_only=True):
    """Arguments of `memory/compare` (seed 000)."""

    memory_a: UUID
    memory_b: UUID
    include_per_embedder: bool = False
    strategy: Strategy = Strategy.GRADED


class MemoryBatchCompare(Params, frozen=True, kw_only=True):
    """Arguments of `memory/batch_compare` (seed 000)."""

    reference: UUID
    targets: Annotated[tuple[UUID, ...], Meta(min_length=1, max_length=MAX_TARGETS)]
    include_per_embedder: bool = False
    strategy: AsInCompare = Strategy.GRADED
    min_similarity: Similarity = 0.0


class MemorySimilarityMatrix(Params, frozen=True, kw_only=True):
    """Arguments of `memory/similarity_matrix` (seed 000)."""

    memory_ids: Annotated[tuple[UUID, ...], Meta(min_length=2, max_length=MAX_MATRIX)]
    strategy: AsInCompare = Strategy.GRADED
