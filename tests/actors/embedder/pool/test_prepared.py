"""The pool of a bulk embedding starts and ends beside other work."""

from concurrent.futures import Future
from threading import Event

import pytest

from actors.embedder.pool.ordering import EmbeddingPool
from actors.embedder.pool.prepared import BulkEmbedding
from actors.embedder.pool.worker import Batch, Embedded
from actors.runtime.faults import EmbeddingFault

PATIENCE = 60.0


class Pool:
    """Answers at once; its end waits until it is let go."""

    workers = 2

    def __init__(self) -> None:
        self.submitted: list[Batch] = []
        self.may_close = Event()
        self.closed = False

    def submit(self, batch: Batch) -> Future[Embedded]:
        self.submitted.append(batch)
        answer: Future[Embedded] = Future()
        answer.set_result([])
        return answer

    def close(self) -> None:
        assert self.may_close.wait(PATIENCE)
        self.closed = True


def test_a_pool_starts_and_loads_its_models_before_the_first_batch_and_ends_after_the_last() -> None:
    pool, may_start, begun = Pool(), Event(), Event()

    def start(_precision: str | None) -> EmbeddingPool:
        begun.set()
        assert may_start.wait(PATIENCE)
        return pool

    with BulkEmbedding(start) as bulk:
        started = bulk.start()
        assert begun.wait(PATIENCE)
        assert not started.done()
        may_start.set()
        started.result(PATIENCE)
        assert pool.submitted == [(), ()], "one for each worker"
        assert len(list(bulk.prepare([[], [], []]))) == 3
        assert len(pool.submitted) == 5
        assert not pool.closed
        pool.may_close.set()
    assert pool.closed


def test_a_pool_that_no_batch_needed_is_closed_too() -> None:
    pool = Pool()
    pool.may_close.set()
    with BulkEmbedding(lambda _: pool) as bulk:
        bulk.start()
    assert pool.closed


def test_a_pool_that_does_not_start_fails_at_the_first_batch() -> None:
    def start(_precision: str | None) -> EmbeddingPool:
        raise EmbeddingFault("Ray is not installed")

    with BulkEmbedding(start) as bulk:
        bulk.start()
        with pytest.raises(EmbeddingFault, match="Ray is not installed"):
            next(bulk.prepare([[]]))


def test_a_pool_that_cannot_be_closed_is_an_error() -> None:
    class Broken(Pool):
        def close(self) -> None:
            raise OSError("no such process")

    def run() -> None:
        with BulkEmbedding(lambda _: Broken()) as bulk:
            assert len(list(bulk.prepare([[]]))) == 1

    with pytest.raises(OSError, match="no such process"):
        run()
