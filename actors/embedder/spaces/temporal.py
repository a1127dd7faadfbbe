"""E2, E3, E4: when something happened, at which time of the day or year, and where in its session.

All three are cosines and sines of an absolute quantity, 256 pairs, so that an inner product depends
on a difference alone: never on "now", and never on when the vector was computed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from events.fingerprint import Float32

Float64 = npt.NDArray[np.float64]

DIMENSION: Final = 512
_PAIRS: Final = DIMENSION // 2
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FILE: Final = "recency.safetensors"

PERIODS: Final = {
    "hour": (3_600.0, 1.0),
    "day": (86_400.0, 4.0),
    "week": (604_800.0, 2.0),
    "month": (365.2425 / 12 * 86_400.0, 1.0),
    "year": (365.2425 * 86_400.0, 2.0),
}
"""Seconds and weight of each cycle; the day weighs most, since habits have hours."""
_FADING: Final = 6.0
"""The harmonic by which a cycle's amplitudes have fallen to 1/e of the first; a day is told to about an hour."""

_SLOWEST_TURN: Final = 100_000.0
"""Positions per turn of E4's slowest wave: far above any session, so that no two positions look alike."""
_FASTEST_TURN: Final = 16.0
"""Positions per turn of E4's fastest wave; neighbours stay close."""


def _waves(phases: Float64, amplitudes: Float64) -> Float32:
    """Return unit vectors of cosines and sines whose squared lengths are the amplitudes, shape (..., 512)."""
    roots = np.sqrt(amplitudes / amplitudes.sum())
    return np.concatenate([roots * np.cos(phases), roots * np.sin(phases)], axis=-1).astype(np.float32)


def _mean(phases: Float64, amplitudes: Float64) -> Float32:
    """Return the unit vector along the mean of the waves of several moments; `phases` has shape (moments, 256)."""
    roots = np.sqrt(amplitudes / amplitudes.sum())
    mean = np.concatenate([roots * np.cos(phases).mean(axis=0), roots * np.sin(phases).mean(axis=0)])
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def _seconds(moments: Sequence[datetime]) -> list[float]:
    """Return the seconds since 1970; a stamp without a time zone names no moment and is a `ValueError`."""
    if any(at.utcoffset() is None for at in moments):
        raise ValueError("a stamp needs a time zone")
    return [(at - _EPOCH) / timedelta(seconds=1) for at in moments]


@cache
def _recency_spectrum() -> tuple[Float64, Float64]:
    arrays = weights.load(FILE)
    return arrays["frequencies"], arrays["amplitudes"]


def recency(moments: Sequence[datetime]) -> Float32:
    """Return E2 of each moment, unit vectors of shape (moments, 512); a naive stamp is a `ValueError`.

    The inner product of two stamps d apart is the mean over tau in {1 h, 1 d, 7 d, 30 d} of exp(-d / tau),
    within .052 for a year and .11 for five. Beyond, the slow waves meet again: .43 at 5.75 years
    (scripts/train/recency.py).
    """
    frequencies, amplitudes = _recency_spectrum()
    return _waves(np.outer(_seconds(moments), frequencies), amplitudes)


def recency_of(moments: Sequence[datetime]) -> Float32:
    """Return E2 of several moments at once, unit vector of shape (512,): near each of them."""
    frequencies, amplitudes = _recency_spectrum()
    return _mean(np.outer(_seconds(moments), frequencies), amplitudes)


@cache
def _cycles() -> tuple[Float64, Float64]:
    """Return frequencies (rad/s) and amplitudes of 51 harmonics of each period, and one pair that stays empty."""
    harmonics = np.arange(1, _PAIRS // len(PERIODS) + 1)
    fall = np.exp(-harmonics / _FADING)
    frequencies = [2 * np.pi * harmonics / seconds for seconds, _ in PERIODS.values()]
    amplitudes = [weight * fall for _, weight in PERIODS.values()]
    return np.concatenate([*frequencies, [0.0]]), np.concatenate([*amplitudes, [0.0]])


def periodicity(moments: Sequence[datetime]) -> Float32:
    """Return E3 of each moment, unit vectors of shape (moments, 512); a naive stamp is a `ValueError`.

    The inner product of two stamps is high when they agree in the minute, hour of the day, day of the week,
    month or year's season, in UTC. A month is a twelfth of a mean Gregorian year.
    """
    frequencies, amplitudes = _cycles()
    return _waves(np.outer(_seconds(moments), frequencies), amplitudes)


def periodicity_of(moments: Sequence[datetime]) -> Float32:
    """Return E3 of what several moments have in common, unit vector of shape (512,).

    Of all Sunday mornings of a year, which share neither month nor season, it says Sunday morning and nothing else.
    """
    frequencies, amplitudes = _cycles()
    return _mean(np.outer(_seconds(moments), frequencies), amplitudes)


@cache
def _order_spectrum() -> tuple[Float64, Float64]:
    frequencies = np.geomspace(2 * np.pi / _SLOWEST_TURN, 2 * np.pi / _FASTEST_TURN, _PAIRS)
    return frequencies, np.ones(_PAIRS)


def order(position: int) -> Float32:
    """Return E4 of a position in a session, from 0, unit vector of shape (512,) (Vaswani 2017).

    A negative position is a `ValueError`.
    """
    if position < 0:
        raise ValueError("positions count from 0")
    frequencies, amplitudes = _order_spectrum()
    return _waves(frequencies * position, amplitudes)
