"""Times that come again: what the moments for a question have in common, and that they share nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.embedder.spaces.temporal import periodicity
from actors.embedder.spaces.vectors import mean_direction
from actors.text.queries.dates import sample_moments

ASKED = datetime(2023, 8, 17, 15, 20, tzinfo=UTC)
MONDAY, FRIDAY, SATURDAY, SUNDAY = 0, 4, 5, 6
DAYS, HOURS, MONTHS = {*range(7)}, {*range(24)}, {*range(1, 13)}


@pytest.mark.parametrize(
    ("question", "days", "hours", "months"),
    [
        ("on Sunday mornings", {SUNDAY}, {*range(6, 12)}, MONTHS),
        ("what happens every Monday?", {MONDAY}, HOURS, MONTHS),
        ("her usual Friday", {FRIDAY}, HOURS, MONTHS),
        ("on Sundays", {SUNDAY}, HOURS, MONTHS),
        ("on weekends", {SATURDAY, SUNDAY}, HOURS, MONTHS),
        ("on weekdays", {*range(5)}, HOURS, MONTHS),
        ("on weekdays at noon", {*range(5)}, {11, 12, 13}, MONTHS),
        ("in the morning", DAYS, {*range(6, 12)}, MONTHS),
        ("at night", DAYS, {21, 22, 23, 0, 1, 2, 3, 4}, MONTHS),
        ("in the evenings", DAYS, {*range(17, 23)}, MONTHS),
        ("at lunch time", DAYS, {11, 12, 13}, MONTHS),
        ("every summer", DAYS, HOURS, {6, 7, 8}),
        ("in winter", DAYS, HOURS, {12, 1, 2}),
        ("on weekdays in spring", {*range(5)}, HOURS, {3, 4, 5}),
    ],
)
def test_sample_moments_share_only_the_named_period(question: str, days: set[int], hours: set[int], months: set[int]):
    found = sample_moments(question, ASKED)
    begun = [moment - timedelta(hours=6 if "night" in question else 0) for moment in found]
    assert {moment.weekday() for moment in begun} == days
    assert {moment.month for moment in begun} == months
    assert {moment.hour for moment in found} == hours
    assert len({moment.minute // 15 for moment in found}) == 4, "no minute of the hour is asked for"
    assert all(ASKED - timedelta(days=366) < moment < ASKED for moment in found)
    assert len(found) <= 260


@pytest.mark.parametrize(
    "question",
    [
        "What did Ana do on Sunday?",
        "What did Ana do last night?",
        "in the summer of 2021",
        "in summer 2021",
        "Sunday morning",
        "tonight",
        "Why did the spring break?",
        "",
    ],
)
def test_a_single_time_has_no_sample_moments(question: str):
    assert sample_moments(question, ASKED) == ()


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("on Sunday mornings", lambda moment: moment.weekday() == SUNDAY and 6 <= moment.hour < 12),
        ("on weekdays", lambda moment: moment.weekday() < SATURDAY),
        ("in the evening", lambda moment: 17 <= moment.hour < 23),
        ("every summer", lambda moment: moment.month in {6, 7, 8}),
    ],
)
def test_the_mean_of_sample_moments_is_nearest_to_moments_of_the_period(
    question: str, fits: Callable[[datetime], bool]
):
    rng = np.random.default_rng(3)
    others = [ASKED - timedelta(minutes=int(ago)) for ago in rng.integers(0, 1_000_000, 1_000)]
    scores = periodicity(others) @ mean_direction(periodicity(sample_moments(question, ASKED)))
    fitting = np.array([fits(moment) for moment in others])
    best = np.argsort(-scores)[:20]
    assert fitting[best].all()
    assert np.median(scores[fitting]) > np.quantile(scores[~fitting], 0.9)


@given(
    asked_at=st.datetimes(timezones=st.just(UTC)),
    question=st.sampled_from(["on weekdays at night", "every winter", "on Sundays", "at noon"]) | st.text(),
)
def test_no_query_at_any_time_raises_an_error(asked_at: datetime, question: str):
    assert len(sample_moments(question, asked_at)) <= 260


def test_sample_moments_exist_in_the_first_and_last_year():
    for asked_at in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)):
        assert {moment.hour for moment in sample_moments("at night", asked_at)} == {21, 22, 23, 0, 1, 2, 3, 4}
