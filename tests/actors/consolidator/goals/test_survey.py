"""Goals as they are written down: what they are called, whose they are, and which one leads."""

from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.clustering import MIN_SIZE
from actors.consolidator.goals.discovery import MIN_MEMORIES, Similarities
from actors.consolidator.goals.survey import Survey, survey
from events.vocabulary import GoalDiscovered
from events.vocabulary.values import GoalLevel
from tests.actors.consolidator.asleep import worked_off
from tests.actors.consolidator.planted import planted

GARDEN = "We watered the tomato seedlings in the garden bed, row {}."
BOAT = "The harbour master checked the sails and the anchor of boat {}."
BREAD = "The sourdough rose overnight, and loaf {} went into the oven."
THANKS = (
    "Thanks so much, that is really kind of you!",
    "Wow, that sounds amazing. I'm so glad to hear it!",
    "Take care, talk to you soon!",
    "Hey! How have you been lately?",
    "You're welcome, any time.",
)


def texts(pattern: str, count: int) -> list[str]:
    return [pattern.format(number) for number in range(count)]


def chatter(count: int) -> list[str]:
    return [THANKS[number % len(THANKS)] for number in range(count)]


def ids(count: int) -> list[UUID]:
    return [UUID(int=number + 1) for number in range(count)]


def places(goal: GoalDiscovered) -> set[int]:
    return {member.int - 1 for member in goal.members}


def surveyed(memories: list[UUID], said: list[str], scores: Similarities) -> Survey:
    return worked_off(survey("n", memories, said, scores))[1]


def garden_and_boats(*, chat: int = 0) -> Survey:
    said = [*texts(GARDEN, 14), *texts(BOAT, 9), *chatter(chat)]
    return surveyed(ids(len(said)), said, planted(*([14, 9] + ([chat] if chat else []))))


def test_goals_are_the_topics_in_their_members_own_words():
    found = garden_and_boats()
    assert [places(goal) for goal in found.goals] == [set(range(14)), set(range(14, 23))]
    garden, boats = found.goals
    assert {"tomato", "garden", "seedlings"} & {*" ".join(garden.terms).split()}
    assert {"harbour", "sails", "anchor", "boat"} & {*" ".join(boats.terms).split()}
    for goal in found.goals:
        assert goal.description
        assert all(term in goal.description for term in goal.terms)
        assert goal.namespace == "n"
        assert list(goal.centrality) == sorted(goal.centrality, reverse=True)
        assert len(goal.centrality) == len(goal.members)
        assert goal.coherence == pytest.approx(sum(goal.centrality) / len(goal.centrality))
    assert [goal.confidence for goal in found.goals] == sorted((goal.confidence for goal in found.goals), reverse=True)


def test_chatter_is_no_goal_however_much_of_it_there_is():
    found = garden_and_boats(chat=30)
    assert [places(goal) for goal in found.goals] == [set(range(14)), set(range(14, 23))]
    assert found.star == found.goals[0].goal
    said = chatter(30)
    assert surveyed(ids(30), said, planted(30)) == Survey((), None)


def test_the_largest_topic_leads():
    found = garden_and_boats()
    assert found.star == found.goals[0].goal
    said = [*texts(GARDEN, 7), *texts(BOAT, 15)]
    other = surveyed(ids(22), said, planted(7, 15))
    (star,) = (goal for goal in other.goals if goal.goal == other.star)
    assert places(star) == set(range(7, 22))


def test_who_speaks_is_told_by_a_groups_own_words_where_too_few_others_are_left():
    # A label is a heading if a tenth of its texts name it: 3 of 12 do, and 3 of 31.
    said = [f"Vologda: The river{' Vologda' if number < 3 else ''}" for number in range(12)]
    others = ["Vologda: It snowed there."] * 20
    (few,) = surveyed(ids(31), [*said, *others[:19]], planted(12, strangers=19)).goals
    assert "Vologda" in " ".join(few.terms)
    (many,) = surveyed(ids(32), [*said, *others], planted(12, strangers=20)).goals
    assert many.terms == ("river",)


def test_memories_without_a_topic_have_no_goal_and_no_star():
    assert surveyed(ids(30), texts(GARDEN, 30), planted(strangers=30)) == Survey((), None)
    assert surveyed([], [], planted()) == Survey((), None)


