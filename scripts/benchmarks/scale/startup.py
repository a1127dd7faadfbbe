"""Cold starts: from the start of a window to its first answer, with a snapshot and without."""

import shutil
import signal
from contextlib import closing
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import msgspec

from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.processes import hub_of, peak_mb, stop_hub
from benchmarks.serve_client import ServeClient

QUERIES = ("where the queue of the threads is emptied", "how a path is joined with another one")
LOADING = "loading the models"
"""Progress message after the log is replayed or a snapshot loaded."""


class Start(msgspec.Struct, frozen=True):
    """One cold start, in seconds since the window's process was started."""

    initialized: float
    restored: float
    """Until the log was replayed, or a snapshot loaded."""
    answered: float
    """Until the first search was answered."""
    search: float
    """Duration of a second search."""
    peak_mb: float

    @property
    def models(self) -> float:
        """Seconds that loading the models took after the log was replayed."""
        return max(0.0, self.answered - self.restored - self.search)


def cold_start(folder: Path, errors: Path) -> Start:
    """Start a window on a store that no process serves, search twice, and kill everything."""
    client = ServeClient(folder, errors)
    restored: list[float] = []

    def on_notification(message: dict[str, Any]) -> None:
        if LOADING in message.get("params", {}).get("message", ""):
            restored.append(monotonic())

    start = monotonic()
    try:
        client.open()
        initialized = monotonic()
        search = {"name": "search_graph", "arguments": {"query": QUERIES[0]}, "_meta": {"progressToken": "start"}}
        client.ask("tools/call", search, on_notification=on_notification)
        answered = monotonic()
        second = client.call("search_graph", query=QUERIES[1]).seconds
        peak = peak_mb(hub_of(folder))
    finally:
        client.close()  # first, or it would start another hub
        stop_hub(folder, signal.SIGKILL)
    return Start(initialized - start, (restored or [answered])[0] - start, answered - start, second, peak)


def median_start(folder: Path, errors: Path, rounds: int, *, snapshot: bool) -> Start:
    """Start several times and return the median of each figure; the files are in the system's cache by then."""
    if snapshot:
        _make_snapshot(folder, errors)
    starts = []
    for _ in range(rounds):
        if not snapshot:
            shutil.rmtree(folder / SNAPSHOTS, ignore_errors=True)
        starts.append(cold_start(folder, errors))
    return Start(*(median(getattr(one, name) for one in starts) for name in Start.__struct_fields__))


def read_memory(folder: Path, errors: Path) -> dict[str, float]:
    """Return the megabytes of each part of a store's projections and of each graph, largest first."""
    with closing(ServeClient(folder, errors)) as client:
        answer = client.ask("store/status", {}).answer
        stop_hub(folder)
    graphs = {f"graph of {name}": state["megabytes"] for name, state in answer["graphs"].items() if state["graph"]}
    return dict(sorted((answer["memory_mb"] | graphs).items(), key=lambda part: -part[1]))


def _make_snapshot(folder: Path, errors: Path) -> None:
    """Serve the store until it answers, and end in order, which writes a snapshot."""
    with closing(ServeClient(folder, errors)) as client:
        client.call("search_graph", query=QUERIES[0])
        stop_hub(folder)
