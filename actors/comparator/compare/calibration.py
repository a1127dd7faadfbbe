"""What a score means: every space has a scale of its own, and leaves it for one that all share (design 5).

On the shared scale 0 is what texts score that have nothing to do with each other, 1 is identity, and .5 is where
people call half of the pairs related. `calibration.json` holds the two levels of each space that
scripts/train/calibration.py measured, and what a space weighs where people are to agree; `calibration.txt` what it
printed on the way.
"""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from events.spaces import SEMANTIC, SPACES
from events.vocabulary import SpacesDeclared
from events.vocabulary.values import WIDTH
from projections.storage.arrays import Scores

FILE: Final = Path(__file__).with_name("calibration.json")


class Curve(msgspec.Struct, frozen=True):
    """The way of one space from raw scores to calibrated ones: ((raw − unrelated) / (1 − unrelated)) ** exponent."""

    model: str
    sha256: str
    """Of the `SpaceModel` that it was fitted for."""
    unrelated: float
    """The raw score that becomes 0, and with it whatever lies below."""
    half: float
    """The raw score that becomes .5."""
    weight: float = 0.0
    """What the space counts in `Strategy.GRADED`; those of all spaces add up to 1."""

    def __post_init__(self) -> None:
        """Refuse levels through which no rising curve leads."""
        if not 0 <= self.unrelated < self.half < 1:
            raise ValueError(f"no curve leads from {self.unrelated} through {self.half} to 1")

    @property
    def exponent(self) -> float:
        """What bends the straight line between `unrelated` and 1 through .5 at `half`."""
        return log(0.5) / log((self.half - self.unrelated) / (1 - self.unrelated))

    def __call__(self, raw: Scores) -> Scores:
        """Return calibrated scores in [0, 1], of the shape of the raw ones."""
        low = np.float32(self.unrelated)
        return np.clip((raw - low) / (1 - low), 0.0, 1.0) ** np.float32(self.exponent)


class Fit(msgspec.Struct, frozen=True):
    """The content of `calibration.json`: a curve for each space, and how they came about."""

    provenance: dict[str, Any]
    spaces: dict[str, Curve]


class Calibration:
    """The curves of those spaces that are filled by the models which the curves were fitted for."""

    def __init__(self, curves: dict[str, Curve]) -> None:
        self._curves = {space.key: curves.get(space.key) for space in SPACES}
        # The curve of raw scores as they are begins at 0 and is straight.
        levels = [(curve.unrelated, curve.exponent) if curve else (0.0, 1.0) for curve in self._curves.values()]
        self._lows, self._exponents = np.array(levels, np.float32).T
        self.fitted: Final = frozenset(key for key, curve in self._curves.items() if curve is not None)
        """The spaces whose scores are calibrated; those of all others stay raw."""
        weights = [curve.weight if curve else 0.0 for curve in self._curves.values()]
        self.weights: Final = np.array(weights if self.fitted.issuperset(SEMANTIC) else [1 / WIDTH] * WIDTH)
        """What each space counts in `Strategy.GRADED`, shape (13,): all the same if one was filled by other models."""

    @classmethod
    def of(cls, declared: SpacesDeclared) -> Calibration:
        """Choose the shipped curves that fit the declared models; a model that none was fitted for gets none."""
        curves = msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces
        return cls(
            {
                space.key: curves[space.key]
                for space in declared.spaces
                if space.key in curves and curves[space.key].sha256 == space.sha256
            }
        )

    def apply(self, key: str, raw: Scores) -> Scores:
        """Return the scores of a space on the shared scale, float32 of the same shape; an unknown key is a KeyError.

        The order of scores stays. A space that isn't `fitted` returns them as they are.
        """
        curve = self._curves[key]
        return raw if curve is None else curve(raw)

    def apply_all(self, raw: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return scores of all spaces on the shared scale, shape (..., 13), in one go; NaN stays NaN."""
        share = (raw - self._lows) / (1 - self._lows)
        return np.minimum(np.maximum(share, 0.0), 1.0) ** self._exponents
