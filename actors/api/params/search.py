"""Parameters of searches. Docstrings are the descriptions of tools."""

import math
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from msgspec import Meta

from actors.api.params.fields import (
    MAX_EXCERPT,
    MinSimilarity,
    Moment,
    Name,
    NamespaceFilter,
    PerEmbedder,
    QueryText,
    Reading,
    SessionFilter,
    Tags,
)
from actors.api.params.parsing import invalid, moment
from actors.api.params.times import between
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.settings import Confidence, SearchProfile
from actors.runtime.types import JsonObject
from events.vocabulary.values import WIDTH, Modality, Quadrant

MAX_CURSOR = 1_024
SUM_TOLERANCE = 0.01
"""Maximum distance of the sum of custom weights from 1."""
Query = Annotated[QueryText, Meta(description="A question or keywords")]
Alignment = Annotated[float, Meta(ge=-1, le=1)]
TopK = Annotated[int, Meta(ge=1, le=1_000, description="Results")]
SPACE_RANGE = {"minimum": 0, "maximum": WIDTH - 1}
"""Listed only; `check_spaces` refuses other indices with a specific error."""
Spaces = Annotated[
    tuple[Annotated[int, Meta(extra_json_schema=SPACE_RANGE)], ...], Meta(min_length=1, max_length=WIDTH)
]
# Listed only; `check_weights` refuses other weights with a specific error.
Weights = Annotated[
    tuple[Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})], ...],
    Meta(extra_json_schema={"minItems": WIDTH, "maxItems": WIDTH}),
]
Purpose = Annotated[tuple[Alignment, ...], Meta(min_length=WIDTH, max_length=WIDTH)]


class QueryType(StrEnum):
    """The weights of `search_multi`: a fixed profile, or those of the request."""

    SEMANTIC_SEARCH = "semantic_search"
    CAUSAL_REASONING = "causal_reasoning"
    CODE_SEARCH = "code_search"
    TEMPORAL_NAVIGATION = "temporal_navigation"
    FACT_CHECKING = "fact_checking"
    BALANCED = "balanced"
    CUSTOM = "custom"


MIN_CHARACTERS = 80
MIN_TOKENS = 320
"""Size of an answer with one short result."""

Vector: TypeAlias = list[Any] | JsonObject | str
"""A vector, which `actors.api.params.embeddings` decodes by the kind of its space."""

MIN_PURPOSE = 1e-6
"""Below it, float32 may not represent the norm of a purpose vector."""


class Asking(Reading, frozen=True, kw_only=True):
    """What all searches by a `query` take beside it."""

    not_blank = ("query",)
    times = ("asked_at",)

    namespace: NamespaceFilter = None
    session: SessionFilter = None
    top_k: TopK = 10
    min_similarity: MinSimilarity = 0.0
    min_confidence: Annotated[Confidence, Meta(description="Else no results")] = Confidence.NOTHING
    asked_at: Annotated[Moment | None, Meta(description="When asked, ISO 8601; now")] = None


class SearchGraph(Asking, frozen=True, kw_only=True):
    """Find memories, before answering about anything said, decided or learned earlier.

    Best first.
    """

    query: Query
    top_k: Annotated[int, Meta(ge=1, le=100, description="Results")] = 10
    profile: Annotated[SearchProfile, Meta(description="Kind of question")] = SearchProfile.AUTO
    speaker: Annotated[Name | None, Meta(description="As in metadata.speaker")] = None
    modality: Annotated[Modality | None, Meta(description="Only this kind")] = None
    quadrant: Annotated[Quadrant | None, Meta(description="Johari window in E1")] = None
    tags: Annotated[Tags, Meta(description="All must match")] = ()
    since: Annotated[Moment | None, Meta(description="Said from: ISO 8601 or words, as May")] = None
    until: Annotated[Moment | None, Meta(description="Said to the end of")] = None
    min_alignment: Annotated[Alignment | None, Meta(description="With the North Star")] = None
    include_purpose_alignment: Annotated[bool, Meta(description="Prefer what serves the North Star")] = False
    max_tokens: Annotated[Annotated[int, Meta(ge=MIN_TOKENS)] | None, Meta(description="Size of the answer")] = None
    max_characters: Annotated[
        Annotated[int, Meta(ge=MIN_CHARACTERS, le=MAX_EXCERPT)] | None, Meta(description="Of each text")
    ] = None
    cursor: Annotated[Annotated[str, Meta(max_length=MAX_CURSOR)] | None, Meta(description="next_cursor")] = None
    explain: Annotated[bool, Meta(description="Add scores, weights, stages")] = False
    include_superseded: Annotated[bool, Meta(description="Corrected ones too")] = True

    def check(self) -> None:
        """Refuse times that name none, and a `since` after `until`."""
        super().check()
        _ = self.said_between

    @property
    def said_between(self) -> tuple[datetime | None, datetime | None]:
        """The first and the last time of `since` and `until`, as in `Period`; words count from `asked_at`."""
        return between(self.since, self.until, moment(self.asked_at, "asked_at") if self.asked_at else None)


class MemorySearch(SearchGraph, frozen=True, kw_only=True):
    """As search_graph, each result with the score of every space."""

    explain: Annotated[bool, Meta(description="Add scores, weights, stages")] = True


