"""What thirteen scores of a pair of memories add up to: eight strategies, coherence and the dominant space.

Seven strategies are those of facts 6.2; the eighth, Graded, weighs the spaces as people's grades taught.

Every function takes calibrated scores of shape (pairs, 13) in the order of `SPACES`, each in [0, 1]. A score that
is missing (NaN) or out of range is a ValueError that names its space: a comparison that failed is not a 0.
The results depend on nothing but the scores, so they are as symmetric in the two memories as the scores are.
"""

from typing import Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.synergy import SYNERGY
from actors.runtime.settings import Strategy
from events.spaces import SPACES

Float64: TypeAlias = npt.NDArray[np.float64]

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "factual": ("e1_semantic", "e11_entity", "e12_late_interaction", "e13_splade"),
    "temporal": ("e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional"),
    "causal": ("e5_causal", "e7_code"),
    "relational": ("e8_graph", "e9_hdc"),
    "qualitative": ("e10_multimodal",),
    "implementation": ("e6_sparse",),
}
"""The comparator's groups of spaces (facts 1.8)."""

_SUPPORT: Final[Float64] = SYNERGY - np.eye(len(SPACES))
"""The synergy of every space with the others. With the diagonal of ones alone, SynergyWeighted would be the mean."""

_SHARES: Final = {key: 1 / len(group) for group in GROUPS.values() for key in group}
_GROUP_WEIGHTS: Final[Float64] = np.array([_SHARES[space.key] for space in SPACES])

_TOLERANCE: Final = 1e-6
"""By which rounding may carry a score out of [0, 1]; a mean below it is taken for 0."""


def overall(scores: npt.ArrayLike, strategy: Strategy, graded: Float64) -> Float64:
    """Return how alike each pair is by a strategy, in [0, 1], shape (pairs,).

    Args:
        scores: Of the pairs.
        strategy: How they become one.
        graded: What each space weighs in Graded, shape (13,).

    Raises:
        ValueError: a score is missing or out of range, or there aren't thirteen a pair.
    """
    return _combine(_checked(scores), strategy, graded)


def coherence(scores: npt.ArrayLike) -> Float64:
    """Return how far the spaces agree on each pair: 1 / (1 + σ/μ), shape (pairs,); 0 where all are about 0 (facts 6.3).

    Raises:
        ValueError: a score is missing or out of range, or there aren't thirteen a pair.
    """
    return 1.0 / (1.0 + _variation(_checked(scores)))


def dominant(scores: npt.ArrayLike) -> list[str]:
    """Return the key of the space with the highest score for each pair; of equal ones, the first in order.

    Raises:
        ValueError: a score is missing or out of range, or there aren't thirteen a pair.
    """
    return [SPACES[index].key for index in _checked(scores).argmax(axis=1)]


def _checked(scores: npt.ArrayLike) -> Float64:
    checked = np.asarray(scores, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] != len(SPACES):
        raise ValueError(f"scores need the shape (pairs, {len(SPACES)}), not {checked.shape}")
    bad = ~((checked >= -_TOLERANCE) & (checked <= 1.0 + _TOLERANCE))  # so that a NaN is bad as well
    if bad.any():
        pair, index = np.argwhere(bad)[0]
        raise ValueError(f"pair {pair}: the score of {SPACES[index].key} is {checked[pair, index]}, not in [0, 1]")
    return checked.clip(0.0, 1.0)


def _combine(scores: Float64, strategy: Strategy, graded: Float64) -> Float64:
    match strategy:
        case Strategy.GRADED:
            return _weighted(scores, graded)
        case Strategy.COSINE:
            return _between(scores, scores.mean(axis=1))
        case Strategy.EUCLIDEAN:
            return 1.0 / (1.0 + np.sqrt(np.square(1.0 - scores).mean(axis=1)))
        case Strategy.SYNERGY_WEIGHTED:
            return _weighted(scores, _SUPPORT.sum(axis=1))
        case Strategy.GROUP_HIERARCHICAL:
            return _weighted(scores, _GROUP_WEIGHTS)
        case Strategy.CROSS_CORRELATION_DOMINANT:
            return _cross_correlation(scores)
        case Strategy.TUCKER_COMPRESSED:
            return _weighted(scores, _typicality(scores))
        case Strategy.ADAPTIVE:
            variation = _variation(scores)
            return np.select(
                [variation < 0.1, variation < 0.3],
                [_combine(scores, Strategy.COSINE, graded), _combine(scores, Strategy.SYNERGY_WEIGHTED, graded)],
                _combine(scores, Strategy.TUCKER_COMPRESSED, graded),
            )
    assert_never(strategy)


def _weighted(scores: Float64, weights: Float64) -> Float64:
    return _between(scores, np.average(scores, axis=1, weights=weights))


def _between(scores: Float64, means: Float64) -> Float64:
    """Undo the rounding that carries a mean past the scores it is of: identical memories give 1, not 1 + 2e-16."""
    return means.clip(scores.min(axis=1), scores.max(axis=1))


def _cross_correlation(scores: Float64) -> Float64:
    """Return the mean of the pairs of spaces by their synergy, over all i ≠ j, which counts every pair twice.

    A pair is worth its geometric mean, as in the cross terms of facts 6.6. With the arithmetic mean (sᵢ + sⱼ) / 2 of
    facts 6.2 the sum is SynergyWeighted in other words: there, too, each sᵢ weighs Σ_{j≠i} Sᵢⱼ.
    """
    roots = np.sqrt(scores)
    return _between(scores, ((roots @ _SUPPORT) * roots).sum(axis=1) / _SUPPORT.sum())


def _typicality(scores: Float64) -> Float64:
    """Return TuckerCompressed's weights, shape (pairs, 13): 1 at the mean, .1 from 1.8 σ on, and 1 where σ = 0."""
    away = np.abs(scores - scores.mean(axis=1, keepdims=True))
    reach = 2.0 * np.broadcast_to(scores.std(axis=1, keepdims=True), scores.shape)
    return np.maximum(0.1, 1.0 - np.divide(away, reach, out=np.zeros_like(away), where=reach > 0.0))


def _variation(scores: Float64) -> Float64:
    """Return σ / μ of each pair, shape (pairs,); infinite where μ is about 0, which makes the coherence 0."""
    mean = scores.mean(axis=1)
    return np.divide(scores.std(axis=1), mean, out=np.full_like(mean, np.inf), where=mean > _TOLERANCE)
