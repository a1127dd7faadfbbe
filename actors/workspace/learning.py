"""UTL: what a memory teaches, measured from its real neighbours (seeds 001 and 004; facts 5).

Per space i, from the similarities to the neighbours, best first:

- entropy ΔS_i = 1 − mean similarity of the five nearest (1 with none: all is news);
- coherence ΔC_i = .4 · connectivity + .4 · cluster fit + .2 · consistency.

The memory's own entropy and coherence are the means over the spaces that say what it is about.
"""

import math
from collections.abc import Sequence

import numpy as np

from events.spaces import INDEX, SEMANTIC
from events.vocabulary import Learning

NEAREST = 5
"""Neighbours that entropy and consistency look at (facts 5.2)."""

EDGE = 0.70
"""Similarity from which two memories count as connected (facts 3.6)."""

CONNECTED = 10
"""So many connections make a memory fully connected (facts 5.3)."""

GAIN = 2.0
"""Of the learning score: the seed's own example needs it (facts 5.1)."""


def entropy(similarities: Sequence[float]) -> float:
    """Return ΔS in [0, 1]: how far away the nearest neighbours of one space are."""
    return 1.0 - float(np.mean(similarities[:NEAREST])) if len(similarities) else 1.0


def coherence(similarities: Sequence[float]) -> float:
    """Return ΔC in [0, 1]: how well a memory ties in with its neighbours in one space.

    Cluster fit is 1 / (1 + d/r): d the mean distance of the nearest, r that of the whole pool; a memory in the midst
    of a tight cluster has near ones much nearer than the rest. Consistency is exp(−5 · variance of the nearest).
    """
    if not len(similarities):
        return 0.0
    near = np.asarray(similarities[:NEAREST])
    pool = np.asarray(similarities)
    connectivity = min(1.0, float((pool > EDGE).sum()) / CONNECTED)
    radius = 1.0 - float(pool.mean())
    fit = 1.0 / (1.0 + (1.0 - float(near.mean())) / radius) if radius > 0 else 1.0
    consistency = math.exp(-5.0 * float(near.var())) if len(near) > 1 else 0.5
    return 0.4 * connectivity + 0.4 * fit + 0.2 * consistency


def phase(delta_s: Sequence[float]) -> float:
    """Return φ in [0, π]: how much the spaces disagree on whether this is news, so that agreement learns best.

    The spread of entropies in [0, 1] is at most ½, which stands for a right angle.
    """
    return math.pi * float(np.std([delta_s[INDEX[key]] for key in SEMANTIC]))


def learning_score(entropy: float, coherence: float, emotional_weight: float, phase: float) -> float:
    """Return σ(2 · entropy · coherence · emotional weight · cos φ), in [0, 1] (seed 004, gain of facts 5.1)."""
    return 1.0 / (1.0 + math.exp(-GAIN * entropy * coherence * emotional_weight * math.cos(phase)))


def judge(similarities: Sequence[Sequence[float]], emotional_weight: float) -> Learning:
    """Judge a memory by the similarities of its neighbours, one row per space, best first, each in [0, 1]."""
    delta_s = tuple(entropy(row) for row in similarities)
    delta_c = tuple(coherence(row) for row in similarities)
    total_s = float(np.mean([delta_s[INDEX[key]] for key in SEMANTIC]))
    total_c = float(np.mean([delta_c[INDEX[key]] for key in SEMANTIC]))
    nearest = max(similarities[INDEX["e1_semantic"]], default=0.0)
    angle = phase(delta_s)
    return Learning(
        entropy=total_s,
        coherence=total_c,
        surprise=1.0 - nearest,
        emotional_weight=emotional_weight,
        phase=angle,
        learning_score=learning_score(total_s, total_c, emotional_weight, angle),
        delta_s=delta_s,
        delta_c=delta_c,
    )
