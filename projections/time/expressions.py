"""Parser of English time expressions: finds them in a text and resolves them to intervals.

Supports dates ("8 May 2023", "Sep 1941", "2010 to 2012", "the 1990s"), expressions relative to the anchor, which is the
time of the text ("yesterday", "two weeks ago", "last May"), and offsets from a date ("the week before 9 June"). The
patterns are tried in order, and text that one has matched isn't matched again. The only clock is the anchor.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
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
from projections.time.weekdays import Direction, direction_of, looks_ahead

MAX_INTERVALS: Final = 64
"""Intervals of one text; further ones, as in a timetable, add no information."""
MAX_CHARACTERS: Final = 16_384
"""Characters of a text that are parsed."""
_OPEN_END: Final = timedelta(days=365)
"""Length of "before 2010" and "after 9 June"."""
_RECENT: Final = timedelta(days=30)
"""Length of "recently"."""
_PREFIX_CHARACTERS: Final = 48
"""Characters before an expression that may modify it."""


class _Reference(NamedTuple):
    anchor: datetime
    question: bool
    ahead: bool = False
    """Whether a month or day without a year is the first that has not ended."""


class _Expression(NamedTuple):
    """The characters [left, right) of a text, and the interval that they name."""

    left: int
    right: int
    interval: Interval


def find_intervals(text: str, anchor: datetime, *, question: bool = False) -> list[Interval]:
    """Return the distinct intervals of calendar time that a text names, in its order, at most `MAX_INTERVALS`.

    Args:
        text: Its first `MAX_CHARACTERS` characters are parsed.
        anchor: When it was said, in the time zone whose calendar it means; relative expressions count from there.
        question: Whether a month or day without a year is the latest that has begun, rather than the nearest. In the
            present or future tense ("What's on 8 December?") it is the coming one too.
    """
    text, back = text[:MAX_CHARACTERS], _Reference(anchor.replace(tzinfo=UTC), question)
    is_ahead = question and _NAMED.search(text) and looks_ahead(text)
    references = [back, back._replace(ahead=True)] if is_ahead else [back]
    found = ((one, reference) for reference in references for one in _join_ranges(text, _expressions(text, reference)))
    modified = (_valid(partial(_modified, text, one, reference.anchor)) for one, reference in found)
    return list(dict.fromkeys(interval for interval in modified if interval is not None))[:MAX_INTERVALS]


def without_times(text: str, anchor: datetime) -> str:
    """Return a question without the words that `find_intervals` reads as times."""
    text, end, kept = text[:MAX_CHARACTERS], 0, ""
    for left, right, _ in _expressions(text, _Reference(anchor.replace(tzinfo=UTC), question=True)):
        kept, end = f"{kept}{text[end:left]} ", right
    return kept + text[end:]


def _expressions(text: str, reference: _Reference) -> list[_Expression]:
    """Return the time expressions of a text in its order, at most `MAX_INTERVALS`."""
    found: list[_Expression] = []
    if _ANY.search(text) is None:
        return found
    for left, right, resolve in _matches(text, reference):
        index = bisect_left(found, (left,))
        if (index and left < found[index - 1].right) or (index < len(found) and found[index].left < right):
            continue
        interval = _valid(resolve)
        if interval is not None:
            found.insert(index, _Expression(left, right, interval))
            if len(found) == MAX_INTERVALS:
                break
    return found


def _matches(text: str, reference: _Reference) -> Iterator[tuple[int, int, Callable[[], Interval | None]]]:
    """Yield the span of each match of each pattern, and the function that resolves it."""
    for pattern, resolve in _PATTERNS if _NAMED.search(text) else _WITHOUT_NAMES:
        for match in pattern.finditer(text):
            yield *match.span("body" if "body" in pattern.groupindex else 0), partial(resolve, match, reference)


def _valid(resolve: Callable[[], Interval | None]) -> Interval | None:
    """Resolve an expression; None for a time that doesn't exist, such as 31 June or the day after 9999-12-31."""
    try:
        return resolve()
    except (ValueError, OverflowError):
        return None


def _yearless(in_year: Callable[[int], Interval], reference: _Reference) -> Interval | None:
    """Return the interval in the year that is meant: of a question the latest that has begun, else the nearest."""
    anchor, question, ahead = reference
    candidates = (_valid(partial(in_year, year)) for year in (anchor.year - 1, anchor.year, anchor.year + 1))
    found = [one for one in candidates if one is not None]
    intervals = [one for one in found if (one.end > anchor if ahead else one.start <= anchor or not question)]
    return min(intervals, key=lambda one: abs(one.start + (one.end - one.start) / 2 - anchor), default=None)


