"""Goals and drift as they are surveyed, slice by slice, while memories come and go."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from actors.comparator.messages import MeasurePurposes
from actors.consolidator.goals.drift import Drift
from actors.consolidator.goals.purposes import LATEST, REFERENCES, Purposes
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
    rows = night.others.compare(MeasurePurposes(goal=STAR, exemplars=exemplars, memories=every))
    night.append(PurposesRealigned(goal=STAR, memories=every, purposes=rows.astype("<f4").tobytes()))


def test_each_pair_of_memories_is_compared_once_in_slices_of_a_few(night: Night):
    memories = about(night, HARBOUR, "harbour", 9)
    seen: list[tuple[int, int]] = []
    slices, found = worked_off(
        Purposes(night.others).survey("default", memories, lambda done, total: seen.append((done, total)))
    )
    assert seen == [(min(done + REFERENCES, 9), 9) for done in range(0, 9, REFERENCES)]
    assert slices >= len(memories) / REFERENCES
    (group,) = found.goals
    assert set(group.members) == set(memories)
    assert "harbour" in group.description


def test_a_memory_that_is_deleted_during_a_survey_is_in_no_goal(night: Night):
    memories = about(night, HARBOUR, "harbour", 9)
    work = Purposes(night.others).survey("default", memories)
    for _ in range(3):
        next(work)
    night.append(MemoryErased(memory=memories[0]))
    night.append(MemoryForgotten(memory=memories[8]))
    _, found = worked_off(work)
    (group,) = found.goals
    assert set(group.members) == set(memories[1:8])


def test_a_survey_of_nothing_finds_nothing(night: Night):
    _, found = worked_off(Purposes(night.others).survey("default", ()))
    assert (found.goals, found.star) == ((), None)


def test_without_a_north_star_there_is_no_drift(night: Night):
    about(night, HARBOUR, "harbour", 9)
    assert Purposes(night.others).drift("default", LATEST) is None
    assert Purposes(night.others).look("default", LATEST) is None
    assert night.envelopes(DriftDetected) == []


def test_drift_is_that_of_the_memories_that_stay(night: Night):
    harbour = about(night, HARBOUR, "harbour", 9)
    choose(night, harbour)
    garden = about(night, GARDEN, "garden", 9)
    mine = Purposes(night.others)
    mine.catch_up("default")
    every, left = mine.drift("default", LATEST), mine.drift("default", LATEST, set(garden))
    assert every is not None
    assert left is not None
    assert (every.now.memories, left.now.memories) == (18, 9)
    assert left.now.similarity > every.now.similarity + 0.2


def test_a_level_of_drift_is_written_down_once_and_a_measurement_of_others_never(night: Night):
    choose(night, about(night, HARBOUR, "harbour", 9))
    about(night, GARDEN, "garden", 9)
    mine = Purposes(night.others)
    mine.look("default", 5)
    assert night.envelopes(DriftDetected) == []
    first = mine.look("default", LATEST)
    assert first is not None
    again = mine.look("default", LATEST)
    assert again is not None
    (noted,) = night.envelopes(DriftDetected)
    assert noted.event.level is first.now.level is not DriftLevel.NONE
    assert len(first.noted) == len(again.noted) == 1


def test_drift_says_what_it_measured(night: Night):
    harbour = about(night, HARBOUR, "harbour", 9)
    choose(night, harbour)
    report = Purposes(night.others).drift("default", 4)
    assert report is not None
    assert isinstance(report.now, Drift)
    assert (report.star, report.now.memories) == (STAR, 4)
