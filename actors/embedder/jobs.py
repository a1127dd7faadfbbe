"""Requests on their way through the model, and who of them goes on when.

Questions and short memories that wait at the same time share a slice, questions first; a long memory takes turns with
them, one slice at a time. The turns of a session are finished in the order in which they came.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from actors.runtime.faults import EmbeddingFault, Fault
from actors.runtime.reply import Reply

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from events.fingerprint import Float32

SLICE_TOKENS = 512
"""Tokens of one forward pass. Larger batches gain no rate on a CPU core and delay whoever comes next."""

Rows = list["Sequence[int] | npt.NDArray[np.integer]"]
"""Wordpieces of texts that shall go through the model."""


class Together(NamedTuple):
    """A step that those who share a slice take at once.

    In each operation of numpy another thread may take Python's lock and have it for a while, so what counts is how many
    operations there are, not for how many texts each is.
    """

    make: Callable[[list[Any]], Sequence[Any]]
    """Makes something of each."""
    of: Any


Plan = Generator["Rows | Together | None", Any, Any]
"""An embedding in the making: yields rows, is sent their states, and returns the result.

It may yield a `Together`, and is sent what that made of its own. It may pause: no rows let whoever waits go first. And
it yields None to wait for the turn before it; from there to its end nothing else runs.
"""


class EmbeddingJob:
    """One request on its way through the model."""

    def __init__(
        self,
        plan: Plan,
        on_progress: Callable[[int, int], object] | None = None,
        withdrawn: threading.Event | None = None,
        *,
        long_after: int,
        is_question: bool = False,
        session: tuple[str, str] | None = None,
        after: EmbeddingJob | None = None,
    ) -> None:
        self.plan = plan
        self.is_question = is_question
        self.session = session
        self.after = after
        """The turn before this one, if that isn't finished."""
        self.future: Reply[Any] = Reply()
        self.rows: Rows = []
        self.states: list[Float32] = []
        self.step: Together | None = None
        """What it takes next, with those that share its slice."""
        self.at_its_end = False
        """Whether it waits for nothing but the turn before it."""
        self.done = False
        self._result: Any = None
        self._on_progress = on_progress
        self._withdrawn = withdrawn or threading.Event()
        self._long_after = long_after
        self.go_on(None)

    @property
    def has_its_turn(self) -> bool:
        """Whether it may be finished now."""
        if self.after is not None and self.after.done:
            self.after = None  # or each turn would keep all before it in memory
        return self.after is None

    @property
    def waiting(self) -> Rows:
        """The rows that the model hasn't seen yet."""
        return self.rows[len(self.states) :]

    @property
    def is_long(self) -> bool:
        """Whether it takes turns instead of sharing a slice; a plan that only pauses asks for no rows."""
        return not self.rows or sum(map(len, self.rows)) > self._long_after

    def feed(self, states: list[Float32]) -> None:
        """Hand over the states of the next rows, and go on with the plan once it has them all."""
        self.drop_if_withdrawn()
        if self.done:
            return
        self.states += states
        if self._on_progress is not None and len(self.rows) > 1:
            self._on_progress(len(self.states), len(self.rows))
        if not self.waiting:
            self.go_on(self.states)

    def go_on(self, with_what: Any) -> None:
        """Go on with the plan: with the states of its rows, or with what its step made; with None it begins."""
        self.drop_if_withdrawn()
        if self.done:
            return
        self.step, self.rows, self.states = None, [], []
        try:
            wanted = self.plan.send(with_what)
            self.at_its_end = wanted is None
            if isinstance(wanted, Together):
                self.step = wanted
            else:
                self.rows = wanted or []
        except StopIteration as stop:
            self.done = True
            self._result = stop.value
        except Fault as fault:
            self.fail(fault)
        except Exception as error:  # noqa: BLE001 -- whatever a model or tokenizer raises, all thirteen or nothing
            self.fail(EmbeddingFault(f"Embedding failed: {type(error).__name__}: {error}"))

    def answer(self) -> None:
        """Hand over the result, once there is one."""
        if self._result is not None:
            self.future.set(self._result)
            self._result = None

    def drop_if_withdrawn(self) -> None:
        """End here if nobody waits for the result any more."""
        if self._withdrawn.is_set() and not self.done:
            self.fail(EmbeddingFault("Embedding failed: it was withdrawn"))

    def fail(self, fault: Fault) -> None:
        """End without a result."""
        self.done, self.step = True, None
        self.future.set_exception((type(fault), fault, None))


def next_slice(jobs: Sequence[EmbeddingJob], *, after_long: bool) -> list[tuple[EmbeddingJob, int]]:
    """Return who goes next, each with how many of its rows: short jobs together, a long one in turn with them."""
    short = sorted((job for job in jobs if not job.is_long), key=lambda job: not job.is_question)
    long = [job for job in jobs if job.is_long and job.has_its_turn]
    if long and not (after_long and any(job.has_its_turn for job in short)):
        return [(long[0], min(len(long[0].waiting), 1))]  # a window fills half a slice
    taken: dict[EmbeddingJob, int] = {}
    tokens = 0
    for job in short:
        if not (job.has_its_turn or job.after in taken):
            continue
        tokens += sum(map(len, job.waiting))
        if taken and tokens > SLICE_TOKENS:
            break
        taken[job] = len(job.waiting)
    return list(taken.items())


def go_on(taken: Sequence[tuple[EmbeddingJob, list[Float32]]]) -> None:
    """Let jobs go on with the states of their rows: questions to their end, then all others, step by step together.

    The turns of a session end one after the other. One stays behind where the turn before it, which was thought to be
    short, takes turns.
    """
    for job, states in taken:
        job.feed(states)
        if job.is_question:
            _take_steps([job])
            job.answer()
    jobs = [job for job, _ in taken]
    _take_steps(jobs)
    for job in jobs:
        if job.at_its_end and job.has_its_turn:
            job.go_on(None)


def alone(plan: Plan, forward: Callable[[Rows], list[Float32]]) -> Any:
    """Do a plan to its end with nobody beside it, and return what it made; what goes wrong is a `Fault`."""
    job = EmbeddingJob(plan, long_after=SLICE_TOKENS)
    while not job.done:
        go_on([(job, forward(job.waiting))])
    job.answer()
    return job.future.get()


def _take_steps(jobs: Sequence[EmbeddingJob]) -> None:
    """Take the steps of jobs until each has ended or wants the model; what fails in one fails those who took it."""
    while steps := [(job, job.step) for job in jobs if job.step is not None]:
        make = steps[0][1].make
        taking = [(job, step.of) for job, step in steps if step.make == make]
        try:
            made = make([of for _, of in taking])
        except Exception as error:  # noqa: BLE001 -- as in `Job.go_on`
            for job, _ in taking:
                job.fail(EmbeddingFault(f"Embedding failed: {type(error).__name__}: {error}"))
        else:
            for (job, _), one in zip(taking, made, strict=True):
                job.go_on(one)
