"""Latencies of each kind of work: median and 95th percentile of the last thousand samples."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np

WINDOW = 1_000


class Latency(msgspec.Struct, frozen=True):
    """Latency of one kind of work, in milliseconds."""

    median: float
    p95: float
    count: int


class Latencies:
    """Thread-safe samples by name, saved in a file that may be deleted at any time."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def record(self, name: str, milliseconds: float) -> None:
        """Add one sample."""
        with self._lock:
            self._samples.setdefault(name, deque(maxlen=WINDOW)).append(milliseconds)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Record how long the body takes, unless it raises."""
        start = perf_counter()
        yield
        self.record(name, (perf_counter() - start) * 1e3)

    def summary(self) -> dict[str, Latency]:
        """Return all latencies by name."""
        with self._lock:
            samples = {name: np.array(values) for name, values in self._samples.items()}
        return {
            name: Latency(float(np.median(values)), float(np.quantile(values, 0.95)), len(values))
            for name, values in sorted(samples.items())
        }

    def save(self, path: Path) -> None:
        """Write the summary for `status`; kinds of work that this process didn't measure keep their saved values."""
        if summary := self.summary():
            path.write_bytes(msgspec.json.encode(load(path) | summary))


def load(path: Path) -> dict[str, Latency]:
    """Return saved latencies by name; empty without a readable file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Latency])
    except (OSError, msgspec.DecodeError):  # a crash may truncate the file; nothing depends on it
        return {}
