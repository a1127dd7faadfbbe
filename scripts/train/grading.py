"""What each space weighs when two memories are compared: a ridge regression of people's grades, no weight below 0.

Nearly all that the spaces say of a pair, E1 says too; left to itself a regression would hear three of them, and by
which of two that are equal it would be chance. So every weight is pulled towards an equal share, as strongly as is best
for sets of pairs that weren't learned from (`pull`, chosen from `PULLS`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls
from scipy.stats import spearmanr

Float64 = npt.NDArray[np.float64]

PULLS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""What the squared distance of the weights from equal ones counts against the mean squared error of the pairs."""


def weigh(scores: Float64, grades: Float64, pull: float) -> Float64:
    """Return what each space weighs, shape (spaces,), not negative, adding up to 1.

    Args:
        scores: Calibrated, shape (pairs, spaces).
        grades: Of people, in [0, 1], shape (pairs,).
        pull: Towards equal weights.
    """
    pairs, spaces = scores.shape
    strength = np.sqrt(pull * pairs)
    known = np.vstack([scores - scores.mean(axis=0), strength * np.eye(spaces)])
    wanted = np.concatenate([grades - grades.mean(), np.full(spaces, strength / spaces)])
    weights = nnls(known, wanted)[0]
    return weights / weights.sum()


def left_out(scores: Float64, grades: Float64, sets: Sequence[str], pull: float) -> Float64:
    """Return what each pair is given by weights that were learned from all sets but its own, shape (pairs,)."""
    member = np.array(sets)
    given = np.empty(len(grades))
    for name in np.unique(member):
        own = member == name
        given[own] = scores[own] @ weigh(scores[~own], grades[~own], pull)
    return given


def agreement(values: npt.NDArray[np.floating], grades: Float64) -> float:
    """Return Spearman's rank correlation of some values with the grades."""
    found: Any = spearmanr(values, grades)  # a result of named fields, of which SciPy's types know nothing
    return float(found.statistic)
