"""UTL: the learning value of a memory, from its similarities to its neighbours (TOOL-INJECT-001/utl).

NaN is a similarity in a space that has nothing to say of a pair. A space without any other is left out of the memory's
figures; its own are those of a memory without neighbours.
"""

import math
from functools import cache
from typing import Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from events.spaces import E1, INDEX, SEMANTIC
from events.vocabulary.values import Learning

Floats: TypeAlias = npt.NDArray[np.floating]

NEAREST = 5
"""Neighbours that determine fit and consistency."""

EDGE_SIMILARITY = 0.70
"""Similarity above which two memories count as connected."""

MAX_CONNECTIONS = 10
"""Number of connections at which connectivity reaches 1."""

SHARPNESS = 1.4
"""Exponent of the similarity to the most similar memory. Of 300 pairs of sentences that people grade as equivalent, 95
of 100 then have an entropy of at most .35; of 60 turns of conversations beside 2,500 such sentences, 58 have at least
.6. With 1 it is 48 of them: the more is stored, the nearer is the nearest by chance."""

GAIN = 2.0
"""Gain of the learning score. With 1 the example of the requirement (.72 from entropy .65, coherence .78) is out of
reach, since the emotional weight is at most 1.5."""

SEMANTIC_INDICES = np.array([INDEX[key] for key in SEMANTIC])


def entropy(similarities: Floats) -> Floats:
    """Return ΔS in [0, 1] of each space, shape (spaces,) (TOOL-INJECT-001/utl/entropy).

    ΔS_i = 1 - s_1, the similarity of the nearest neighbour; 1 without neighbours. Further neighbours don't count: what
    is known from one memory is not new, however few others are similar.

    `similarities` have the shape (spaces, neighbours), each row descending, NaN last.
    """
    if not similarities.shape[1]:
        return np.ones(len(similarities))
    return 1.0 - np.nan_to_num(similarities[:, 0].astype(np.float64))


def coherence(similarities: Floats) -> Floats:
    """Return ΔC in [0, 1] of each space, shape (spaces,) (TOOL-INJECT-001/utl/coherence); 0 without neighbours.

    ΔC_i = .4 * connectivity + .4 * fit + .2 * consistency, where

    - connectivity = min(1, number of s_j > .7 / 10);
    - fit = 1 / (1 + d / r), d the mean distance 1 - s_j of the nearest five, r that of all neighbours;
    - consistency = exp(-5 * variance of the nearest five), 1/2 for a single neighbour.

    `similarities` have the shape (spaces, neighbours), each row descending, NaN last.
    """
    counts = (~np.isnan(similarities)).sum(axis=1)
    known = counts > 0
    result = np.zeros(len(similarities))
    if not known.any():
        return result
    # Sums of zeros instead of NaN: numpy's functions that ignore NaN take five times as long on so few numbers.
    filled, counts = np.nan_to_num(similarities[known].astype(np.float64)), counts[known]
    near, few = filled[:, :NEAREST], np.minimum(counts, NEAREST)
    connectivity = np.minimum(1.0, (filled > EDGE_SIMILARITY).sum(axis=1) / MAX_CONNECTIONS)
    mean = near.sum(axis=1) / few
    distance, radius = 1.0 - mean, 1.0 - filled.sum(axis=1) / counts
    # If all neighbours are identical, distance and radius are both 0 and the fit is 1.
    fit = radius / np.where(radius > 0, radius + distance, 1.0) + (radius <= 0)
    variance = np.maximum((near * near).sum(axis=1) / few - mean * mean, 0.0)
    consistency = np.where(few > 1, np.exp(-5.0 * variance), 0.5)
    result[known] = 0.4 * connectivity + 0.4 * fit + 0.2 * consistency
    return result


def phase(delta_s: Floats) -> float:
    """Return φ = π * standard deviation of ΔS: in [0, π/2], 0 if the spaces agree.

    `delta_s` is that of the spaces of content that have something to say of the memory, shape (spaces,), perhaps of
    none.
    """
    return math.pi * float(np.std(delta_s)) if len(delta_s) else 0.0


def learning_score(entropy: float, coherence: float, emotional_weight: float, phase: float) -> float:
    """Return L = σ(2 * ΔS * ΔC * w_e * cos φ) in [0, 1], σ the logistic (TOOL-INJECT-001/utl/learning-score)."""
    return 1.0 / (1.0 + math.exp(-GAIN * entropy * coherence * emotional_weight * math.cos(phase)))


def judge(similarities: Floats, closest: float, emotional_weight: float) -> Learning:
    """Return the learning value of a memory.

    Its entropy is 1 - s ** `SHARPNESS` with the similarity s of the most similar memory over all spaces, its coherence
    the mean of ΔC over the spaces of content. Surprise is 1 - s of the nearest neighbour in E1
    (TOOL-INJECT-001/utl/surprise).

    `similarities` are in [0, 1], of shape (13, neighbours), each row descending, NaN last; `closest` is s, and
    `emotional_weight` w_e in [1, 1.5].
    """
    delta_s, delta_c = entropy(similarities), coherence(similarities)
    known = np.asarray((~np.isnan(similarities)).any(axis=1))  # spaces that have something to say of some neighbour
    content = SEMANTIC_INDICES[known[SEMANTIC_INDICES]]
    total_s = 1.0 - closest**SHARPNESS
    total_c = float(delta_c[content].mean()) if len(content) else 0.0
    angle = phase(delta_s[content])
    return Learning(
        entropy=total_s,
        coherence=total_c,
        surprise=1.0 - float(similarities[INDEX[E1]].max(initial=0.0)),
        emotional_weight=emotional_weight,
        phase=angle,
        learning_score=learning_score(total_s, total_c, emotional_weight, angle),
        delta_s=tuple(delta_s.tolist()),
        delta_c=tuple(delta_c.tolist()),
    )


WINDOW: Final = 64
"""Words that are scored together: VADER is made for sentences, and its time grows by the square of their number."""


def emotional_weight(content: str) -> float:
    """Return w_e in [1, 1.5], a factor of the learning score (TOOL-INJECT-001/utl/learning-score).

    w_e = 1 + |compound| / 2 of the most emotional window of the text, where VADER's compound lies in [-1, 1]: 1 for a
    neutral text, more for joy as for grief. English alone; a text in another language is neutral.
    """
    words = _spelled(content).split()
    windows = (" ".join(words[start : start + WINDOW]) for start in range(0, len(words), WINDOW))
    return 1.0 + max(map(_strength, windows), default=0.0) / 2


def _spelled(content: str) -> str:
    """Return a text with each emoji as the words that VADER takes it for, which count in a window."""
    if content.isascii():
        return content
    emojis = cast("dict[str, str]", _analyzer().emojis)
    return "".join(f" {emojis[one]} " if one in emojis else one for one in content)


def _strength(text: str) -> float:
    scores = cast("dict[str, float]", _analyzer().polarity_scores(text))
    return abs(scores["compound"])


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()
