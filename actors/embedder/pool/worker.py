"""The workers of a pool: each embeds batches of contents with one profile, apart from any store."""

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import msgspec
from threadpoolctl import threadpool_limits

from actors.embedder.actor import Profile, load_or_fault
from actors.embedder.jobs import run_plans
from actors.embedder.loading import BLAS_THREADS, load_profile
from actors.embedder.messages import Content, EmbeddedContent
from actors.runtime.faults import Fault
from actors.runtime.metrics import Latencies
from actors.runtime.settings import ModelProfile

Batch: TypeAlias = Sequence[Content]
Embedded: TypeAlias = list["EmbeddedContent | Fault"]
"""The result of each content of a batch."""


class WorkerSettings(msgspec.Struct, frozen=True):
    """How a worker loads its models; the same on every machine."""

    profile: str
    models: Path | None = None
    device: str | None = None
    precision: str | None = None
    """Number format of the packaged model. One that the processor lacks is an error, since bytes would differ."""

    @property
    def uses_gpu(self) -> bool:
        """Whether a worker runs on a GPU where there is one."""
        return self.profile != ModelProfile.EMBEDDED if self.device is None else self.device != "cpu"


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


class EmbeddingWorker:
    """Embeds one batch after the other.

    Texts of a batch share forward passes, and how they do decides the last bits of the result. So a batch gives the
    same bytes on every worker, and one text may give others in another batch.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._profile: Profile | None = None

    def embed(self, batch: Batch) -> Embedded:
        """Embed a batch (`EmbeddingFault` without models); a content that can't be embedded is a fault by itself."""
        profile = self._loaded()
        return run_plans(map(profile.plan_content, batch), profile.forward)

    def close(self) -> None:
        """Stop the threads of the profile."""
        if self._profile is not None:
            self._profile.stop_threads()

    def _loaded(self) -> Profile:
        if self._profile is None:
            own = self._settings
            threadpool_limits(BLAS_THREADS, user_api="blas")  # matrix products run as they do in a hub
            load = partial(load_profile, Latencies(), own.profile, own.models, own.device, interactive=False)
            self._profile = load_or_fault(partial(load, precision=own.precision))
        return self._profile
