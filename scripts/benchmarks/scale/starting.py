"""How long it takes from the start of a window to its first answer, at any size, with a snapshot and without."""

import shutil
import signal
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import msgspec

from benchmarks.crash.killing import end, hub_of
from benchmarks.crash.store import SNAPSHOTS
from benchmarks.crash.window import Window
from benchmarks.scale.throughput import resident

QUERIES = ("where the queue of the threads is emptied", "how a path is joined with another one")
LOADING = "loading the models"
"""What is told once the log is read, or a snapshot in place of it."""


class Start(msgspec.Struct, frozen=True):
    """One cold start, in seconds from the start of the window's process."""

    initialized: float
    known: float
    """Until the log was replayed, or a snapshot thawed."""
    answered: float
    """Until the first search was answered."""
    search: float
    """A second search, which has nothing to wait for."""
    peak_mb: float

    @property
    def models(self) -> float:
        """Seconds that the models took beyond what is known by then."""
        return max(0.0, self.answered - self.known - self.search)


def started(folder: Path, errors: Path) -> Start:
    """Start a window on a store that nobody serves, ask it something, and kill all of it."""
    window = Window(folder, errors)
    known: list[float] = []

    def heard(message: dict[str, Any]) -> None:
        if LOADING in message.get("params", {}).get("message", ""):
            known.append(monotonic())

    start = monotonic()
    try:
        window.open()
        initialized = monotonic()
        asked = {"name": "search_graph", "arguments": {"query": QUERIES[0]}, "_meta": {"progressToken": "start"}}
        window.ask("tools/call", asked, heard=heard)
        answered = monotonic()
        search = window.call("search_graph", query=QUERIES[1]).seconds
        peak = _peak(hub_of(folder))
    finally:
        window.close()  # first, or it would start another hub
        end(folder, signal.SIGKILL)
    return Start(initialized - start, (known or [answered])[0] - start, answered - start, search, peak)


def measured(folder: Path, errors: Path, rounds: int, *, snapshot: bool) -> Start:
    """Start several times, and return the median of each figure; the files are in the system's cache by then."""
    starts = []
    if snapshot:
        make_snapshot(folder, errors)
    for _ in range(rounds):
        if not snapshot:
            shutil.rmtree(folder / SNAPSHOTS, ignore_errors=True)
        starts.append(started(folder, errors))
    return Start(*(median(getattr(one, name) for one in starts) for name in Start.__struct_fields__))


def make_snapshot(folder: Path, errors: Path) -> None:
    """Serve the store until everything is known, and end in order: that leaves a snapshot."""
    window = Window(folder, errors)
    try:
        window.call("search_graph", query=QUERIES[0])
    finally:
        window.close()
        end(folder, signal.SIGTERM)


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _peak(pid: int | None) -> float:
    """Return the megabytes that a process has held at most; where the system doesn't tell, those that it holds."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return resident(pid)
    (line,) = [line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024
