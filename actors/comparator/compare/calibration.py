"""Calibration: map the raw scores of each space to one scale that all spaces share.

On that scale 0 is the score of unrelated texts, 1 is identity, and .5 is where people call half of the pairs related.
`calibration.json` holds the two levels and the GRADED weight of each space, fitted by scripts/train/calibration.py;
`calibration.txt` is its log. The levels of a model that it lacks are fitted to texts of the store (`equate`).
"""

from math import log
from pathlib import Path
from typing import Final, Self

import msgspec
import numpy as np
import numpy.typing as npt

from actors.runtime.types import JsonObject
from events.spaces import E1, SEMANTIC, SPACES
from events.vocabulary import SimilaritiesCalibrated, SpacesDeclared
from events.vocabulary.values import WIDTH, SpaceCurve, SpaceModel
from projections.storage.arrays import Scores

FILE: Final = Path(__file__).with_name("calibration.json")


class Curve(msgspec.Struct, frozen=True):
    """The calibration of one space: ((raw − unrelated) / (1 − unrelated)) ** exponent."""

    model: str
    sha256: str
    """Hash of the `SpaceModel` that the curve was fitted for."""
    unrelated: float
    """The raw score that maps to 0, as do all lower ones."""
    half: float
    """The raw score that maps to .5."""
    weight: float = 0.0
    """The weight of the space in `Strategy.GRADED`; all weights sum to 1."""

    def __post_init__(self) -> None:
        """Check that the curve rises (`ValueError`: the levels are not 0 ≤ unrelated < half < 1)."""
        if not 0 <= self.unrelated < self.half < 1:
            raise ValueError(f"no rising curve through unrelated = {self.unrelated} and half = {self.half}")

    @property
    def exponent(self) -> float:
        """The exponent that maps `half` to .5."""
        return log(0.5) / log((self.half - self.unrelated) / (1 - self.unrelated))

    def __call__(self, raw: Scores) -> Scores:
        """Return calibrated scores in [0, 1], of the same shape."""
        low = np.float32(self.unrelated)
        return np.clip((raw - low) / (1 - low), 0.0, 1.0) ** np.float32(self.exponent)


class Fit(msgspec.Struct, frozen=True):
    """The content of `calibration.json`: a curve for each space, and how it was fitted."""

    provenance: JsonObject
    spaces: dict[str, Curve]


class Calibration:
    """The curves of the spaces whose declared model the curves were fitted for; other spaces keep raw scores.

    `own` are the spaces whose curves were fitted to texts of the store.
    """

    def __init__(self, curves: dict[str, Curve], own: frozenset[str] = frozenset()) -> None:
        self.own: Final = own
        self._curves = {space.key: curves.get(space.key) for space in SPACES}
        # Level 0 and exponent 1 are the identity.
        levels = [(curve.unrelated, curve.exponent) if curve else (0.0, 1.0) for curve in self._curves.values()]
        self._lows, self._exponents = np.array(levels, np.float32).T
        self.fitted: Final = frozenset(key for key, curve in self._curves.items() if curve is not None)
        weights = [curve.weight if curve else 0.0 for curve in self._curves.values()]
        self.weights: Final = np.array(weights if self.fitted.issuperset(SEMANTIC) else [1 / WIDTH] * WIDTH)
        """Weights of `Strategy.GRADED`, shape (13,); equal if any semantic space is not calibrated."""

    @classmethod
    def of(cls, declared: SpacesDeclared, calibrated: SimilaritiesCalibrated | None = None) -> Self:
        """Choose the curves that were fitted for the declared models: shipped ones, else the store's own."""
        shipped = shipped_curves()
        models = {space.key: space.sha256 for space in declared.spaces}
        curves = {key: curve for key, curve in shipped.items() if models.get(key) == curve.sha256}
        own = {
            one.key: Curve("", one.sha256, one.unrelated, one.half, shipped[one.key].weight)
            for one in (calibrated.curves if calibrated else ())
            if one.key not in curves and models.get(one.key) == one.sha256
        }
        return cls(curves | own, frozenset(own))

    def apply(self, key: str, raw: Scores) -> Scores:
        """Return the calibrated scores of a space, float32 of the same shape; an unknown key is a `KeyError`."""
        curve = self._curves[key]
        return raw if curve is None else curve(raw)

    def apply_all(self, raw: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the calibrated scores of all spaces, shape (..., 13); NaN stays NaN."""
        share = (raw - self._lows) / (1 - self._lows)
        return np.minimum(np.maximum(share, 0.0), 1.0) ** self._exponents


def shipped_curves() -> dict[str, Curve]:
    """Return the shipped curve of each space."""
    return msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces


def equate(model: SpaceModel, scores: Scores, packaged: Scores) -> SpaceCurve:
    """Return the levels of a model that as many pairs exceed as do those of the packaged one: equipercentile equating.

    `scores` are raw ones of the model, NaN where it has nothing to say of a pair, `packaged` those of the packaged
    model in E1, both of shape (pairs,). A model that scores related and unrelated pairs alike is a ValueError.
    """
    shipped, known = shipped_curves()[E1], ~np.isnan(scores)
    ranks = [float((packaged[known] <= level).mean()) for level in (shipped.unrelated, shipped.half)]
    low, half = np.quantile(scores[known], ranks).round(4).tolist()
    return SpaceCurve(model.key, model.sha256, Curve(model.model, model.sha256, low, half).unrelated, half)
