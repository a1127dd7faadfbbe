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


def _why(query: Document) -> str:
    """Return a why question, with the auxiliary before the subject if there is one."""
    event = _event(query)
    auxiliary = _AUXILIARY.search(event)
    if auxiliary is None:
        return f"Why did {event[0].lower()}{event[1:]}?"
    before, after = event[: auxiliary.start()], event[auxiliary.end() :]
    return f"Why {auxiliary.group()} {before[:1].lower()}{before[1:].strip()}{after}?"


def _lower(query: Document) -> str:
    event = _event(query)
    return event[0].lower() + event[1:]


WORDINGS: dict[str, dict[str, Callable[[Document], str]]] = {
    "cause": {
        "set phrase": lambda query: query.text,
        "Why …?": _why,
        "What made …?": lambda query: f"What made {_lower(query)}?",
        "… What was the cause?": lambda query: f"{_event(query)}. What was the cause?",
    },
    "effect": {
        "set phrase": lambda query: query.text,
        "What happens if …?": lambda query: f"What happens if {_lower(query)}?",
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
                results = []
                for query in asked:
                    answer = await store.call("search_graph", query=wording(query), top_k=10)
                    found = [documents[one["fingerprintId"]] for one in answer["results"]]
                    results.append(measures(found, dataset.judgements[query.id]))
                recall[name] = means(results)["recall@10"]
            least = min(recall.values())
            verdicts.append(
                Verdict(
                    f"questions for a {category} lose at most {LOSS} of Recall@10 in other words",
                    {"questions": len(asked), **recall},
                    recall["set phrase"] - least <= LOSS,
                )
            )
    return verdicts
