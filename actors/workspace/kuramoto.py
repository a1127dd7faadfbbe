"""Synchrony: how far the spaces of a memory agree on the present focus (TOOL-INJECT-001/oscillators)."""

import numpy as np
import numpy.typing as npt

from events.vocabulary.values import WIDTH

FREQUENCIES = np.array([40, 8, 8, 8, 25, 4, 25, 12, 80, 40, 15, 60, 4], np.float64)

VELOCITIES = FREQUENCIES / FREQUENCIES.mean()
"""Natural frequencies ω_i in radians per unit of time."""

TIME_STEP = 0.175
"""Units of time. At K = 10, the strongest coupling, Euler steps of 2 / K = .2 and longer do not converge."""

STEPS = 480
"""84 units of time, half of the 159 after which uncoupled oscillators return to their start. Of 85 rows of scores at
K = 2, 3, 6 and 10, 95 % come within .03 of Runge-Kutta over 900 units, and all above .65 do."""


def order_parameters(scores: npt.NDArray[np.floating], coupling: float) -> npt.NDArray[np.float64]:
    """Return the Kuramoto order parameter r of each memory: near 1 if all its spaces agree with the focus, .3 if few.

    Kuramoto (1975) with one oscillator per space: dθ_i/dt = ω_i + K * s_i * mean_j(s_j * sin(θ_j - θ_i)), where
    ω_i = f_i / mean f and θ_i = 2π * i / 13 at the start. r = |mean_i exp(i * θ_i)|, averaged over the later half of
    the time. Rows are independent. Fewer oscillators give a less specific r: ten that do not agree have some .25, the
    three at 8 Hz, which never separate, .92.

    Args:
        scores: Calibrated similarity s_i to the focus in [0, 1], shape (memories, 13). A space that is NaN has no
            oscillator and is part of neither mean.
        coupling: K in [0, 10].

    Returns:
        r in [0, 1], shape (memories,); 0 where all spaces are NaN.
    """
    present = ~np.isnan(scores)
    oscillators = np.maximum(present.sum(axis=1), 1)
    # K * dt / n is split evenly between the two oscillators of each pair.
    strength = np.where(present, scores, 0.0) * np.sqrt(coupling * TIME_STEP / oscillators)[:, None]
    shape = (len(scores), WIDTH)
    pull = _single(strength, shape)
    turn = _single(VELOCITIES * TIME_STEP, shape)
    phases = _single(2 * np.pi * np.arange(WIDTH) / WIDTH, shape)
    waves = np.empty((STEPS, 2, *shape), np.float32)
    field = np.empty((2, len(scores)), np.float32)
    crossed = field[::-1, :, None]
    products = np.empty((2, *shape), np.float32)
    change, opposed = products
    # Preallocated outputs, passed by position: the overhead of eight numpy calls per step dominates the time.
    for wave, cosine, sine in zip(waves, waves[:, 0], waves[:, 1], strict=True):
        np.cos(phases, cosine)
        np.sin(phases, sine)
        np.vecdot(wave, pull, field)
        np.multiply(wave, crossed, products)  # sin(θ_j - θ_i) = sin θ_j cos θ_i - cos θ_j sin θ_i
        np.subtract(change, opposed, change)
        np.multiply(change, pull, change)
        np.add(change, turn, change)
        np.add(phases, change, phases)
    cosines, sines = np.vecdot(waves[STEPS // 2 :], present.astype(np.float32)).transpose(1, 2, 0)
    lengths = np.hypot(cosines, sines, order="C")  # fixes the order of the sum, whatever the number of rows
    return np.minimum(lengths.mean(axis=1, dtype=np.float64) / oscillators, 1.0)  # rounding may exceed 1 by 1e-7


def _single(values: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Return a copy in this shape and in single precision, which takes half the time of double."""
    return np.broadcast_to(values, shape).astype(np.float32, order="C")
