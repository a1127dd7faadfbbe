"""Combine the thirteen scores of a pair: eight strategies, coherence and the dominant space.

The formulas stand at `Strategy`. Every function takes calibrated scores of shape (pairs, 13) in the order of `SPACES`,
each in [0, 1]. NaN is a space that has nothing to say of the pair: it is left out of every sum. A score out of range
raises a ValueError that names its space, a pair without any score one that names the pair.

The synergy matrix says how strongly two spaces support each other: .3 is weak, .6 moderate, .9 strong. The published
one is for thirteen kinds of memory that differ from the spaces, so each space takes the row and column of the kind that
it is closest to. Two spaces of one kind are strong.
"""

from typing import Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from actors.runtime.settings import Strategy
from events.spaces import E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13, INDEX, SEMANTIC, SPACES

Float64: TypeAlias = npt.NDArray[np.float64]

_SYNERGIES: Final = """
    e1_semantic             1 .3 .3 .6 .6 .6 .6 .9 .6 .9 .9 .9 .6  semantic
    e2_temporal_recent     .3  1 .9 .9 .9 .3 .3 .3 .3 .3 .6 .3 .3  temporal
    e3_temporal_periodic   .3 .9  1 .9 .9 .3 .3 .3 .3 .3 .6 .3 .3  temporal
    e4_temporal_positional .6 .9 .9  1 .6 .3 .3 .3 .3 .6 .6 .6 .3  episodic
    e5_causal              .6 .9 .9 .6  1 .3 .9 .6 .3 .6 .9 .6 .3  causal
    e6_sparse              .6 .3 .3 .3 .3  1 .9 .3 .9 .6 .9 .6 .9  sparse
    e7_code                .6 .3 .3 .3 .9 .9  1 .6 .9 .6 .6 .6 .9  code
    e8_graph               .9 .3 .3 .3 .6 .3 .6  1 .3 .9 .3 .9 .3  analogical
    e9_hdc                 .6 .3 .3 .3 .3 .9 .9 .3  1 .6 .9 .6 .9  sparse
    e10_multimodal         .9 .3 .3 .6 .6 .6 .6 .9 .6  1 .9 .9 .6  semantic
    e11_entity             .9 .6 .6 .6 .9 .9 .6 .3 .9 .9  1 .9 .9  factual
    e12_late_interaction   .9 .3 .3 .6 .6 .6 .6 .9 .6 .9 .9  1 .6  semantic
    e13_splade             .6 .3 .3 .3 .3 .9 .9 .3 .9 .6 .9 .6  1  sparse
"""
"""The synergy of each space with all, and the published kind of memory whose row and column it takes."""


def _matrix(table: str) -> Float64:
    matrix = np.array([line.split()[1:-1] for line in table.strip().splitlines()], np.float64)
    matrix.flags.writeable = False
    return matrix


SYNERGY: Final[Float64] = _matrix(_SYNERGIES)
"""Synergy of every two spaces in the order of `SPACES`, shape (13, 13): symmetric, 1 on the diagonal, read-only."""

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "factual": (E1, E11, E12, E13),
    "temporal": (E2, E3, E4),
    "causal": (E5, E7),
    "relational": (E8, E9),
    "qualitative": (E10,),
    "implementation": (E6,),
}

_SUPPORT: Final[Float64] = SYNERGY - np.eye(len(SPACES))

_SHARES: Final = {key: 1 / len(group) for group in GROUPS.values() for key in group}
_GROUP_WEIGHTS: Final[Float64] = np.array([_SHARES[space.key] for space in SPACES])

_CONTENT: Final = [INDEX[key] for key in SEMANTIC]

AGREEING, DIFFERING = 0.4, 0.45
"""σ / μ below which ADAPTIVE takes COSINE, or else SYNERGY_WEIGHTED. Of 120 graded pairs of sentences, stored at
different times, a fifth lies below the first and two thirds below the second; below .3 lies hardly any."""

_TOLERANCE: Final = 1e-6
"""Maximum rounding error outside [0, 1]; a mean below it counts as 0."""


def overall(scores: npt.ArrayLike, strategy: Strategy, graded: Float64) -> Float64:
    """Return the similarity of each pair by a strategy, in [0, 1], shape (pairs,)."""
    return _combine(_checked(scores), strategy, graded)


