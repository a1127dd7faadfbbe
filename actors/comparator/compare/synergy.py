"""How much two spaces support each other: the synergy matrix, re-indexed for our thirteen spaces.

The published numbers (facts 6.5) belong to thirteen kinds of memory that are not our spaces: their sixth is Code and
their seventh Procedural, ours are Sparse and Code. So each space takes the row and the column of the kind that it is
closest to, not of its position.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from events.spaces import SPACES

STRONG: Final = 0.9
"""The published strong synergy (weak is .3, moderate .6), and that of two spaces with the same counterpart."""

_PUBLISHED: Final = """
    semantic     1 .6 .3 .6 .9 .6 .6 .3 .3 .6 .9 .9 .6
    episodic    .6  1 .9 .6 .3 .3 .3 .6 .9 .9 .3 .6 .3
    temporal    .3 .9  1 .9 .3 .3 .9 .3 .6 .3 .3 .6 .3
    causal      .6 .6 .9  1 .6 .9 .9 .3 .6 .3 .9 .9 .3
    analogical  .9 .3 .3 .6  1 .6 .3 .6 .6 .6 .9 .3 .3
    code        .6 .3 .3 .9 .6  1 .9 .9 .3 .3 .6 .6 .9
    procedural  .6 .3 .9 .9 .3 .9  1 .6 .3 .3 .3 .6 .6
    spatial     .3 .6 .3 .3 .6 .9 .6  1 .6 .3 .6 .3 .3
    social      .3 .9 .6 .6 .6 .3 .3 .6  1 .9 .3 .6 .3
    emotional   .6 .9 .3 .3 .6 .3 .3 .3 .9  1 .6 .3 .3
    abstract    .9 .3 .3 .9 .9 .6 .3 .6 .3 .6  1 .6 .3
    factual     .9 .6 .6 .9 .3 .6 .6 .3 .6 .3 .6  1 .9
    sparse      .6 .3 .3 .3 .3 .9 .6 .3 .3 .3 .3 .9  1
"""

COUNTERPARTS: Final[dict[str, str]] = {
    "e1_semantic": "semantic",
    "e2_temporal_recent": "temporal",  # when it happened, as distance in time
    "e3_temporal_periodic": "temporal",  # when it happened, as hour, weekday and season
    "e4_temporal_positional": "episodic",  # which moment of its session it is: the order of an episode
    "e5_causal": "causal",
    "e6_sparse": "sparse",
    "e7_code": "code",
    "e8_graph": "analogical",  # how memories relate: two are alike if they are connected to the same
    "e9_hdc": "sparse",  # character trigrams: the surface of the words, as terms are
    "e10_multimodal": "semantic",  # what a text or an image shows, in one space; no published kind is perception
    "e11_entity": "factual",  # who and what is named; its purpose is V_factuality
    "e12_late_interaction": "semantic",  # meaning too, token by token
    "e13_splade": "sparse",  # terms and their expansions
}
"""The published kind whose numbers each space takes; procedural, spatial, social, emotional and abstract have none."""


def _published() -> dict[str, dict[str, float]]:
    rows = [line.split() for line in _PUBLISHED.strip().splitlines()]
    kinds = [row[0] for row in rows]
    return {kind: dict(zip(kinds, map(float, numbers), strict=True)) for kind, *numbers in rows}


PUBLISHED: Final[dict[str, dict[str, float]]] = _published()
"""Synergy by kind and kind, as published: symmetric, 1 on the diagonal."""


def _reindexed() -> npt.NDArray[np.float64]:
    kinds = [COUNTERPARTS[space.key] for space in SPACES]
    matrix = np.array([[min(PUBLISHED[one][other], STRONG) for other in kinds] for one in kinds])
    np.fill_diagonal(matrix, 1.0)
    matrix.flags.writeable = False
    return matrix


SYNERGY: Final[npt.NDArray[np.float64]] = _reindexed()
"""Synergy of every two spaces in the order of `SPACES`, shape (13, 13): symmetric, 1 on the diagonal, read-only."""
