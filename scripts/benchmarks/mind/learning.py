"""Verdicts on learning: entropy, coherence, Johari windows, pulses."""

from collections import Counter
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from scipy.stats import spearmanr

from benchmarks.mind.stream import StoredMemory, Stream
from benchmarks.report import Verdict

CLEARLY = 0.05
"""Least distance of a mean from the running median."""
VARIED = 0.95
"""Least share of the stores with a pulse of their own."""


def judge_learning(stream: Stream, retrieved: list[dict[str, Any]]) -> list[Verdict]:
    """Return the verdicts on a stream; `retrieved` is everything known about each of its memories, in order."""
    return [
        _beside_median("entropy of off-topic memories above the running median", stream, stream.off_topic, 1),
        _beside_median("entropy of repeats below the running median", stream, stream.repeats, -1),
        _coherence_rises(stream.topic),
        *_johari_windows(stream, retrieved),
        _pulses_differ(stream.all),
    ]


def _beside_median(what: str, stream: Stream, some: list[StoredMemory], side: int) -> Verdict:
    """Compare each entropy with the median of all memories stored before."""
    entropies = [memory.entropy for memory in stream.all]
    start = stream.all.index(some[0])
    gaps = [entropies[place] - median(entropies[:place]) for place in range(start, start + len(some))]
    beyond = sum(side * gap > 0 for gap in gaps)
    return Verdict(
        what,
        {
            "mean entropy": fmean(memory.entropy for memory in some),
            "running median": median(entropies[:start]),
            "mean gap": fmean(gaps),
            "least gap": min(gaps, key=lambda gap: side * gap),
            "beyond": f"{beyond} of {len(some)}",
        },
        beyond == len(some) and side * fmean(gaps) >= CLEARLY,
    )


def _coherence_rises(topic: list[StoredMemory]) -> Verdict:
    """Judge the trend of coherence without the first tenth, which can only rise from nothing."""
    coherence = [memory.coherence for memory in topic]
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


def _johari_windows(stream: Stream, retrieved: list[dict[str, Any]]) -> list[Verdict]:
    memories = Counter(memory.pulse.quadrant for memory in stream.all)
    rows = Counter(quadrant for memory in retrieved for quadrant in memory["johariDominant"])
    return [
        Verdict("at least three quadrants among memories", dict(memories), len(memories) >= 3),
        Verdict("at least three quadrants among Johari rows", dict(rows), len(rows) >= 3),
    ]


def _pulses_differ(memories: list[StoredMemory]) -> Verdict:
    different = len({memory.pulse for memory in memories})
    figures = {"different": different, "stores": len(memories)}
    return Verdict("pulses differ", figures, different >= VARIED * len(memories))
