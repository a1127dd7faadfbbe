"""Pools of workers: the bytes of one thread on processes and on Ray, order, faults, and workers that end."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest

from actors.embedder.messages import Content
from actors.embedder.pool.local import ProcessPool, ThreadPool
from actors.embedder.pool.prepared import AHEAD, embed_in_order
from actors.embedder.pool.worker import TRIES, Batch, Embedded, EmbeddingPool, WorkerLostError, WorkerSettings
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.faults import EmbeddingFault, Fault
from events.vocabulary.values import Modality

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
SIZE = 6


@pytest.fixture(scope="module")
def settings(profile: EmbeddedProfile) -> WorkerSettings:
    return WorkerSettings("embedded", precision=profile.precision)


@pytest.fixture(scope="module")
def batches() -> list[list[Content]]:
    """Paragraphs and code of this repository, some of several windows, in batches; one is a picture."""
    root = Path(__file__).parents[4]
    parts = [*(root / "ARCHITECTURE.md").read_text("utf-8").split("\n\n")[:12], Path(__file__).read_text("utf-8")]
    contents = [
        Content(text, Modality.TEXT, AT + timedelta(hours=hour)) for hour, text in enumerate(parts) if text.strip()
    ]
    contents.insert(3, Content("a view of the harbour", Modality.IMAGE, AT))
    return [contents[first : first + SIZE] for first in range(0, len(contents), SIZE)]


@pytest.fixture(scope="module")
def expected(settings: WorkerSettings, batches: list[list[Content]]) -> list[Embedded]:
    pool = ThreadPool(settings)
    try:
        return list(embed_in_order(pool, batches))
    finally:
        pool.close()


def check(found: list[Embedded], expected: list[Embedded]) -> None:
    """Assert that embeddings are the same bytes, and faults the same errors."""
    assert len(found) == len(expected)
    for one, other in zip(chain.from_iterable(found), chain.from_iterable(expected), strict=True):
        if isinstance(other, Fault):
            assert isinstance(one, EmbeddingFault)
            assert (one.message, one.data) == (other.message, other.data)
        else:
            assert one == other


def test_a_content_that_cannot_be_embedded_is_a_fault_among_the_results(expected: list[Embedded]) -> None:
    faults = [one for one in chain.from_iterable(expected) if isinstance(one, Fault)]
    assert len(faults) == 1
    assert "no model of this store reads images" in faults[0].message


def test_two_processes_give_the_bytes_of_one_thread_also_after_one_was_killed(
    settings: WorkerSettings, batches: list[list[Content]], expected: list[Embedded]
) -> None:
    pool = ProcessPool(settings, 2)
    try:
        found: list[Embedded] = []
        for number, results in enumerate(embed_in_order(pool, batches * 2)):
            found.append(results)
            if number == 1:
                os.kill(next(iter(pool._executor._processes)), signal.SIGKILL)
        check(found, expected * 2)
    finally:
        pool.close()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'context-graph[cluster]'")
@pytest.mark.filterwarnings("default")
def test_two_ray_actors_give_the_bytes_of_one_thread_also_after_one_was_killed(
    settings: WorkerSettings, batches: list[list[Content]], expected: list[Embedded]
) -> None:
    import ray

    from actors.embedder.pool.cluster import RayPool

    pool = RayPool(settings, "local", 2)
    try:
        assert pool.workers == 2
        found: list[Embedded] = []
        for number, results in enumerate(embed_in_order(pool, batches * 2)):
            found.append(results)
            if number == 1:
                ray.kill(pool._actors[0], no_restart=False)
        check(found, expected * 2)
    finally:
        pool.close()


class FakePool:
    """Answers when told to; its first answers may be those of lost workers."""

    workers = 2

    def __init__(self, lost: int = 0) -> None:
        self.lost = lost
        self.submitted: list[Batch] = []
        self.closed = False

    def submit(self, batch: Batch) -> Future[Embedded]:
        self.submitted.append(batch)
        answer: Future[Embedded] = Future()
        if self.lost:
            self.lost -= 1
            answer.set_exception(WorkerLostError("killed"))
        else:
            answer.set_result([])
        return answer

    def close(self) -> None:
        self.closed = True


def numbered(read: list[int]) -> Iterator[Batch]:
    for number in range(20):
        read.append(number)
        yield [Content(str(number), Modality.TEXT, AT)]


def test_batches_are_read_only_as_far_ahead_as_workers_need() -> None:
    read: list[int] = []
    results = embed_in_order(FakePool(), numbered(read))
    for _ in range(3):
        next(results)
    assert len(read) == 2 + AHEAD * FakePool.workers


@pytest.mark.parametrize("lost", range(TRIES))
def test_a_batch_whose_worker_ended_is_tried_again(lost: int) -> None:
    pool: EmbeddingPool = FakePool(lost)
    assert list(embed_in_order(pool, [[], []])) == [[], []]


def test_a_batch_that_ends_every_worker_is_an_error() -> None:
    with pytest.raises(EmbeddingFault, match=f"{TRIES} workers ended at the same batch: killed"):
        list(embed_in_order(FakePool(lost=100), [[]]))


@pytest.mark.parametrize("kind", [ThreadPool, partial(ProcessPool, workers=2)])
def test_models_that_cannot_be_loaded_are_named(kind: Callable[..., EmbeddingPool]) -> None:
    pool = kind(WorkerSettings("embedded", precision="int4"))
    try:
        with pytest.raises(EmbeddingFault, match=r"the models can.t be loaded: .*int4"):
            next(embed_in_order(pool, [[Content("a", Modality.TEXT, AT)]]))
    finally:
        pool.close()
