"""Stores per second through real windows, with searches beside, and what each window finds of what all have stored."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

import msgspec
import numpy as np

from benchmarks.crash.killing import end, hub_of
from benchmarks.crash.window import Window

EVERY = 4
"""Stores after which a client searches once."""
SEARCHED = 20
"""Memories that each client looks for by their words; by their ids it asks for all."""
WORDS = 8
"""Of a memory, by which it is searched."""


class Told(msgspec.Struct):
    """What one client did."""

    memories: dict[str, str] = {}
    """The texts that were acknowledged, by id."""
    stores: list[float] = []
    searches: list[float] = []
    errors: list[str] = []


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """What came of clients that stored side by side."""

    clients: int
    stored: int
    seconds: float
    store_ms: dict[str, float]
    search_ms: dict[str, float]
    longest: float
    """Seconds of the slowest request."""
    errors: list[str]
    found: dict[str, int]
    """How many of all acknowledged memories a client found by their ids: the least and the most."""
    searched: str
    """How many were found first by their words."""
    window_mb: float
    """The largest window."""
    windows_mb: float
    """All windows together."""
    hub_mb: float

    @property
    def rate(self) -> float:
        """Stores per second."""
        return self.stored / self.seconds


def throughput(
    folder: Path, errors: Path, texts: Sequence[str], clients: int, *, kill: bool, advance: Callable[[], object]
) -> Rate:
    """Store texts through so many windows at once, search meanwhile, and look for all of them.

    Args:
        folder: Where the store is made.
        errors: Where the windows' standard error goes.
        texts: What is stored, by each client an equal share.
        clients: How many there are.
        kill: Whether the hub is killed when half is stored.
        advance: Told of each store.
    """
    windows = [Window(folder, errors) for _ in range(clients)]
    told = [Told() for _ in windows]
    try:
        for window in windows:
            window.call("search_graph", query="whatever there may be")  # the models are loaded by then
        share = len(texts) // clients
        work = [
            threading.Thread(
                target=_store, args=(window, texts[number * share : (number + 1) * share], told[number], advance)
            )
            for number, window in enumerate(windows)
        ]
        start = monotonic()
        for thread in work:
            thread.start()
        if kill:
            while sum(len(one.memories) for one in told) < len(texts) // 2:
                sleep(0.005)
            if hub := hub_of(folder):
                os.kill(hub, signal.SIGKILL)
        for thread in work:
            thread.join()
        seconds = monotonic() - start
        sizes = [resident(window.pid) for window in windows]
        hub_mb = resident(hub_of(folder))
        memories = {memory: text for one in told for memory, text in one.memories.items()}
        found, first = _found(windows, memories)
    finally:
        for window in windows:
            window.close()
        end(folder)
    stores, searches = ([one for each in told for one in getattr(each, name)] for name in ("stores", "searches"))
    return Rate(
        clients=clients,
        stored=len(memories),
        seconds=seconds,
        store_ms=_quantiles(stores),
        search_ms=_quantiles(searches),
        longest=max((*stores, *searches)),
        errors=[error for one in told for error in one.errors],
        found={"least": min(found), "most": max(found)},
        searched=f"{sum(first)} of {len(windows) * min(SEARCHED, len(memories))}",
        window_mb=max(sizes),
        windows_mb=sum(sizes),
        hub_mb=hub_mb,
    )


def resident(pid: int | None) -> float:
    """Return the megabytes that a process holds in memory."""
    if pid is None:
        return 0.0
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607 -- wherever the system has it
    return int(shown.stdout or 0) / 1024


def _store(window: Window, texts: Sequence[str], told: Told, advance: Callable[[], object]) -> None:
    for number, text in enumerate(texts):
        reply = window.call("store_memory", str(uuid4()), content=text)
        told.stores.append(reply.seconds)
        if "fingerprintId" in reply.answer:
            told.memories[reply.answer["fingerprintId"]] = text
        else:
            told.errors.append(str(reply.answer.get("error")))
        if number % EVERY == 0:
            told.searches.append(window.call("search_graph", query=_query(text), top_k=5).seconds)
        advance()


def _found(windows: Sequence[Window], memories: Mapping[str, str]) -> tuple[list[int], list[int]]:
    """Let every client ask for everything that any of them has stored, all at once."""
    some = list(memories.items())[:: max(1, len(memories) // SEARCHED)][:SEARCHED]
    found, first = [0] * len(windows), [0] * len(windows)

    def look(number: int, window: Window) -> None:
        for memory, text in memories.items():
            found[number] += window.call("memory_retrieve", id=memory).answer.get("content") == text
        for _, text in some:
            results = window.call("search_graph", query=_query(text), top_k=1).answer.get("results", [])
            first[number] += any(result["content"] == text for result in results)

    work = [threading.Thread(target=look, args=numbered) for numbered in enumerate(windows)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return found, first


def _query(text: str) -> str:
    return " ".join(text.split()[:WORDS])


def _quantiles(seconds: Sequence[float]) -> dict[str, float]:
    return {"median": float(np.median(seconds)) * 1e3, "p95": float(np.quantile(seconds, 0.95)) * 1e3}