def _date(match: re.Match[str], reference: _Reference) -> Interval | None:
    """Resolve a day or a range of days in one month, with or without a year."""
    groups = match.groupdict()
    month = int(groups["number"]) if groups.get("number") else lex.index_of(groups["month"], lex.MONTHS) + 1
    day, year = int(groups["day"]), groups.get("year")
    until = max(day, int(groups.get("until") or day))

    def in_year(year: int) -> Interval:
        return Interval(start_of_day(year, month, day), days(start_of_day(year, month, until)).end)

    return in_year(int(year)) if year else _yearless(in_year, reference)


def _month_or_season(match: re.Match[str], reference: _Reference) -> Interval | None:
    """Resolve a month or a season, or a part of it, with or without a year."""
    groups, said = match.groupdict(), reference.anchor
    season, year, which = groups.get("season"), groups.get("year"), (groups.get("which") or "").casefold()
    month = lex.SEASONS[season.casefold()] if season else lex.index_of(groups["month"], lex.MONTHS) + 1

    def in_year(year: int) -> Interval:
        return months(year, month, 3 if season else 1)

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


def _year_or_decade(match: re.Match[str], _reference: _Reference) -> Interval:
    """Resolve a year, a decade or a century, or a part of it; "the 1800s" are a century, "the 2000s" a decade."""
    year = int(match["year"])
    span = 100 if year % 100 == 0 and year < 2000 else 10
    return part_of(years(year, span if match["decade"] else 1), match["part"])


def _deictic_day(match: re.Match[str], reference: _Reference) -> Interval:
    """Resolve yesterday, today, tomorrow and their nights."""
    offset = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(match["word"].casefold(), 0)
    return days(reference.anchor + offset * DAY)


def _ago(match: re.Match[str], reference: _Reference) -> Interval:
    """Resolve "two weeks ago" to the unit of that granularity, so that larger units give wider intervals."""
    return shift(containing(reference.anchor, match["unit"]), match["unit"], -lex.count_of(match["count"]))


def _counted_units(match: re.Match[str], reference: _Reference) -> Interval:
    """Resolve "the last three weeks" or "the next two days", which end or begin with the day of the anchor."""
    length = lex.count_of(match["count"]) * UNIT_DAYS[match["unit"].casefold()] * DAY
    today = days(reference.anchor)
    if match["which"].casefold() in ("next", "coming"):
        return Interval(today.start, today.end + length)
    return Interval(today.start - length, today.end)


def _unit(match: re.Match[str], reference: _Reference) -> Interval:
    """Resolve last, this or next week, weekend, month or year."""
    count = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(match["which"].casefold(), 0)
    return shift(containing(reference.anchor, match["unit"]), match["unit"], count)


def _weekday(match: re.Match[str], reference: _Reference) -> Interval | None:
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


def _recently(_match: re.Match[str], reference: _Reference) -> Interval:
    today = days(reference.anchor)
    return Interval(today.start - _RECENT, today.end)


_BETWEEN: Final = lex.compiled(r"\s*(?:–|—|-|to|until|till|through|and)\s+(?:the )?$|\s*[–—-]\s*$")
_RANGE: Final = lex.compiled(r"(?:\b(?:from|between)|\()\s*(?:the )?$")


def _join_ranges(text: str, found: list[_Expression]) -> list[_Expression]:
    """Join the two ends of a range, such as "from Sep 1941 to Dec 2004", to one expression."""
    joined: list[_Expression] = []
    for one in found:
        last = joined[-1] if joined else None
        if last is not None and last.interval.start <= one.interval.start:
            link = text[last.right : one.left]
            if _BETWEEN.fullmatch(link) and ("and" not in link.casefold() or _RANGE.search(_prefix(text, last))):
                interval = Interval(last.interval.start, max(last.interval.end, one.interval.end))
                joined[-1] = _Expression(last.left, one.right, interval)
                continue
        joined.append(one)
    return joined


def _prefix(text: str, one: _Expression) -> str:
    return text[max(0, one.left - _PREFIX_CHARACTERS) : one.left]


_OFFSET: Final = lex.compiled(
    rf"(?:{lex.COUNT}|\bthe )?{lex.UNIT} (?P<where>before|prior to|after|following) (?:the )?$"
)
_SIDE: Final = lex.compiled(r"\b(?P<side>before|until|till|after|since)\s+(?:the )?$")


