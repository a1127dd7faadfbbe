"""A pool on a Ray cluster: one actor for each worker."""

import logging
import os
from collections import Counter
from concurrent.futures import Future
from importlib import import_module
from typing import Any, Final

from actors.embedder.pool.worker import (
    TRIES,
    Batch,
    Embedded,
    EmbeddingWorker,
    WorkerLostError,
    WorkerSettings,
)
from actors.runtime.faults import EmbeddingFault

LOCAL: Final = "local"
"""The address of a cluster that is started on this machine for the duration of the pool."""


class RayPool:
    """Workers as Ray actors. Ray restarts an actor that ends; the batch is then submitted again.

    `address` is `auto` for the cluster of this machine, `ray://HOST:PORT`, or `local`. By default there is one worker
    on each GPU if the profile uses GPUs and there are any, else one on each processor. Without Ray or such a cluster
    this raises an `EmbeddingFault`.
    """

    def __init__(self, settings: WorkerSettings, address: str, workers: int | None) -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns about its coming default
        try:
            ray: Any = import_module("ray")
        except ModuleNotFoundError as error:
            raise EmbeddingFault("Ray is not installed: pip install 'context-graph[cluster]'") from error
        self._ray = ray
        try:
            local = {"num_cpus": workers, "include_dashboard": False} if address == LOCAL else {}
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **local)
        except ConnectionError as error:
            raise EmbeddingFault(f"no Ray cluster answers at '{address}': {error}") from error
        resources = ray.cluster_resources()
        gpus = int(resources.get("GPU", 0)) if settings.uses_gpu else 0
        self.workers = workers or gpus or max(1, int(resources.get("CPU", 1)))
        # Ray itself repeats a batch once the actor is restarted: sent again before, it would fail at once.
        actor: Any = ray.remote(EmbeddingWorker).options(
            num_cpus=1, num_gpus=min(1.0, gpus / self.workers), max_restarts=-1, max_task_retries=TRIES - 1
        )
        self._actors = [actor.remote(settings) for _ in range(self.workers)]
        self._loads: Counter[int] = Counter(dict.fromkeys(range(self.workers), 0))

    def submit(self, batch: Batch) -> Future[Embedded]:
        """Queue a batch at the worker with the fewest."""
        number = min(self._loads, key=self._loads.__getitem__)
        self._loads[number] += 1
        answer: Future[Embedded] = Future()

        def answered(future: Future[Embedded]) -> None:
            self._loads[number] -= 1
            error: Any = future.exception()
            if isinstance(error, self._ray.exceptions.RayActorError):
                answer.set_exception(WorkerLostError(str(error)))
            elif isinstance(error, self._ray.exceptions.RayTaskError):
                answer.set_exception(error.cause)
            elif error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(future.result())

        self._actors[number].embed.remote(batch).future().add_done_callback(answered)
        return answer

    def close(self) -> None:
        """End the actors, and the cluster if it was started for this pool."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._ray.shutdown()