class MemorySearchMultiPerspective(Asking, frozen=True, kw_only=True):
    """Rank by several spaces and fuse the ranks (RRF)."""

    query: Query
    perspectives: Annotated[Spaces | None, Meta(description="Spaces, 0 = E1 to 12 = E13; all")] = None
    fusion_k: Annotated[int, Meta(ge=1, le=1_000, description="k of 1 / (k + rank)")] = 60

    def check(self) -> None:
        """Refuse unknown and repeated spaces."""
        super().check()
        check_spaces(self.perspectives, "perspectives")


class SearchMulti(Asking, frozen=True, kw_only=True):
    """Rank by explicit weights over chosen spaces alone: superseded memories keep their rank.

    If nothing is found, lower min_similarity.
    """

    query: Annotated[QueryText | JsonObject, Meta(description='Text, or {"embeddings": vectors of memory_retrieve}')]
    query_type: Annotated[QueryType, Meta(description="Which weights")] = QueryType.SEMANTIC_SEARCH
    weights: Annotated[Weights | None, Meta(description="Sum to 1, with query_type custom")] = None
    active_spaces: Annotated[Spaces | None, Meta(description="0 = E1 to 12 = E13; all")] = None
    min_similarity: MinSimilarity = 0.5
    include_per_embedder_scores: PerEmbedder = True
    include_purpose_alignment: Annotated[bool, Meta(description="Add the alignment with the North Star")] = False

    def check(self) -> None:
        """Refuse a blank query, unknown spaces, and weights that are invalid, missing or not used."""
        super().check()
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
            problem = "all active spaces have weight 0"
            raise invalid("weights", problem, reason="invalid_weights", weights=self.weights)


class SearchSingleSpace(Asking, frozen=True, kw_only=True):
    """Rank by one of the thirteen spaces alone."""

    space_index: Annotated[int, Meta(description="0 = E1 to 12 = E13", extra_json_schema=SPACE_RANGE)]
    query_embedding: Annotated[Vector | None, Meta(description="A vector of memory_retrieve")] = None
    query: Annotated[QueryText | None, Meta(description="Text, instead of query_embedding")] = None

    def check(self) -> None:
        """Refuse an unknown space, a blank query, and anything but exactly one of embedding and text."""
        super().check()
        check_spaces((self.space_index,), "space_index")
        if self.query is None and self.query_embedding is None:
            raise InvalidParamsFault(
                "Missing 'query_embedding' parameter: give it, or 'query' in words", parameter="query_embedding"
            )
        if self.query is not None and self.query_embedding is not None:
            raise invalid("query", "give it or query_embedding, not both")


class SearchByPurpose(Reading, frozen=True, kw_only=True):
    """Find memories that serve the North Star as a purpose vector or another memory does."""

    purpose_vector: Annotated[Purpose | None, Meta(description="Alignment wanted in each space")] = None
    memory_id: Annotated[UUID | None, Meta(description="Memory whose purpose is meant, instead")] = None
    top_k: TopK = 10
    min_similarity: Annotated[Alignment, Meta(description="Leave out lower cosines")] = 0.0
    namespace: NamespaceFilter = None

    @property
    def purpose(self) -> tuple[float, ...] | UUID:
        """The given one of both (`InvalidParamsFault` for neither or both)."""
        given = [one for one in (self.purpose_vector, self.memory_id) if one is not None]
        if len(given) != 1:
            problem = "Give either 'purpose_vector' or 'memory_id'"
            raise InvalidParamsFault(problem, parameter="purpose_vector")
        return given[0]

    def check(self) -> None:
        """Refuse anything but exactly one of vector and memory, and a zero vector."""
        _ = self.purpose
        if self.purpose_vector is not None and max(map(abs, self.purpose_vector)) < MIN_PURPOSE:
            raise invalid("purpose_vector", "all zero: it has no direction")


class SearchWeightProfiles(Reading, frozen=True, kw_only=True):
    """List the weights of each query_type."""


def check_spaces(spaces: tuple[int, ...] | None, parameter: str) -> None:
    """Check that indices of spaces exist and are distinct (`InvalidParamsFault`)."""
    for index in spaces or ():
        if not 0 <= index < WIDTH:
            problem = f"no space {index}; they go from 0 to {WIDTH - 1}"
            raise invalid(parameter, problem, reason="invalid_space_index", index=index, max=WIDTH - 1)
    if spaces is not None and len(set(spaces)) < len(spaces):
        raise invalid(parameter, "a space is given twice", reason="invalid_space_index")


def check_weights(weights: tuple[float, ...]) -> None:
    """Check that there is one weight from 0 to 1 for each space, and that they sum to 1 (`InvalidParamsFault`)."""
    if len(weights) != WIDTH:
        problem = f"expected {WIDTH} weights, one for each space, got {len(weights)}"
        raise invalid("weights", problem, reason="invalid_weights", expected=WIDTH, actual=len(weights))
    for index, weight in enumerate(weights):
        if not 0 <= weight <= 1:  # also refuses NaN
            raise invalid(f"weights[{index}]", f"{weight} is not from 0 to 1", reason="invalid_weights")
    total = math.fsum(weights)
    if abs(total - 1.0) > SUM_TOLERANCE:
        problem = f"they must sum to 1 within {SUM_TOLERANCE}, not {total:.4g}"
        raise invalid("weights", problem, reason="invalid_weights", sum=total, weights=list(weights))
