"""Fusing what the spaces say: pure functions on score matrices, spaces by rows, memories by columns."""

from collections.abc import Mapping

import numpy as np

from projections.storage.arrays import Rows, Scores

SPREAD = 1 / 3
"""Share of its better neighbour's score that a turn borrows (measured on conversations)."""


def standardise(scores: Scores, least: float = 0.0) -> tuple[np.float32, np.float32]:
    """Return mean and deviation of one space's scores, shape (candidates,), by which spaces become comparable.

    A space that sees no difference between the candidates gets an infinite deviation, and so no say; one that sees
    less than `least` has the less to say.
    """
    deviation = scores.std(dtype=np.float32)
    return scores.mean(dtype=np.float32), np.float32(max(deviation, least) if deviation > 1e-6 else np.inf)


def fuse(
    scores: Mapping[str, Scores],
    weights: Mapping[str, float],
    scale: Mapping[str, tuple[np.float32, np.float32]],
) -> dict[str, Scores]:
    """Return each space's contribution, shape (candidates,): weight · (score − mean) / deviation."""
    return {
        key: np.float32(weights[key]) * ((space_scores - scale[key][0]) / scale[key][1])
        for key, space_scores in scores.items()
    }


def lend(fused: Scores, neighbours: Rows) -> Scores:
    """Return what the neighbouring turns lend to each candidate, shape (candidates,): a share of the best, at least 0.

    Args:
        fused: the fused scores, shape (candidates,).
        neighbours: where in `fused` the turns around each candidate stand, shape (candidates, turns); -1 for none.
    """
    best = np.where(neighbours >= 0, fused[neighbours], np.float32(0.0)).max(axis=1, initial=0.0)
    return np.float32(SPREAD) * best
