"""Days, weeks, months and years as intervals of time, in UTC.

A year beyond 9999 or before 1 is a ValueError or an OverflowError, as it is for `datetime`.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

DAY: Final = timedelta(days=1)
LENGTHS: Final = {"day": 1, "night": 1, "week": 7, "weekend": 7, "month": 30, "year": 365, "decade": 3_652}
"""Days of each unit where its place in the calendar doesn't matter."""

_GOLDEN: Final = (5**0.5 - 1) / 2


class Interval(NamedTuple):
    """From `start` up to, not including, `end`."""

    start: datetime
    end: datetime


def date(year: int, month: int, day: int) -> datetime:
    """Return the beginning of a day."""
    return datetime(year, month, day, tzinfo=UTC)


def months(year: int, month: int, count: int = 1) -> Interval:
    """Return so many months from the first of one, counting on over the turn of the year."""
    first, last = 12 * year + month - 1, 12 * year + month - 1 + count
    return Interval(date(first // 12, first % 12 + 1, 1), date(last // 12, last % 12 + 1, 1))


def years(year: int, count: int = 1) -> Interval:
    """Return so many years from the first day of one."""
    return Interval(date(year, 1, 1), date(year + count, 1, 1))


def days(moment: datetime, count: int = 1) -> Interval:
    """Return so many days from the one that holds a moment."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return Interval(start, start + count * DAY)


def part_of(interval: Interval, part: str | None) -> Interval:
    """Return the half or the third that is meant."""
    if not part:
        return interval
    length, part = interval.end - interval.start, part.casefold()
    if part.startswith("mid"):
        return Interval(interval.start + length / 3, interval.end - length / 3)
    if part.startswith(("late", "end", "second")):
        return Interval(interval.start + length / 2, interval.end)
    return Interval(interval.start, interval.start + length / 2)


def around(unit: str, moment: datetime) -> Interval:
    """Return the day, week (from Monday), weekend, month, year or decade that holds a moment."""
    match unit.casefold():
        case "day" | "night":
            return days(moment)
        case "week":
            return days(moment - moment.weekday() * DAY, 7)
        case "weekend":
            return days(moment + (5 - moment.weekday()) * DAY, 2)
        case "month":
            return months(moment.year, moment.month)
        case "year":
            return years(moment.year)
        case _:
            return years(moment.year // 10 * 10, 10)


def stepped(interval: Interval, unit: str, count: int) -> Interval:
    """Move an interval by so many units."""
    match unit.casefold():
        case "day" | "night":
            return Interval(interval.start + count * DAY, interval.end + count * DAY)
        case "week" | "weekend":
            return Interval(interval.start + count * 7 * DAY, interval.end + count * 7 * DAY)
        case "month":
            return months(interval.start.year, interval.start.month + count)
        case "year":
            return years(interval.start.year + count)
        case _:
            return years(interval.start.year + 10 * count, 10)


def evenly(count: int) -> list[float]:
    """Return so many numbers that fill [0, 1) evenly and out of step with all cycles (Weyl's, by the golden ratio)."""
    return [place * _GOLDEN % 1.0 for place in range(count)]
