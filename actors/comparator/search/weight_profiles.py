"""What each kind of question weighs: the seeds' six profiles, and `auto`, which goes by the kind of question.

Every profile has one weight per space and sums to 1. The weights of `auto` stand in `auto.json`, a table by kind that
`scripts/train/fusion.py` learns; a question that is of several kinds adds up their rows.
"""

from pathlib import Path
from typing import Final

import msgspec

from actors.comparator.search.query_classifier import QueryKind
from actors.runtime.settings import SearchProfile
from events.spaces import SPACES

Weights = dict[str, float]
"""By space key; all thirteen, summing to 1."""

_EXPANSION = 0.02
"""E13's share: seed 002 lists twelve weights, so it comes off the largest other than E1's (design 5)."""


def _row(*twelve: float) -> Weights:
    weights = dict(zip((space.key for space in SPACES), (*twelve, _EXPANSION), strict=True))
    keys = [space.key for space in SPACES[1:-1]]
    largest = max(keys, key=weights.__getitem__)
    weights[largest] = round(weights[largest] - _EXPANSION, 4)
    return weights


SEED_PROFILES: Final[dict[SearchProfile, Weights]] = {
    SearchProfile.SEMANTIC_SEARCH: _row(0.30, 0.05, 0.05, 0.05, 0.10, 0.05, 0.20, 0.05, 0.05, 0.05, 0.03, 0.02),
    SearchProfile.CAUSAL_REASONING: _row(0.15, 0.03, 0.03, 0.03, 0.45, 0.03, 0.10, 0.03, 0.03, 0.05, 0.05, 0.02),
    # Seed 002 gives order (E4) .35 and code (E7) .25 here, an index slip; this is the row as it was mended (facts 8.2).
    SearchProfile.CODE_SEARCH: dict(
        zip(
            (space.key for space in SPACES),
            (0.15, 0.02, 0.02, 0.15, 0.05, 0.05, 0.35, 0.02, 0.02, 0.05, 0.05, 0.05, 0.02),
            strict=True,
        )
    ),
    SearchProfile.TEMPORAL_NAVIGATION: _row(0.15, 0.20, 0.20, 0.20, 0.05, 0.02, 0.05, 0.02, 0.03, 0.03, 0.03, 0.02),
    SearchProfile.FACT_CHECKING: _row(0.10, 0.02, 0.02, 0.02, 0.20, 0.05, 0.05, 0.02, 0.02, 0.05, 0.43, 0.02),
    SearchProfile.BALANCED: dict.fromkeys((space.key for space in SPACES), 1 / len(SPACES)),
}
"""The fixed profiles by name (seed 002, thirteen wide as design 5 settles)."""


AUTO: Final = msgspec.json.decode(Path(__file__).with_name("auto.json").read_bytes(), type=dict[QueryKind, Weights])
"""What each kind of question weighs; spaces without weight are left out. The first three rows sum to 1."""


def weights(profile: SearchProfile, kinds: frozenset[QueryKind]) -> Weights:
    """Return the weights of a profile; those of `auto` depend on what kinds of question it is."""
    if profile is not SearchProfile.AUTO:
        return SEED_PROFILES[profile]
    rows = [AUTO[kind] for kind in QueryKind if kind in kinds]
    added = {space.key: sum(row.get(space.key, 0.0) for row in rows) for space in SPACES}
    total = sum(added.values())
    return {key: weight / total for key, weight in added.items()}
