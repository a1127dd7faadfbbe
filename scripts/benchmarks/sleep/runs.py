"""One consolidation run: run, undo, with queries before, between and after, and the decisions in the log."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any
from uuid import UUID

import anyio
import msgspec

from benchmarks.datasets import DEPTH, Dataset
from benchmarks.store import Store, open_store, read_log
from events.vocabulary import MemoriesMerged, MemoriesPruned

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
    answer = await store.call("search_graph", top_k=DEPTH, **query.arguments)
    ranking = tuple((result["fingerprintId"], result["score"]) for result in answer["results"])
    return ranking, answer["queryLatencyMs"]


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
        by_dataset[query.dataset].append(fmean(_survivor(memory, survivors) in found for memory in query.relevant))
    return {dataset: fmean(recalls) for dataset, recalls in sorted(by_dataset.items())}


def _survivor(memory: str, survivors: Mapping[str, str]) -> str:
    """Return the memory that an id leads to after any number of merges."""
    while memory in survivors:
        memory = survivors[memory]
    return memory


MODES = ("light", "deep", "rem")
LEAST_SEARCHES = 200
"""Searches timed beside a run; a shorter run is repeated as a dry run until there are enough."""


class Decisions(msgspec.Struct, frozen=True):
    """What the log says about a run."""

    survivors: dict[str, str]
    """The survivor of each absorbed memory."""
    pruned: frozenset[str]


class Run(msgspec.Struct, frozen=True):
    """Everything observed of one run."""

    done: dict[str, Any]
    """Answer of the run, which names its mode."""
    decisions: Decisions
    before: Answers
    consolidated: Answers
    undone: Answers


async def consolidate(folder: Path, mode: str, queries: Sequence[Query]) -> Run:
    """Ask, consolidate, ask, undo, ask; the store in the folder is changed."""
    async with open_store(folder) as store:
        before = await search_all(store, queries)
        done = await store.call("consolidate_memories", mode=mode)
        consolidated = await search_all(store, queries)
        await store.call("undo_consolidation", run_id=done["run_id"])
        undone = await search_all(store, queries)
    return Run(done, read_decisions(folder, done["run_id"]), before, consolidated, undone)


async def search_beside_run(folder: Path, queries: Sequence[Query]) -> tuple[list[float], list[float]]:
    """Return the milliseconds of searches alone, and of searches in turn beside a deep run in the same process."""
    beside: list[float] = []
    finished = anyio.Event()
    async with open_store(folder) as store:
        await search_all(store, queries)  # warms up
        alone = (await search_all(store, queries)).milliseconds

        async def run() -> None:
            await store.call("consolidate_memories", mode="deep")
            while len(beside) < LEAST_SEARCHES:
                await store.call("consolidate_memories", mode="deep", dry_run=True)
            finished.set()

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            while not finished.is_set():
                _, milliseconds = await search(store, queries[len(beside) % len(queries)])
                if not finished.is_set():
                    beside.append(milliseconds)
    return list(alone), beside


def read_decisions(folder: Path, run: str) -> Decisions:
    """Read what a run decided from the log of a closed store; the whole chain is checked on the way."""
    events = [envelope.event for envelope in read_log(folder) if getattr(envelope.event, "run", None) == UUID(run)]
    merges = [event for event in events if isinstance(event, MemoriesMerged)]
    pruned = [one.memory for event in events if isinstance(event, MemoriesPruned) for one in event.pruned]
    return Decisions(
        survivors={str(memory): str(merge.survivor) for merge in merges for memory in merge.absorbed},
        pruned=frozenset(map(str, pruned)),
    )


async def retention(dataset: Dataset, folder: Path, advance: Callable[[], object]) -> dict[str, Any]:
    """Store a data set in a new folder, ask, consolidate in every mode, and ask again; return the figures."""
    name, documents = dataset.name, dataset.documents
    async with open_store(folder) as store:
        memory_of = {document: memory for memory, document in (await store.store_documents(documents, advance)).items()}
        queries = [
            Query(name, one.search_arguments(), tuple(memory_of[document] for document in dataset.judgements[one.id]))
            for one in dataset.answerable(memory_of)
        ]
        before = await search_all(store, queries)
        runs = [(await store.call("consolidate_memories", mode=mode))["run_id"] for mode in MODES]
        after = await search_all(store, queries)
        live = await store.live()
    decisions = [read_decisions(folder, run) for run in runs]
    survivors = {absorbed: survivor for one in decisions for absorbed, survivor in one.survivors.items()}
    return {
        "Recall@10": (recall(before, queries, {})[name], recall(after, queries, survivors)[name]),
        "queries": len(queries),
        "memories": [len(documents), live],
        "merged": [len(one.survivors) for one in decisions],
        "pruned": [len(one.pruned) for one in decisions],
    }
