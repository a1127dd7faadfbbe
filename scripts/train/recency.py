"""Choose the 256 frequencies and amplitudes of E2.

    python -m scripts.train.recency

The target kernel of a time difference d is k(d) = mean over tau in {1 h, 1 d, 7 d, 30 d} of
exp(-|d|/tau). With cosine and sine features of the absolute time the inner product of two stamps is
f(d) = sum of a_i cos(w_i d), where the a_i are positive and sum to 1, so that f(0) = 1.

Initial values: harmonics of a period somewhat longer than the horizon cover most of the slow kernels' spectrum,
weighted with the Lorentzian mass of their bins; the rest of the spectrum is sampled at its quantiles, with equal
amplitudes. Then rounds of Adam minimise a high norm of the error, each on the worst of many new differences.

The target is an error below about .05 for a year and .1 for five; beyond that, at 5.75 years, the harmonics are in
phase again (.43). 256 pairs cannot reach .05 over five years: the mean square of f is about 1 / 512 there, k accounts
for half of it, and an average error of .03 remains.

Writes `recency.safetensors`. Seeded; about seven minutes on one core. Needs SciPy, a development dependency.
"""

import numpy as np
import numpy.typing as npt
import torch
import typer
from scipy.optimize import brentq

from scripts.train.record import record

Float64 = npt.NDArray[np.float64]

HOUR, DAY, YEAR = 3_600.0, 86_400.0, 365.25 * 86_400.0
TAUS = np.array([HOUR, DAY, 7 * DAY, 30 * DAY])
PAIRS = 256
NEAR_ERROR, FAR_ERROR = 0.046, 0.1
"""Targets of the optimisation; the first is a little below the limit of .05."""


def kernel(seconds: Float64) -> Float64:
    """Return the target similarity at these time differences in seconds."""
    return np.exp(-seconds[:, None] / TAUS).mean(axis=1)


def mass_below(frequency: float) -> float:
    """Return the share of the kernel's spectrum below an angular frequency (rad/s): a mean of Cauchy laws."""
    return float(np.mean(np.arctan(frequency * TAUS)) * 2 / np.pi)


def start(horizon: float, harmonics: int, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Return the initial frequencies (rad/s) and amplitudes."""
    spacing = 2 * np.pi / (1.15 * horizon)
    slow = np.arange(harmonics) * spacing
    edges = np.maximum(np.arange(harmonics + 1) - 0.5, 0) * spacing
    slow_mass = np.diff([mass_below(edge) for edge in edges])
    below = float(slow_mass.sum())
    count = PAIRS - harmonics
    shares = below + (1 - below) * (np.arange(count) + rng.uniform(0.25, 0.75, count)) / count
    fast = np.array([brentq(lambda w, share=share: mass_below(w) - share, 1e-12, 1e3) for share in shares])
    frequencies = np.concatenate([slow, fast], dtype=np.float64)
    return frequencies, np.concatenate([slow_mass, np.full(count, (1 - below) / count)], dtype=np.float64)


def differences(count: int, near: float, far: float, rng: np.random.Generator) -> Float64:
    """Draw time differences in seconds: uniform over the near and the far range, log-uniform from one second."""
    third = count // 3
    return np.concatenate(
        [rng.uniform(0, near, third), rng.uniform(near, far, third), np.exp(rng.uniform(0, np.log(far), third))]
    )


def inner_products(seconds: torch.Tensor, frequencies: torch.Tensor, amplitudes: torch.Tensor) -> torch.Tensor:
    """Return f at each difference; phases in float64, cosines in float32."""
    turns = seconds[:, None] * (frequencies / (2 * torch.pi))
    return torch.cos((2 * torch.pi) * (turns - torch.round(turns.detach())).float()) @ amplitudes.float()


def refine(
    frequencies: Float64, amplitudes: Float64, near: float, far: float, rounds: int, rng: np.random.Generator
) -> tuple[Float64, Float64]:
    """Minimise the worst error over [0, far] relative to the targets; frequencies are shifted in units of 1 / far."""
    first = torch.from_numpy(frequencies)
    shift = torch.zeros(PAIRS, dtype=torch.float64, requires_grad=True)
    logits = torch.from_numpy(np.log(amplitudes)).requires_grad_()
    optimiser = torch.optim.Adam([{"params": [shift], "lr": 0.05}, {"params": [logits], "lr": 0.02}])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, rounds)
    hard = np.empty(0)
    for number in range(rounds):
        seconds = np.concatenate([differences(60_000, near, far, rng), hard])
        wanted = torch.from_numpy(kernel(seconds)).float()
        allowed = torch.from_numpy(np.where(seconds <= near, NEAR_ERROR, FAR_ERROR)).float()
        with torch.no_grad():
            got = inner_products(torch.from_numpy(seconds), first + shift / far, logits.softmax(0))
            error = (got - wanted).abs()
        worst = torch.topk(error / allowed, 6_000).indices
        hard = seconds[worst.numpy()]
        if number % 10 == 0:
            at = torch.from_numpy(seconds)
            print(f"round {number}: worst {error[at <= near].max():.4f} near, {error[at > near].max():.4f} far")
        batch, goal, scale = torch.from_numpy(hard), wanted[worst], allowed[worst]
        for _ in range(15):
            optimiser.zero_grad()
            got = inner_products(batch, first + shift / far, logits.softmax(0))
            ((got - goal) / scale).abs().pow(10).mean().pow(0.1).backward()
            optimiser.step()
        schedule.step()
    return (first + shift / far).detach().numpy(), logits.softmax(0).detach().numpy()


def worst(frequencies: Float64, amplitudes: Float64, low: float, high: float, rng: np.random.Generator) -> float:
    """Return the largest error over new random differences between `low` and `high` seconds."""
    largest = 0.0
    for _ in range(20):
        seconds = rng.uniform(low, high, 10_000)
        got = np.cos(seconds[:, None] * frequencies) @ amplitudes
        largest = max(largest, float(np.abs(got - kernel(seconds)).max()))
    return round(largest, 4)


def main(near: float = 1.0, far: float = 5.0, harmonics: int = 60, rounds: int = 320, seed: int = 2) -> None:
    """Train for the targets of `near` and `far` years, and write."""
    arguments = {"near": near, "far": far, "harmonics": harmonics, "rounds": rounds, "seed": seed}
    rng = np.random.default_rng(seed)
    near, far = near * YEAR, far * YEAR
    frequencies, amplitudes = refine(*start(far, harmonics, rng), near, far, rounds, rng)
    record(
        "recency.safetensors",
        {"frequencies": frequencies, "amplitudes": amplitudes},
        script="scripts/train/recency.py",
        arguments=arguments,
        data={},
        inputs={},
        figures={"worst error to a year": worst(frequencies, amplitudes, 0, near, rng)}
        | {"worst error from there": worst(frequencies, amplitudes, near, far, rng)},
    )


if __name__ == "__main__":
    typer.run(main)
