"""Latencies of each kind of work: median and 95th percentile of the last thousand samples."""

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np

WINDOW = 1_000

BUCKETS = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 10_000.0)
"""Upper bounds of a histogram's buckets, in milliseconds."""


class Latency(msgspec.Struct, frozen=True):
    """Latency of one kind of work, in milliseconds."""

    median: float
    p95: float
    count: int


class Histogram(msgspec.Struct):
    """All samples of one kind of work since the process started."""

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    """Samples up to each bound of `BUCKETS`, and above the last one; each sample counts in one of them."""
    total: float = 0.0
    """Milliseconds."""


class Latencies:
    """Thread-safe samples by name, saved in a file that may be deleted at any time."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[float]] = {}
        self._histograms: dict[str, Histogram] = {}
        self._lock = threading.Lock()

    def record(self, name: str, milliseconds: float) -> None:
        """Add one sample."""
        with self._lock:
            self._samples.setdefault(name, deque(maxlen=WINDOW)).append(milliseconds)
            histogram = self._histograms.setdefault(name, Histogram())
            histogram.counts[bisect_left(BUCKETS, milliseconds)] += 1
            histogram.total += milliseconds

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Record how long the body takes, unless it raises."""
        start = perf_counter()
        yield
        self.record(name, (perf_counter() - start) * 1e3)

    def histograms(self) -> dict[str, Histogram]:
        """Return a copy of all histograms by name."""
        with self._lock:
            return {
                name: Histogram(counts=list(one.counts), total=one.total)
                for name, one in sorted(self._histograms.items())
            }

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
