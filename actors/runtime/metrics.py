"""How long things take, as measured where they happen: median and 95th percentile of the last thousand."""

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
    """Milliseconds of one kind of work."""

    median: float
    p95: float
    count: int


class Latencies:
    """Samples by name, fed from any thread; they outlive the process in a file that may be deleted at will."""

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
        """Return the latency of everything that was measured, by name."""
        with self._lock:
            samples = {name: np.array(values) for name, values in self._samples.items()}
        return {
            name: Latency(float(np.median(values)), float(np.quantile(values, 0.95)), len(values))
            for name, values in sorted(samples.items())
        }

    def save(self, path: Path) -> None:
        """Keep the summary for a later `status`, beside what earlier processes measured and this one didn't."""
        if summary := self.summary():
            path.write_bytes(msgspec.json.encode(load(path) | summary))


def load(path: Path) -> dict[str, Latency]:
    """Return what was measured last in each kind of work, or nothing if nothing was."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Latency])
    except (OSError, msgspec.DecodeError):  # a crash may have cut it off; nothing depends on it
        return {}
