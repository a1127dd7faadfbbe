"""Goals as they are recorded: what they are called, whose they are, and which one leads."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
import pytest

from actors.consolidator.clustering import MIN_MEMORIES, MIN_SIZE
from actors.consolidator.goals.survey import (
    DESCRIBED,
    ClusteredMemories,
    Survey,
    cluster_memories,
    repeats,
    survey,
)
from events.vocabulary import ClustersFormed, GoalDiscovered, MemoryErased, MemoryForgotten
from events.vocabulary.values import GoalLevel
from tests.actors.comparator.similar_memories import KEYS, like
from tests.actors.consolidator.asleep import Night
from tests.actors.slices import worked_off
from tests.events.samples import random_fingerprint
from tests.projections.sleeps import goal

GARDEN = "We watered the tomato seedlings in the garden bed, row {}."
BOAT = "The harbour master checked the sails and the anchor of boat {}."
THANKS = (
    "Thanks so much, that is really kind of you!",
    "Wow, that sounds amazing. I'm so glad to hear it!",
    "Take care, talk to you soon!",
    "Hey! How have you been lately?",
    "You're welcome, any time.",
)


def about(night: Night, *patterns: str, count: int, topic: int) -> list[UUID]:
    """Store memories that are similar in every space."""
    similar = dict.fromkeys(KEYS, 0.8)
    return [
        night.store(
            patterns[number % len(patterns)].format(number),
            fingerprint=like(similar, 1_000 * topic + number, of=random_fingerprint(topic)),
        )
        for number in range(count)
    ]


def surveyed(night: Night, memories: Sequence[UUID]) -> Survey:
    return worked_off(survey(night.clients, "default", memories, lambda _done, _total: None))[1]


def members(found: Survey) -> list[set[UUID]]:
    return [set(one.members) for one in found.goals]


def test_goals_are_the_topics_in_the_words_of_their_members(night: Night):
    garden, boats = about(night, GARDEN, count=14, topic=1), about(night, BOAT, count=9, topic=2)
    found = surveyed(night, [*garden, *boats])
    assert members(found) == [set(garden), set(boats)]
    assert "tomato seedlings" in found.goals[0].terms
    assert {"harbour master", "sails", "anchor"} & {*found.goals[1].terms}
    assert found.star == found.goals[0].goal
    for one in found.goals:
        assert one.description == ", ".join(one.terms)
        assert list(one.centrality) == sorted(one.centrality, reverse=True)
        assert 0.9 < one.coherence <= 1
        assert one.spaces


def test_greetings_and_thanks_are_no_goal(night: Night):
    thanks, garden = about(night, *THANKS, count=30, topic=3), about(night, GARDEN, count=14, topic=1)
    found = surveyed(night, [*thanks, *garden])
    assert members(found) == [set(garden)]
    assert surveyed(night, thanks) == Survey()


def test_a_group_too_small_for_a_goal_is_one_only_if_it_leads(night: Night):
    assert MIN_MEMORIES <= 4 < MIN_SIZE
    garden, boats = about(night, GARDEN, count=14, topic=1), about(night, BOAT, count=4, topic=2)
    thanks = about(night, *THANKS, count=20, topic=3)
    assert members(surveyed(night, [*garden, *boats])) == [set(garden)]
    alone = surveyed(night, [*boats, *thanks])
    assert members(alone) == [set(boats)]
    assert alone.star == alone.goals[0].goal


def test_a_memory_that_is_deleted_is_in_no_goal(night: Night):
    garden = about(night, GARDEN, count=9, topic=1)
    night.append(MemoryErased(memory=garden[0]))
    night.append(MemoryForgotten(memory=garden[8]))
    assert members(surveyed(night, garden)) == [set(garden[1:8])]


def test_known_clusters_are_taken_unless_a_member_was_deleted_since(night: Night):
    garden = about(night, GARDEN, count=9, topic=1)
    _, clustered = worked_off(cluster_memories(night.clients, garden))

    def asked(known: ClusteredMemories) -> tuple[list[set[UUID]], int]:
        slices, found = worked_off(survey(night.clients, "default", garden, lambda _done, _total: None, known))
        return members(found), slices

    [(first, fewer), (_, more)] = asked(clustered), asked(ClusteredMemories((UUID(int=0),)))
    assert first == [set(garden)]
    assert fewer < more
    night.append(MemoryForgotten(memory=garden[8]))
    assert asked(clustered)[0] == [set(garden[:8])]


def test_a_run_forms_no_cluster_of_a_group_that_is_only_large_enough_to_lead(night: Night):
    assert MIN_MEMORIES <= 4 < MIN_SIZE
    garden, boats = about(night, GARDEN, count=14, topic=1), about(night, BOAT, count=4, topic=2)
    assert len(worked_off(cluster_memories(night.clients, [*garden, *boats]))[1].clusters) == 2
    run = night.run(salience_threshold=0.0).finished.run
    (formed,) = [event for event in night.written(run) if isinstance(event, ClustersFormed)]
    assert [set(cluster.members) for cluster in formed.clusters] == [set(garden)]


def test_a_survey_of_nothing_finds_nothing(night: Night):
    assert surveyed(night, []) == Survey()
    assert surveyed(night, about(night, GARDEN, count=2, topic=1)) == Survey()


def test_memories_are_read_in_slices_and_progress_is_reported(night: Night):
    garden = about(night, GARDEN, count=DESCRIBED + 20, topic=1)
    seen: list[tuple[int, int]] = []
    slices, _ = worked_off(survey(night.clients, "default", garden, lambda done, total: seen.append((done, total))))
    assert seen == [(DESCRIBED, 36), (2 * DESCRIBED, 36), (36, 36)]
    assert slices > len(seen)


ONE, OTHER, THIRD = (UUID(int=number) for number in (1, 2, 3))


def named(name: UUID, numbers: range, level: GoalLevel = GoalLevel.TACTICAL, parent: UUID | None = None):
    members = tuple(UUID(int=100 + number) for number in numbers)
    return msgspec.structs.replace(goal(name, members), level=level, parent=parent)


@pytest.mark.parametrize(("shared", "expected"), [(10, True), (7, True), (6, False), (0, False)])
def test_a_goal_repeats_another_if_half_of_all_their_members_are_shared(shared: int, expected: bool):
    one, other = named(ONE, range(10)), named(OTHER, range(10 - shared, 20 - shared))
    assert repeats(one, other) is repeats(other, one) is expected


def test_a_goal_that_repeats_a_known_one_takes_its_id_and_its_children_follow():
    found = Survey((named(ONE, range(10)), named(OTHER, range(20, 25), parent=ONE)), ONE)
    known: list[GoalDiscovered] = [named(THIRD, range(9))]
    renamed = found.known_as(known)
    assert [(one.goal, one.parent) for one in renamed.goals] == [(THIRD, None), (OTHER, THIRD)]
    assert renamed.star == THIRD
    assert found.known_as([]) == found


def test_the_north_star_stands_above_all_others_and_is_the_only_one():
    found = Survey((named(ONE, range(60), GoalLevel.NORTH_STAR), named(OTHER, range(9), parent=ONE)), ONE)
    led = found.led_by(OTHER)
    assert [(one.level, one.parent) for one in led.goals] == [
        (GoalLevel.STRATEGIC, None),
        (GoalLevel.NORTH_STAR, None),
    ]
    assert led.star == OTHER