def coherence(scores: npt.ArrayLike) -> Float64:
    """Return how far the spaces agree on each pair: 1 / (1 + σ/μ), shape (pairs,); 0 where all scores are about 0."""
    return 1.0 / (1.0 + _variation(_checked(scores)))


def dominant(scores: npt.ArrayLike) -> list[str]:
    """Return the key of the space of content with the highest score of each pair; the first in order of equal ones.

    The temporal spaces are left out: memories that are stored together agree in them, whatever they say.
    """
    return [SEMANTIC[index] for index in np.nan_to_num(_checked(scores)[:, _CONTENT], nan=-1.0).argmax(axis=1)]


def _checked(scores: npt.ArrayLike) -> Float64:
    checked = np.asarray(scores, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] != len(SPACES):
        raise ValueError(f"scores need the shape (pairs, {len(SPACES)}), not {checked.shape}")
    bad = (checked < -_TOLERANCE) | (checked > 1.0 + _TOLERANCE)
    if bad.any():
        pair, index = np.argwhere(bad)[0]
        raise ValueError(f"pair {pair}: the score of {SPACES[index].key} is {checked[pair, index]}, not in [0, 1]")
    if (empty := np.isnan(checked).all(axis=1)).any():
        raise ValueError(f"pair {np.flatnonzero(empty)[0]} has no score in any space")
    return checked.clip(0.0, 1.0)


def _combine(scores: Float64, strategy: Strategy, graded: Float64) -> Float64:
    match strategy:
        case Strategy.GRADED:
            return _weighted(scores, graded)
        case Strategy.COSINE:
            return _clip_to_range(scores, np.nanmean(scores, axis=1))
        case Strategy.EUCLIDEAN:
            return 1.0 / (1.0 + np.sqrt(np.nanmean(np.square(1.0 - scores), axis=1)))
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
                [variation < AGREEING, variation < DIFFERING],
                [_combine(scores, Strategy.COSINE, graded), _combine(scores, Strategy.SYNERGY_WEIGHTED, graded)],
                _combine(scores, Strategy.TUCKER_COMPRESSED, graded),
            )
    assert_never(strategy)


def _weighted(scores: Float64, weights: Float64) -> Float64:
    shares = np.where(np.isnan(scores), 0.0, weights)
    return _clip_to_range(scores, np.average(np.nan_to_num(scores), axis=1, weights=shares))


def _clip_to_range(scores: Float64, means: Float64) -> Float64:
    """Clip rounding errors, so that identical memories give 1 instead of 1 + 2e-16."""
    return means.clip(np.nanmin(scores, axis=1), np.nanmax(scores, axis=1))


def _cross_correlation(scores: Float64) -> Float64:
    """Return the mean of all pairs of spaces, weighted by synergy; the value of a pair is its geometric mean.

    With the arithmetic mean, the sum would equal SYNERGY_WEIGHTED.
    """
    roots, present = np.sqrt(np.nan_to_num(scores)), ~np.isnan(scores)
    support = ((present @ _SUPPORT) * present).sum(axis=1)
    return _clip_to_range(scores, ((roots @ _SUPPORT) * roots).sum(axis=1) / support)


def _typicality(scores: Float64) -> Float64:
    """Return the weights of TUCKER_COMPRESSED, shape (pairs, 13): 1 at the mean, .1 from 1.8 σ on, 1 where σ = 0."""
    distance = np.abs(scores - np.nanmean(scores, axis=1, keepdims=True))
    reach = 2.0 * np.broadcast_to(np.nanstd(scores, axis=1, keepdims=True), scores.shape)
    return np.maximum(0.1, 1.0 - np.divide(distance, reach, out=np.zeros_like(distance), where=reach > 0.0))


def _variation(scores: Float64) -> Float64:
    """Return σ / μ of each pair, shape (pairs,); infinite where μ is about 0, which makes the coherence 0."""
    mean = np.nanmean(scores, axis=1)
    return np.divide(np.nanstd(scores, axis=1), mean, out=np.full_like(mean, np.inf), where=mean > _TOLERANCE)
