"""kill -9 at random moments of a run: it did all or nothing, and the store opens again."""

import multiprocessing
import random
import shutil
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio
import msgspec

from actors.api.operations.facade import Operations
from actors.hub.composition import open_hub
from benchmarks.mind.verdicts import Verdict
from benchmarks.sleep.asking import call
from benchmarks.sleep.judging import whole
from benchmarks.sleep.nights import Decided, decided, runs

SEED = 20_261_121
PATIENCE = 600.0
LATE = 0.9
"""Every other kill comes after this share of the run, where what was decided is written."""


class Kill(msgspec.Struct, frozen=True):
    """What was left of a run that was killed."""

    moment: float
    """Seconds after its beginning."""
    ended: bool
    """Whether it had answered by then."""
    decided: Decided | None
    """None where even its beginning isn't in the log."""
    live: int
    """Memories that the store finds when it is opened again."""


async def campaign(
    soil: Path, scratch: Path, kills: int, wanted: dict[str, Any], advance: Callable[[], object]
) -> list[Kill]:
    """Run on fresh copies of a store in processes of their own, and kill each one at another moment."""
    chance = random.Random(SEED)  # noqa: S311 -- a moment, not a secret
    took, _ = await anyio.to_thread.run_sync(_run, _fresh(soil, scratch), wanted, None)
    killed = []
    for number in range(kills):
        moment = chance.uniform(LATE if number % 2 else 0, 1) * took
        folder = _fresh(soil, scratch)
        _, ended = await anyio.to_thread.run_sync(_run, folder, wanted, moment)
        last = (runs(folder) or [None])[-1]
        with open_hub(folder) as hub:
            operations = Operations(hub)
            await operations.replayed()
            live = (await operations.status())["memories"]["live"]
        killed.append(Kill(moment, ended, decided(folder, last) if last else None, live))
        advance()
    return killed


def survived(memories: int, killed: Sequence[Kill]) -> Verdict:
    """Judge what was left: all that a run decided, or nothing of it."""
    half = [kill for kill in killed if not _all_or_none(memories, kill)]
    finished = sum(kill.decided is not None and kill.decided.finished for kill in killed)
    return Verdict(
        "kill -9 in a run leaves all of it or nothing",
        {
            "kills": len(killed),
            "after its beginning, s": [kill.moment for kill in killed],
            "all was there": finished,
            "nothing": len(killed) - finished - len(half),
            "something in between": len(half),
            "had answered already": sum(kill.ended for kill in killed),
        },
        not half,
    )


def _all_or_none(memories: int, kill: Kill) -> bool:
    done = kill.decided
    if done is None:
        return kill.live == memories and not kill.ended
    gone = len(done.heirs) + len(done.pruned)
    return whole(done) and kill.live == memories - gone and (done.finished or not kill.ended)


def _fresh(soil: Path, scratch: Path) -> Path:
    folder = scratch / "killed"
    shutil.rmtree(folder, ignore_errors=True)
    return shutil.copytree(soil, folder)


def _run(folder: Path, wanted: dict[str, Any], moment: float | None) -> tuple[float, bool]:
    """Run in a child; return the seconds until it ended or was killed, and whether it ended."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    child = spawning.Process(target=_child, args=(theirs, folder, wanted))
    child.start()
    theirs.close()
    try:
        if not ours.poll(PATIENCE):
            raise TimeoutError("the child doesn't begin")
        ours.recv()
        start = perf_counter()
        ended = ours.poll(PATIENCE if moment is None else moment)
        if ended:
            ours.recv()  # an `EOFError` says that it died by itself
        took = perf_counter() - start
    finally:
        child.kill()
        child.join()
        ours.close()
    return took, ended


def _child(parent: Connection, folder: Path, wanted: dict[str, Any]) -> None:
    """Run once, telling the parent right before and after, and wait to be killed."""

    async def sleep() -> None:
        with open_hub(folder) as hub:
            operations = Operations(hub)
            await operations.replayed()
            parent.send("begins")
            await call(operations, "consolidate_memories", **wanted)
            parent.send("ended")
            await anyio.sleep(PATIENCE)

    anyio.run(sleep)
