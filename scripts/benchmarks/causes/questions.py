"""Questions about causes and effects, put in a set phrase and as people put them."""

import re
from collections.abc import Callable
from pathlib import Path

from rich.progress import Progress

from benchmarks.datasets import Dataset, Document, means, measures
from benchmarks.report import Verdict, counter
from benchmarks.store import open_store

LOSS = 0.03
"""Recall@10 that another wording may lose against the set phrase."""

_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|must|should)\b")


def _event(query: Document) -> str:
    return str(query.metadata["premise"]).rstrip(".! ")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _why(query: Document) -> str:
    """Return a why question, with the auxiliary before the subject if there is one."""
    event = _event(query)
    auxiliary = _AUXILIARY.search(event)
    if auxiliary is None:
        return f"Why did {_lower(event)}?"
    return f"Why {auxiliary[0]} {_lower(event[: auxiliary.start()].rstrip())}{event[auxiliary.end() :]}?"


WORDINGS: dict[str, dict[str, Callable[[Document], str]]] = {
    "cause": {
        "set phrase": lambda query: query.text,
        "Why …?": _why,
        "What made …?": lambda query: f"What made {_lower(_event(query))}?",
        "… What was the cause?": lambda query: f"{_event(query)}. What was the cause?",
    },
    "effect": {
        "set phrase": lambda query: query.text,
        "What happens if …?": lambda query: f"What happens if {_lower(_event(query))}?",
        "… What happened next?": lambda query: f"{_event(query)}. What happened next?",
    },
}


async def judge_questions(folder: Path, dataset: Dataset, limit: int, bar: Progress) -> list[Verdict]:
    """Compare Recall@10 of the wordings of the same questions."""
    verdicts = []
    async with open_store(folder) as store:
        storing = counter(bar, "storing", len(dataset.documents))
        documents = await store.store_documents(dataset.documents, storing)
        for category, wordings in WORDINGS.items():
            asked = [
                query
                for query in dataset.queries
                if query.metadata.get("category") == category and query.id in dataset.judgements
            ][:limit]
            recall: dict[str, float] = {}
            for name, wording in wordings.items():
                results = [
                    measures(await store.find(documents, query=wording(query)), dataset.judgements[query.id])
                    for query in asked
                ]
                recall[name] = means(results)["recall@10"]
            what = f"questions for a {category} lose at most {LOSS} of Recall@10 in other words"
            holds = recall["set phrase"] - min(recall.values()) <= LOSS
            verdicts.append(Verdict(what, {"questions": len(asked), **recall}, holds))
    return verdicts
