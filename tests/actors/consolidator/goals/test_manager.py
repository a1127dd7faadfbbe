"""Goals and drift as they are recorded while memories come and go."""

from uuid import UUID

from actors.comparator.messages import MeasurePurposes
from actors.consolidator.goals.manager import LATEST, GoalManager
from actors.consolidator.messages import FindGoals, GoalDiscovery, MeasureDrift
from events import vocabulary as ev
from events.fingerprint import Fingerprint
from events.vocabulary.values import DriftLevel
from tests.actors.comparator.similar_memories import KEYS, like
from tests.actors.consolidator.asleep import Night
from tests.actors.slices import worked_off
from tests.events.samples import random_fingerprint
from tests.projections.sleeps import goal

STAR = UUID(int=9)
HARBOUR, GARDEN = random_fingerprint(1), random_fingerprint(2)


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
    night.append(goal(STAR, exemplars), ev.NorthStarChosen(namespace="default", goal=STAR))
    every = tuple(members)
    rows = night.clients.ask_comparator(MeasurePurposes(goal=STAR, exemplars=exemplars, memories=every))
    night.append(ev.PurposesRealigned(goal=STAR, memories=every, purposes=rows.astype("<f4").tobytes()))


def test_without_a_north_star_there_is_no_drift(night: Night):
    about(night, HARBOUR, "harbour", 9)
    assert GoalManager(night.clients).measure_drift("default", LATEST) is None
    assert GoalManager(night.clients).record_drift("default", LATEST) is None
    assert night.envelopes(ev.DriftDetected) == []


def test_drift_leaves_out_the_memories_that_a_run_hides(night: Night):
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


def test_a_level_of_drift_is_recorded_once_and_only_for_the_latest_hundred(night: Night):
    choose(night, about(night, HARBOUR, "harbour", 9))
    about(night, GARDEN, "garden", 9)
    mine = GoalManager(night.clients)
    mine.record_drift("default", 5)
    assert night.envelopes(ev.DriftDetected) == []
    first = mine.record_drift("default", LATEST)
    assert first is not None
    again = mine.record_drift("default", LATEST)
    assert again is not None
    (noted,) = night.envelopes(ev.DriftDetected)
    assert noted.event.level is first.current.level is not DriftLevel.NONE
    assert len(first.recorded) == len(again.recorded) == 1


def test_drift_is_measured_again_only_after_something_has_changed(night: Night):
    harbour = about(night, HARBOUR, "harbour", 9)
    choose(night, harbour)
    asked = MeasureDrift(namespace="default", memories=LATEST, record=False)
    before = night.ask(asked)
    night.append(ev.MemoryRecalled(memories=tuple(harbour), query_sha256=bytes(32)))
    assert night.ask(asked) is before
    about(night, GARDEN, "garden", 9)
    assert (before.current.memories, night.ask(asked).current.memories) == (9, 18)


def discovered(night: Night) -> GoalDiscovery:
    request = FindGoals(namespace="default", min_confidence=0.0, max_goals=20, on_progress=lambda _done, _total: None)
    return worked_off(GoalManager(night.clients).discover(request))[1]


def test_a_repeated_discovery_appends_nothing_and_answers_the_same_goals(night: Night):
    about(night, HARBOUR, "harbour", 9)
    about(night, GARDEN, "garden", 7)
    first = discovered(night)
    events = night.live(), len(list(night.log.read()))
    again = discovered(night)
    assert (night.live(), len(list(night.log.read()))) == events
    assert again.goals == first.goals
    assert (len(first.goals), first.chosen, again.chosen) == (2, True, False)
    assert again.star == first.star


def test_a_goal_that_grows_keeps_its_id(night: Night):
    about(night, HARBOUR, "harbour", 9)
    first = discovered(night)
    about(night, GARDEN, "garden", 7)
    nearly = dict.fromkeys(KEYS, 0.95)
    grown = night.store("The harbour of another day.", fingerprint=like(nearly, 99, of=HARBOUR))
    again = discovered(night)
    assert again.star is not None
    assert again.star.goal == first.goals[0].goal
    (harbour,) = (one for one in again.goals if one.goal == again.star.goal)
    assert grown in harbour.members
    assert len(again.goals) == 2


def test_memories_near_any_goal_are_no_drift(night: Night):
    about(night, HARBOUR, "harbour", 12)
    about(night, GARDEN, "garden", 9)
    discovered(night)
    report = GoalManager(night.clients).record_drift("default", LATEST)
    assert report is not None
    assert report.current.level is DriftLevel.NONE
