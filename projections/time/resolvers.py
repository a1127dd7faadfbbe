"""Resolve the match of a time expression to the interval that it names.

Each resolver takes a match and the reference that it counts from. None means that the words name no time; a time that
doesn't exist, such as 31 June, is a ValueError or an OverflowError, which `resolved` turns into None.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Final, NamedTuple

from projections.time import lexicon as lex
from projections.time.periods import (
    DAY,
    UNIT_DAYS,
    Interval,
    containing,
    days,
    months,
    part_of,
    shift,
    start_of_day,
    years,
)
from projections.time.weekdays import Direction, direction_of

_RECENT: Final = timedelta(days=30)
_STEPS: Final = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}
"""Units from the present one, by the word before; 0 for others."""
_HALVES: Final = {
    "month": (2, "week"),
    "year": (6, "month"),
    "decade": (5, "year"),
}
_QUARTER: Final = 3
"""Months of a quarter, and of a season."""
_ORDINALS: Final = ("first", "second", "third", "fourth")


class Reference(NamedTuple):
    """What the words of a text count from."""

    anchor: datetime
    question: bool
    ahead: bool = False
    """Whether a month or day without a year is the first that has not ended."""
    is_past: bool = False


def resolved(resolve: Callable[[], Interval | None]) -> Interval | None:
    """Resolve an expression; None for a time that doesn't exist, such as 31 June or the day after 9999-12-31."""
    try:
        return resolve()
    except (ValueError, OverflowError):
        return None


