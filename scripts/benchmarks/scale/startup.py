"""Cold starts: from the start of a proxy to its first answer, with a snapshot and without."""

import shutil
import signal
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import msgspec

from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.processes import hub_of, peak_mb
from benchmarks.serve_client import serve_clients

QUERIES = ("where the queue of the threads is emptied", "how a path is joined with another one")
LOADING = "loading the models"
"""Progress message after the log is replayed or a snapshot loaded."""


class Start(msgspec.Struct, frozen=True):
    """One cold start, in seconds since the proxy was started."""

    initialized: float
    restored: float
    """Until the log was replayed, or a snapshot loaded."""
    answered: float
    """Until the first search was answered."""
    search: float
    """Duration of a second search."""
    peak_mb: float


def cold_start(folder: Path, errors: Path) -> Start:
    """Start a proxy on a store that no process serves, search twice, and kill everything."""
    restored: list[float] = []

    def on_notification(message: dict[str, Any]) -> None:
        if LOADING in message.get("params", {}).get("message", ""):
            restored.append(monotonic())

    with serve_clients(folder, errors, end=signal.SIGKILL) as (client,):
        start = monotonic()
        client.open()
        initialized = monotonic()
        search = {"name": "search_graph", "arguments": {"query": QUERIES[0]}, "_meta": {"progressToken": "start"}}
        client.ask("tools/call", search, on_notification=on_notification)
        answered = monotonic()
        second = client.call("search_graph", query=QUERIES[1]).seconds
        peak = peak_mb(hub_of(folder))
    return Start(initialized - start, (restored or [answered])[0] - start, answered - start, second, peak)


def median_start(folder: Path, errors: Path, rounds: int, *, snapshot: bool) -> Start:
    """Start several times and return the median of each figure; the files are in the system's cache by then."""
    if snapshot:
        with serve_clients(folder, errors) as (client,):  # an orderly end writes a snapshot
            client.call("search_graph", query=QUERIES[0])
    starts = []
    for _ in range(rounds):
        if not snapshot:
            shutil.rmtree(folder / SNAPSHOTS, ignore_errors=True)
        starts.append(cold_start(folder, errors))
    return Start(*map(median, zip(*map(msgspec.structs.astuple, starts), strict=True)))


def read_memory(folder: Path, errors: Path) -> dict[str, float]:
    """Return the megabytes of each part of a store's projections and of each graph, largest first."""
    with serve_clients(folder, errors) as (client,):
        answer = client.ask("store/status", {}).answer
    graphs = {f"graph of {name}": state["megabytes"] for name, state in answer["graphs"].items() if state["graph"]}
    return dict(sorted((answer["memory_mb"] | graphs).items(), key=lambda part: -part[1]))
