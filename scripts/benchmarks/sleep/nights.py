"""One run of the consolidator: tried dry, done, looked at, and taken back, on a copy of the store of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio
import msgspec

from actors.api.operations.facade import Operations
from actors.hub.composition import open_hub
from benchmarks.sleep.asking import Answers, Query, ask, call, search
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import (
    ClustersFormed,
    ConsolidationFinished,
    ConsolidationStarted,
    GoalAdjusted,
    LinksStrengthened,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    PatternDiscovered,
    ShortcutsDrawn,
)
from events.vocabulary.values import Counts

ENOUGH = 200
"""Searches that are timed beside a run; where one run is over sooner, the same is computed again, dry."""


class Decided(msgspec.Struct, frozen=True):
    """What the log says of a run."""

    finished: bool
    heirs: dict[str, str]
    """The survivor of each absorbed memory."""
    pruned: frozenset[str]
    there: Counts
    """Of the decisions that are in the log; what was looked at isn't told there."""
    counts: Counts
    """What the end of the run says that it decided."""


class Night(msgspec.Struct, frozen=True):
    """What was seen of one run."""

    mode: str
    dry: dict[str, Any]
    """What the dry run answered."""
    dry_events: tuple[str, ...]
    """What it left in the log."""
    done: dict[str, Any]
    """What the real run answered."""
    decided: Decided
    shown: int
    """Memories that `list_consolidations` shows as merged or pruned by it."""
    undone: dict[str, Any]
    before: Answers
    asleep: Answers
    """After the run."""
    after: Answers
    """After it was taken back."""


async def night(folder: Path, mode: str, threshold: float, queries: Sequence[Query], *, priming: bool = False) -> Night:
    """Ask, sleep dry, sleep, ask, undo, ask. The folder's store is changed by it."""
    with open_hub(folder, priming=priming) as hub:
        operations = Operations(hub)
        await operations.ready()
        before = await ask(operations, queries)
        wanted = {"mode": mode, "salience_threshold": threshold}
        start = await _position(operations)
        dry = await call(operations, "consolidate_memories", **wanted, dry_run=True)
        end = await _position(operations)
        done = await call(operations, "consolidate_memories", **wanted)
        told = await call(operations, "list_consolidations", run_id=done["run_id"])
        asleep = await ask(operations, queries)
        undone = await call(operations, "undo_consolidation", run_id=done["run_id"])
        after = await ask(operations, queries)
    (shown,) = told["runs"]
    return Night(
        mode=mode,
        dry=dry,
        dry_events=_kinds(folder, start, end),
        done=done,
        decided=decided(folder, done["run_id"]),
        shown=sum(len(merge["absorbed"]) for merge in shown["merges"]) + len(shown["pruned"]),
        undone=undone,
        before=before,
        asleep=asleep,
        after=after,
    )


async def beside(
    folder: Path, mode: str, threshold: float, queries: Sequence[Query]
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of searches alone, and of those one after another beside a run in the same process."""
    meanwhile: list[float] = []
    asleep = anyio.Event()
    with open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        await ask(operations, queries)  # warms up
        alone = (await ask(operations, queries)).milliseconds

        async def sleep() -> None:
            wanted = {"mode": mode, "salience_threshold": threshold}
            await call(operations, "consolidate_memories", **wanted)
            while len(meanwhile) < ENOUGH:
                await call(operations, "consolidate_memories", **wanted, dry_run=True)
            asleep.set()

        async with anyio.create_task_group() as group:
            group.start_soon(sleep)
            while not asleep.is_set():
                _, took = await search(operations, queries[len(meanwhile) % len(queries)].question)
                if not asleep.is_set():
                    meanwhile.append(took)
    return list(alone), meanwhile


def decided(folder: Path, run: str) -> Decided:
    """Read what a run decided from the log of a closed store, checking the whole chain on the way."""
    wanted = UUID(run)
    log = DuckDBLog(folder)
    try:
        events = [one.event for one in log.read() if getattr(one.event, "run", None) == wanted]
    finally:
        log.close()
    merges = [event for event in events if isinstance(event, MemoriesMerged)]
    pruned = [one.memory for event in events if isinstance(event, MemoriesPruned) for one in event.pruned]
    finished = [event.counts for event in events if isinstance(event, ConsolidationFinished)]
    return Decided(
        finished=bool(finished),
        heirs={str(memory): str(merge.survivor) for merge in merges for memory in merge.absorbed},
        pruned=frozenset(map(str, pruned)),
        there=Counts(
            merged=sum(len(merge.absorbed) for merge in merges),
            pruned=len(pruned),
            clusters=sum(len(event.clusters) for event in events if isinstance(event, ClustersFormed)),
            patterns=sum(isinstance(event, PatternDiscovered) for event in events),
            strengthened=sum(len(event.links) for event in events if isinstance(event, LinksStrengthened)),
            shortcuts=sum(len(event.shortcuts) for event in events if isinstance(event, ShortcutsDrawn)),
            replayed=sum(len(event.memories) for event in events if isinstance(event, MemoriesReplayed)),
            goals_adjusted=sum(isinstance(event, GoalAdjusted) for event in events),
        ),
        counts=finished[0] if finished else Counts(),
    )


def runs(folder: Path) -> list[str]:
    """Return the runs that the log of a closed store knows of, in their order."""
    log = DuckDBLog(folder)
    try:
        return [str(one.event.run) for one in log.read() if isinstance(one.event, ConsolidationStarted)]
    finally:
        log.close()


def _kinds(folder: Path, after: int, until: int) -> tuple[str, ...]:
    log = DuckDBLog(folder)
    try:
        return tuple(type(one.event).__name__ for one in log.get(range(after + 1, until + 1)))
    finally:
        log.close()


async def _position(operations: Operations) -> int:
    return (await operations.status())["log"]["position"]
