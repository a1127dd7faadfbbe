"""The types and limits of single parameters, which the operations share."""

import math
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from actors.api.params.parsing import invalid
from events.spaces import SPACES

MAX_CONTENT = 65_536
MAX_QUERY = 4_096
MAX_RATIONALE = 4_096
MAX_NAME = 256
MAX_TAGS = 64
MAX_LINKS = 64
MAX_METADATA = 16_384
MAX_RESULTS = 100
MAX_RANKED = 1_000
MAX_BATCH = 100
MAX_TARGETS = 1_000
MAX_MATRIX = 200
MAX_CURSOR = 1_024
MAX_GOALS = 20
MAX_DRIFT = 2_000
MAX_HOPS = 6
MAX_NODES = 100
MAX_RUNS = 100
MAX_CANDIDATES = 1_000
MAX_SECONDS = 600
MAX_MEMORIES = 1_000_000_000
LISTED = "x-listed"
"""In the schema of a share: list its limits, since a seed does."""
UNLISTED = "x-unlisted"
"""In an enumeration's schema: what is listed in place of its values."""
ANY = "x-any"
"""In the schema of what may be of several types: what is listed in place of them."""
SHORTEST = 1e-6
"""A purpose vector without a longer entry is none: float32 may not hold its length."""
LEAST_TOKENS = 320
"""An answer needs so many for one short result and what stands around it."""

DEFAULT_NAMESPACE = "default"
WIDTH = len(SPACES)
SUM_TOLERANCE = 0.01
"""How far from 1 the sum of custom weights may be (seed 002)."""

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Cursor = Annotated[str, Meta(max_length=MAX_CURSOR)]
Reason = Annotated[str, Meta(max_length=MAX_RATIONALE)]
Content = Annotated[str, Meta(max_length=MAX_CONTENT)]
Query = Annotated[str, Meta(max_length=MAX_QUERY)]
Importance = Annotated[
    float,
    # The limits of the seed's schema; a value outside them is clamped, not refused.
    Meta(extra_json_schema={"minimum": 0, "maximum": 1, LISTED: True}),
]
Moment = Annotated[str, Meta(max_length=MAX_NAME)]
"""ISO 8601, as the first ones say that are listed."""
Similarity = Annotated[float, Meta(ge=0, le=1)]
Alignment = Annotated[float, Meta(ge=-1, le=1)]
Ranked = Annotated[int, Meta(ge=1, le=MAX_RANKED)]
PLACE = {"minimum": 0, "maximum": WIDTH - 1}
"""Of a space. Listed for agents; what lies outside is refused by `check_spaces`, with its context."""
Spaces = Annotated[tuple[Annotated[int, Meta(extra_json_schema=PLACE)], ...], Meta(min_length=1, max_length=WIDTH)]
Weights = Annotated[
    tuple[Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})], ...],
    Meta(extra_json_schema={"minItems": WIDTH, "maxItems": WIDTH}),
]
"""Listed with limits that `check_weights` enforces."""
Purpose = Annotated[tuple[Alignment, ...], Meta(min_length=WIDTH, max_length=WIDTH)]


class QueryType(StrEnum):
    """Which weights `search/multi` applies: a profile of seed 002, or those that come with the request."""

    SEMANTIC_SEARCH = "semantic_search"
    CAUSAL_REASONING = "causal_reasoning"
    CODE_SEARCH = "code_search"
    TEMPORAL_NAVIGATION = "temporal_navigation"
    FACT_CHECKING = "fact_checking"
    BALANCED = "balanced"
    CUSTOM = "custom"


def check_spaces(spaces: tuple[int, ...] | None, parameter: str) -> None:
    """Refuse the index of a space that doesn't exist, and one that stands there twice."""
    for index in spaces or ():
        if not 0 <= index < WIDTH:
            problem = f"no space {index}; they go from 0 to {WIDTH - 1}"
            raise invalid(parameter, problem, reason="invalid_space_index", index=index, max=WIDTH - 1)
    if spaces is not None and len(set(spaces)) < len(spaces):
        raise invalid(parameter, "a space stands there twice", reason="invalid_space_index")


def check_weights(weights: tuple[float, ...]) -> None:
    """Refuse weights that aren't one finite number for each space, or don't sum to 1 within .01."""
    if len(weights) != WIDTH:
        problem = f"expected {WIDTH} weights, one for each space, got {len(weights)}"
        raise invalid("weights", problem, reason="invalid_weights", expected=WIDTH, actual=len(weights))
    for place, weight in enumerate(weights):
        if not 0 <= weight <= 1:  # which NaN isn't either
            raise invalid(f"weights[{place}]", f"{weight} is not from 0 to 1", reason="invalid_weights")
    total = math.fsum(weights)
    if abs(total - 1.0) > SUM_TOLERANCE:
        problem = f"they must sum to 1 within {SUM_TOLERANCE}, not {total:.4g}"
        raise invalid("weights", problem, reason="invalid_weights", sum=total, weights=list(weights))
