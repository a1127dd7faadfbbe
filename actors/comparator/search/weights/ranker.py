"""The weights of `auto`: a smooth function of what is measured of a question among the candidates.

The weight of each view is softplus(bias + Σ effect · measurement), where a measurement is centred, scaled and clipped.
A view is a space, or one of the further scores of E1. `scripts/train/fusion.py` fits the numbers in `auto.json`.
"""

from math import exp, log1p
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from actors.comparator.messages.profiles import Weights
from actors.comparator.search.weights.measurements import Measurements
from actors.runtime.types import JsonObject
from events.spaces import E2, E3, E4, E5
from projections.time.time_mentions import QueryHints

FILE: Final = Path(__file__).with_name("auto.json")
LIMIT: Final = 2.0
"""Deviations from the mean at which a measurement is clipped: an unknown kind of text must not lead to weights that no
known kind has."""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The distribution of one measurement over the questions of the fit."""

    mean: float
    deviation: Annotated[float, Meta(gt=0)]


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weight of one view: its bias, and the effect of each measurement."""

    bias: float
    effects: dict[str, float] = {}


class Ranker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `auto.json`."""

    provenance: JsonObject
    measurements: dict[str, Measured]
    views: dict[str, View]
    shares: dict[str, float]
    """Weight, relative to the sum of all others, of spaces that some questions ask for and no training set teaches."""

    def asked(self, hints: QueryHints) -> list[str]:
        """Return the views that a question asks for."""
        asks = asked_spaces(hints)
        return [view for view in (*self.views, *self.shares) if asks.get(view, True)]

    def weights(self, measured: Measurements, hints: QueryHints) -> Weights:
        """Return the weight of each view that a question asks for.

        Raises:
            KeyError: a measurement is missing.
        """
        scaled = {
            name: min(LIMIT, max(-LIMIT, (measured[name] - usual.mean) / usual.deviation))
            for name, usual in self.measurements.items()
        }
        weights = {
            key: softplus(view.bias + sum(effect * scaled[name] for name, effect in view.effects.items()))
            for key in self.asked(hints)
            if (view := self.views.get(key)) is not None
        }
        total = sum(weights.values())
        return weights | {key: self.shares[key] * total for key in self.asked(hints) if key in self.shares}


def asked_spaces(hints: QueryHints) -> dict[str, bool]:
    """Return for each space that only some questions ask for whether this one does."""
    return {
        E2: bool(hints.intervals),
        E3: bool(hints.recurring),
        E4: hints.start or hints.end,
        E5: hints.direction is not None,
    }


def softplus(value: float) -> float:
    """Return ln(1 + e^value)."""
    return max(0.0, value) + log1p(exp(-abs(value)))


AUTO: Final = msgspec.json.decode(FILE.read_bytes(), type=Ranker)
