"""The queries asked before, during and after a run, and how two sets of answers compare."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from time import perf_counter
from typing import Any

import msgspec

from benchmarks.datasets import DEPTH
from benchmarks.store import Store

Ranking = tuple[tuple[str, float], ...]
"""Ids of memories and their scores, best first."""


class Query(msgspec.Struct, frozen=True):
    """A query with the memories that answer it."""

    dataset: str
    arguments: dict[str, Any]
    """Of `search_graph`; the time is among them, so that the same query finds the same later."""
    relevant: tuple[str, ...]


class Answers(msgspec.Struct, frozen=True):
    """The answers to a list of queries."""

    rankings: tuple[Ranking, ...]
    milliseconds: tuple[float, ...]


async def search(store: Store, query: Query) -> tuple[Ranking, float]:
    """Ask one query; return the ranking and the milliseconds."""
    prepared = store.prepare("search_graph", top_k=DEPTH, **query.arguments)
    start = perf_counter()
    answer = await prepared()
    milliseconds = (perf_counter() - start) * 1e3
    return tuple((result["fingerprintId"], result["score"]) for result in answer["results"]), milliseconds


async def search_all(store: Store, queries: Sequence[Query]) -> Answers:
    """Ask queries one after the other, and wait until their effects are in the log."""
    found = [await search(store, query) for query in queries]
    await store.settle()
    return Answers(tuple(ranking for ranking, _ in found), tuple(took for _, took in found))


def identical(before: Answers, after: Answers) -> int:
    """Return how many queries have the same memories, in the same order, with the same scores."""
    return sum(one == other for one, other in zip(before.rankings, after.rankings, strict=True))


def recall(answers: Answers, queries: Sequence[Query], survivors: Mapping[str, str]) -> dict[str, float]:
    """Return Recall@10 by data set; an absorbed memory counts as found where its survivor is found."""
    by_dataset: dict[str, list[float]] = defaultdict(list)
    for query, ranking in zip(queries, answers.rankings, strict=True):
        found = {memory for memory, _ in ranking}
        reached = sum(_survivor(memory, survivors) in found for memory in query.relevant)
        by_dataset[query.dataset].append(reached / len(query.relevant))
    return {dataset: fmean(recalls) for dataset, recalls in sorted(by_dataset.items())}


def _survivor(memory: str, survivors: Mapping[str, str]) -> str:
    """Return the memory that an id leads to after any number of merges."""
    while memory in survivors:
        memory = survivors[memory]
    return memory
