"""Types, limits and meanings of parameters that several operations share.

A parameter is declared once: msgspec parses arguments by its type, and `actors.api.mcp.tool_schemas` lists the same
type. Descriptions are part of the prompt of every conversation: keep them short.
"""

import math
from enum import StrEnum
from typing import Annotated, TypeAlias
from uuid import UUID

from msgspec import Meta

from actors.api.params.parsing import Params, invalid
from actors.runtime.settings import Confidence
from events.spaces import SPACES

MAX_CONTENT = 65_536
MAX_IMAGE = 10 << 20
"""Bytes of an image's file."""
MAX_QUERY = 4_096
MAX_EXCERPT = 2_000
"""Most characters of a memory in a search result; a window of the embedding model has some 1,400."""
MAX_NAME = 256
MAX_BATCH = 100
MAX_CURSOR = 1_024

EVERYWHERE = "*"
"""As the namespace of a search: all of them."""
DEFAULT_NAMESPACE = "default"
WIDTH = len(SPACES)
SUM_TOLERANCE = 0.01
"""Maximum distance of the sum of custom weights from 1."""

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Tags = Annotated[tuple[Name, ...], Meta(max_length=64)]
Reason = Annotated[str, Meta(max_length=4_096)]
# A blank one is refused with an error of its own.
Content = Annotated[
    str, Meta(max_length=MAX_CONTENT, description="The text to remember", extra_json_schema={"minLength": 1})
]
# Its length is checked with its bytes: a limit in base64 would be listed in every conversation.
Image = Annotated[str | None, Meta(description="Path or data URI")]
QueryText = Annotated[str, Meta(max_length=MAX_QUERY)]
Query = Annotated[QueryText, Meta(description="A question or keywords")]
Namespace = Annotated[Name, Meta(description="If not the project's")]
NamespaceFilter = Annotated[Name | None, Meta(description="Not the project's; * is all")]
Session = Annotated[Name | None, Meta(description="Its conversation")]
SessionFilter = Annotated[Name | None, Meta(description="Only this conversation")]
MemoryId = Annotated[UUID, Meta(description="Of a memory")]
Moment: TypeAlias = str
"""ISO 8601; `Params.times` names these parameters, and checks them."""
AskedAt = Annotated[Moment | None, Meta(description="When asked, ISO 8601; now")]
When: TypeAlias = int | Moment
"""A sequence number, also written as a text of digits, or an ISO 8601 time."""
Redact = Annotated[bool, Meta(description="Leave out secrets")]
# Values outside 0 to 1 are clamped, not refused; the published schema lists the limits.
Importance = Annotated[float, Meta(description="How much it matters", extra_json_schema={"minimum": 0, "maximum": 1})]
Share = Annotated[float, Meta(ge=0, le=1)]
MinSimilarity = Annotated[Share, Meta(description="At least this similar")]
MinConfidence = Annotated[Confidence, Meta(description="Else no results")]
Alignment = Annotated[float, Meta(ge=-1, le=1)]
TopK = Annotated[int, Meta(ge=1, le=1_000, description="Results")]
PerEmbedder = Annotated[bool, Meta(description="Add the score of each space")]
ShowAlignment = Annotated[bool, Meta(description="Add the alignment with the North Star")]
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


class Reading(Params, frozen=True, kw_only=True):
    """The parameters of an operation that only reads: it can answer as of a past moment."""

    as_of: Annotated[When | None, Meta(description="Event or time")] = None


class QueryType(StrEnum):
    """The weights of `search_multi`: a fixed profile, or those of the request."""

    SEMANTIC_SEARCH = "semantic_search"
    CAUSAL_REASONING = "causal_reasoning"
    CODE_SEARCH = "code_search"
    TEMPORAL_NAVIGATION = "temporal_navigation"
    FACT_CHECKING = "fact_checking"
    BALANCED = "balanced"
    CUSTOM = "custom"


def check_spaces(spaces: tuple[int, ...] | None, parameter: str) -> None:
    """Check that indices of spaces exist and are distinct.

    Raises:
        InvalidParamsFault: they do not, or are not.
    """
    for index in spaces or ():
        if not 0 <= index < WIDTH:
            problem = f"no space {index}; they go from 0 to {WIDTH - 1}"
            raise invalid(parameter, problem, reason="invalid_space_index", index=index, max=WIDTH - 1)
    if spaces is not None and len(set(spaces)) < len(spaces):
        raise invalid(parameter, "a space is given twice", reason="invalid_space_index")


def check_weights(weights: tuple[float, ...]) -> None:
    """Check that there is one weight from 0 to 1 for each space, and that their sum is 1.

    Raises:
        InvalidParamsFault: there is not, or it is not.
    """
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
