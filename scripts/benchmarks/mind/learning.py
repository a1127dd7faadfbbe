"""What the stores of the stream taught: entropy, coherence, Johari windows, pulses, lifecycle."""

import math
from collections import Counter
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from scipy.stats import spearmanr

from benchmarks.mind.stream import Heard, Told
from benchmarks.mind.verdicts import Verdict

CLEARLY = 0.05
"""By how much a mean must lie beyond the running median to be clearly there."""

VARIED = 0.95
"""Share of the stores whose pulse must be one of its own."""

ROUNDING = 1e-9


def learning(
    heard: Heard, retrieved: list[dict[str, Any]], first: dict[str, Any], last: dict[str, Any]
) -> list[Verdict]:
    """Return the verdicts on what was taught.

    Args:
        heard: The stream.
        retrieved: What is known of each of its memories, in order.
        first: The state of consciousness after the first store.
        last: And after the last.
    """
    return [
        _beside_the_median("entropy of off-topic memories above the running median", heard, heard.off_topic, 1),
        _beside_the_median("entropy of repeats below the running median", heard, heard.repeats, -1),
        _rising(heard.topic),
        *_windows(heard, retrieved),
        _pulses(heard.all),
        _formula(heard.all),
        _grown(first["lifecycle"], last["lifecycle"], len(heard.all)),
    ]


def _beside_the_median(what: str, heard: Heard, some: list[Told], side: int) -> Verdict:
    """Compare each with the median of all that was stored before it."""
    entropies = [told.entropy for told in heard.all]
    start = heard.all.index(some[0])
    gaps = [entropies[place] - median(entropies[:place]) for place in range(start, start + len(some))]
    beyond = sum(side * gap > 0 for gap in gaps)
    return Verdict(
        what,
        {
            "mean entropy": fmean(told.entropy for told in some),
            "running median": median(entropies[:start]),
            "mean gap": fmean(gaps),
            "least gap": min(gaps, key=lambda gap: side * gap),
            "beyond": f"{beyond} of {len(some)}",
        },
        beyond == len(some) and side * fmean(gaps) >= CLEARLY,
    )


def _rising(topic: list[Told]) -> Verdict:
    """Look at how coherence goes. Its first tenth is left out of the trend: from nothing it can only rise."""
    coherence = [told.coherence for told in topic]
    bounds = [place * len(topic) // 10 for place in range(11)]
    settled = coherence[bounds[1] :]
    trend, _ = map(float, spearmanr(range(len(settled)), settled))
    half = len(topic) // 2
    halves = fmean(coherence[:half]), fmean(coherence[half:])
    return Verdict(
        "coherence rises within the topic",
        {
            "by tenths": [fmean(coherence[a:b]) for a, b in pairwise(bounds)],
            "first and second half": halves,
            "Spearman with the place, from the second tenth on": trend,
        },
        halves[1] > halves[0] and trend > 0,
    )


def _windows(heard: Heard, retrieved: list[dict[str, Any]]) -> list[Verdict]:
    memories = Counter(told.pulse.quadrant for told in heard.all)
    rows = Counter(quadrant for memory in retrieved for quadrant in memory["johariDominant"])
    unknown = sum(set(memory["johariDominant"]) == {"Unknown"} for memory in retrieved)
    return [
        Verdict("at least three quadrants among memories", dict(memories), len(memories) >= 3),
        Verdict("at least three quadrants among Johari rows", dict(rows), len(rows) >= 3),
        Verdict("no memory is Unknown throughout", {"unknown throughout": unknown}, unknown == 0),
    ]


def _pulses(told: list[Told]) -> Verdict:
    different = len({one.pulse for one in told})
    return Verdict("pulses differ", {"different": different, "stores": len(told)}, different >= VARIED * len(told))


def _formula(told: list[Told]) -> Verdict:
    def expected(one: Told) -> float:
        exponent = 2 * one.entropy * one.coherence * one.emotional_weight * math.cos(one.phase)
        return 1 / (1 + math.exp(-exponent))

    scores = [one.utl["learningScore"] for one in told]
    largest = max(abs(score - expected(one)) for score, one in zip(scores, told, strict=True))
    return Verdict(
        "learningScore = σ(2 · entropy · coherence · emotional weight · cos φ) of its printed parts",
        {"largest difference": largest, "scores": {"least": min(scores), "most": max(scores)}},
        largest <= ROUNDING and len(set(scores)) > 1,
    )


def _grown(first: dict[str, Any], last: dict[str, Any], stores: int) -> Verdict:
    """Stages by interactions: Infancy below 50 with λ_S .7, Growth below 500 with .5 (seed 001)."""
    expected = "Infancy" if stores < 50 else "Growth"
    sums = [state["lambda_s"] + state["lambda_c"] for state in (first, last)]
    grown = first["lambda_s"] > last["lambda_s"] or expected == "Infancy"
    return Verdict(
        "the store grows up, and λ with it",
        {"after the first store": first, "after the last": last},
        first["stage"] == "Infancy" and last["stage"] == expected and grown and all(abs(of - 1) < 1e-6 for of in sums),
    )
