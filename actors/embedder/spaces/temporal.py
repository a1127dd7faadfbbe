"""E2, E3, E4: absolute time, phase within the day, week and year, position in the session.

All three are 256 pairs of cosines and sines of an absolute quantity. An inner product depends on the difference of two
such quantities alone, never on the time at which a vector is computed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from actors.embedder import weights
from events.quantization import Float32

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
"""Seconds and weight of each cycle; the day weighs most, since most habits are daily."""
_HARMONIC_DECAY: Final = 6.0
"""Decay constant of a cycle's amplitudes over its harmonics; the resolution within a day is about an hour."""

_LONGEST_PERIOD: Final = 100_000.0
"""Period of E4's slowest wave in positions: far longer than any session, so that all positions differ."""
_SHORTEST_PERIOD: Final = 16.0
"""Period of E4's fastest wave in positions; neighbours stay similar."""


def _waves(phases: Float64, amplitudes: Float64) -> Float32:
    """Return unit vectors of cosines and sines whose squared lengths are the amplitudes, shape (..., 512)."""
    roots = np.sqrt(amplitudes / amplitudes.sum())
    return np.concatenate([roots * np.cos(phases), roots * np.sin(phases)], axis=-1).astype(np.float32)


def _seconds(times: Sequence[datetime]) -> list[float]:
    """Return seconds since 1970; a timestamp without a time zone is a `ValueError`."""
    if any(at.utcoffset() is None for at in times):
        raise ValueError("a timestamp needs a time zone")
    return [(at - _EPOCH) / timedelta(seconds=1) for at in times]


@cache
def _recency_spectrum() -> tuple[Float64, Float64]:
    arrays = weights.load(FILE)
    return arrays["frequencies"], arrays["amplitudes"]


def recency(times: Sequence[datetime]) -> Float32:
    """Return E2 of each time, unit vectors of shape (times, 512).

    The inner product of two times d apart is the mean over tau in {1 h, 1 d, 7 d, 30 d} of exp(-d / tau), within .052
    up to one year and .11 up to five. Beyond, slow waves are in phase again: .43 at 5.75 years
    (`scripts/train/recency.py` fits the frequencies).
    """
    frequencies, amplitudes = _recency_spectrum()
    return _waves(np.outer(_seconds(times), frequencies), amplitudes)


_HARMONICS: Final = np.arange(1, _PAIRS // len(PERIODS) + 1)
_FALL: Final = np.exp(-_HARMONICS / _HARMONIC_DECAY)
_CYCLES: Final = np.append([2 * np.pi * _HARMONICS / seconds for seconds, _ in PERIODS.values()], 0.0)
_CYCLE_AMPLITUDES: Final = np.append([weight * _FALL for _, weight in PERIODS.values()], 0.0)
"""Frequencies (rad/s) and amplitudes of 51 harmonics of each period, and one unused pair."""


def periodicity(times: Sequence[datetime]) -> Float32:
    """Return E3 of each time, unit vectors of shape (times, 512).

    The inner product of two times is high if they agree in the minute, the hour of the day, the day of the week, the
    day of the month or the season, in UTC. A month is a twelfth of a mean Gregorian year. The mean over all Sunday
    mornings of a year encodes only weekday and hour: they share neither month nor season.
    """
    return _waves(np.outer(_seconds(times), _CYCLES), _CYCLE_AMPLITUDES)


_ORDER: Final = np.geomspace(2 * np.pi / _LONGEST_PERIOD, 2 * np.pi / _SHORTEST_PERIOD, _PAIRS)


def order(position: int) -> Float32:
    """Return E4 of a position in a session, from 0: a sinusoidal position encoding, shape (512,) (Vaswani et al. 2017).

    Raises:
        ValueError: The position is negative.
    """
    if position < 0:
        raise ValueError("positions count from 0")
    return _waves(_ORDER * position, np.ones(_PAIRS))
