"""One consolidation run: dry run, run, undo, with queries before, between and after, and the decisions in the log."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any
from uuid import UUID

import anyio
import msgspec

from benchmarks.datasets import DEPTH
from benchmarks.store import Store, open_store, read_log
from events.vocabulary import (
    CausesLinked,
    ClustersFormed,
    ConsolidationFinished,
    ConsolidationStarted,
    Event,
    GoalAdjusted,
    LinksStrengthened,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    PatternDiscovered,
    ShortcutsDrawn,
)
from events.vocabulary.values import Counts

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


LEAST_SEARCHES = 200
"""Searches timed beside a run; a shorter run is repeated as a dry run until there are enough."""


class Decisions(msgspec.Struct, frozen=True):
    """What the log says about a run."""

    finished: bool
    survivors: dict[str, str]
    """The survivor of each absorbed memory."""
    pruned: frozenset[str]
    logged: Counts
    """Of the decisions in the log; `looked_at` is not among them."""
    reported: Counts
    """In the run's last event."""

    @property
    def complete(self) -> bool:
        """Whether the log holds exactly the decisions that the run reported."""
        return self.logged == msgspec.structs.replace(self.reported, looked_at=0)


class Run(msgspec.Struct, frozen=True):
    """Everything observed of one run."""

    mode: str
    dry: dict[str, Any]
    """Answer of the dry run."""
    dry_events: tuple[str, ...]
    """Events that the dry run logged."""
    done: dict[str, Any]
    """Answer of the run."""
    decisions: Decisions
    listed: int
    """Memories that `list_consolidations` shows as merged or pruned."""
    before: Answers
    consolidated: Answers
    undone: Answers


async def consolidate(folder: Path, mode: str, threshold: float, queries: Sequence[Query]) -> Run:
    """Ask, consolidate dry, consolidate, ask, undo, ask; the store in the folder is changed."""
    arguments = {"mode": mode, "salience_threshold": threshold}
    async with open_store(folder) as store:

        async def position() -> int:
            return (await store.call("status"))["log"]["position"]

        before = await search_all(store, queries)
        start = await position()
        dry = await store.call("consolidate_memories", **arguments, dry_run=True)
        end = await position()
        done = await store.call("consolidate_memories", **arguments)
        listing = await store.call("list_consolidations", run_id=done["run_id"])
        consolidated = await search_all(store, queries)
        await store.call("undo_consolidation", run_id=done["run_id"])
        undone = await search_all(store, queries)
    (listed,) = listing["runs"]
    return Run(
        mode=mode,
        dry=dry,
        dry_events=tuple(type(event).__name__ for event in _events(folder)[start:end]),
        done=done,
        decisions=read_decisions(folder, done["run_id"]),
        listed=sum(len(merge["absorbed"]) for merge in listed["merges"]) + len(listed["pruned"]),
        before=before,
        consolidated=consolidated,
        undone=undone,
    )


async def search_beside_run(
    folder: Path, mode: str, threshold: float, queries: Sequence[Query]
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of searches alone, and of searches one after another beside a run in the same process."""
    beside: list[float] = []
    finished = anyio.Event()
    async with open_store(folder) as store:
        await search_all(store, queries)  # warms up
        alone = (await search_all(store, queries)).milliseconds

        async def run() -> None:
            arguments = {"mode": mode, "salience_threshold": threshold}
            await store.call("consolidate_memories", **arguments)
            while len(beside) < LEAST_SEARCHES:
                await store.call("consolidate_memories", **arguments, dry_run=True)
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
    events = [event for event in _events(folder) if getattr(event, "run", None) == UUID(run)]
    merges = [event for event in events if isinstance(event, MemoriesMerged)]
    pruned = [one.memory for event in events if isinstance(event, MemoriesPruned) for one in event.pruned]
    finished = [event.counts for event in events if isinstance(event, ConsolidationFinished)]
    return Decisions(
        finished=bool(finished),
        survivors={str(memory): str(merge.survivor) for merge in merges for memory in merge.absorbed},
        pruned=frozenset(map(str, pruned)),
        logged=Counts(
            merged=sum(len(merge.absorbed) for merge in merges),
            pruned=len(pruned),
            clusters=sum(len(event.clusters) for event in events if isinstance(event, ClustersFormed)),
            patterns=sum(isinstance(event, PatternDiscovered) for event in events),
            strengthened=sum(len(event.links) for event in events if isinstance(event, LinksStrengthened)),
            shortcuts=sum(len(event.shortcuts) for event in events if isinstance(event, ShortcutsDrawn)),
            replayed=sum(len(event.memories) for event in events if isinstance(event, MemoriesReplayed)),
            goals_adjusted=sum(isinstance(event, GoalAdjusted) for event in events),
            causes=sum(len(event.links) for event in events if isinstance(event, CausesLinked)),
        ),
        reported=finished[0] if finished else Counts(),
    )


def run_ids(folder: Path) -> list[str]:
    """Return the runs in the log of a closed store, in order."""
    return [str(event.run) for event in _events(folder) if isinstance(event, ConsolidationStarted)]


def _events(folder: Path) -> list[Event]:
    """Return all events in the log of a closed store; that at position n is the n-th."""
    return [envelope.event for envelope in read_log(folder)]
