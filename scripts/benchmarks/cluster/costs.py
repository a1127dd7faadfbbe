"""What sharing a log costs: grouped appends of several processes, stores beside a folder, and the lag of a follower."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from threading import Barrier
from time import monotonic, perf_counter
from uuid import uuid4

import anyio
import msgspec

from actors.hub.composition import open_hub
from benchmarks.cluster.server import Server
from benchmarks.report import quantiles
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


class Costs(msgspec.Struct, frozen=True):
    """The figures of a server beside those of a folder, in milliseconds; the throughput in events a second."""

    throughput: float
    folder_ms: dict[str, float]
    server_ms: dict[str, float]
    factor: float
    """Of the medians."""
    lag_ms: dict[str, float]


async def measure(server: Server, folder: Path, hubs: int, samples: int) -> Costs:
    """Measure everything on new logs of a server."""
    throughput = _throughput(server.new_log(), folder / "appends", hubs)
    texts = iter(sentences(WORDS))
    url = server.new_log()
    async with AsyncExitStack() as stack:
        local = Store(stack.enter_context(open_hub(folder / "local")))
        shared = Store(stack.enter_context(open_hub(folder / "shared", address=url)))
        follower = Store(stack.enter_context(open_hub(folder / "follower", address=url)))
        for store in (local, shared):
            await store.ready()
            for _ in range(WARM_UP):
                await store.store(content=next(texts))
        await follower.replayed()
        times: dict[str, list[float]] = {"folder": [], "server": [], "lag": []}
        for _ in range(samples):  # in turn, so that the machine's other work hits both
            content = next(texts)
            times["folder"].append(await _timed(local.store, content))
            times["server"].append(await _timed(shared.store, content))
            times["lag"].append(await _lag(shared, follower))
    folder_ms, server_ms, lag = (quantiles(times[name]) for name in ("folder", "server", "lag"))
    return Costs(throughput, folder_ms, server_ms, server_ms["median"] / folder_ms["median"], lag)


async def _timed(store: Callable[..., Awaitable[str]], content: str) -> float:
    start = perf_counter()
    await store(content=content)
    return (perf_counter() - start) * 1e3


async def _lag(shared: Store, follower: Store) -> float:
    """Return the milliseconds until the follower has the last event of a hub."""
    start, seq = perf_counter(), shared.hub.log.head.seq
    while follower.hub.log.head.seq < seq:  # noqa: ASYNC110 -- a hub notifies nobody of what it has folded
        await anyio.sleep(0.0005)
    return (perf_counter() - start) * 1e3


def _throughput(url: str, folder: Path, hubs: int) -> float:
    """Return the events a second of so many processes that append in turn."""
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
    return Draft(
        id=uuid4(),
        at=datetime.now(UTC),
        actor="bench",
        correlation_id=uuid4(),
        event=MemoryForgotten(memory=uuid4()),
    )