def test_a_group_too_small_for_a_goal_is_one_only_if_it_leads():
    assert MIN_MEMORIES <= 4 < MIN_SIZE
    said = [*texts(GARDEN, 14), *texts(BOAT, 4)]
    beside = surveyed(ids(18), said, planted(14, 4))
    assert [places(goal) for goal in beside.goals] == [set(range(14))]
    alone = surveyed(ids(24), [*texts(BOAT, 4), *chatter(20)], planted(4, strangers=20))
    assert [places(goal) for goal in alone.goals] == [{0, 1, 2, 3}]
    assert alone.star == alone.goals[0].goal


def test_no_two_discoveries_give_a_goal_the_same_id():
    found = [goal.goal for _ in range(3) for goal in garden_and_boats().goals]
    assert len({*found}) == len(found) == 6


def test_a_narrow_goal_serves_the_wide_one_that_it_is_part_of():
    said = [*texts(GARDEN, 30), *texts(BREAD, 8)]
    wide, narrow = surveyed(ids(38), said, planted(30, 8, within=0.9, across=0.6)).goals
    assert (wide.level, narrow.level) == (GoalLevel.STRATEGIC, GoalLevel.OPERATIONAL)
    assert narrow.parent == wide.goal
    assert wide.parent is None
    apart = surveyed(ids(38), said, planted(30, 8, within=0.9, across=0.2)).goals
    assert [goal.parent for goal in apart] == [None, None]


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────

SAMPLE = garden_and_boats().goals[0]
WIDE, NARROW, DEEP = ids(3)


def goal(name: UUID, confidence: float, parent: UUID | None = None) -> GoalDiscovered:
    return msgspec.structs.replace(SAMPLE, goal=name, confidence=confidence, parent=parent, level=GoalLevel.TACTICAL)


FOUND = Survey((goal(DEEP, 0.8, NARROW), goal(NARROW, 0.7, WIDE), goal(WIDE, 0.5)), star=WIDE)


def kept(min_confidence: float, max_goals: int, star: UUID | None) -> dict[UUID, UUID | None]:
    return {one.goal: one.parent for one in FOUND.select(min_confidence, max_goals, star)}


def test_goals_that_are_sure_enough_are_kept_and_the_most_confident_first():
    assert [*kept(0.6, 5, None)] == [DEEP, NARROW]
    assert [*kept(0.0, 5, None)] == [DEEP, NARROW, WIDE]
    assert [*kept(0.0, 1, None)] == [DEEP]
    assert kept(0.9, 5, None) == {}


def test_the_star_is_kept_however_unsure_it_is_and_however_few_are_wanted():
    assert [*kept(0.6, 5, WIDE)] == [DEEP, NARROW, WIDE]
    assert [*kept(1.0, 5, WIDE)] == [WIDE]
    assert [*kept(0.0, 1, WIDE)] == [DEEP, WIDE]


def test_a_goal_whose_parent_is_not_kept_stands_at_the_top():
    assert kept(0.0, 5, None) == {DEEP: NARROW, NARROW: WIDE, WIDE: None}
    assert kept(0.6, 5, None) == {DEEP: NARROW, NARROW: None}
    assert kept(0.6, 1, WIDE) == {DEEP: None, WIDE: None}


def test_the_star_stands_above_all_others_and_only_it_becomes_the_north_star():
    chosen = FOUND.select(0.0, 5, NARROW)
    assert {one.goal: one.parent for one in chosen} == {DEEP: NARROW, NARROW: None, WIDE: None}
    assert [one.goal for one in chosen if one.level is GoalLevel.NORTH_STAR] == [NARROW]
    assert all(one.level is GoalLevel.TACTICAL for one in FOUND.select(0.0, 5, None))


@given(st.floats(0, 1), st.integers(1, 5), st.sampled_from([None, WIDE, NARROW, DEEP]))
def test_whatever_is_kept_no_parent_is_missing(min_confidence: float, max_goals: int, star: UUID | None):
    chosen = kept(min_confidence, max_goals, star)
    assert {parent for parent in chosen.values() if parent} <= chosen.keys()
    assert star is None or star in chosen
    assert len(chosen) <= max_goals + 1
