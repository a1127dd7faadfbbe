"""Jobs in slices: generators that yield wherever another message may be handled or the job cancelled."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from time import perf_counter, sleep
from typing import Any, TypeAlias, TypeVar

import msgspec

from actors.runtime.faults import InternalFault
from actors.runtime.messages import Cancellable
from actors.runtime.reply import Reply
from events.vocabulary.values import Outcome

T = TypeVar("T")

Sliced: TypeAlias = Generator[None, None, T]
"""Work that returns a T. It appends its decisions after its last yield only, so that cancelling it changes nothing."""

YIELD_SECONDS = 0.01
"""Pause of a job after each slice while queries arrive: otherwise a search finds every core busy."""

QUERY_WINDOW = 0.2
"""Seconds after a query in which another one is likely."""


class RunInterrupted(Exception):
    """Ends a job early; thrown into its work between two slices."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason


class SlicedJob(msgspec.Struct):
    """Work that a message asked for, and the reply that takes its result."""

    message: Cancellable[object]
    work: Sliced[object]
    reply: Reply[Any]


class JobQueue:
    """Executes jobs one after the other.

    `request_slice` is called when there is a slice to execute; it has `execute_slice` called after other messages.
    """

    def __init__(self, request_slice: Callable[[], object]) -> None:
        self._request_slice = request_slice
        self._jobs: deque[SlicedJob] = deque()
        self._slice_requested = False
        self.queried_at = float("-inf")
        """Time of the last query by `perf_counter`."""

    def __len__(self) -> int:
        return len(self._jobs)

    def messages(self) -> Iterator[Cancellable[object]]:
        """Yield the messages of the jobs, the active one first."""
        return (job.message for job in self._jobs)

    def add(self, message: Cancellable[T], work: Sliced[T]) -> Reply[T]:
        """Queue a job, and return the reply that takes its result."""
        reply: Reply[T] = Reply()
        self._jobs.append(SlicedJob(message, work, reply))
        self._request()
        return reply

    def execute_slice(self) -> None:
        """Execute one slice of the first job."""
        self._slice_requested = False
        if not self._jobs:  # it was interrupted between two slices
            return
        if perf_counter() - self.queried_at < QUERY_WINDOW:
            sleep(YIELD_SECONDS)
        if self._jobs[0].message.cancelled.is_set():
            self.interrupt("it was withdrawn")
        else:
            self._resume(next)
        self._request()

    def interrupt(self, reason: str) -> None:
        """End the first job early. A run that has begun records that it was aborted; any other job fails."""
        self._resume(lambda work: work.throw(RunInterrupted(Outcome.ABORTED, reason)))

    def _request(self) -> None:
        if self._jobs and not self._slice_requested:
            self._slice_requested = True
            self._request_slice()

    def _resume(self, resume: Callable[[Sliced[object]], object]) -> None:
        """Resume the first job; once it ends, remove it and resolve its reply with its result or exception."""
        job = self._jobs[0]
        try:
            resume(job.work)
        except StopIteration as done:
            self._jobs.popleft()
            job.reply.set(done.value)
        except Exception as error:
            self._jobs.popleft()
            fault = InternalFault(error.reason) if isinstance(error, RunInterrupted) else error
            job.reply.set_exception((type(fault), fault, error.__traceback__))
