"""Goals and drift as they are surveyed, slice by slice, while memories come and go."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from actors.comparator.messages import MeasurePurposes
from actors.consolidator.goals.manager import LATEST, REFERENCES, GoalManager
from actors.consolidator.values import Drift
from events.fingerprint import Fingerprint
from events.vocabulary import (
    DriftDetected,
    MemoryErased,
    MemoryForgotten,
    NorthStarChosen,
    PurposesRealigned,
)
from events.vocabulary.values import DriftLevel
from tests.actors.comparator.similar_memories import KEYS, like
from tests.actors.consolidator.asleep import Night, asleep, worked_off
from tests.events.samples import random_fingerprint
from tests.projections.sleeps import goal

STAR = UUID(int=9)
HARBOUR, GARDEN = random_fingerprint(1), random_fingerprint(2)


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    with asleep(tmp_path) as night:
        yield night


def about(night: Night, topic: Fingerprint, word: str, count: int) -> list[UUID]:
    """Store memories that are alike in every space, and all of which say one word."""
    nearly = dict.fromkeys(KEYS, 0.95)
    return [
        night.store(f"The {word} of day {number} looks fine.", fingerprint=like(nearly, number, of=topic))
        for number in range(count)
    ]


def choose(night: Night, members: list[UUID]) -> None:
    """Let memories be measured against a North Star from now on."""
    exemplars = tuple(members[:8])
    night.append(goal(STAR, exemplars), NorthStarChosen(namespace="default", goal=STAR))
    every = tuple(members)
    rows = night.clients.ask_comparator(MeasurePurposes(goal=STAR, exemplars=exemplars, memories=every))
    night.append(PurposesRealigned(goal=STAR, memories=every, purposes=rows.astype("<f4").tobytes()))


def test_each_pair_of_memories_is_compared_once_in_slices_of_a_few(night: Night):
    memories = about(night, HARBOUR, "harbour", 9)
    seen: list[tuple[int, int]] = []
    slices, found = worked_off(
        GoalManager(night.clients).survey("default", memories, lambda done, total: seen.append((done, total)))
    )
    assert seen == [(min(done + REFERENCES, 9), 9) for done in range(0, 9, REFERENCES)]
    assert slices >= len(memories) / REFERENCES
    (group,) = found.goals
    assert set(group.members) == set(memories)
    assert "harbour" in group.description


def test_a_memory_that_is_deleted_during_a_survey_is_in_no_goal(night: Night):
    memories = about(night, HARBOUR, "harbour", 9)
    work = GoalManager(night.clients).survey("default", memories)
    for _ in range(3):
        next(work)
    night.append(MemoryErased(memory=memories[0]))
    night.append(MemoryForgotten(memory=memories[8]))
    _, found = worked_off(work)
    (group,) = found.goals
    assert set(group.members) == set(memories[1:8])


def test_a_survey_of_nothing_finds_nothing(night: Night):
    _, found = worked_off(GoalManager(night.clients).survey("default", ()))
    assert (found.goals, found.star) == ((), None)


def test_without_a_north_star_there_is_no_drift(night: Night):
    about(night, HARBOUR, "harbour", 9)
    assert GoalManager(night.clients).measure_drift("default", LATEST) is None
    assert GoalManager(night.clients).record_drift("default", LATEST) is None
    assert night.envelopes(DriftDetected) == []


def test_drift_is_that_of_the_memories_that_stay(night: Night):
    harbour = about(night, HARBOUR, "harbour", 9)
    choose(night, harbour)
    garden = about(night, GARDEN, "garden", 9)
    mine = GoalManager(night.clients)
    mine.align_unaligned("default")
    every, left = mine.measure_drift("default", LATEST), mine.measure_drift("default", LATEST, set(garden))
    assert every is not None
    assert left is not None
    assert (every.current.memories, left.current.memories) == (18, 9)
    assert left.current.similarity > every.current.similarity + 0.2


def test_a_level_of_drift_is_written_down_once_and_a_measurement_of_others_never(night: Night):
    choose(night, about(night, HARBOUR, "harbour", 9))
    about(night, GARDEN, "garden", 9)
    mine = GoalManager(night.clients)
    mine.record_drift("default", 5)
    assert night.envelopes(DriftDetected) == []
    first = mine.record_drift("default", LATEST)
    assert first is not None
    again = mine.record_drift("default", LATEST)
    assert again is not None
    (noted,) = night.envelopes(DriftDetected)
    assert noted.event.level is first.current.level is not DriftLevel.NONE
    assert len(first.recorded) == len(again.recorded) == 1


def test_drift_says_what_it_measured(night: Night):
    harbour = about(night, HARBOUR, "harbour", 9)
    choose(night, harbour)
    report = GoalManager(night.clients).measure_drift("default", 4)
    assert report is not None
    assert isinstance(report.current, Drift)
    assert (report.star, report.current.memories) == (STAR, 4)