def _modified(text: str, one: _Expression, anchor: datetime) -> Interval:
    """Return an expression's interval, modified by "two weeks before", "the day after" or "since" in front of it."""
    prefix, interval = _prefix(text, one), one.interval
    if offset := _OFFSET.search(prefix):
        unit, count = offset["unit"].casefold(), lex.count_of(offset["count"])
        earlier = offset["where"].casefold() in ("before", "prior to")
        if not offset["count"] and unit in ("week", "month", "year"):  # "the week before" ends with the date
            length = UNIT_DAYS[unit] * DAY
            if earlier:
                return Interval(interval.start - length, interval.start)
            return Interval(interval.end, interval.end + length)
        nearest = interval.start if earlier else interval.end - DAY
        start = days(nearest) if unit in ("week", "weekend") else containing(nearest, unit)
        return shift(start, unit, -count if earlier else count)
    side = _SIDE.search(prefix)
    if side is None:
        return interval
    match side["side"].casefold():
        case "after":
            return Interval(interval.end, interval.end + _OPEN_END)
        case "since":
            return Interval(interval.start, max(interval.end, anchor))
        case _:
            return Interval(interval.start - _OPEN_END, interval.start)


_ANY: Final = lex.compiled(
    rf"(?<!\d)\d{{4}}(?!\d)|\bago\b|day\b|\b(?:recently|lately|{lex.DEICTIC_DAY})\b|{lex.WHICH}{lex.COUNT}?{lex.UNIT}|\b{lex.SEASON}|\b{lex.MONTH}"
)
"""Prefilter: matches every text that contains a time expression, and few others."""
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], _Reference], Interval | None]], ...]] = (
    (lex.compiled(r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?!\d)"), _date),
    (lex.compiled(rf"\b{lex.DAY_OF_MONTH}{lex.UNTIL}(?: of)? {lex.MONTH},?(?: {lex.YEAR})?"), _date),
    (lex.compiled(rf"\b{lex.MONTH} {lex.DAY_OF_MONTH}{lex.UNTIL}(?!:),?(?: {lex.YEAR})?"), _date),
    (
        lex.compiled(rf"\b{lex.MONTH}(?=(?:{lex.TO}| (?:and|or) )(?:{lex.MONTH_NAME})\b\.?,?(?: of)? {lex.YEAR})"),
        _month_or_season,
    ),
    (lex.compiled(rf"{lex.PART}\b{lex.MONTH},?(?: of)? {lex.YEAR}"), _month_or_season),
    (lex.compiled(rf"{lex.PART}\b{lex.SEASON}(?: of)? {lex.YEAR}"), _month_or_season),
    (
        lex.compiled(rf"{lex.PART}(?:the )?{lex.NOT_A_NUMBER}{lex.YEAR}(?P<decade>s)?\b{lex.NOT_BEFORE_UNIT}"),
        _year_or_decade,
    ),
    (lex.compiled(rf"{lex.NOT_A_VERB}{lex.WHICH}(?:{lex.MONTH}|{lex.SEASON})"), _month_or_season),
    (lex.compiled(rf"\b(?P<word>{lex.DEICTIC_DAY})\b"), _deictic_day),
    (lex.compiled(rf"{lex.COUNT}{lex.UNIT} ago\b"), _ago),
    (lex.compiled(rf"{lex.WHICH}{lex.COUNT}{lex.UNIT}"), _counted_units),
    (lex.compiled(rf"{lex.WHICH}{lex.UNIT}"), _unit),
    (lex.compiled(rf"(?:{lex.WHICH}|\b(?P<preposition>on|by|for|to|until|till) |\b){lex.WEEKDAY}"), _weekday),
    (lex.compiled(rf"{lex.BEFORE_MONTH}(?P<body>{lex.PART}{lex.MONTH})"), _month_or_season),
    (lex.compiled(rf"{lex.BEFORE_SEASON}(?P<body>{lex.PART}{lex.SEASON})(?! of\b)"), _month_or_season),
    (lex.compiled(r"(?<!\bmost )\b(?:recently|lately)\b"), _recently),
)
"""From the most to the least specific."""
_NAMED: Final = lex.compiled(rf"\b(?:{lex.MONTH}|{lex.SEASON})")
_WITHOUT_NAMES: Final = tuple(one for one in _PATTERNS if not one[0].groupindex.keys() & {"month", "season"})
"""Those that match a text without the name of a month or a season: the others take two thirds of the time."""
