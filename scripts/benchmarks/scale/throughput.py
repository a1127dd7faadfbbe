"""Stores per second from real clients, with searches beside, and what each finds of everything stored."""

import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import msgspec

from benchmarks.datasets import evenly
from benchmarks.processes import hub_of, resident_mb, send_signal, wait_until
from benchmarks.report import quantiles
from benchmarks.serve_client import ServeClient, serve_clients
from benchmarks.synthetic import first_words

EVERY = 4
"""Stores after which a client searches once."""
SEARCHED = 20
"""Memories that each client searches for by their words; it retrieves all of them by id."""
WORDS = 8
"""Words of a memory in a query for it."""


class Progress(msgspec.Struct):
    """What clients have done, in milliseconds; appending to its parts is safe in threads."""

    memories: dict[str, str] = {}
    """The acknowledged texts, by id."""
    stores: list[float] = []
    searches: list[float] = []
    errors: list[str] = []


def measure_throughput(
    folder: Path, errors: Path, texts: Sequence[str], clients: int, *, kill: bool, advance: Callable[[], object]
) -> dict[str, Any]:
    """Store texts from `clients` clients at once, an equal share each, then look for all of them from each.

    With `kill`, the hub is killed when half of the texts are stored.
    """
    done = Progress()
    with serve_clients(folder, errors, clients) as opened:
        for client in opened:
            client.call("search_graph", query="warm-up")  # loads the models
        start = monotonic()
        with ThreadPoolExecutor(clients) as pool:
            work = [pool.submit(_store, client, texts[at::clients], done, advance) for at, client in enumerate(opened)]
            if kill:
                half = len(texts) // 2
                wait_until(lambda: len(done.memories) >= half or all(map(Future.done, work)), "", inf, pause=0.005)
                send_signal(hub_of(folder), signal.SIGKILL)
            for one in work:
                one.result()
        seconds = monotonic() - start
        sizes = [resident_mb(client.pid) for client in opened]
        hub_mb = resident_mb(hub_of(folder))
        found, first = _find(opened, done.memories)
    return {
        "stored": len(done.memories),
        "stores per second": len(done.memories) / seconds,
        "store, ms": quantiles(done.stores),
        "search beside, ms": quantiles(done.searches),
        "longest, s": max(chain(done.stores, done.searches)) / 1e3,
        "found by id": {"least": min(found), "most": max(found)},
        "found by its words": f"{sum(first)} of {clients * min(SEARCHED, len(done.memories))}",
        "errors": done.errors,
        "proxies, MB": sum(sizes),
        "the largest, MB": max(sizes),
        "hub, MB": hub_mb,
    }


def _store(client: ServeClient, texts: Sequence[str], done: Progress, advance: Callable[[], object]) -> None:
    for number, text in enumerate(texts):
        reply = client.call("store_memory", str(uuid4()), content=text)
        done.stores.append(reply.seconds * 1e3)
        if "fingerprintId" in reply.answer:
            done.memories[reply.answer["fingerprintId"]] = text
        else:
            done.errors.append(str(reply.answer.get("error")))
        if number % EVERY == 0:
            found = client.call("search_graph", query=first_words(text, WORDS), top_k=5)
            done.searches.append(found.seconds * 1e3)
        advance()


def _find(opened: Sequence[ServeClient], memories: Mapping[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Look for every memory from every client, all at once; return how many each found by id, and by words."""
    some = evenly(list(memories.values()), SEARCHED)

    def look(client: ServeClient) -> tuple[int, int]:
        found = first = 0
        for memory, text in memories.items():
            found += client.call("memory_retrieve", id=memory).answer.get("content") == text
        for text in some:
            answer = client.call("search_graph", query=first_words(text, WORDS), top_k=1).answer
            first += any(result["content"] == text for result in answer.get("results", []))
        return found, first

    with ThreadPoolExecutor(len(opened)) as pool:
        found, first = zip(*pool.map(look, opened), strict=True)
    return found, first
