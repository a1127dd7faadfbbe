"""The embedder: one model, many who wait, and nobody waits for a long text.

Work is cut into slices of at most `SLICE_TOKENS` tokens (`jobs`), and between two slices the inbox is read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, assert_never

import msgspec

from actors.embedder.jobs import SLICE_TOKENS, EmbeddingJob, Plan, Rows, go_on, next_slice
from actors.embedder.messages import (
    EmbedderMessage,
    EmbedMemory,
    EmbedQuery,
    Load,
)
from actors.runtime.actor import ActorInbox
from actors.runtime.faults import EmbeddingFault, Fault
from actors.runtime.messages import Appended, AppendRejected, LoadSnapshot, ReadDigest, WriteNextSlice, WriteSnapshot
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from projections.registry import EmbedderProjections

if TYPE_CHECKING:
    from actors.runtime.metrics import Latencies
    from events.fingerprint import Float32
    from events.vocabulary.values import SpaceModel
    from projections.memories.sessions import Sessions

INBOX = 128
"""Requests that may wait; whoever sends more is slowed down instead of filling memory."""


class Profile(Protocol):
    """A set of models for the thirteen spaces."""

    name: str
    models: tuple[SpaceModel, ...]

    def memory(self, request: EmbedMemory, sessions: Sessions) -> Plan:
        """Plan the embedding of a memory, which returns an `EmbeddedMemory`."""
        ...

    def query(self, request: EmbedQuery, sessions: Sessions) -> Plan:
        """Plan the embedding of a question, which returns an `EmbeddedQuery`."""
        ...

    def forward(self, rows: Rows) -> list[Float32]:
        """Return the token states of each row, shape (tokens, dimension), from one batch."""
        ...

    def rest(self) -> None:
        """Leave no thread behind; whoever asks for more afterwards starts another."""
        ...


class Pump(msgspec.Struct, frozen=True):
    """Told by the embedder to itself: take the next slice."""


class Inbox(ActorInbox):
    """Holds at most `INBOX` messages of others; the actor's own are never held up, or it would wait for itself."""

    def __init__(self) -> None:
        super().__init__(maxsize=INBOX)
        self.owner: int | None = None

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002 -- queue.Queue's
        """Put an item, waiting for room unless the actor itself sends it."""
        if threading.get_ident() != self.owner:
            super().put(item, block, timeout)
            return
        with self.mutex:
            self._put(item)
            self.unfinished_tasks += 1
            self.not_empty.notify()


class Embedder(ProjectionActor[EmbedderProjections]):
    """Owns the models and the `Sessions` projection."""

    def __init__(self, load: Callable[[], Profile], latencies: Latencies) -> None:
        super().__init__(EmbedderProjections())
        self._load = load
        self._latencies = latencies
        self._profile: Profile | None = None
        self._jobs: list[EmbeddingJob] = []
        self._after_long = False

    @property
    def _sessions(self) -> Sessions:
        return self._projections.sessions

    def _create_actor_inbox(self) -> Inbox:  # pyright: ignore[reportIncompatibleMethodOverride] -- pykka's is static
        self._inbox = Inbox()
        return self._inbox

    def on_start(self) -> None:
        """Learn which thread is the actor's own."""
        self._inbox.owner = threading.get_ident()

    def on_stop(self) -> None:
        """Tell whoever still waits that nothing will come, or their threads would wait on; and let go of the models.

        Whoever stops the embedder waits for this method, but not for what the thread leaves behind. A tensor that it
        gave back later, while the interpreter is going down, would end the process with SIGABRT: freeing one releases
        the GIL, and a thread that can't get it back then is unwound through C++.
        """
        for job in self._jobs:
            job.fail(EmbeddingFault("Embedding failed: the embedder was stopped"))
        self._jobs.clear()
        if self._profile is not None:
            self._profile.rest()
        self._profile = None

    def on_receive(self, message: EmbedderMessage | Pump) -> Any:
        """Route a message."""
        match message:
            case Load():
                return self._loaded().models
            case EmbedMemory():
                return self._accept(self._loaded().memory(message, self._sessions), message, message.on_progress)
            case EmbedQuery():
                return self._accept(self._loaded().query(message, self._sessions), message, None)
            case Pump():
                return self._pump()
            case Appended(envelopes=envelopes):
                for envelope in envelopes:
                    self._apply(envelope)
                return None
            case ReadDigest() | WriteSnapshot() | WriteNextSlice() | LoadSnapshot() | AppendRejected():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _loaded(self) -> Profile:
        if self._profile is None:
            try:
                with self._latencies.timed("load"):
                    self._profile = self._load()
            except Fault:
                raise
            except Exception as error:
                raise EmbeddingFault(f"Embedding failed: the models can't be loaded: {error}") from error
        return self._profile

    def _accept(
        self, plan: Plan, request: EmbedMemory | EmbedQuery, on_progress: Callable[[int, int], object] | None
    ) -> Reply[Any]:
        session = _session(request)
        before = [] if session is None else [job for job in self._jobs if job.session == session]
        job = EmbeddingJob(
            plan,
            on_progress,
            request.cancelled,
            long_after=SLICE_TOKENS,
            is_question=isinstance(request, EmbedQuery),
            session=session,
            after=before[-1] if before else None,
        )
        job.answer()
        if not job.done:
            if not self._jobs:
                self.actor_ref.tell(Pump())
            self._jobs.append(job)
        return job.future

    def _pump(self) -> None:
        """Run one slice. Whatever has arrived since is in the inbox before the next `Pump`."""
        for job in self._jobs:
            job.drop_if_withdrawn()
        self._jobs = [job for job in self._jobs if not job.done]
        if not self._jobs:
            return
        taken = next_slice(self._jobs, after_long=self._after_long)
        self._after_long = taken[0][0].is_long
        rows = [row for job, count in taken for row in job.waiting[:count]]
        try:
            start = perf_counter()
            states = self._loaded().forward(rows) if rows else []
            if rows:
                self._latencies.record("forward", (perf_counter() - start) * 1e3)
        except Exception as error:  # noqa: BLE001 -- a failing model fails those who wait for it, and nobody else
            for job, _ in taken:
                job.fail(EmbeddingFault(f"Embedding failed: {type(error).__name__}: {error}"))
        else:
            remaining = iter(states)
            go_on([(job, list(islice(remaining, count))) for job, count in taken])
            # The last one first: who waits for them in their order then hears of all at once, and what is embedded
            # together is judged, committed and read back together.
            for job, _ in reversed(taken):
                job.answer()
        # Whoever was served goes to the end, so that long ones take turns with each other too.
        served = [job for job, _ in taken]
        self._jobs = [job for job in (*(job for job in self._jobs if job not in served), *served) if not job.done]
        if self._jobs:
            self.actor_ref.tell(Pump())


def _session(request: EmbedMemory | EmbedQuery) -> tuple[str, str] | None:
    """Return the session that a memory is a turn of; a question is none."""
    if isinstance(request, EmbedQuery) or request.session is None:
        return None
    return request.namespace, request.session
