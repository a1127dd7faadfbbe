"""Fit the weight of each space in comparisons: a non-negative ridge regression of people's grades.

The spaces are highly correlated; without regularisation, a regression would use three of them, and choose at random
between equal ones. So weights are pulled towards an equal share, by the strength (`pull`, from `PULLS`) that is best on
held-out sets of pairs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls
from scipy.stats import spearmanr

Float64 = npt.NDArray[np.float64]

PULLS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Weights of the squared distance from equal weights, relative to the mean squared error of the pairs."""


def weigh(scores: Float64, grades: Float64, pull: float) -> Float64:
    """Return the weight of each space, shape (spaces,), not negative, summing to 1.

    Args:
        scores: Calibrated, shape (pairs, spaces).
        grades: Grades in [0, 1], shape (pairs,).
        pull: Strength of the pull towards equal weights.
    """
    pairs, spaces = scores.shape
    strength = np.sqrt(pull * pairs)
    known = np.vstack([scores - scores.mean(axis=0), strength * np.eye(spaces)])
    wanted = np.concatenate([grades - grades.mean(), np.full(spaces, strength / spaces)])
    weights = nnls(known, wanted)[0]
    return weights / weights.sum()


def left_out(scores: Float64, grades: Float64, sets: Sequence[str], pull: float) -> Float64:
    """Return the score of each pair by weights fitted to all sets but its own, shape (pairs,)."""
    member = np.array(sets)
    given = np.empty(len(grades))
    for name in np.unique(member):
        own = member == name
        given[own] = scores[own] @ weigh(scores[~own], grades[~own], pull)
    return given


def agreement(values: npt.NDArray[np.floating], grades: Float64) -> float:
    """Return Spearman's rank correlation of values with the grades."""
    found: Any = spearmanr(values, grades)  # SciPy's type stubs lack its fields
    return float(found.statistic)
