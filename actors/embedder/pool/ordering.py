"""Batches through a pool: bounded, retried, and answered in their order."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from typing import Final, Protocol

from actors.embedder.pool.worker import Batch, Embedded
from actors.runtime.faults import EmbeddingFault

AHEAD: Final = 2
"""Batches for each worker that are in flight: one in work, one that waits, so that no worker idles."""

TRIES: Final = 3
"""Attempts at a batch whose worker ended."""


class WorkerLostError(Exception):
    """A worker ended before it answered."""


LOST: Final = (WorkerLostError, BrokenExecutor)


class EmbeddingPool(Protocol):
    """Workers that embed batches independently of each other."""

    workers: int

    def submit(self, batch: Batch) -> Future[Embedded]:
        """Queue a batch; the result is one of `LOST` if its worker ends."""
        ...

    def close(self) -> None:
        """Stop the workers."""
        ...


def embed_in_order(pool: EmbeddingPool, batches: Iterable[Batch]) -> Iterator[Embedded]:
    """Yield the results of batches in order, and read these as workers need them (`EmbeddingFault`: `TRIES` failed)."""
    waiting: deque[tuple[Batch, Future[Embedded]]] = deque()
    for batch in batches:
        waiting.append((batch, pool.submit(batch)))
        if len(waiting) >= AHEAD * pool.workers:
            yield _result(pool, *waiting.popleft())
    while waiting:
        yield _result(pool, *waiting.popleft())


def _result(pool: EmbeddingPool, batch: Batch, future: Future[Embedded]) -> Embedded:
    for _ in range(TRIES - 1):
        try:
            return future.result()
        except LOST:
            future = pool.submit(batch)
    try:
        return future.result()
    except LOST as error:
        raise EmbeddingFault(f"Embedding failed: {TRIES} workers ended at the same batch: {error}") from error
