"""Drift: how far the latest memories are from the nearest goal, its trend, and the strategy that corrects it.

A store about many things has memories near no goal. It has not drifted while the latest are as near to the goals as
those among which the goals were found. So similarity is a share of what is usual among the latter.

All figures are measured from the nearness of memories to goals, one row per memory. No function predicts the effect of
a correction: the caller measures again.
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from events.spaces import INDEX, SEMANTIC
from events.vocabulary.values import WIDTH, DriftLevel

LEVEL_FLOORS: Final = {DriftLevel.NONE: 0.85, DriftLevel.LOW: 0.70, DriftLevel.MEDIUM: 0.55, DriftLevel.HIGH: 0.40}
"""Least similarity of each level, the best first; below the last it is Critical."""

LEAST_USUAL: Final = 0.1
"""Least nearness that counts as usual: below it, chance would decide how often it is reached."""

MAX_DRIFTED_SPACES: Final = 5


class Trend(StrEnum):
    """Direction of the similarity from sample to sample."""

    IMPROVING = "Improving"
    STABLE = "Stable"
    WORSENING = "Worsening"


class DriftStrategy(StrEnum):
    """What a correction does."""

    NO_ACTION = "no_action"
    REINFORCE = "reinforce"
    """Measure all memories again, against the present exemplars of the North Star."""
    REFINE = "refine"
    """Discover all goals anew, and choose the North Star that serves the latest memories best."""


class DriftedSpace(msgspec.Struct, frozen=True):
    """A space in which memories drifted."""

    space: str
    similarity: float
    level: DriftLevel


class Drift(msgspec.Struct, frozen=True):
    """Similarity of some memories to the goals nearest to them, as a share of the usual one."""

    spaces: tuple[float, ...]
    """By space, in [0, 1]; NaN for a space that says nothing about any of the memories."""
    memories: int

    @property
    def similarity(self) -> float:
        """Mean over the spaces that say what a memory is about, in [0, 1]: time alone is no drift."""
        return float(np.nanmean([self.spaces[INDEX[key]] for key in SEMANTIC]))

    @property
    def level(self) -> DriftLevel:
        """Level of the overall similarity."""
        return level_of(self.similarity)

    @property
    def drifted(self) -> tuple[DriftedSpace, ...]:
        """Up to five spaces that drifted, the worst first; no temporal ones."""
        known = (key for key in SEMANTIC if not math.isnan(self.spaces[INDEX[key]]))
        similarities = sorted((self.spaces[INDEX[key]], place, key) for place, key in enumerate(known))
        spaces = (DriftedSpace(key, value, level_of(value)) for value, _, key in similarities[:MAX_DRIFTED_SPACES])
        return tuple(one for one in spaces if one.level is not DriftLevel.NONE)


def level_of(similarity: float) -> DriftLevel:
    """Return the drift level of a similarity in [0, 1]."""
    return next((level for level, floor in LEVEL_FLOORS.items() if similarity >= floor), DriftLevel.CRITICAL)


WINDOW: Final = 20
MAX_SAMPLES: Final = 20
TREND_SAMPLES: Final = 10
"""Latest samples that a trend is fitted to: among a hundred, five that fall would look like none."""
STABLE_SLOPE: Final = 0.01
"""Change of similarity per sample below which a trend is Stable."""

_ADVICE: Final = {
    DriftStrategy.NO_ACTION: ("Wait: the latest memories already move back towards the goals.",),
    DriftStrategy.REINFORCE: (
        "Measure all memories by the North Star's present members: an agent can, by trigger_drift_correction.",
    ),
    DriftStrategy.REFINE: (
        "Look for goals again, to see what the latest memories are about: discover_goals, or `context-graph goals`.",
        "Let the best goal for the latest memories be the North Star: an agent can, by trigger_drift_correction.",
    ),
}

_NO, _REINFORCE, _REFINE = DriftStrategy.NO_ACTION, DriftStrategy.REINFORCE, DriftStrategy.REFINE
_STRATEGIES: Final = {
    DriftLevel.NONE: {Trend.IMPROVING: _NO, Trend.STABLE: _NO, Trend.WORSENING: _NO},
    DriftLevel.LOW: {Trend.IMPROVING: _NO, Trend.STABLE: _NO, Trend.WORSENING: _REINFORCE},
    DriftLevel.MEDIUM: {Trend.IMPROVING: _NO, Trend.STABLE: _REINFORCE, Trend.WORSENING: _REFINE},
    DriftLevel.HIGH: {Trend.IMPROVING: _REINFORCE, Trend.STABLE: _REFINE, Trend.WORSENING: _REFINE},
}
_STRATEGIES[DriftLevel.CRITICAL] = _STRATEGIES[DriftLevel.HIGH]


def usual_nearness(nearness: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the mean nearness to goals of the memories among which these were found, by space, shape (13,).

    It is at most 1, and 1 where none is known.
    """
    means = _known_mean(nearness)
    return np.where(np.isnan(means), 1.0, np.clip(means, LEAST_USUAL, 1.0))


