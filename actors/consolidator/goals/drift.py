"""Drift: how far the latest memories have moved from the North Star, and which way they go (facts 3.4).

Everything here is measured from alignments, one row of purpose for each memory. Nothing foretells what a correction
will bring: whoever corrects measures again.
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

FLOORS: Final = {DriftLevel.NONE: 0.85, DriftLevel.LOW: 0.70, DriftLevel.MEDIUM: 0.55, DriftLevel.HIGH: 0.40}
"""The least similarity of each level, the best first; below the last it is Critical."""
MOST: Final = 5
"""So many of the spaces that moved are named."""
WINDOW: Final = 20
"""Memories in one sample of the history."""
SAMPLES: Final = 100
"""Samples that a history holds."""
LATEST: Final = 10
"""Samples that a trend is read from: among a hundred, five that fall would look like none."""
STEADY: Final = 0.01
"""Change of similarity from sample to sample below which a trend is Stable."""


class Trend(StrEnum):
    """Which way the similarity goes from sample to sample."""

    IMPROVING = "Improving"
    STABLE = "Stable"
    WORSENING = "Worsening"


class DriftStrategy(StrEnum):
    """What a correction does."""

    NO_ACTION = "no_action"
    REINFORCE = "reinforce"
    """Measure all memories again, against the goal's present exemplars."""
    REFINE = "refine"
    """Discover goals anew in the latest memories, and choose the North Star among them."""


_ADVICE: Final = {
    DriftStrategy.NO_ACTION: ("Wait: the memories are coming back to the North Star by themselves.",),
    DriftStrategy.REINFORCE: (
        "Call trigger_drift_correction: it measures all memories again, against the present members of the North Star.",
    ),
    DriftStrategy.REFINE: (
        "Call discover_goals to see what the latest memories are about.",
        "Call trigger_drift_correction: it chooses the North Star among goals found anew in the latest memories.",
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


class Moved(msgspec.Struct, frozen=True):
    """One space in which memories drifted."""

    space: str
    similarity: float
    level: DriftLevel

    @property
    def drift_score(self) -> float:
        """1 − similarity."""
        return 1.0 - self.similarity


class Drift(msgspec.Struct, frozen=True):
    """How near some memories are to the North Star."""

    spaces: tuple[float, ...]
    """Similarity in [0, 1], space by space."""
    memories: int
    """How many were looked at."""

    @property
    def similarity(self) -> float:
        """The mean over the spaces that say what a memory is about, in [0, 1]: mere time is no drift."""
        return float(np.mean([self.spaces[INDEX[key]] for key in SEMANTIC]))

    @property
    def drift_score(self) -> float:
        """1 − similarity."""
        return 1.0 - self.similarity

    @property
    def level(self) -> DriftLevel:
        """How far they are away on the whole."""
        return level_of(self.similarity)

    @property
    def moved(self) -> tuple[Moved, ...]:
        """The up to five spaces that drifted most, the worst first; none that holds, nor one that says when."""
        spaces = sorted((self._moved(key) for key in SEMANTIC), key=lambda one: one.similarity)
        return tuple(one for one in spaces[:MOST] if one.level is not DriftLevel.NONE)

    def _moved(self, key: str) -> Moved:
        similarity = self.spaces[INDEX[key]]
        return Moved(key, similarity, level_of(similarity))


def level_of(similarity: float) -> DriftLevel:
    """Return the level of a similarity in [0, 1] (facts 3.4)."""
    return next((level for level, floor in FLOORS.items() if similarity >= floor), DriftLevel.CRITICAL)


def measure(alignments: npt.NDArray[np.floating]) -> Drift:
    """Measure drift over memories whose alignments with the North Star are given.

    Args:
        alignments: shape (memories, spaces), each in [-1, 1], of memories that were measured against it: neither
            neutral zeros nor the NaN of an erased one.

    Raises:
        ValueError: there is no memory, the shape is another, or an alignment is missing (NaN).
    """
    if alignments.ndim != 2 or alignments.shape[1] != WIDTH or not len(alignments):
        raise ValueError(f"drift needs alignments of shape (memories, {WIDTH}), not {alignments.shape}")
    if np.isnan(alignments).any():
        raise ValueError("drift needs memories that were measured in every space")
    spaces = np.clip(alignments.mean(axis=0, dtype=np.float64), 0.0, 1.0)
    return Drift(tuple(spaces.tolist()), len(alignments))


def history(alignments: npt.NDArray[np.floating], window: int = WINDOW) -> tuple[Drift, ...]:
    """Measure drift in each of the latest full windows of consecutive memories, the oldest first.

    Args:
        alignments: as for `measure`, the oldest memory first; the oldest that fill no window are left out.
        window: memories in each.
    """
    count = min(len(alignments) // window, SAMPLES)
    starts = range(len(alignments) - count * window, len(alignments), window)
    return tuple(measure(alignments[start : start + window]) for start in starts)


def trend(samples: Sequence[float]) -> Trend | None:
    """Return which way the similarity went lately, by linear regression; None for fewer than three samples."""
    if len(samples) < 3:
        return None
    slope, _ = _line(samples)
    if abs(slope) < STEADY:
        return Trend.STABLE
    return Trend.IMPROVING if slope > 0 else Trend.WORSENING


def windows_left(samples: Sequence[float]) -> int | None:
    """Return after how many more samples a worsening similarity comes down to .40, 0 if it has; else None."""
    if trend(samples) is not Trend.WORSENING:
        return None
    slope, now = _line(samples)
    return max(0, math.ceil((now - FLOORS[DriftLevel.HIGH]) / -slope))


def strategy(level: DriftLevel, course: Trend | None) -> DriftStrategy:
    """Return what to do about drift of this level and trend; one not known yet counts as Stable.

    The table is that of facts 3.4, where every shift of a threshold, which would only rename the drift, and the
    emergency intervention stand for goals discovered anew.
    """
    return _STRATEGIES[level][course or Trend.STABLE]


def recommendations(level: DriftLevel, course: Trend | None) -> tuple[str, ...]:
    """Return what one can do about drift of this level and trend; up to Low nothing needs doing."""
    return () if level in {DriftLevel.NONE, DriftLevel.LOW} else _ADVICE[strategy(level, course)]


def _line(samples: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the regression line through the latest samples and its value at the last one."""
    samples = samples[-LATEST:]
    last = len(samples) - 1
    slope, start = np.polyfit(np.arange(len(samples)), samples, 1)
    return float(slope), float(start + slope * last)