def day_or_days(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve a day, the week or weekend of it, or a range of days in one month, with or without a year."""
    groups = match.groupdict()
    month = int(groups["number"]) if groups.get("number") else lex.index_of(groups["month"], lex.MONTHS) + 1
    day, year = int(groups["day"]), groups.get("year")
    until = max(day, int(groups.get("until") or day))

    def in_year(year: int) -> Interval:
        first = start_of_day(year, month, day)
        if (around := groups.get("around")) and day == until:
            return containing(first, around)
        return Interval(first, days(start_of_day(year, month, until)).end)

    return in_year(int(year)) if year else _yearless(in_year, reference)


def day_of_month(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve "on the 12th": of a question the latest that has begun, else by the tense of its clause."""
    year, month = reference.anchor.year, reference.anchor.month

    def in_month(offset: int) -> Interval:
        index = 12 * year + month - 1 + offset
        return days(start_of_day(index // 12, index % 12 + 1, int(match["day"])))

    if not reference.question:
        direction = direction_of(match.string, *match.span(), "on")
        if direction is None:
            return None
        reference = reference._replace(ahead=direction is Direction.COMING, question=direction is Direction.LAST)
    return _nearest([resolved(partial(in_month, offset)) for offset in (-2, -1, 0, 1, 2)], reference)


def iso_week(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve "2026-W46", "week 46 of 2026" or "calendar week 46"."""

    def in_year(year: int) -> Interval:
        return days(datetime.combine(date.fromisocalendar(year, int(match["week"]), 1), time.min, UTC), 7)

    return in_year(int(match["year"])) if match["year"] else _yearless(in_year, reference)


def month_or_longer(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve a month, a season or a quarter, or a part of it, with or without a year."""
    groups, said = match.groupdict(), reference.anchor
    season, year, which = groups.get("season"), groups.get("year"), (groups.get("which") or "").casefold()
    if season:
        month = lex.SEASONS[season.casefold()]
    elif groups.get("month"):
        month = lex.index_of(groups["month"], lex.MONTHS) + 1
    else:
        index = int(groups["quarter"]) - 1 if groups["quarter"] else _ORDINALS.index(groups["named"].casefold())
        month = _QUARTER * index + 1

    def in_year(year: int) -> Interval:
        return months(year, month, 1 if groups.get("month") else _QUARTER)

    if year:
        interval = in_year(int(year))
    elif which == "next":
        interval = next(one for one in map(in_year, (said.year, said.year + 1)) if one.start > said)
    elif which in ("last", "past"):
        interval = next(one for one in map(in_year, (said.year, said.year - 1, said.year - 2)) if one.end <= said)
    elif which == "this":
        interval = in_year(said.year)
    else:
        interval = _yearless(in_year, reference)
    return None if interval is None else part_of(interval, groups.get("part"))


def week_of_month(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve "the second week of October": its 8th to 14th day; the last week is the last seven days."""
    month = month_or_longer(match, reference)
    if month is None:
        return None
    if match["nth"].casefold() == "last":
        return Interval(month.end - 7 * DAY, month.end)
    return days(month.start + 7 * _ORDINALS.index(match["nth"].casefold()) * DAY, 7)


def season_of_past_question(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve "in spring" in a question about the past; elsewhere it is a time of every year."""
    return month_or_longer(match, reference) if reference.is_past and not reference.ahead else None


def year_or_decade(match: re.Match[str], _reference: Reference) -> Interval:
    """Resolve a year, a decade or a century, or a part of it; "the 1800s" are a century, "the 2000s" a decade."""
    year = int(match["year"])
    span = 100 if year % 100 == 0 and year < 2000 else 10
    return part_of(years(year, span if match["decade"] else 1), match["part"])


def deictic_day(match: re.Match[str], reference: Reference) -> Interval:
    """Resolve yesterday, today, tomorrow and their nights."""
    offset = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(match["word"].casefold(), 0)
    return days(reference.anchor + offset * DAY)


def ago(match: re.Match[str], reference: Reference) -> Interval:
    """Resolve "two weeks ago" to the unit of that granularity, so that larger units give wider intervals.

    "Half a year ago" counts smaller units. Half a week or a night, and what is shorter than a day, lead to a day.
    """
    count, unit = lex.ago(match)
    if count % 1 and unit in _HALVES:
        halves, unit = _HALVES[unit]
        count = round(2 * halves * count)
    length = UNIT_DAYS[unit]
    if length < 1 or count % 1:
        return days(reference.anchor - count * length * DAY)
    return shift(containing(reference.anchor, unit), unit, -round(count))


def counted_units(match: re.Match[str], reference: Reference) -> Interval:
    """Resolve "the last three weeks" or "the next two days", which end or begin with the day of the anchor."""
    length = lex.count_of(match.groupdict().get("count")) * UNIT_DAYS[lex.unit_of(match["unit"])] * DAY
    today = days(reference.anchor)
    if match["which"].casefold() in ("next", "coming"):
        return Interval(today.start, days(reference.anchor + length).end)
    return Interval(days(reference.anchor - length).start, today.end)


def unit(match: re.Match[str], reference: Reference) -> Interval:
    """Resolve last, this or next week, weekend, month, quarter or year, or a part of it."""
    groups = match.groupdict()
    count = _STEPS.get((groups["which"] or "").casefold(), 0)
    return part_of(shift(containing(reference.anchor, match["unit"]), match["unit"], count), groups.get("part"))


def second_unit(match: re.Match[str], reference: Reference) -> Interval:
    """Resolve "the week before last" and "the month after next"."""
    count = -2 if match["which"].casefold() == "before last" else 2
    return shift(containing(reference.anchor, match["unit"]), match["unit"], count)


def weekend(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve "at the weekend" by the tense of its clause: the latest that has begun, or the first that has not ended.

    A question looks back where its tense is in doubt. A habit ("We clean at the weekend") is of no weekend.
    """
    preposition = "at" if match.group().casefold().startswith(("at ", "on ")) else "on"
    direction = direction_of(match.string, *match.span(), preposition)
    if direction is None and not reference.question:
        return None
    this = containing(reference.anchor, "weekend")
    is_past = direction is not Direction.COMING and this.start > reference.anchor
    return shift(this, "weekend", -1) if is_past else this


def weekday_of_week(match: re.Match[str], reference: Reference) -> Interval:
    """Resolve "Thursday last week"."""
    week = shift(containing(reference.anchor, "week"), "week", _STEPS.get(match["which"].casefold(), 0))
    return days(week.start + lex.index_of(match["weekday"], lex.WEEKDAYS) * DAY)


def weekday(match: re.Match[str], reference: Reference) -> Interval | None:
    """Resolve last, this or next Monday, or without such a word the one of which the text speaks.

    A question with "on Monday" looks back where its tense is in doubt.
    """
    ahead = (lex.index_of(match["weekday"], lex.WEEKDAYS) - reference.anchor.weekday()) % 7
    which, preposition = ((match[name] or "").casefold() for name in ("which", "preposition"))
    is_past = which in ("last", "past", "previous")
    if which in ("", "this"):
        direction = direction_of(match.string, *match.span(), which or preposition)
        if direction is None and not which and not (reference.question and preposition == "on"):
            return None
        is_past = direction is Direction.LAST or (direction is None and not which)
    if is_past:
        return days(reference.anchor + (ahead - 7) * DAY)
    return days(reference.anchor + (ahead if which == "this" else ahead or 7) * DAY)


def recently(_match: re.Match[str], reference: Reference) -> Interval:
    """Resolve "recently" and "lately"."""
    today = days(reference.anchor)
    return Interval(today.start - _RECENT, today.end)


def _yearless(in_year: Callable[[int], Interval], reference: Reference) -> Interval | None:
    """Return the interval in the year that is meant: of a question the latest that has begun, else the nearest."""
    year = reference.anchor.year
    return _nearest([resolved(partial(in_year, one)) for one in (year - 1, year, year + 1)], reference)


def _nearest(candidates: list[Interval | None], reference: Reference) -> Interval | None:
    anchor, question, ahead, _ = reference
    found = [one for one in candidates if one is not None]
    intervals = [one for one in found if (one.end > anchor if ahead else one.start <= anchor or not question)]
    return min(intervals, key=lambda one: abs(one.start + (one.end - one.start) / 2 - anchor), default=None)
