"""Search settings that callers pass with a query: the fixed weight profiles and the candidate pool size."""

from typing import Final

from actors.runtime.settings import SearchProfile
from events.spaces import SPACES

Weights = dict[str, float]
"""Weight by space key, summing to 1."""

MIN_POOL: Final = 128
"""Minimum number of candidates that each recall method returns."""

_KEYS: Final = tuple(space.key for space in SPACES)
_E13_WEIGHT: Final = 0.02
"""The published profiles have twelve weights; E13 takes this from the largest other than E1's."""


def pool_size(limit: int) -> int:
    """Return how many candidates each recall method returns for a search with `limit` results."""
    return max(MIN_POOL, 2 * limit)


def _profile(*twelve: float) -> Weights:
    weights = dict(zip(_KEYS, (*twelve, _E13_WEIGHT), strict=True))
    largest = max(_KEYS[1:-1], key=weights.__getitem__)
    weights[largest] = round(weights[largest] - _E13_WEIGHT, 4)
    return weights


FIXED_PROFILES: Final[dict[SearchProfile, Weights]] = {
    SearchProfile.SEMANTIC_SEARCH: _profile(0.30, 0.05, 0.05, 0.05, 0.10, 0.05, 0.20, 0.05, 0.05, 0.05, 0.03, 0.02),
    SearchProfile.CAUSAL_REASONING: _profile(0.15, 0.03, 0.03, 0.03, 0.45, 0.03, 0.10, 0.03, 0.03, 0.05, 0.05, 0.02),
    # The published row gives E4 (order) .35 and E7 (code) .25, an index error; this is the corrected row.
    SearchProfile.CODE_SEARCH: dict(
        zip(_KEYS, (0.15, 0.02, 0.02, 0.15, 0.05, 0.05, 0.35, 0.02, 0.02, 0.05, 0.05, 0.05, 0.02), strict=True)
    ),
    SearchProfile.TEMPORAL_NAVIGATION: _profile(0.15, 0.20, 0.20, 0.20, 0.05, 0.02, 0.05, 0.02, 0.03, 0.03, 0.03, 0.02),
    SearchProfile.FACT_CHECKING: _profile(0.10, 0.02, 0.02, 0.02, 0.20, 0.05, 0.05, 0.02, 0.02, 0.05, 0.43, 0.02),
    SearchProfile.BALANCED: dict.fromkeys(_KEYS, 1 / len(SPACES)),
}
"""The profiles that do not depend on the query."""
