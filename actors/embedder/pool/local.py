"""Pools on this machine: one thread of this process, or several processes."""

import multiprocessing
import os
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from actors.embedder.pool.worker import Batch, Embedded, EmbeddingWorker, Load, WorkerSettings

_worker: EmbeddingWorker | None = None
"""The worker of a process of the pool."""


class ThreadPool:
    """One worker in a thread of this process."""

    workers = 1

    def __init__(self, load: Load, settings: WorkerSettings) -> None:
        self._executor = ThreadPoolExecutor(1, "bulk embedding")
        self._worker = EmbeddingWorker(load, settings)

    def submit(self, batch: Batch) -> Future[Embedded]:
        """Queue a batch."""
        return self._executor.submit(self._worker.embed, batch)

    def close(self) -> None:
        """Stop the thread after the batch in work."""
        self._executor.shutdown(cancel_futures=True)
        self._worker.close()


class ProcessPool:
    """Workers in processes of this machine; if one ends, all are started again."""

    def __init__(self, load: Load, settings: WorkerSettings, workers: int) -> None:
        self.workers = workers
        self._arguments = (load, settings)
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
        return ProcessPoolExecutor(self.workers, context, initializer=_start_worker, initargs=self._arguments)


def _start_worker(load: Load, settings: WorkerSettings) -> None:
    global _worker  # noqa: PLW0603 -- the state of a process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = EmbeddingWorker(load, settings)


def _end_with_parent() -> None:
    """End this process when its parent has ended; after SIGKILL of the parent its queue stays open for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _embed(batch: Batch) -> Embedded:
    if _worker is None:
        raise AssertionError("the initializer of this process has not run")
    return _worker.embed(batch)
