"""What sharing a log costs: grouped appends of several processes, stores beside a folder, and the lag of a follower."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier
from time import monotonic
from uuid import uuid4

import anyio

from actors.api.context import wait_until_ready, wait_until_replayed
from actors.hub.composition import open_hub
from benchmarks.cluster.server import Server
from benchmarks.report import Times, Verdict
from benchmarks.store import Store
from benchmarks.synthetic import sentences
from events.postgres.log import PostgresLog
from events.storage.log import Draft
from events.vocabulary import MemoryForgotten

THROUGHPUT = 4_000
FACTOR = 1.3
LAG_MS = 50.0

GROUP = 64
"""Events of one append, as where many requests wait for it."""
SECONDS = 3.0
"""Of grouped appends."""
WORDS = 20
WARM_UP = 10
"""Stores before those that are timed."""


async def measure_costs(server: Server, folder: Path, hubs: int, samples: int) -> list[Verdict]:
    """Judge new logs of a server beside one in a folder."""
    throughput = _throughput(server.new_log(), folder / "appends", hubs)
    texts = iter(sentences(WORDS))
    url = server.new_log()
    async with AsyncExitStack() as stack:
        local = Store(stack.enter_context(open_hub(folder / "local")))
        shared = Store(stack.enter_context(open_hub(folder / "shared", address=url)))
        follower = Store(stack.enter_context(open_hub(folder / "follower", address=url)))
        for store in (local, shared):
            await wait_until_ready(store.context)
            for _ in range(WARM_UP):
                await store.store(content=next(texts))
        await wait_until_replayed(follower.context)
        times = Times()
        for _ in range(samples):  # in turn, so that the machine's other work hits both
            content = next(texts)
            with times.timed("folder"):
                await local.store(content=content)
            with times.timed("server"):
                await shared.store(content=content)
            with times.timed("lag"):
                last = shared.hub.log.head.seq
                while follower.hub.log.head.seq < last:  # noqa: ASYNC110 -- a hub notifies nobody of what it has folded
                    await anyio.sleep(0.0005)
    folder_ms, server_ms, lag_ms = times.quantiles().values()
    factor = server_ms["median"] / folder_ms["median"]
    return [
        Verdict(
            f"grouped appends of all hubs: {THROUGHPUT:,} events a second",
            {"events a second": throughput},
            throughput >= THROUGHPUT,
        ),
        Verdict(
            f"a store takes at most {FACTOR} times as long as in a folder",
            {"folder, ms": folder_ms, "server, ms": server_ms, "factor": factor},
            factor <= FACTOR,
        ),
        Verdict(
            f"another hub has the event at most {LAG_MS:.0f} ms after the answer",
            {"ms": lag_ms},
            lag_ms["median"] <= LAG_MS,
        ),
    ]


def _throughput(url: str, folder: Path, hubs: int) -> float:
    """Return the events a second of `hubs` processes that append in turn."""
    context = get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(hubs, context) as pool:
        together = manager.Barrier(hubs)
        counts = [pool.submit(_append, url, folder / str(number), together) for number in range(hubs)]
        return sum(count.result() for count in counts) / SECONDS


def _append(url: str, folder: Path, together: Barrier) -> int:
    """Append groups once all processes are ready; return how many events were committed in time."""
    with closing(PostgresLog(url, folder)) as log:
        together.wait()
        count, start = 0, monotonic()
        while monotonic() < start + SECONDS:
            log.begin()
            log.append([_draft() for _ in range(GROUP)])
            count += GROUP
        return count


def _draft() -> Draft:
    event = MemoryForgotten(memory=uuid4())
    return Draft(id=uuid4(), at=datetime.now(UTC), actor="bench", correlation_id=uuid4(), event=event)
