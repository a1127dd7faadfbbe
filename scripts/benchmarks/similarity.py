"""`scripts/bench similarity`: how well `memory_compare` agrees with people's grades (Spearman's rank correlation)."""

from collections import defaultdict
from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import numpy as np
from rich.progress import Progress
from train.grading import agreement as spearman
from typer import Option

from actors.comparator.compare.calibration import FILE, Calibration, Fit
from actors.comparator.compare.strategies import overall
from actors.runtime.settings import Strategy
from benchmarks.datasets import GradedPair, PairsFile, evenly, read_lines
from benchmarks.report import JsonOption, Verdict, counter, publish, rows_table, workplace
from benchmarks.store import open_store
from events.spaces import INDEX, SPACES
from events.vocabulary.values import WIDTH

CREATED_AT = "2026-01-01T00:00:00Z"
"""The same for all texts, since people graded what the texts say."""

Scores = dict[str, list[float]]
"""The similarity of each pair, by space; over all spaces under `compare`."""


async def compare_pairs(folder: Path, pairs: Sequence[GradedPair], strategy: Strategy, bar: Progress) -> Scores:
    """Store all texts, and compare each pair with `memory_compare`."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.text_a, pair.text_b)))
    scores: Scores = defaultdict(list)
    async with open_store(folder) as store:
        ids = await store.store_texts(texts, counter(bar, "storing", len(texts)), created_at=CREATED_AT)
        for pair in bar.track(pairs, description="comparing"):
            answer = await store.call(
                "memory_compare",
                memory_a=ids[pair.text_a],
                memory_b=ids[pair.text_b],
                strategy=strategy.value,
                include_per_embedder=True,
            )
            scores["compare"].append(answer["overall_similarity"])
            for space, value in zip(SPACES, answer["per_embedder"], strict=True):
                scores[space.key].append(nan if value is None else value)
    return scores


def agreement(pairs: Sequence[GradedPair], scores: Scores) -> dict[str, float]:
    """Return Spearman's correlation with the grades, by name; spaces with one score throughout are left out."""
    grades = np.array([pair.score for pair in pairs])
    return {name: spearman(np.array(values), grades) for name, values in scores.items() if np.ptp(values) > 0}


def ablation(pairs: Sequence[GradedPair], scores: Scores) -> dict[str, float]:
    """Return how the correlation changes when a space is left out, for each space that `Strategy.GRADED` weighs."""
    weights = Calibration(msgspec.json.decode(FILE.read_bytes(), type=Fit).spaces).weights
    matrix = np.array([scores[space.key] for space in SPACES]).T
    variants = {key: np.where(np.arange(WIDTH) == at, 0, weights) for key, at in INDEX.items() if weights[at]}
    every = {**variants, "all": weights}
    reached = agreement(pairs, {key: overall(matrix, Strategy.GRADED, own).tolist() for key, own in every.items()})
    return {key: value - reached["all"] for key, value in reached.items() if key != "all"}


def similarity(
    pairs: PairsFile,
    limit: Annotated[int | None, Option(min=2, help="Only so many pairs, evenly spread.")] = None,
    strategy: Annotated[Strategy, Option(help="How thirteen scores become one.")] = Strategy.GRADED,
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare graded pairs of texts as memories are compared; fails if E1 alone agrees better with people."""
    every = read_lines(pairs, GradedPair)
    chosen = every if limit is None else evenly(every, limit)
    with workplace() as (scratch, bar):
        scores = anyio.run(compare_pairs, scratch, chosen, strategy, bar)
    report, left_out = agreement(chosen, scores), ablation(chosen, scores)
    figures = {name: report[name] for name in ("compare", SPACES[0].key)}
    held = report["compare"] >= report[SPACES[0].key]
    verdict = Verdict(f"compare agrees with people on {len(chosen)} pairs at least as well as E1 alone", figures, held)
    rows = {name: {"Spearman": value, "graded, without it": left_out.get(name)} for name, value in report.items()}
    about = {"pairs": len(chosen), "strategy": strategy.value, "spearman": report, "left_out": left_out}
    publish({"similarity": [verdict]}, rows_table("", rows), as_json=as_json, **about)
