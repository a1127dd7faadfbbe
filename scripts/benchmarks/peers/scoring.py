"""How good a ranking is: whether evidence is among the first results, and how much of it."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.retrieval.corpora import DEPTH

RANKS = (1, 5, 10)
HITS = tuple(f"hit@{rank}" for rank in RANKS)
RECALL = f"recall@{DEPTH}"


def ranking(references: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return what the first results say: the turns behind a server's references, by the text that was stored."""
    return [texts[reference] for reference in references[:DEPTH] if reference in texts]


def score(ranked: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """Return for one question whether evidence is among the first 1, 5 and 10, and the share of it among 10."""
    hits = {name: float(not evidence.isdisjoint(ranked[:rank])) for name, rank in zip(HITS, RANKS, strict=True)}
    return {**hits, RECALL: len(evidence.intersection(ranked[:DEPTH])) / len(evidence)}


def means(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure."""
    return {name: float(np.mean([one[name] for one in scores])) for name in scores[0]}


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    return {"median": float(np.median(seconds)) * 1e3, "p95": float(np.quantile(seconds, 0.95)) * 1e3}
