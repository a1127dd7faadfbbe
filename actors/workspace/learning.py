"""UTL: what a memory teaches, measured from its real neighbours (seeds 001 and 004; facts 5).

Per space i, from the calibrated similarities to the neighbours, best first:

- entropy ΔS_i = 1 − mean similarity of the five nearest, weighted 5 to 1 from the first on (1 with none: all is news);
- coherence ΔC_i = .4 · connectivity + .4 · cluster fit + .2 · consistency.

The memory's own entropy and coherence are the means over the spaces that say what it is about.
"""

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from events.spaces import INDEX, SEMANTIC
from events.vocabulary.values import Learning

Floats: TypeAlias = npt.NDArray[np.floating]

NEAREST = 5
"""Neighbours that entropy and consistency look at (facts 5.2)."""

EDGE = 0.70
"""Similarity from which two memories count as connected (facts 3.6)."""

CONNECTED = 10
"""So many connections make a memory fully connected (facts 5.3)."""

GAIN = 2.0
"""Of the learning score: the seed's own example needs it (facts 5.1)."""

MEANING = [INDEX[key] for key in SEMANTIC]


def entropy(similarities: Floats) -> Floats:
    """Return ΔS in [0, 1] of each space, shape (spaces,): how far away its nearest neighbours are.

    The nearer count more: what was said before, word for word, is known, however little else is like it.

    Args:
        similarities: Shape (spaces, neighbours), each row best first.
    """
    if not similarities.shape[1]:
        return np.ones(len(similarities))
    near = similarities[:, :NEAREST].astype(np.float64)
    return 1.0 - np.average(near, axis=1, weights=np.arange(NEAREST, 0, -1)[: near.shape[1]])


def coherence(similarities: Floats) -> Floats:
    """Return ΔC in [0, 1] of each space, shape (spaces,): how well a memory ties in with its neighbours.

    Cluster fit is 1 / (1 + d/r): d the mean distance of the nearest, r that of all neighbours given; a memory in the
    midst of a tight cluster has near ones much nearer than the rest. Consistency is exp(−5 · variance of the nearest),
    ½ of a single one.

    Args:
        similarities: Shape (spaces, neighbours), each row best first.
    """
    if not similarities.shape[1]:
        return np.zeros(len(similarities))
    all_of_them = similarities.astype(np.float64)
    near = all_of_them[:, :NEAREST]
    connectivity = np.minimum(1.0, (all_of_them > EDGE).sum(axis=1) / CONNECTED)
    distance, radius = 1.0 - near.mean(axis=1), 1.0 - all_of_them.mean(axis=1)
    # Where all are the same, distance and radius are both 0, and the fit is perfect.
    fit = radius / np.where(radius > 0, radius + distance, 1.0) + (radius <= 0)
    consistency = np.exp(-5.0 * near.var(axis=1)) if near.shape[1] > 1 else np.full(len(near), 0.5)
    return 0.4 * connectivity + 0.4 * fit + 0.2 * consistency


def phase(delta_s: Floats) -> float:
    """Return φ in [0, π]: how much the spaces disagree on whether this is news, so that agreement learns best.

    The spread of entropies in [0, 1] is at most ½, which stands for a right angle.
    """
    return math.pi * float(np.std(delta_s[MEANING]))


def learning_score(entropy: float, coherence: float, emotional_weight: float, phase: float) -> float:
    """Return σ(2 · entropy · coherence · emotional weight · cos φ), in [0, 1] (seed 004, gain of facts 5.1)."""
    return 1.0 / (1.0 + math.exp(-GAIN * entropy * coherence * emotional_weight * math.cos(phase)))


def judge(similarities: Floats, emotional_weight: float) -> Learning:
    """Judge a memory by the similarities of its neighbours in [0, 1], shape (13, neighbours), each row best first.

    Surprise is the distance of the one nearest in meaning: a repeat is no surprise even where little else is known.
    """
    delta_s, delta_c = entropy(similarities), coherence(similarities)
    total_s, total_c = float(delta_s[MEANING].mean()), float(delta_c[MEANING].mean())
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
