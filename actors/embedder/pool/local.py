"""Pools on this machine, one thread of this process or several processes, and the choice of a pool."""

import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import msgspec

from actors.embedder.pool.cluster import RayPool
from actors.embedder.pool.worker import Batch, Embedded, EmbeddingPool, EmbeddingWorker, WorkerSettings

_worker: EmbeddingWorker | None = None


class ThreadPool:
    """One worker in a thread of this process."""

    workers = 1

    def __init__(self, settings: WorkerSettings) -> None:
        self._executor = ThreadPoolExecutor(1, "bulk embedding")
        self._worker = EmbeddingWorker(settings)

    def submit(self, batch: Batch) -> Future[Embedded]:
        """Queue a batch."""
        return self._executor.submit(self._worker.embed, batch)

    def close(self) -> None:
        """Stop the thread after the batch in work."""
        self._executor.shutdown(cancel_futures=True)
        self._worker.close()


class ProcessPool:
    """Workers in processes of this machine; if one ends, all are started again."""

    def __init__(self, settings: WorkerSettings, workers: int) -> None:
        self.workers = workers
        self._settings = settings
        self._executor = self._start()

    def submit(self, batch: Batch) -> Future[Embedded]:
        """Queue a batch."""
        try:
            return self._executor.submit(_embed, batch)
        except BrokenProcessPool:
            self.close()
            self._executor = self._start()
            return self._executor.submit(_embed, batch)

    def close(self) -> None:
        """Stop the processes after the batches in work."""
        self._executor.shutdown(cancel_futures=True)

    def _start(self) -> ProcessPoolExecutor:
        # A fork would copy the locks of this process's threads.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, context, initializer=_start_worker, initargs=(self._settings,))


def _start_worker(settings: WorkerSettings) -> None:
    global _worker  # noqa: PLW0603 -- the state of a process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = EmbeddingWorker(settings)


def _end_with_parent() -> None:
    """End this process when its parent has ended; after SIGKILL of the parent its queue stays open for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _embed(batch: Batch) -> Embedded:
    if _worker is None:
        raise AssertionError("the initializer of this process has not run")
    return _worker.embed(batch)


def start_pool(settings: WorkerSettings, workers: int | None, ray: str | None, precision: str | None) -> EmbeddingPool:
    """Start the workers of a bulk embedding.

    Without `workers` there is one here, or as many as the Ray cluster has room for; without `ray`, all are on this
    machine.
    """
    settings = msgspec.structs.replace(settings, precision=precision)
    if ray is not None:
        return RayPool(settings, ray, workers)
    if workers is None or workers == 1:
        return ThreadPool(settings)
    return ProcessPool(settings, workers)
