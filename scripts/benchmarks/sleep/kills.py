"""kill -9 at random moments of a consolidation run: afterwards the store holds all of the run or nothing."""

import multiprocessing
import random
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
import msgspec

from benchmarks import SEED
from benchmarks.sleep.runs import Decisions, read_decisions, run_ids
from benchmarks.store import open_store

PATIENCE = 600.0
LATE = 0.9
"""Every other kill comes after this share of the run, when the decisions are written."""


class Kill(msgspec.Struct, frozen=True):
    """What a killed run left."""

    moment: float
    """Seconds after its beginning."""
    answered: bool
    """Whether the run had answered by then."""
    decisions: Decisions | None
    """None if not even its beginning is in the log."""
    live: int
    """Live memories after the store was opened again."""


async def kill_runs(
    copy: Callable[[], Path], kills: int, arguments: dict[str, Any], advance: Callable[[], object]
) -> list[Kill]:
    """Consolidate fresh copies of a store in child processes, and kill each at another moment."""
    rng = random.Random(SEED)
    seconds, _ = await anyio.to_thread.run_sync(_run, copy(), arguments, None)
    killed = []
    for number in range(kills):
        moment = rng.uniform(LATE if number % 2 else 0, 1) * seconds
        folder = copy()
        _, answered = await anyio.to_thread.run_sync(_run, folder, arguments, moment)
        runs = run_ids(folder)
        async with open_store(folder, models=False) as store:
            live = await store.live()
        killed.append(Kill(moment, answered, read_decisions(folder, runs[-1]) if runs else None, live))
        advance()
    return killed


def _run(folder: Path, arguments: dict[str, Any], moment: float | None) -> tuple[float, bool]:
    """Consolidate in a child process; return the seconds until it answered or was killed, and whether it answered."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    child = spawning.Process(target=_child, args=(theirs, folder, arguments))
    child.start()
    theirs.close()
    try:
        if not ours.poll(PATIENCE):
            raise TimeoutError("the child process doesn't begin")
        ours.recv()
        start = perf_counter()
        answered = ours.poll(PATIENCE if moment is None else moment)
        if answered:
            ours.recv()  # raises EOFError if the child ended by itself
        return perf_counter() - start, answered
    finally:
        child.kill()
        child.join()
        ours.close()


def _child(parent: Connection, folder: Path, arguments: dict[str, Any]) -> None:
    """Consolidate once, notify the parent right before and after, and wait to be killed."""

    async def run() -> None:
        async with open_store(folder, models=False) as store:
            parent.send("begins")
            await store.call("consolidate_memories", **arguments)
            parent.send("answered")
            await anyio.sleep(PATIENCE)

    anyio.run(run)
