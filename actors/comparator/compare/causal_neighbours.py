"""Detect causal edges between a new memory and its neighbours with the two trained heads of E5.

E5 ranks effects of a given cause; it does not separate causation from similarity, so two texts about one topic score
high in both directions. An edge therefore needs a score that is much higher in one direction than in the other, and no
lower than the E1 similarity. The thresholds were chosen on 2,000 pairs of e-CARE. With the shipped heads:

- 64 nearest texts of each of 3,687 held-out texts of e-CARE: 55 edges, 43 of them right.
- 2,760 turns of conversation: no edge.

Edges are rare, four in five are right, and a missing edge means nothing.
"""

from typing import Final, NamedTuple

import numpy as np

from projections.storage.arrays import Mask, Rows, Scores, top_k

MIN_SCORE: Final = 0.45
"""Minimum raw directed score of an edge, for the heads of the embedded profile."""
MIN_MARGIN: Final = 0.2
"""Minimum excess over the score of the opposite direction. Given a causal pair, E5 sees the direction right in 79 of
100. With .25 there are 29 edges instead of 55, 23 of them right."""
MAX_EDGES: Final = 3
"""Maximum number of causes, and of effects, of one memory."""


class CausalEdges(NamedTuple):
    """Indices of candidates, best first, and the weight of the edge to each in [0, 1]."""

    indices: Rows
    weights: Scores


def causal_neighbours(
    effect_scores: Scores, cause_scores: Scores, similarity: Scores
) -> tuple[CausalEdges, CausalEdges]:
    """Return the causes and the effects of a new memory among candidates.

    The weight of an edge is the directed score. It orders edges, but is not a probability.

    Args:
        effect_scores: Raw E5 scores of the candidates as effects of the memory, shape (candidates,).
        cause_scores: Raw E5 scores of the candidates as its causes, shape (candidates,).
        similarity: Raw E1 similarity of the candidates as wholes to the memory, shape (candidates,).
    """
    return (
        _strongest(cause_scores, _is_directed(cause_scores, effect_scores, similarity)),
        _strongest(effect_scores, _is_directed(effect_scores, cause_scores, similarity)),
    )


def _is_directed(scores: Scores, opposite: Scores, similarity: Scores) -> Mask:
    return (scores >= MIN_SCORE) & (scores - opposite >= MIN_MARGIN) & (scores >= similarity)


def _strongest(scores: Scores, accepted: Mask) -> CausalEdges:
    indices = np.flatnonzero(accepted)
    indices = indices[top_k(scores[indices], MAX_EDGES)]
    return CausalEdges(indices, scores[indices])
