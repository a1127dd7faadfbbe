"""UTL: the learning value of a memory, from its similarities to its neighbours (TOOL-INJECT-001/utl).

The memory's entropy and coherence are the means over the non-temporal spaces.
"""

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from events.spaces import INDEX, SEMANTIC
from events.vocabulary.values import Learning

Floats: TypeAlias = npt.NDArray[np.floating]

NEAREST = 5
"""Neighbours that determine entropy and consistency."""

EDGE_SIMILARITY = 0.70
"""Similarity above which two memories count as connected."""

MAX_CONNECTIONS = 10
"""Number of connections at which connectivity reaches 1."""

GAIN = 2.0
"""Gain of the learning score. With 1 the example of the requirement (.72 from entropy .65, coherence .78) is out of
reach, since the emotional weight is at most 1.5."""

SEMANTIC_INDICES = [INDEX[key] for key in SEMANTIC]


def entropy(similarities: Floats) -> Floats:
    """Return ΔS in [0, 1] of each space, shape (spaces,) (TOOL-INJECT-001/utl/entropy).

    ΔS_i = 1 - weighted mean of the similarities s_1..s_5 of the nearest neighbours, with weights 5 to 1; 1 without
    neighbours. The nearest one weighs most: a verbatim repetition is not new, however few others are similar.

    Args:
        similarities: Shape (spaces, neighbours), each row descending.
    """
    if not similarities.shape[1]:
        return np.ones(len(similarities))
    near = similarities[:, :NEAREST].astype(np.float64)
    return 1.0 - np.average(near, axis=1, weights=np.arange(NEAREST, 0, -1)[: near.shape[1]])


def coherence(similarities: Floats) -> Floats:
    """Return ΔC in [0, 1] of each space, shape (spaces,) (TOOL-INJECT-001/utl/coherence); 0 without neighbours.

    ΔC_i = .4 * connectivity + .4 * fit + .2 * consistency, where

    - connectivity = min(1, number of s_j > .7 / 10);
    - fit = 1 / (1 + d / r), d the mean distance 1 - s_j of the nearest five, r that of all neighbours;
    - consistency = exp(-5 * variance of the nearest five), 1/2 for a single neighbour.

    Args:
        similarities: Shape (spaces, neighbours), each row descending.
    """
    if not similarities.shape[1]:
        return np.zeros(len(similarities))
    near = similarities[:, :NEAREST].astype(np.float64)
    connectivity = np.minimum(1.0, (similarities > EDGE_SIMILARITY).sum(axis=1) / MAX_CONNECTIONS)
    distance, radius = 1.0 - near.mean(axis=1), 1.0 - similarities.mean(axis=1, dtype=np.float64)
    # If all neighbours are identical, distance and radius are both 0 and the fit is 1.
    fit = radius / np.where(radius > 0, radius + distance, 1.0) + (radius <= 0)
    consistency = np.exp(-5.0 * near.var(axis=1)) if near.shape[1] > 1 else np.full(len(near), 0.5)
    return 0.4 * connectivity + 0.4 * fit + 0.2 * consistency


def phase(delta_s: Floats) -> float:
    """Return φ = π * standard deviation of ΔS over the non-temporal spaces: in [0, π/2], 0 if the spaces agree."""
    return math.pi * float(np.std(delta_s[SEMANTIC_INDICES]))


def learning_score(entropy: float, coherence: float, emotional_weight: float, phase: float) -> float:
    """Return L = σ(2 * ΔS * ΔC * w_e * cos φ) in [0, 1], σ the logistic (TOOL-INJECT-001/utl/learning-score)."""
    return 1.0 / (1.0 + math.exp(-GAIN * entropy * coherence * emotional_weight * math.cos(phase)))


def judge(similarities: Floats, emotional_weight: float) -> Learning:
    """Return the learning value of a memory.

    Surprise is 1 - s of the nearest neighbour in E1 (TOOL-INJECT-001/utl/surprise).

    Args:
        similarities: In [0, 1], shape (13, neighbours), each row descending.
        emotional_weight: w_e in [.5, 1.5].
    """
    delta_s, delta_c = entropy(similarities), coherence(similarities)
    total_s, total_c = float(delta_s[SEMANTIC_INDICES].mean()), float(delta_c[SEMANTIC_INDICES].mean())
    angle = phase(delta_s)
    return Learning(
        entropy=total_s,
        coherence=total_c,
        surprise=1.0 - float(similarities[INDEX["e1_semantic"]].max(initial=0.0)),
        emotional_weight=emotional_weight,
        phase=angle,
        learning_score=learning_score(total_s, total_c, emotional_weight, angle),
        delta_s=tuple(delta_s.tolist()),
        delta_c=tuple(delta_c.tolist()),
    )
