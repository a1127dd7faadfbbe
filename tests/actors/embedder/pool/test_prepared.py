"""The pool of a bulk embedding embeds ahead of the hub."""

import pytest

from actors.embedder.pool.prepared import BulkEmbedding
from actors.embedder.pool.worker import EmbeddingPool
from actors.runtime.faults import EmbeddingFault
from tests.actors.embedder.pool.test_pools import FakePool


def test_a_pool_loads_its_models_before_the_first_batch_and_ends_after_the_last() -> None:
    pool = FakePool()
    with BulkEmbedding(lambda _: pool) as bulk:
        bulk.start()
        assert pool.submitted == [(), ()], "one for each worker"
        assert len(list(bulk.prepare([[], [], []]))) == 3
        assert len(pool.submitted) == 5
        assert not pool.closed
    assert pool.closed


def test_a_pool_that_does_not_start_fails() -> None:
    def start(_precision: str | None) -> EmbeddingPool:
        raise EmbeddingFault("Ray is not installed")

    with BulkEmbedding(start) as bulk, pytest.raises(EmbeddingFault, match="Ray is not installed"):
        bulk.start()
