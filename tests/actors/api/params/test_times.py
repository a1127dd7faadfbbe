"""Times that parameters name: ISO 8601, dates, and the words that a search understands."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from actors.api.params.times import between, instant, period
from actors.runtime.faults import InvalidParamsFault
from tests.actors.conftest import Place

NOW = datetime(2026, 11, 28, 13, 5, tzinfo=UTC)
"""A Saturday."""


@pytest.mark.parametrize(
    ("named", "first", "days"),
    [
        ("2026-05-02", "2026-05-02", 1),
        ("9999-12-31", "9999-12-31", 1),
        ("2026-W18-3", "2026-04-29", 1),
        ("2026-W18", "2026-04-27", 7),
        ("2026W53", "2026-12-28", 7),
        ("2026-05", "2026-05-01", 31),
        (" 2024-02 ", "2024-02-01", 29),
        ("9999-12", "9999-12-01", 31),
        ("9999-W52", "9999-12-27", 5),
        ("yesterday", "2026-11-27", 1),
        (" Today ", "2026-11-28", 1),
        ("the day before yesterday", "2026-11-26", 1),
        ("two weeks ago", "2026-11-09", 7),
        ("the last three weeks", "2026-11-07", 22),
        ("last month", "2026-10-01", 31),
        ("May 2024", "2024-05-01", 31),
        ("May", "2026-05-01", 31),
        ("in March", "2026-03-01", 31),
        ("5 December", "2025-12-05", 1),
        ("Friday", "2026-11-27", 1),
        ("on Friday", "2026-11-27", 1),
        ("last Friday", "2026-11-27", 1),
        ("the week before 9 June", "2026-06-02", 7),
        ("summer 2025", "2025-06-01", 92),
        ("the 1990s", "1990-01-01", 3_652),
        ("2025", "2025-01-01", 365),
        ("next week", "2026-11-30", 7),
    ],
)
def test_a_day_or_longer_is_named_from_its_first_to_its_last_instant(named: str, first: str, days: int) -> None:
    found = period(named, "since", NOW)
    assert found.first == datetime.fromisoformat(first), "a day of the calendar, in no zone"
    assert found.last - found.first == timedelta(days=days) - datetime.resolution


@pytest.mark.parametrize("named", ["2026-05-02T14:30Z", "2026-05-02T16:30+02:00", "20260502T1430Z"])
def test_a_moment_has_no_length(named: str) -> None:
    assert set(period(named, "since", NOW)) == {datetime(2026, 5, 2, 14, 30, tzinfo=UTC)}


@pytest.mark.parametrize(
    ("named", "minutes"),
    [
        ("20 minutes ago", 20),
        ("An hour ago", 60),
        ("half an hour ago", 30),
        ("a couple of hours ago", 120),
        ("5 mins ago", 5),
        ("10 min ago", 10),
        ("2 hrs ago", 120),
        ("90 secs ago", 1.5),
        ("an hour and a half ago", 90),
        ("two and a half hours ago", 150),
        ("1.5 hours ago", 90),
        ("forty-five minutes ago", 45),
    ],
)
def test_hours_and_minutes_ago_name_a_moment(named: str, minutes: float) -> None:
    assert set(period(named, "since", NOW)) == {NOW - timedelta(minutes=minutes)}


def test_a_moment_without_a_zone_is_one_of_the_calendar() -> None:
    assert set(period("2026-05-02T14:30", "since", NOW)) == {datetime(2026, 5, 2, 14, 30)}


@pytest.mark.parametrize("day", ["2026-13-01", " 2025-06-31", "20250431"])
def test_a_day_that_no_calendar_has_is_refused_as_one(day: str) -> None:
    with pytest.raises(InvalidParamsFault, match="Invalid 'until': no such time, "):
        period(day, "until", NOW)


@pytest.mark.parametrize(
    "named",
    [
        *("", " ", "soon", "in", "the day before", "31 June", "2026-13", "2026-W60", "202605"),
        *("yesterday 14:00", "yesterday and today", "before yesterday", "since May 2024", "I met her yesterday"),
        *("1612120112345", "the last hour", "the last 2 hrs", "five", "x" * 5_000, "5 May " * 2_000),
    ],
)
def test_what_names_no_single_time_is_refused_with_examples(named: str) -> None:
    with pytest.raises(InvalidParamsFault, match="Invalid 'until': names no time such as 2026-05-02") as refused:
        period(named, "until", NOW)
    assert refused.value.data["parameter"] == "until"


def test_an_end_before_the_beginning_is_refused_and_the_same_day_is_none() -> None:
    assert between(None, None) == (None, None)
    first, last = between("yesterday", "yesterday", NOW)
    assert first is not None
    assert last is not None
    assert last - first == timedelta(days=1) - datetime.resolution
    with pytest.raises(InvalidParamsFault, match="Invalid 'since': today is after 'until', yesterday"):
        between("today", "yesterday", NOW)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def test_calendar_time_is_an_instant_of_the_machines_zone_up_to_the_ends_of_the_calendar(
    place: Place, zone: str
) -> None:
    place(zone)
    assert instant(datetime(2026, 11, 28, 13, 5)) == datetime(2026, 11, 28, 13, 5, tzinfo=ZoneInfo(zone))
    assert instant(NOW) == NOW
    for end in (period("0001-01-01", "since").first, period("9999-12", "until").last):
        assert abs(instant(end) - end.replace(tzinfo=UTC)) < timedelta(days=1)
