"""What a router adds: the same requests to a hub directly and through the router, in turns."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, perf_counter, sleep

import httpx2
import msgspec
from context_graph.transports import HttpTransport

from actors.api.caller import Scope
from actors.http.access.keys import KEYS, Keys
from actors.proxy.endpoint import read_hub_info
from benchmarks.report import quantiles
from benchmarks.synthetic import sentences

COMMAND = str(Path(sys.executable).parent / "context-graph")
PATIENCE = 120.0
POLL = 0.1
MEMORIES = 200
"""Of each hub."""
WORDS = 20


class Routing(msgspec.Struct, frozen=True):
    """Milliseconds of a search: of one hub directly, of that hub through the router, and merged from two hubs."""

    direct_ms: dict[str, float]
    routed_ms: dict[str, float]
    merged_ms: dict[str, float]
    added_ms: float
    """Median of the differences between the second and the first, pair by pair."""


def measure_routing(folder: Path, samples: int) -> Routing:
    """Start two hubs and a router as processes, and search."""
    with ExitStack() as stack:
        urls: dict[str, str] = {}
        key = ""
        for name in ("one", "two"):
            store = folder / name
            store.mkdir(parents=True)
            if not key:
                key = Keys(store).create("bench", Scope.ADMIN, None)
            else:
                (store / KEYS).write_bytes((folder / "one" / KEYS).read_bytes())
            options = ["--namespaces", name, "--data", str(store)]
            stack.enter_context(_process("serve", "--http", f"127.0.0.1:{_free_port()}", *options))
            urls[name] = _url_of(store)
        route = f"http://127.0.0.1:{_free_port()}"
        hubs = [option for name, url in urls.items() for option in ("--hub", f"{name}={url}")]
        stack.enter_context(_process("route", "--listen", route.removeprefix("http://"), *hubs))
        _wait_for(route)
        direct, routed = (HttpTransport(url, key, None, PATIENCE) for url in (urls["one"], route))
        stack.callback(direct.close)
        stack.callback(routed.close)
        texts = iter(sentences(WORDS))
        for name in urls:
            for _ in range(MEMORIES):
                routed.call("store_memory", {"content": next(texts), "namespace": name})
        times: dict[str, list[float]] = {"direct": [], "routed": [], "merged": []}
        for _ in range(samples):
            query = next(texts)
            times["direct"].append(_timed(direct, {"query": query, "namespace": "one"}))
            times["routed"].append(_timed(routed, {"query": query, "namespace": "one"}))
            times["merged"].append(_timed(routed, {"query": query}))
    added = [through - without for through, without in zip(times["routed"], times["direct"], strict=True)]
    direct_ms, routed_ms, merged_ms = (quantiles(times[name]) for name in ("direct", "routed", "merged"))
    return Routing(direct_ms, routed_ms, merged_ms, quantiles(added)["median"])


def _timed(transport: HttpTransport, arguments: dict[str, str]) -> float:
    start = perf_counter()
    transport.call("search_graph", arguments)
    return (perf_counter() - start) * 1e3


@contextmanager
def _process(*arguments: str) -> Iterator[None]:
    process = subprocess.Popen([COMMAND, *arguments], stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def _url_of(store: Path) -> str:
    until = monotonic() + PATIENCE
    while (info := read_hub_info(store)) is None or info.http is None:
        if monotonic() > until:
            raise TimeoutError(f"the hub of {store} doesn't serve HTTP")
        sleep(POLL)
    return info.http


def _wait_for(url: str) -> None:
    until = monotonic() + PATIENCE
    while True:
        try:
            httpx2.get(f"{url}/healthz")
        except httpx2.HTTPError:
            if monotonic() > until:
                raise
            sleep(POLL)
        else:
            return
