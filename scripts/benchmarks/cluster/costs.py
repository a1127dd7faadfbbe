"""What sharing a log costs: appends of several processes, stores beside a folder, the lag of a follower, a router."""

from contextlib import AsyncExitStack, ExitStack, closing
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import monotonic
from uuid import uuid4

import anyio
from context_graph.transports import HttpTransport

from actors.api.caller import Scope
from actors.api.context import wait_until_ready, wait_until_replayed
from actors.http.access.keys import KEYS, Keys
from actors.hub.composition import open_hub
from benchmarks.cluster.server import Server
from benchmarks.processes import PATIENCE, Child, serving
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
MEMORIES = 200
"""Of each hub behind the router."""


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
    """Return the events a second of `hubs` processes that append at once."""
    with ExitStack() as stack:
        children = [stack.enter_context(closing(Child(_append, url, folder / str(number)))) for number in range(hubs)]
        for child in children:
            child.receive()
        for child in children:
            child.pipe.send("all are ready")
        return sum(child.receive() for child in children) / SECONDS


def _append(parent: Connection, url: str, folder: Path) -> None:
    """Append groups once all processes are ready; send how many events were committed in time."""
    with closing(PostgresLog(url, folder)) as log:
        parent.send("ready")
        parent.recv()
        count, start = 0, monotonic()
        while monotonic() < start + SECONDS:
            log.begin()
            log.append([_draft() for _ in range(GROUP)])
            count += GROUP
        parent.send(count)


def _draft() -> Draft:
    event = MemoryForgotten(memory=uuid4())
    return Draft(id=uuid4(), at=datetime.now(UTC), actor="bench", correlation_id=uuid4(), event=event)


def measure_routing(folder: Path, samples: int) -> list[Verdict]:
    """Start two hubs and a router as processes; time searches of one hub directly, through the router, and of both."""
    names = ("one", "two")
    for name in names:
        (folder / name).mkdir(parents=True)
    key = Keys(folder / "one").create("bench", Scope.ADMIN, None)
    (folder / "two" / KEYS).write_bytes((folder / "one" / KEYS).read_bytes())
    with ExitStack() as stack:
        urls = {
            name: stack.enter_context(
                serving("serve", "--http", "127.0.0.1:0", "--namespaces", name, "--data", str(folder / name))
            )
            for name in names
        }
        hubs = [option for name, url in urls.items() for option in ("--hub", f"{name}={url}")]
        route = stack.enter_context(serving("route", "--listen", "127.0.0.1:0", *hubs))
        direct, routed = (
            stack.enter_context(closing(HttpTransport(url, key, None, PATIENCE))) for url in (urls["one"], route)
        )
        texts = iter(sentences(WORDS))
        for name in names:
            for _ in range(MEMORIES):
                routed.call("store_memory", {"content": next(texts), "namespace": name})
        ways = {
            "direct": (direct, {"namespace": "one"}),
            "routed": (routed, {"namespace": "one"}),
            "merged": (routed, {}),
        }
        times = Times()
        for query in (next(texts) for _ in range(samples)):
            for way, (transport, within) in ways.items():
                with times.timed(way):
                    transport.call("search_graph", {"query": query, **within})
    added = [through - without for through, without in zip(times["routed"], times["direct"], strict=True)]
    figures = {f"{way}, ms": quantiles for way, quantiles in times.quantiles().items()}
    return [Verdict("a search through the router", {**figures, "added pair by pair, median ms": median(added)})]
