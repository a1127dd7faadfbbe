"""`scripts/bench causes`: chains with connectives, pairs without, and questions in other words."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import anyio
from rich.progress import Progress
from typer import Argument, BadParameter, Option

from benchmarks.causes.edges import CHAINS, judge_chains, judge_pairs, sentences
from benchmarks.causes.questions import judge_questions
from benchmarks.datasets import Dataset, read_dataset
from benchmarks.report import JsonOption, Verdict, publish, workplace

SEED = 7
BESIDE, PAIRS = 500, 200
"""Sentences beside the chains, half of those beside the pairs; and pairs."""


def causal_pairs(dataset: Dataset) -> list[tuple[str, str]]:
    """Return cause and effect of each question for one of them, from its premise and its first answer.

    Raises:
        BadParameter: no question has a premise.
    """
    texts = {document.id: document.text for document in dataset.documents}
    pairs: list[tuple[str, str]] = []
    for query in dataset.queries:
        if "premise" in query.metadata and query.id in dataset.judgements:
            premise, answer = str(query.metadata["premise"]), texts[next(iter(dataset.judgements[query.id]))]
            pairs.append((premise, answer) if query.metadata.get("category") == "effect" else (answer, premise))
    if not pairs:
        raise BadParameter(f"{dataset.name} has no questions with a premise")
    return list(dict.fromkeys(pairs))


async def measure(
    folder: Path, pairs: Dataset, others: Sequence[Dataset], questions: int, bar: Progress
) -> dict[str, list[Verdict]]:
    """Return the verdicts by heading.

    Args:
        folder: For the stores.
        pairs: Questions for causes and effects.
        others: Where ordinary sentences come from.
        questions: How many of each kind are asked.
        bar: Shows progress.
    """
    chosen = causal_pairs(pairs)
    random.Random(SEED).shuffle(chosen)
    return {
        "chains": await judge_chains(folder / "chains", sentences(others, BESIDE, SEED), bar),
        "pairs": await judge_pairs(folder / "pairs", chosen[:PAIRS], sentences(others, 2 * BESIDE, SEED + 1), bar),
        "questions": await judge_questions(folder / "questions", pairs, questions, bar) if questions else [],
    }


def causes(
    pairs: Annotated[
        Path, Argument(exists=True, file_okay=False, help="Causal questions whose metadata has a premise.")
    ],
    others: Annotated[list[Path], Argument(exists=True, file_okay=False, help="Sets that lend ordinary sentences.")],
    questions: Annotated[int, Option(min=0, help="Questions for causes, and for effects; 0 for none.")] = 300,
    *,
    as_json: JsonOption = False,
) -> None:
    """Judge causal paths of sentences with connectives, edges of pairs without, and questions in other words."""
    sets = [read_dataset(folder) for folder in others]
    with workplace() as (scratch, bar):
        sections = anyio.run(measure, scratch, read_dataset(pairs), sets, questions, bar)
    publish(sections, f"{len(CHAINS)} chains, {PAIRS} pairs", as_json=as_json)
