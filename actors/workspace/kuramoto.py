"""Synchrony: whether the spaces of a memory agree on the present focus (design 6; facts 9.1)."""

import numpy as np
import numpy.typing as npt

from events.vocabulary.values import WIDTH

FREQUENCIES = np.array([40, 8, 8, 8, 25, 4, 25, 12, 80, 40, 15, 60, 4], np.float64)
"""Of each space's oscillator, in Hz (facts 9.1)."""

VELOCITIES = FREQUENCIES / FREQUENCIES.mean()
"""Radians that each oscillator turns on its own in a unit of time."""

STEP = 0.175
"""Units of time. Phases that pull with K = 10, the strongest, overshoot for good from 2 / K = .2 upwards."""

STEPS = 480
"""They span 84 units, about half of the 159 after which free oscillators stand as they began. Of 85 rows of scores, at
K = 2, 3, 6 and 10 each, 95 % come within .03 of what Runge-Kutta gives over 900 units, and all those above .65 do.
"""


def order_parameters(scores: npt.NDArray[np.floating], coupling: float) -> npt.NDArray[np.float64]:
    """Return how far the spaces of each memory lock: near 1 when they all agree with the focus, some .3 when few do.

    Each space of a memory is an oscillator: dθ_i/dt = ω_i + K s_i · mean_j s_j sin(θ_j − θ_i), after Kuramoto (1975),
    with ω_i = f_i / mean f and θ_i = 2πi / 13 at the start. The order parameter r = |mean e^{iθ}| is averaged over the
    later half of the time. A row's result doesn't depend on the other rows. The fewer oscillators, the less r says: of
    ten that don't agree it is some .25, of the three that turn at 8 Hz and so never part it is .92.

    Args:
        scores: Calibrated similarity to the focus in [0, 1], shape (memories, 13); a space that is NaN has no
            oscillator, neither in the mean that pulls nor in r.
        coupling: K in [0, 10].

    Returns:
        r in [0, 1], shape (memories,); 0 where all spaces are NaN.
    """
    present = ~np.isnan(scores)
    oscillators = np.maximum(present.sum(axis=1), 1)
    # K dt / n is split evenly between who pulls and who is pulled.
    strength = np.where(present, scores, 0.0) * np.sqrt(coupling * STEP / oscillators)[:, None]
    shape = (len(scores), WIDTH)
    pull = _single(strength, shape)
    turn = _single(VELOCITIES * STEP, shape)
    phases = _single(2 * np.pi * np.arange(WIDTH) / WIDTH, shape)
    waves = np.empty((STEPS, 2, *shape), np.float32)
    field = np.empty((2, len(scores)), np.float32)
    crossed = field[::-1, :, None]
    products = np.empty((2, *shape), np.float32)
    change, opposed = products
    # One buffer each, and by position: a step is eight calls on a hundred numbers, and costs what the calls cost.
    for wave, cosine, sine in zip(waves, waves[:, 0], waves[:, 1], strict=True):
        np.cos(phases, cosine)
        np.sin(phases, sine)
        np.vecdot(wave, pull, field)
        np.multiply(wave, crossed, products)  # sin(θ_j − θ_i) = sin θ_j cos θ_i − cos θ_j sin θ_i
        np.subtract(change, opposed, change)
        np.multiply(change, pull, change)
        np.add(change, turn, change)
        np.add(phases, change, phases)
    cosines, sines = np.vecdot(waves[STEPS // 2 :], present.astype(np.float32)).transpose(1, 2, 0)
    lengths = np.hypot(cosines, sines, order="C")  # so that each row is summed in the same way, however many there are
    return np.minimum(lengths.mean(axis=1, dtype=np.float64) / oscillators, 1.0)  # rounding may pass 1 by 1e-7


def _single(values: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Return a copy of this shape in single precision, which takes half the time of double."""
    return np.broadcast_to(values, shape).astype(np.float32, order="C")
