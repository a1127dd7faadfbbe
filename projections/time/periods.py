"""Calendar arithmetic, in calendar time that is labelled as UTC: days, weeks, months and years as intervals of time.

A year above 9999 or below 1 is a ValueError or an OverflowError, as it is for `datetime`.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

DAY: Final = timedelta(days=1)
A_MONTH: Final = timedelta(days=31)
UNIT_DAYS: Final = {
    "second": 1 / 86_400,
    "minute": 1 / 1_440,
    "hour": 1 / 24,
    "day": 1,
    "night": 1,
    "week": 7,
    "weekend": 7,
    "fortnight": 14,
    "month": 30,
    "quarter": 91,
    "year": 365,
    "decade": 3_652,
}
"""Nominal length of each granularity in days."""

_GOLDEN_RATIO: Final = (5**0.5 - 1) / 2


class Interval(NamedTuple):
    """A half-open interval of time: of calendar time, or between two instants."""

    start: datetime
    end: datetime


def start_of_day(year: int, month: int, day: int) -> datetime:
    """Return the beginning of a day."""
    return datetime(year, month, day, tzinfo=UTC)


def months(year: int, month: int, count: int = 1) -> Interval:
    """Return the interval of `count` months; `month` may lie outside of 1 to 12 and then counts into other years."""
    first, last = 12 * year + month - 1, 12 * year + month - 1 + count
    return Interval(start_of_day(first // 12, first % 12 + 1, 1), start_of_day(last // 12, last % 12 + 1, 1))


def years(year: int, count: int = 1) -> Interval:
    """Return the interval of `count` years."""
    return Interval(start_of_day(year, 1, 1), start_of_day(year + count, 1, 1))


def days(moment: datetime, count: int = 1) -> Interval:
    """Return the interval of `count` days from the day that contains a moment."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return Interval(start, start + count * DAY)


def part_of(interval: Interval, part: str | None) -> Interval:
    """Return the half that "early" or "late" selects, the third of "beginning", "middle" or "end"."""
    if not part:
        return interval
    length, part = interval.end - interval.start, part.casefold()
    if part.startswith("mid"):
        return Interval(interval.start + length / 3, interval.end - length / 3)
    if part.startswith("end"):
        return Interval(interval.end - length / 3, interval.end)
    if part.startswith(("beginning", "start")):
        return Interval(interval.start, interval.start + length / 3)
    if part.startswith(("late", "second")):
        return Interval(interval.start + length / 2, interval.end)
    return Interval(interval.start, interval.start + length / 2)


def containing(moment: datetime, granularity: str) -> Interval:
    """Return the day, week (from Monday), weekend, month, quarter, year or decade that contains a moment."""
    match granularity.casefold():
        case "day" | "night":
            return days(moment)
        case "week" | "fortnight":
            return days(moment - moment.weekday() * DAY, 7)
        case "weekend":
            return days(moment + (5 - moment.weekday()) * DAY, 2)
        case "month":
            return months(moment.year, moment.month)
        case "quarter":
            return months(moment.year, (moment.month - 1) // 3 * 3 + 1, 3)
        case "year":
            return years(moment.year)
        case _:
            return years(moment.year // 10 * 10, 10)


def shift(interval: Interval, granularity: str, count: int) -> Interval:
    """Move an interval by a number of days, weeks, months, quarters, years or decades."""
    match granularity.casefold():
        case "month":
            return months(interval.start.year, interval.start.month + count)
        case "quarter":
            return months(interval.start.year, interval.start.month + 3 * count, 3)
        case "year":
            return years(interval.start.year + count)
        case "decade":
            return years(interval.start.year + 10 * count, 10)
        case unit:
            distance = count * UNIT_DAYS[unit] * DAY
            return Interval(interval.start + distance, interval.end + distance)


def weyl_sequence(count: int) -> list[float]:
    """Return the start of the Weyl sequence of the golden ratio, which fills [0, 1) evenly and aperiodically."""
    return [index * _GOLDEN_RATIO % 1.0 for index in range(count)]
