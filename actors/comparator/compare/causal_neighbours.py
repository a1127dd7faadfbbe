"""Which near memories cause a new one, or are caused by it, as the two trained heads of E5 see it.

E5 was trained to find the effect of a given cause, not to tell causes from likeness: two texts about one thing score
high either way. What tells causes apart is that the score is much higher in one direction than in the other, and no
lower than plain likeness. The bounds were chosen with earlier heads on 2,000 pairs of e-CARE; with the present ones:

- The 64 nearest texts of each of 3,687 texts of e-CARE that the heads hadn't learned: 55 edges, 43 of them right.
- 2,760 turns of conversation: no edge.

So an edge is rare, four in five are right, and that there is none says nothing.
"""

from typing import Final, NamedTuple

import numpy as np

from projections.storage.arrays import Mask, Rows, Scores, top_k

LEAST: Final = 0.45
"""The raw directed score that an edge needs, from the heads of the embedded profile; others score otherwise."""
MARGIN: Final = 0.2
"""By which that score exceeds the one of the opposite direction. Given that a pair is causal, E5 sees the direction
right in 79 of 100. With .25 there are 29 edges instead of 55, 23 of them right."""
MOST: Final = 3
"""Causes, and effects, of one memory."""


class Causal(NamedTuple):
    """Places among the candidates, the surest first, and the weight of an edge to each in [0, 1]."""

    places: Rows
    weights: Scores


def causal_neighbours(effect_scores: Scores, cause_scores: Scores, likeness: Scores) -> tuple[Causal, Causal]:
    """Return which candidates cause a new memory, and which it causes: at most `MOST` each.

    A weight is the directed score. It orders edges, but isn't the probability that one is right.

    Args:
        effect_scores: Raw E5 scores of the candidates as effects of the memory, shape (candidates,).
        cause_scores: The same as its causes.
        likeness: Raw E1 similarity of the candidates' wholes to the memory, shape (candidates,).
    """
    return (
        _strongest(cause_scores, _stands_out(cause_scores, effect_scores, likeness)),
        _strongest(effect_scores, _stands_out(effect_scores, cause_scores, likeness)),
    )


def _stands_out(scores: Scores, opposite: Scores, likeness: Scores) -> Mask:
    return (scores >= LEAST) & (scores - opposite >= MARGIN) & (scores >= likeness)


def _strongest(scores: Scores, accepted: Mask) -> Causal:
    places = np.flatnonzero(accepted)
    places = places[top_k(scores[places], MOST)]
    return Causal(places, scores[places])
