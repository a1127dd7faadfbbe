"""The profiles: the seeds' rows, and how `auto` reads a question."""

import pytest

from actors.comparator.profiles import CAUSE, CODE, SEED_PROFILES, TALK, direction, subject, weights
from actors.settings import SearchProfile
from events.spaces import SPACES
from projections.directed import Direction


@pytest.mark.parametrize("profile", SEED_PROFILES)
def test_each_profile_weighs_thirteen_spaces_and_sums_to_one(profile: SearchProfile) -> None:
    row = SEED_PROFILES[profile]
    assert list(row) == [space.key for space in SPACES]
    assert sum(row.values()) == pytest.approx(1.0, abs=0.01)
    assert min(row.values()) >= 0


def test_the_rows_of_seed_002_hold_but_for_the_share_of_the_thirteenth() -> None:
    semantic = SEED_PROFILES[SearchProfile.SEMANTIC_SEARCH]
    assert semantic["e1_semantic"] == pytest.approx(0.30)
    assert semantic["e7_code"] == pytest.approx(0.18)
    assert semantic["e13_splade"] == pytest.approx(0.02)
    assert SEED_PROFILES[SearchProfile.CAUSAL_REASONING]["e5_causal"] == pytest.approx(0.43)
    assert SEED_PROFILES[SearchProfile.FACT_CHECKING]["e11_entity"] == pytest.approx(0.41)
    assert (
        max(SEED_PROFILES[SearchProfile.CODE_SEARCH], key=SEED_PROFILES[SearchProfile.CODE_SEARCH].__getitem__)
        == "e7_code"
    )


@pytest.mark.parametrize(
    ("question", "expected", "asked_for"),
    [
        ("Where did Ana go in May?", TALK, None),
        ("python check if a variable is iterable", CODE, None),
        ("function that parses json from a string", CODE, None),
        ("Why did the payments fail?", TALK, Direction.CAUSE),
        ("What caused the outage in March?", CAUSE, Direction.CAUSE),
        ("What is the cause of this: the lawn is wet", CAUSE, Direction.CAUSE),
        ("What is the effect of this: it rained all night", CAUSE, Direction.EFFECT),
        ("What happens if the pool runs dry?", CAUSE, Direction.EFFECT),
    ],
)
def test_auto_reads_the_question(question: str, expected: dict[str, float], asked_for: Direction | None) -> None:
    assert weights(SearchProfile.AUTO, question) == expected
    assert direction(question) == asked_for


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the effect of this: it rained all night", "it rained all night"),
        ("What caused the outage in March?", "the outage in March?"),
        ("What happens if the pool runs dry?", "the pool runs dry?"),
        ("What is the cause of this:", "What is the cause of this:"),
        ("Why did the payments fail?", "Why did the payments fail?"),
    ],
)
def test_what_a_causal_question_tells_is_what_is_looked_for(question: str, told: str) -> None:
    assert subject(question) == told
