"""A worker of a pool: one profile that embeds batches of contents, apart from any store."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec

from actors.embedder.actor import Profile, loaded
from actors.embedder.jobs import run_plans
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


Load: TypeAlias = Callable[[Latencies, WorkerSettings], Profile]


class EmbeddingWorker:
    """Embeds one batch after the other.

    Texts of a batch share forward passes, and how they do decides the last bits of the result. So a batch gives the
    same bytes on every worker, and one text may give others in another batch.
    """

    def __init__(self, load: Load, settings: WorkerSettings) -> None:
        self._load = load
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
            self._profile = loaded(partial(self._load, Latencies(), self._settings))
        return self._profile
