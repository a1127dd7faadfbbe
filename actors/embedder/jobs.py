"""Requests on their way through the model, and who of them goes on when.

Questions and short memories that wait at the same time share a slice, questions first; a long memory takes turns with
them, one slice at a time. The turns of a session are finished in the order in which they came.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import pykka

from actors.faults import EmbeddingFault, Fault

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from actors.messages.embedder import EmbeddedMemory, EmbeddedQuery
    from events.fingerprint import Float32

SLICE_TOKENS = 512
"""Tokens of one forward pass. Larger batches gain no rate on a CPU core and delay whoever comes next."""

Rows = list["Sequence[int] | npt.NDArray[np.integer]"]
"""Wordpieces of texts that shall go through the model."""

Plan = Generator[Rows | None, "list[Float32]", Any]
"""An embedding in the making: yields rows, is sent their states, and returns the result.

It may pause, too: no rows let whoever waits go first, None lets those that share its slice come as far.
"""


class Job:
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
        after: Job | None = None,
    ) -> None:
        self.plan = plan
        self.is_question = is_question
        self.session = session
        self.after = after
        """The turn before this one, if that isn't finished."""
        self.future: pykka.Future[EmbeddedMemory | EmbeddedQuery] = pykka.ThreadingFuture()
        self.rows: Rows = []
        self.states: list[Float32] = []
        self.done = False
        self._is_midway = False
        self._result: EmbeddedMemory | EmbeddedQuery | None = None
        self._on_progress = on_progress
        self._withdrawn = withdrawn or threading.Event()
        self._long_after = long_after
        self.drop_if_withdrawn()
        if not self.done:
            self._step(None)

    @property
    def has_its_turn(self) -> bool:
        """Whether it may be finished now."""
        if self.after is not None and self.after.done:
            self.after = None  # or each turn would keep all before it in memory
        return self.after is None

    @property
    def is_midway(self) -> bool:
        """Whether it goes on as soon as those that share its slice have come as far."""
        return self._is_midway and not self.done

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
            self._step(self.states)

    def _step(self, states: list[Float32] | None) -> None:
        try:
            rows = next(self.plan) if states is None else self.plan.send(states)
            self._is_midway = rows is None
            self.rows, self.states = rows or [], []
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
        if self._withdrawn.is_set():
            self.fail(EmbeddingFault("Embedding failed: it was withdrawn"))

    def fail(self, fault: Fault) -> None:
        """End without a result."""
        self.done = True
        self.future.set_exception((type(fault), fault, None))


def next_slice(jobs: Sequence[Job], *, after_long: bool) -> list[tuple[Job, int]]:
    """Return who goes next, each with how many of its rows: short jobs together, a long one in turn with them."""
    short = sorted((job for job in jobs if not job.is_long), key=lambda job: not job.is_question)
    long = [job for job in jobs if job.is_long and job.has_its_turn]
    if long and not (after_long and any(job.has_its_turn for job in short)):
        return [(long[0], min(len(long[0].waiting), 1))]  # a window fills half a slice
    taken: dict[Job, int] = {}
    tokens = 0
    for job in short:
        if not (job.has_its_turn or job.after in taken):
            continue
        tokens += sum(map(len, job.waiting))
        if taken and tokens > SLICE_TOKENS:
            break
        taken[job] = len(job.waiting)
    return list(taken.items())


def go_on(taken: Sequence[tuple[Job, list[Float32]]]) -> None:
    """Let jobs go on with the states of their rows: questions to their end, turns of a session one after the other.

    All others go side by side, from pause to pause: what one reads of a space's weights is then still near the
    processor when the next one needs it, which takes two thirds of the time. A turn stays behind where the one before
    it, which was thought to be short, takes turns.
    """
    while ready := [one for one in taken if one[0].has_its_turn]:
        for job, states in ready:
            job.feed(states)
            while job.is_question and job.is_midway:
                job.feed([])
            if job.is_question:
                job.answer()
        while midway := [job for job, _ in ready if job.is_midway]:
            for job in midway:
                job.feed([])
        taken = [one for one in taken if one not in ready]
