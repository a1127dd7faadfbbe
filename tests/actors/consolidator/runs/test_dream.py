"""Patterns that a dream records."""

from uuid import UUID

import msgspec

from actors.consolidator.goals.survey import Survey
from actors.consolidator.runs.dream import patterns_of
from events.vocabulary import GoalDiscovered
from tests.projections import sleeps

RUN = UUID(int=99)


def goal(members: int, confidence: float = 0.7) -> GoalDiscovered:
    found = sleeps.goal(UUID(int=1_000 + members), tuple(UUID(int=number + 1) for number in range(members)))
    return msgspec.structs.replace(found, confidence=confidence)


def test_a_pattern_says_what_the_goal_says_under_an_id_of_its_own():
    found = goal(7)
    (pattern,), (again,) = (patterns_of(Survey((found,), None), RUN) for _ in range(2))
    assert pattern.run == RUN
    assert len({pattern.pattern, again.pattern, found.goal}) == 3
    for field in ("namespace", "description", "terms", "members", "coherence", "confidence"):
        assert getattr(pattern, field) == getattr(found, field)


def test_goals_with_five_members_are_patterns():
    goals = tuple(goal(5 + number, 0.9 - number / 100) for number in range(14))
    found = patterns_of(Survey((goal(4, 0.95), *goals), None), RUN)
    assert [pattern.confidence for pattern in found] == [one.confidence for one in goals]
    assert patterns_of(Survey((goal(4),), goal(4).goal), RUN) == ()
