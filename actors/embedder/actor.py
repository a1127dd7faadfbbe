"""The embedder actor: one model that batches waiting requests and never blocks on a long text.

Work is cut into slices of at most `SLICE_TOKENS` tokens (`jobs`); between two slices the inbox is read.
"""

import threading
from collections.abc import Callable
from itertools import islice
from time import perf_counter
from typing import Any, Protocol, assert_never

import msgspec

from actors.embedder import messages as msg
from actors.embedder.jobs import EmbeddingJob, Plan, Rows, advance, attempt, select_slice
from actors.runtime.actor import ActorInbox
from actors.runtime.faults import EmbeddingFault, Fault
from actors.runtime.messages import Appended, ProjectionMessage
from actors.runtime.metrics import Latencies
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from events.quantization import Float32
from events.vocabulary.values import SpaceModel
from projections.memories.sessions import Sessions
from projections.registry import EmbedderProjections

INBOX_CAPACITY = 128
"""Messages that may wait; beyond it, backpressure blocks the senders and bounds the memory."""


class Profile(Protocol):
    """A set of models for the thirteen spaces."""

    @property
    def models(self) -> tuple[SpaceModel, ...]:
        """The model of each space."""
        ...

    @property
    def precision(self) -> str | None:
        """Number format of the packaged model; None without it."""
        ...

    def plan_content(self, content: msg.Content) -> Plan[msg.EmbeddedContent]:
        """Return the plan that embeds a content, or an image with its caption, apart from any store."""
        ...

    def complete(
        self, request: msg.EmbedMemory, content: msg.EmbeddedContent, sessions: Sessions, start: float
    ) -> msg.EmbeddedMemory:
        """Return a memory with what its session, links and names add to its content; advance the session.

        `start` is the time at which the work began, by `perf_counter`.
        """
        ...

    def plan_query(self, request: msg.EmbedQuery, sessions: Sessions) -> Plan[msg.EmbeddedQuery]:
        """Return the plan that embeds a query."""
        ...

    def forward(self, rows: Rows) -> list[Float32]:
        """Return the token states of each row, shape (tokens, dimension), from one batch."""
        ...

    def stop_threads(self) -> None:
        """Stop the profile's threads; the next request starts new ones."""
        ...


def load_or_fault(load: Callable[[], Profile]) -> Profile:
    """Load models; anything but a `Fault` that this raises becomes an `EmbeddingFault`."""
    try:
        return load()
    except Fault:
        raise
    except Exception as error:
        raise EmbeddingFault(f"Embedding failed: the models can't be loaded: {error}") from error


def plan_memory(profile: Profile, request: msg.EmbedMemory, sessions: Sessions) -> Plan[msg.EmbeddedMemory]:
    """Return the plan that embeds a memory."""
    start = perf_counter()
    embedded = yield from profile.plan_content(request.content)
    yield None  # the previous turn of the session determines the position
    return profile.complete(request, embedded, sessions, start)


class RunSlice(msgspec.Struct, frozen=True):
    """Sent by the embedder to itself: run the next slice."""


class BoundedInbox(ActorInbox):
    """Holds at most `INBOX_CAPACITY` messages of others. The actor's own never wait: that would be a deadlock."""

    def __init__(self) -> None:
        super().__init__(maxsize=INBOX_CAPACITY)
        self.owner: int | None = None

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002 -- queue.Queue's
        """Put an item; waits for room unless the actor itself is the sender."""
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
        self._jobs: list[EmbeddingJob[Any]] = []
        self._after_long = False

    def _create_actor_inbox(self) -> BoundedInbox:  # pyright: ignore[reportIncompatibleMethodOverride] -- pykka's is static
        self._inbox = BoundedInbox()
        return self._inbox

    def on_start(self) -> None:
        """Register the actor's thread as the owner of the inbox."""
        self._inbox.owner = threading.get_ident()

    def on_stop(self) -> None:
        """Fail the pending jobs, whose senders would wait forever, and release the models.

        `stop` returns after this method, but before the actor's thread has released its frames. A tensor freed later,
        during interpreter shutdown, aborts the process (SIGABRT): its destructor releases the GIL, and a thread that
        cannot acquire it again is unwound through C++.
        """
        for job in self._jobs:
            job.fail(EmbeddingFault("Embedding failed: the embedder was stopped"))
        self._jobs.clear()
        if self._profile is not None:
            self._profile.stop_threads()
        self._profile = None

    def on_receive(self, message: msg.EmbedderMessage | RunSlice) -> object:
        """Route a message."""
        match message:
            case msg.LoadModels():
                return self._loaded_profile().models
            case msg.EmbedMemory():
                session = None if message.session is None else (message.namespace, message.session)
                plan = plan_memory(self._loaded_profile(), message, self._projections.sessions)
                previous = [job for job in self._jobs if session is not None and job.session == session]
                predecessor = previous[-1] if previous else None
                return self._accept(
                    EmbeddingJob(plan, message.on_progress, message.cancelled, session=session, predecessor=predecessor)
                )
            case msg.EmbedContent(content=content):
                return self._accept(EmbeddingJob(self._loaded_profile().plan_content(content)))
            case msg.EmbedQuery():
                plan = self._loaded_profile().plan_query(message, self._projections.sessions)
                return self._accept(EmbeddingJob(plan, cancelled=message.cancelled, is_query=True))
            case RunSlice():
                return self._run_slice()
            case Appended(envelopes=envelopes):
                for envelope in envelopes:
                    self._apply(envelope)
                return None
            case ProjectionMessage():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _loaded_profile(self) -> Profile:
        if self._profile is None:
            with self._latencies.timed("load"):
                self._profile = load_or_fault(self._load)
        return self._profile

    def _accept(self, job: EmbeddingJob[Any]) -> Reply[object]:
        if job.awaits_turn and job.is_unblocked:  # its content was embedded ahead
            job.resume(None)
        job.resolve()
        if not job.done:
            if not self._jobs:
                self.actor_ref.tell(RunSlice())
            self._jobs.append(job)
        return job.future

    def _run_slice(self) -> None:
        """Run one slice. Messages that arrive meanwhile precede the next `RunSlice` in the inbox."""
        for job in self._jobs:
            job.fail_if_cancelled()
        self._jobs = [job for job in self._jobs if not job.done]
        if not self._jobs:
            return
        selected = select_slice(self._jobs, after_long=self._after_long)
        jobs = [job for job, _ in selected]
        self._after_long = jobs[0].is_long
        states = self._forward([row for job, count in selected for row in job.pending_rows[:count]])
        if isinstance(states, Fault):
            for job in jobs:
                job.fail(states)
        else:
            remaining = iter(states)
            advance([(job, list(islice(remaining, count))) for job, count in selected])
            # The last job first: a sender that awaits them in order then receives all at once, so that what is embedded
            # together is also judged, committed and read back together.
            for job in reversed(jobs):
                job.resolve()
        # Served jobs move to the end, so that long ones alternate with each other too.
        self._jobs = [job for job in (*(job for job in self._jobs if job not in jobs), *jobs) if not job.done]
        if self._jobs:
            self.actor_ref.tell(RunSlice())

    def _forward(self, rows: Rows) -> list[Float32] | Fault:
        def forward() -> list[Float32]:
            with self._latencies.timed("forward"):
                return self._loaded_profile().forward(rows)

        return attempt(forward) if rows else []
