"""Those that share a slice: step by step together, a question at once, the turns of a session in their order."""

from collections.abc import Sequence

import numpy as np
import pytest

from actors.embedder.jobs import EmbeddingJob, Plan, Together, go_on, next_slice
from actors.runtime.faults import EmbeddingFault

SHORT = 256
STATES = [np.zeros((3, 4), np.float32)]


class Telling:
    """Makes jobs of two steps that tell of each, and with whom it was taken."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def first(self, names: Sequence[str]) -> list[str]:
        self.told.append(f"first of {' '.join(names)}")
        return [name.upper() for name in names]

    def second(self, names: Sequence[str]) -> list[str]:
        self.told.append(f"second of {' '.join(names)}")
        return [f"{name}!" for name in names]

    def plan(self, name: str, *, omits: bool = False, turn: bool = True) -> Plan:
        yield [[7]]
        made = name
        if not omits:
            made = yield Together(self.first, name)
        made = yield Together(self.second, made)
        if turn:
            yield None
        self.told.append(f"{name} ends")
        return made

    def job(
        self, name: str, *, question: bool = False, after: EmbeddingJob | None = None, omits: bool = False
    ) -> EmbeddingJob:
        return EmbeddingJob(
            self.plan(name, omits=omits, turn=not question), long_after=SHORT, is_question=question, after=after
        )


@pytest.fixture
def telling() -> Telling:
    return Telling()


def result(job: EmbeddingJob) -> object:
    job.answer()
    return job.future.get(timeout=0)


def test_a_step_is_taken_once_for_all_who_share_a_slice_and_each_gets_its_own(telling: Telling) -> None:
    one, other = telling.job("a"), telling.job("b")
    go_on([(one, STATES), (other, STATES)])
    assert telling.told == ["first of a b", "second of A B", "a ends", "b ends"]
    assert (result(one), result(other)) == ("A!", "B!")


def test_whoever_leaves_a_step_out_takes_the_others_all_the_same(telling: Telling) -> None:
    one, other = telling.job("a"), telling.job("b", omits=True)
    go_on([(one, STATES), (other, STATES)])
    assert (result(one), result(other)) == ("A!", "b!")


def test_a_question_is_answered_before_the_memories_that_share_its_slice_go_on(telling: Telling) -> None:
    question, other = telling.job("q", question=True), telling.job("a")
    go_on([(question, STATES), (other, STATES)])
    assert telling.told == ["first of q", "second of Q", "q ends", "first of a", "second of A", "a ends"]


def test_turns_take_their_steps_together_and_end_in_their_order(telling: Telling) -> None:
    first = telling.job("a")
    second = telling.job("b", after=first)
    go_on([(first, STATES), (second, STATES)])
    assert telling.told == ["first of a b", "second of A B", "a ends", "b ends"]


def test_a_turn_waits_at_its_end_as_long_as_the_one_before_it_is_under_way(telling: Telling) -> None:
    first = telling.job("a")
    second = telling.job("b", after=first)
    go_on([(second, STATES)])
    assert telling.told == ["first of b", "second of B"]
    assert next_slice([first, second], after_long=False) == [(first, 1)]
    go_on([(first, STATES)])
    assert next_slice([second], after_long=False) == [(second, 0)]
    go_on([(second, [])])
    assert result(second) == "B!"


def test_what_goes_wrong_with_one_ends_that_one_alone(telling: Telling) -> None:
    def plan() -> Plan:
        yield [[7]]
        yield Together(telling.first, "x")
        raise ValueError("out of words")

    broken, other = EmbeddingJob(plan(), long_after=SHORT), telling.job("a")
    go_on([(broken, STATES), (other, STATES)])
    assert result(other) == "A!"
    with pytest.raises(EmbeddingFault, match="out of words"):
        result(broken)


def test_a_step_that_fails_ends_those_who_took_it_and_nobody_else(telling: Telling) -> None:
    def failing(_: Sequence[str]) -> list[str]:
        raise MemoryError("no room")

    def plan() -> Plan:
        yield [[7]]
        yield Together(failing, "x")

    broken, other = [EmbeddingJob(plan(), long_after=SHORT) for _ in range(2)], telling.job("a")
    go_on([*((job, STATES) for job in broken), (other, STATES)])
    assert result(other) == "A!"
    for job in broken:
        with pytest.raises(EmbeddingFault, match="MemoryError: no room"):
            result(job)
