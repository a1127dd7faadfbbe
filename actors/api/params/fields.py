"""Types and limits of parameters that several operations share.

Descriptions of parameters are for agents, and part of the prompt of every conversation: keep them short.
"""

import math
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from actors.api.params.parsing import invalid
from events.spaces import SPACES

MAX_CONTENT = 65_536
MAX_QUERY = 4_096
MAX_NAME = 256
MAX_BATCH = 100
MAX_CURSOR = 1_024

LISTED = "x-listed"
"""Schema key: list the limits 0 and 1 of this parameter."""
UNLISTED = "x-unlisted"
"""Schema key: the text listed instead of the values of an enumeration."""
ANY = "x-any"
"""Schema key: the text listed instead of a union of types."""

DEFAULT_NAMESPACE = "default"
WIDTH = len(SPACES)
SUM_TOLERANCE = 0.01
"""Maximum distance of the sum of custom weights from 1."""

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Tags = Annotated[tuple[Name, ...], Meta(max_length=64)]
Reason = Annotated[str, Meta(max_length=4_096)]
Content = Annotated[str, Meta(max_length=MAX_CONTENT)]
Query = Annotated[str, Meta(max_length=MAX_QUERY)]
Namespace = Annotated[Name, Meta(description="Project or person")]
Session = Annotated[Name, Meta(description="The conversation it is a turn of")]
Moment = Annotated[str, Meta(max_length=MAX_NAME)]
"""ISO 8601."""
CreatedAt = Annotated[Moment, Meta(description="When it was said, ISO 8601, if not now")]
Redact = Annotated[bool, Meta(description="Leave out passwords, keys and tokens")]
# Values outside 0 to 1 are clamped, not refused; the published schema lists the limits.
Importance = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1, LISTED: True})]
Similarity = Annotated[float, Meta(ge=0, le=1)]
Alignment = Annotated[float, Meta(ge=-1, le=1)]
TopK = Annotated[int, Meta(ge=1, le=1_000)]
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
