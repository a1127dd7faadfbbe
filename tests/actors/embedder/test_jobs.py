"""Those that share a slice: side by side, a question at once, a turn after the one before it."""

import numpy as np
import pytest

from actors.embedder.jobs import Job, Plan, go_on

SHORT = 256
STATES = [np.zeros((3, 4), np.float32)]


def made(told: list[str], name: str, *, pauses: int = 2, question: bool = False, after: Job | None = None) -> Job:
    """Return a job that tells of every step, and pauses for those beside it."""

    def plan() -> Plan:
        yield [[7]]
        for step in range(pauses):
            told.append(f"{name}{step}")
            yield None
        told.append(f"{name} ends")
        return name

    return Job(plan(), long_after=SHORT, is_question=question, after=after)


def test_short_jobs_go_from_pause_to_pause_together() -> None:
    told: list[str] = []
    one, other = made(told, "a", pauses=3), made(told, "b", pauses=1)
    go_on([(one, STATES), (other, STATES)])
    assert told == ["a0", "b0", "a1", "b ends", "a2", "a ends"]
    assert one.done
    assert other.done


def test_a_question_is_answered_before_the_memories_that_share_its_slice_go_on() -> None:
    told: list[str] = []
    question, other = made(told, "q", question=True), made(told, "a")
    go_on([(question, STATES), (other, STATES)])
    assert told == ["q0", "q1", "q ends", "a0", "a1", "a ends"]
    assert question.future.get(timeout=0) == "q"


def test_a_turn_begins_when_the_one_before_it_in_the_same_slice_is_done() -> None:
    told: list[str] = []
    first, beside = made(told, "a"), made(told, "b", pauses=1)
    second = made(told, "c", pauses=0, after=first)
    go_on([(first, STATES), (second, STATES), (beside, STATES)])
    assert told == ["a0", "b0", "a1", "b ends", "a ends", "c ends"]


def test_a_turn_stays_behind_as_long_as_the_one_before_it_is_under_way() -> None:
    told: list[str] = []
    second = made(told, "b", after=made(told, "a"))
    go_on([(second, STATES)])
    assert told == []
    assert second.waiting == [[7]]


def test_what_goes_wrong_with_one_ends_that_one_alone() -> None:
    told: list[str] = []

    def plan() -> Plan:
        yield [[7]]
        yield None
        raise ValueError("out of words")

    broken, other = Job(plan(), long_after=SHORT), made(told, "a")
    go_on([(broken, STATES), (other, STATES)])
    assert told == ["a0", "a1", "a ends"]
    with pytest.raises(Exception, match="out of words"):
        broken.future.get(timeout=0)
