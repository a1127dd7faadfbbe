"""The synergy matrix: how strongly two spaces support each other.

The published matrix is for thirteen kinds of memory that differ from the thirteen spaces. Each space takes the row and
column of the kind that it is closest to, not of its position.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from events.spaces import E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13, SPACES

STRONG: Final = 0.9
"""The published strong synergy (weak is .3, moderate .6); also that of two spaces that map to the same kind."""

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
    E1: "semantic",
    E2: "temporal",  # distance in time
    E3: "temporal",  # hour, weekday and season
    E4: "episodic",  # position in a session
    E5: "causal",
    E6: "sparse",
    E7: "code",
    E8: "analogical",  # similarity by neighbours in the graph
    E9: "sparse",  # character trigrams, surface features as terms are
    E10: "semantic",  # one space for text and images; no published kind is perception
    E11: "factual",
    E12: "semantic",  # meaning, token by token
    E13: "sparse",  # terms and their expansions
}
"""The published kind of each space; procedural, spatial, social, emotional and abstract have no space."""


def _parse_published() -> dict[str, dict[str, float]]:
    rows = [line.split() for line in _PUBLISHED.strip().splitlines()]
    kinds = [row[0] for row in rows]
    return {kind: dict(zip(kinds, map(float, numbers), strict=True)) for kind, *numbers in rows}


PUBLISHED: Final[dict[str, dict[str, float]]] = _parse_published()
"""The published matrix by kind: symmetric, 1 on the diagonal."""


def _reindex() -> npt.NDArray[np.float64]:
    kinds = [COUNTERPARTS[space.key] for space in SPACES]
    matrix = np.array([[min(PUBLISHED[one][other], STRONG) for other in kinds] for one in kinds])
    np.fill_diagonal(matrix, 1.0)
    matrix.flags.writeable = False
    return matrix


SYNERGY: Final[npt.NDArray[np.float64]] = _reindex()
"""Synergy of every two spaces in the order of `SPACES`, shape (13, 13): symmetric, 1 on the diagonal, read-only."""
