"""Verdicts on learning: entropy, coherence, Johari windows, pulses, the learning score, stages, candidates."""

import math
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from actors.comparator.compare import neighbours
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many
from actors.workspace.learning import SEMANTIC_INDICES, entropy
from benchmarks import SEED
from benchmarks.mind.stream import StoredMemory, Stream
from benchmarks.report import Verdict
from benchmarks.store import read_log
from events.spaces import INDEX, SPACES
from events.vocabulary import SpacesDeclared
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter

CLEARLY = 0.05
"""Least distance of a mean from the running median."""
VARIED = 0.95
"""Least share of the stores with a pulse of their own."""
ROUNDING = 1e-9


def judge_learning(
    stream: Stream, retrieved: list[dict[str, Any]], first: dict[str, Any], last: dict[str, Any]
) -> list[Verdict]:
    """Return the verdicts.

    Args:
        stream: The stored memories.
        retrieved: Everything known about each of them, in order.
        first: The state of consciousness after the first store.
        last: The same after the last store.
    """
    return [
        _beside_median("entropy of off-topic memories above the running median", stream, stream.off_topic, 1),
        _beside_median("entropy of repeats below the running median", stream, stream.repeats, -1),
        _coherence_rises(stream.topic),
        *_johari_windows(stream, retrieved),
        _pulses_differ(stream.all),
        _learning_score(stream.all),
        _lifecycle(first["lifecycle"], last["lifecycle"], len(stream.all)),
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
    unknown = sum(set(memory["johariDominant"]) == {"Unknown"} for memory in retrieved)
    return [
        Verdict("at least three quadrants among memories", dict(memories), len(memories) >= 3),
        Verdict("at least three quadrants among Johari rows", dict(rows), len(rows) >= 3),
        Verdict("no memory is Unknown in all spaces", {"Unknown in all spaces": unknown}, unknown == 0),
    ]


def _pulses_differ(memories: list[StoredMemory]) -> Verdict:
    different = len({memory.pulse for memory in memories})
    figures = {"different": different, "stores": len(memories)}
    return Verdict("pulses differ", figures, different >= VARIED * len(memories))


def _learning_score(memories: list[StoredMemory]) -> Verdict:
    def expected(one: StoredMemory) -> float:
        exponent = 2 * one.entropy * one.coherence * one.emotional_weight * math.cos(one.phase)
        return 1 / (1 + math.exp(-exponent))

    scores = [memory.utl["learningScore"] for memory in memories]
    largest = max(abs(score - expected(memory)) for score, memory in zip(scores, memories, strict=True))
    return Verdict(
        "learningScore = σ(2 · entropy · coherence · emotional weight · cos φ) of its printed parts",
        {"largest difference": largest, "scores": {"least": min(scores), "most": max(scores)}},
        largest <= ROUNDING and len(set(scores)) > 1,
    )


def _lifecycle(first: dict[str, Any], last: dict[str, Any], stores: int) -> Verdict:
    """Judge stages by interactions: Infancy below 50 with λ_S .7, Growth below 500 with .5."""
    expected = "Infancy" if stores < 50 else "Growth"
    sums = [state["lambda_s"] + state["lambda_c"] for state in (first, last)]
    falls = first["lambda_s"] > last["lambda_s"] or expected == "Infancy"
    return Verdict(
        "the lifecycle stage follows the number of stores, and λ follows the stage",
        {"after the first store": first, "after the last": last},
        first["stage"] == "Infancy" and last["stage"] == expected and falls and all(abs(of - 1) < 1e-6 for of in sums),
    )


NEAR = 0.05
"""Largest difference of the two."""


def judge_candidates(folder: Path, samples: int, advance: Callable[[], object]) -> list[Verdict]:
    """Compute ΔS of stored memories again, from their candidates and from all memories of a closed store.

    Raises:
        ValueError: the store is empty.
    """
    atlas, calibration = _replay(folder)
    everything = atlas.facets.eligible(Filter())
    rows = np.flatnonzero(everything).tolist()
    chosen = random.Random(SEED).sample(rows, min(samples, len(rows)))
    differences = np.empty((len(chosen), len(SPACES)))
    counts = np.empty(len(chosen))
    for place, row in enumerate(chosen):
        eligible = everything.copy()
        eligible[row] = False
        others = np.flatnonzero(eligible)
        query = {space.key: atlas.embedding(space.key, row) for space in SPACES}
        near = neighbours.candidates(atlas, query, atlas.facets.created_at(row), eligible)
        scores = one_to_many(atlas, calibration, row, others)
        scores[:, INDEX["e8_graph"]] = np.nan  # a new memory is judged before it is connected
        differences[place] = _delta_s(scores[np.searchsorted(others, near)]) - _delta_s(scores)
        counts[place] = len(near)
        advance()
    overall = differences[:, SEMANTIC_INDICES].mean(axis=1)
    return [
        Verdict(
            f"ΔS by candidates lies within {NEAR} of the exact one",
            {"memories": len(rows), "sampled": len(chosen), "candidates": float(np.median(counts)), **_spread(overall)},
            float(overall.max()) <= NEAR,
        ),
        Verdict(
            "space by space (95th percentile)",
            {space.key: _spread(differences[:, index]) for index, space in enumerate(SPACES)},
            bool((np.quantile(differences, 0.95, axis=0) <= NEAR).all()),
        ),
    ]


def _replay(folder: Path) -> tuple[Atlas, Calibration]:
    envelopes = read_log(folder)
    declared = next((one.event for one in envelopes if isinstance(one.event, SpacesDeclared)), None)
    if declared is None:
        raise ValueError(f"no memory was ever stored in {folder}")
    atlas = Atlas.of(declared)
    for envelope in envelopes:
        atlas.apply(envelope)
    return atlas, Calibration.of(declared)


def _delta_s(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.floating]:
    """Return the entropy of each space from the similarities of memories, shape (memories, 13)."""
    return entropy(-np.sort(-scores.T, axis=1))


def _spread(differences: npt.NDArray[np.floating]) -> dict[str, float]:
    return {"largest": float(differences.max()), "p95": float(np.quantile(differences, 0.95))}