def measure(nearness: npt.NDArray[np.floating], usual: npt.NDArray[np.float64] | float = 1.0) -> Drift:
    """Measure drift from the nearness of each memory to the nearest goal.

    In `nearness`, shape (memories, 13), 0 is strange, 1 as near as the members, and NaN a space that says nothing.

    Raises:
        ValueError: There is no memory, or the shape is another.
    """
    if nearness.ndim != 2 or nearness.shape[1] != WIDTH or not len(nearness):
        raise ValueError(f"drift needs nearness of shape (memories, {WIDTH}), not {nearness.shape}")
    return Drift(tuple(np.clip(_known_mean(nearness) / usual, 0.0, 1.0).tolist()), len(nearness))


def history(nearness: npt.NDArray[np.floating], usual: npt.NDArray[np.float64] | float = 1.0) -> tuple[Drift, ...]:
    """Measure drift in each of the latest full windows of consecutive memories, the oldest first.

    `nearness` and `usual` are as for `measure`, the oldest memory first; the oldest that fill no window are left out.
    """
    count = min(len(nearness) // WINDOW, MAX_SAMPLES)
    starts = range(len(nearness) - count * WINDOW, len(nearness), WINDOW)
    return tuple(measure(nearness[start : start + WINDOW], usual) for start in starts)


def trend(samples: Sequence[float]) -> Trend | None:
    """Return the trend of the latest similarities by linear regression; None for fewer than three samples."""
    if len(samples) < 3:
        return None
    slope, _ = _line(samples)
    if abs(slope) < STABLE_SLOPE:
        return Trend.STABLE
    return Trend.IMPROVING if slope > 0 else Trend.WORSENING


def windows_until_critical(samples: Sequence[float]) -> int | None:
    """Return the number of further samples until a worsening similarity is critical; None if it does not worsen."""
    if trend(samples) is not Trend.WORSENING:
        return None
    slope, last = _line(samples)
    return max(0, math.ceil((last - LEVEL_FLOORS[DriftLevel.HIGH]) / -slope))


def strategy(level: DriftLevel, course: Trend | None) -> DriftStrategy:
    """Return the strategy for drift of this level and trend; an unknown trend counts as Stable.

    No strategy shifts a threshold, since that would only rename the drift: goals are discovered again instead.
    """
    return _STRATEGIES[level][course or Trend.STABLE]


def recommendations(level: DriftLevel, course: Trend | None) -> tuple[str, ...]:
    """Return advice for drift of this level and trend; none up to level Low."""
    return () if level in {DriftLevel.NONE, DriftLevel.LOW} else _ADVICE[strategy(level, course)]


def _known_mean(nearness: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the mean of each space over the memories of which it says something, NaN where there is none."""
    known = ~np.isnan(nearness)
    total = np.where(known, nearness, 0).sum(axis=0, dtype=np.float64)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


def _line(samples: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the regression line through the latest samples, and its value at the last one."""
    samples = samples[-TREND_SAMPLES:]
    slope, start = np.polyfit(np.arange(len(samples)), samples, 1)
    return float(slope), float(start + slope * (len(samples) - 1))
