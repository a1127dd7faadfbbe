"""Jobs that share a slice: batched steps, queries first, the turns of a session in their order."""

from collections.abc import Sequence

import numpy as np
import pytest

from actors.embedder.jobs import BatchedStep, EmbeddingJob, Plan, advance, select_slice
from actors.runtime.faults import EmbeddingFault

STATES = [np.zeros((3, 4), np.float32)]


class Recorder:
    """Makes jobs of two steps, and records each call with its arguments."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def first(self, names: Sequence[str]) -> list[str]:
        self.calls.append(f"first of {' '.join(names)}")
        return [name.upper() for name in names]

    def second(self, names: Sequence[str]) -> list[str]:
        self.calls.append(f"second of {' '.join(names)}")
        return [f"{name}!" for name in names]

    def plan(self, name: str, *, omits: bool = False, turn: bool = True) -> Plan[str]:
        yield [[7]]
        made = name
        if not omits:
            made = yield BatchedStep(self.first, name)
        made = yield BatchedStep(self.second, made)
        if turn:
            yield None
        self.calls.append(f"{name} ends")
        return made

    def job(
        self, name: str, *, is_query: bool = False, predecessor: EmbeddingJob[str] | None = None, omits: bool = False
    ) -> EmbeddingJob:
        return EmbeddingJob(self.plan(name, omits=omits, turn=not is_query), is_query=is_query, predecessor=predecessor)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def result(job: EmbeddingJob[str]) -> object:
    job.resolve()
    return job.future.get(timeout=0)


def test_a_step_is_called_once_for_all_jobs_of_a_slice_and_each_gets_its_own_result(recorder: Recorder) -> None:
    one, other = recorder.job("a"), recorder.job("b")
    advance([(one, STATES), (other, STATES)])
    assert recorder.calls == ["first of a b", "second of A B", "a ends", "b ends"]
    assert (result(one), result(other)) == ("A!", "B!")


def test_a_job_that_skips_a_step_shares_the_others(recorder: Recorder) -> None:
    one, other = recorder.job("a"), recorder.job("b", omits=True)
    advance([(one, STATES), (other, STATES)])
    assert (result(one), result(other)) == ("A!", "b!")


def test_a_query_ends_before_the_memories_of_its_slice_advance(recorder: Recorder) -> None:
    question, other = recorder.job("q", is_query=True), recorder.job("a")
    advance([(question, STATES), (other, STATES)])
    assert recorder.calls == ["first of q", "second of Q", "q ends", "first of a", "second of A", "a ends"]


def test_turns_share_their_steps_and_end_in_their_order(recorder: Recorder) -> None:
    first = recorder.job("a")
    second = recorder.job("b", predecessor=first)
    advance([(first, STATES), (second, STATES)])
    assert recorder.calls == ["first of a b", "second of A B", "a ends", "b ends"]


def test_a_turn_waits_for_its_predecessor_before_it_ends(recorder: Recorder) -> None:
    first = recorder.job("a")
    second = recorder.job("b", predecessor=first)
    advance([(second, STATES)])
    assert recorder.calls == ["first of b", "second of B"]
    assert select_slice([first, second], after_long=False) == [(first, 1)]
    advance([(first, STATES)])
    assert select_slice([second], after_long=False) == [(second, 0)]
    advance([(second, [])])
    assert result(second) == "B!"


def test_a_plan_that_raises_fails_its_own_job_alone(recorder: Recorder) -> None:
    def plan() -> Plan[str]:
        yield [[7]]
        yield BatchedStep(recorder.first, "x")
        raise ValueError("out of words")

    broken, other = EmbeddingJob(plan()), recorder.job("a")
    advance([(broken, STATES), (other, STATES)])
    assert result(other) == "A!"
    with pytest.raises(EmbeddingFault, match="out of words"):
        result(broken)


def test_a_step_that_raises_fails_the_jobs_that_share_it_and_no_other(recorder: Recorder) -> None:
    def failing(_: Sequence[str]) -> list[str]:
        raise MemoryError("no room")

    def plan() -> Plan[str]:
        yield [[7]]
        yield BatchedStep(failing, "x")

    broken, other = [EmbeddingJob(plan()) for _ in range(2)], recorder.job("a")
    advance([*((job, STATES) for job in broken), (other, STATES)])
    assert result(other) == "A!"
    for job in broken:
        with pytest.raises(EmbeddingFault, match="MemoryError: no room"):
            result(job)
