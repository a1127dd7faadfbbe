"""Embedding requests in progress, and the order in which they share the model.

Queries and short memories that wait at the same time share a slice, queries first. A long memory alternates with them,
one slice at a time. The turns of a session finish in the order of their arrival.
"""

import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from actors.runtime.faults import EmbeddingFault, Fault
from actors.runtime.reply import Reply
from events.quantization import Float32

T = TypeVar("T")

SLICE_TOKENS = 512
"""Tokens of one forward pass. Larger batches are no faster on a CPU core and delay the requests behind them."""

Rows: TypeAlias = list["Sequence[int] | npt.NDArray[np.integer]"]
"""Wordpieces of texts, the input of one forward pass."""


class BatchedStep(NamedTuple):
    """A step that all plans of a slice take in one call.

    numpy may release the GIL in each operation and wait for it again, so the number of operations determines the time
    rather than the number of texts per operation.
    """

    function: Callable[[list[Any]], Sequence[Any]]
    """Returns one result for each argument."""
    argument: Any


Plan: TypeAlias = Generator["Rows | BatchedStep | None", Any, T]
"""A resumable embedding that returns its result.

It yields rows and receives their states, or yields a `BatchedStep` and receives its result. Empty rows let other jobs
run first. None waits for the previous turn of the session; after that the plan runs to its end without interruption.
"""


class EmbeddingJob(Generic[T]):
    """One request in progress.

    `on_progress` is called with (done, total) rows of a request that has several; `cancelled` is set by the sender to
    cancel; `predecessor` is the previous turn of the session, if it is unfinished.
    """

    def __init__(
        self,
        plan: Plan[T],
        on_progress: Callable[[int, int], object] | None = None,
        cancelled: threading.Event | None = None,
        *,
        is_query: bool = False,
        session: tuple[str, str] | None = None,
        predecessor: "EmbeddingJob[Any] | None" = None,
    ) -> None:
        self.is_query = is_query
        self.session = session
        self.predecessor = predecessor
        self.future: Reply[T] = Reply()
        self.step: BatchedStep | None = None
        self.awaits_turn = False
        """Whether only the predecessor delays the result."""
        self.done = False
        self._plan = plan
        self._rows: Rows = []
        self._states: list[Float32] = []
        self._result: T | None = None
        self._on_progress = on_progress
        self._cancelled = cancelled or threading.Event()
        self.resume(None)

    @property
    def is_unblocked(self) -> bool:
        """Whether the previous turn of the session is finished."""
        if self.predecessor is not None and self.predecessor.done:
            self.predecessor = None  # otherwise each turn would keep all earlier ones in memory
        return self.predecessor is None

    @property
    def pending_rows(self) -> Rows:
        """The rows without states."""
        return self._rows[len(self._states) :]

    @property
    def is_long(self) -> bool:
        """Whether the job alternates with others instead of sharing a slice; a paused plan has no rows."""
        return not self._rows or sum(map(len, self._rows)) > SLICE_TOKENS

    def add_states(self, states: list[Float32]) -> None:
        """Add the states of the next rows, and resume the plan once they are complete."""
        self.fail_if_cancelled()
        if self.done:
            return
        self._states += states
        if self._on_progress is not None and len(self._rows) > 1:
            self._on_progress(len(self._states), len(self._rows))
        if not self.pending_rows:
            self.resume(self._states)

    def resume(self, value: object) -> None:
        """Send a value into the plan: the states of its rows or the result of its step; None starts it."""
        self.fail_if_cancelled()
        if self.done:
            return
        outcome = attempt(lambda: self._send(value))
        if isinstance(outcome, Fault):
            self.fail(outcome)

    def _send(self, value: object) -> None:
        self.step, self._rows, self._states = None, [], []
        try:
            wanted = self._plan.send(value)
        except StopIteration as stop:
            self.done, self._result = True, stop.value
            return
        self.awaits_turn = wanted is None
        if isinstance(wanted, BatchedStep):
            self.step = wanted
        else:
            self._rows = wanted or []

    def resolve(self) -> None:
        """Set the future, if there is a result."""
        if self._result is not None:
            self.future.set(self._result)
            self._result = None

    def fail_if_cancelled(self) -> None:
        """Fail the job if its sender cancelled it."""
        if self._cancelled.is_set() and not self.done:
            self.fail(EmbeddingFault("Embedding failed: it was withdrawn"))

    def fail(self, fault: Fault) -> None:
        """End the job without a result."""
        self.done, self.step = True, None
        self._plan.close()  # it holds the models
        self.future.set_exception((type(fault), fault, None))


def attempt(work: Callable[[], T]) -> T | Fault:
    """Return the result of `work`, or its exception as a fault, without a traceback, which would keep tensors alive."""
    try:
        return work()
    except Fault as fault:
        return fault
    except Exception as error:  # a model or tokenizer may raise anything, and fails its jobs alone
        return EmbeddingFault(f"Embedding failed: {type(error).__name__}: {error}")


def select_slice(jobs: Sequence[EmbeddingJob[Any]], *, after_long: bool) -> list[tuple[EmbeddingJob[Any], int]]:
    """Return the jobs of the next slice with the number of their rows: all short jobs that fit, or one long job."""
    short = sorted((job for job in jobs if not job.is_long), key=lambda job: not job.is_query)
    long = [job for job in jobs if job.is_long and job.is_unblocked]
    if long and not (after_long and any(job.is_unblocked for job in short)):
        return [(long[0], min(len(long[0].pending_rows), 1))]  # a window fills half a slice
    selected: dict[EmbeddingJob[Any], int] = {}
    tokens = 0
    for job in short:
        if not (job.is_unblocked or job.predecessor in selected):
            continue
        tokens += sum(map(len, job.pending_rows))
        if selected and tokens > SLICE_TOKENS:
            break
        selected[job] = len(job.pending_rows)
    return list(selected.items())


def advance(selected: Sequence[tuple[EmbeddingJob[Any], list[Float32]]]) -> None:
    """Resume jobs with the states of their rows: each query to its end, then all others in batched steps.

    The turns of a session end one after the other. A turn waits if its predecessor proved to be long.
    """
    for job, states in selected:
        job.add_states(states)
        if job.is_query:
            _run_steps([job])
            job.resolve()
    jobs = [job for job, _ in selected]
    _run_steps(jobs)
    for job in jobs:
        if job.awaits_turn and job.is_unblocked:
            job.resume(None)


def run_plans(plans: Iterable[Plan[T]], forward: Callable[[Rows], list[Float32]]) -> list[T | Fault]:
    """Run plans to their end; return the result or the fault of each. Equal plans share slices equally every time."""
    jobs = [EmbeddingJob(plan) for plan in plans]
    after_long = False
    while left := [job for job in jobs if not job.done]:
        selected = select_slice(left, after_long=after_long)
        after_long = selected[0][0].is_long
        rows = [row for job, count in selected for row in job.pending_rows[:count]]
        states = iter(forward(rows) if rows else ())
        advance([(job, list(islice(states, count))) for job, count in selected])
    for job in jobs:
        job.resolve()
    return [attempt(job.future.get) for job in jobs]


def _run_steps(jobs: Sequence[EmbeddingJob[Any]]) -> None:
    """Run the steps of jobs until each ends or needs the model. A step that raises fails the jobs that share it."""
    while steps := [(job, job.step) for job in jobs if job.step is not None]:
        function = steps[0][1].function
        batch = [(job, step.argument) for job, step in steps if step.function == function]
        results = attempt(partial(function, [argument for _, argument in batch]))
        for index, (job, _) in enumerate(batch):
            if isinstance(results, Fault):
                job.fail(results)
            else:
                job.resume(results[index])
