"""When a text says that something happens: the intervals of time it names, resolved against when it was said.

English dates ("8 May 2023", "Sep 1941", "2010 to 2012", "the 1990s"), words that count from the day on which they are
said ("yesterday", "two weeks ago", "last May"), and offsets from a date ("the week before 9 June"). What one pattern
has claimed, the next doesn't look at. Pure: the only clock is the moment that is given.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from projections.time.periods import DAY, LENGTHS, Interval, around, date, days, months, part_of, stepped, years

OPEN: Final = timedelta(days=365)
"""How far "before 2010" and "after 9 June" reach."""
RECENT: Final = timedelta(days=30)
"""How far "recently" reaches back."""
MOST: Final = 64
"""Intervals of one text: a timetable says nothing more with its next hundred."""
GLANCE: Final = 16_384
"""Characters in which intervals are looked for."""


class _Named(NamedTuple):
    """The characters [left, right) of a text, and the interval that they name."""

    left: int
    right: int
    interval: Interval


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of English; beyond ASCII "ı" would be an "i", and "ſ" an "s"."""
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, in the north."""
NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        "a/an/one two/couple three/few four/several five six seven eight nine ten".split(), 1
    )
    for word in words.split("/")
}

_A_MONTH: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
_MONTH: Final = rf"(?P<month>{_A_MONTH})\b\.?"
_YEAR: Final = r"(?<![\w.,$€£#])(?P<year>1\d{3}|20\d\d)(?![\d%]|[.,]\d)"
_NO_NUMBER: Final = (
    r"(?<!\d{3} )(?<!\b\d{3}-)(?<!\w\()(?<!= )",
    r"(?! ?(?:dollars|euros|pounds|people|times|words|lines|bytes|bits|km|kg|miles|met(?:er|re)s|tokens)\b)",
)
"""What stands before and after a year on its own: no telephone's digits, no call, no assignment, nothing to count."""
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_COUNT: Final = rf"(?:\b(?:a )?(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})(?: of)? )"
_UNIT: Final = r"(?P<unit>day|night|week|weekend|month|year|decade)s?\b"
_SEASON: Final = rf"(?P<season>{'|'.join(_SEASONS)})\b"
_WEEKDAY: Final = (
    r"(?P<weekday>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?day\b(?! (?:mornings|afternoons|evenings|nights)\b)"
)
_NO_VERB: Final = r"(?!(?:this|and) (?-i:may)\b|(?:to|and) (?-i:march)\b)"
_BEFORE_A_BARE_MONTH: Final = (
    rf"(?:\b{_NO_VERB}(?:in|of|this|since|until|till|by|during|from|to|early|mid|late|before|after|every|and)[ -])"
)
"""Without one of these "may" is a verb, and "March" may be one; "and may" and "to march" are, in small letters."""
_BEFORE_A_SEASON: Final = r"\b(?:in|of|over|during|since|until|by|before|after) the "
_TO: Final = r"(?: ?[–—-] ?| (?:to|until|till|through) )"
_UNTIL: Final = rf"(?:{_TO}(?P<until>\d{{1,2}})(?:st|nd|rd|th)?\b)?"
_PART: Final = r"(?:(?P<part>early|beginning of|start of|first half of|mid|middle of|late|end of|second half of)[ -])?"


def named(text: str, said: datetime, *, asking: bool = False) -> list[Interval]:
    """Return the intervals that a text names, in its order, each once, at most `MOST`.

    Args:
        text: What is said; its first `GLANCE` characters are read.
        said: When, with a time zone; relative words count from there.
        asking: A question looks back: a month or day without a year is the latest that has begun, else the nearest.
    """
    text, said = text[:GLANCE], said.astimezone(UTC)
    if _ANY.search(text) is None:
        return []
    found: list[_Named] = []
    for left, right, read in _claims(text, said, asking=asking):
        place = bisect_left(found, (left,))
        if (place and left < found[place - 1].right) or (place < len(found) and found[place].left < right):
            continue
        interval = _possible(read)
        if interval is not None:
            found.insert(place, _Named(left, right, interval))
            if len(found) == MOST:
                break
    meant = [_possible(partial(_shifted, text, each, said)) for each in _joined(text, found)]
    return list(dict.fromkeys(interval for interval in meant if interval is not None))


def _claims(text: str, said: datetime, *, asking: bool) -> Iterator[tuple[int, int, Callable[[], Interval | None]]]:
    """Yield what each pattern claims, from where to where, and how to read it."""
    for pattern, read in _PATTERNS:
        for match in pattern.finditer(text):
            yield *match.span("body" if "body" in pattern.groupindex else 0), partial(read, match, said, asking)


def _possible(read: Callable[[], Interval | None]) -> Interval | None:
    """Return what is read, None where there is no such time: 31 June, 500 decades ago, the day after 9999-12-31."""
    try:
        return read()
    except (ValueError, OverflowError):
        return None


def _number_of(name: str, names: tuple[str, ...]) -> int:
    return names.index(name[:3].casefold())


def _without_a_year(of: Callable[[int], Interval], said: datetime, *, asking: bool) -> Interval | None:
    """Return the interval of the year that is meant: the latest that has begun if asking, else the nearest."""
    intervals: list[Interval] = []
    for year in (said.year - 1, said.year, said.year + 1):
        interval = _possible(partial(of, year))  # 29 February
        if interval is not None:
            intervals.append(interval)
    if asking:
        intervals = [interval for interval in intervals if interval.start <= said]
    return min(
        intervals, key=lambda interval: abs(interval.start + (interval.end - interval.start) / 2 - said), default=None
    )


def _date(match: re.Match[str], said: datetime, asking: bool) -> Interval | None:  # noqa: FBT001 -- a reader's shape
    """Read a day, or the days up to another one of its month, with or without a year."""
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else _number_of(parts["month"], _MONTHS) + 1
    day, year = int(parts["day"]), parts.get("year")
    until = max(day, int(parts.get("until") or day))

    def of(year: int) -> Interval:
        return Interval(date(year, month, day), days(date(year, month, until)).end)

    return of(int(year)) if year else _without_a_year(of, said, asking=asking)


def _of_the_year(match: re.Match[str], said: datetime, asking: bool) -> Interval | None:  # noqa: FBT001 -- as above
    """Read a month or a season, perhaps a part of it, with or without a year."""
    parts = match.groupdict()
    season, year, which = parts.get("season"), parts.get("year"), (parts.get("which") or "").casefold()
    month = _SEASONS[season.casefold()] if season else _number_of(parts["month"], _MONTHS) + 1

    def of(year: int) -> Interval:
        return months(year, month, 3 if season else 1)

    if year:
        interval = of(int(year))
    elif which == "next":
        interval = next(interval for interval in map(of, (said.year, said.year + 1)) if interval.start > said)
    elif which in ("last", "past"):
        interval = next(
            interval for interval in map(of, (said.year, said.year - 1, said.year - 2)) if interval.end <= said
        )
    elif which == "this":
        interval = of(said.year)
    else:
        interval = _without_a_year(of, said, asking=asking)
    return None if interval is None else part_of(interval, parts.get("part"))


def _of_years(match: re.Match[str], _said: datetime, _asking: bool) -> Interval | None:  # noqa: FBT001 -- as above
    """Read a year, ten or a hundred of them: "the 1800s" were a century."""
    year = int(match["year"])
    many = 100 if year % 100 == 0 and year < 2000 else 10
    return part_of(years(year, many if match["decade"] else 1), match["part"])


def _relative_day(match: re.Match[str], said: datetime, _asking: bool) -> Interval:  # noqa: FBT001 -- as above
    """Read yesterday, today, tomorrow and their nights."""
    word = match["word"].casefold()
    return days(said + {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(word, 0) * DAY)


def _ago(match: re.Match[str], said: datetime, _asking: bool) -> Interval:  # noqa: FBT001 -- as above
    """Read so many days, weeks, months or years ago; the larger the unit, the wider the interval."""
    return stepped(around(match["unit"], said), match["unit"], -_count(match["count"]))


def _lately(match: re.Match[str], said: datetime, _asking: bool) -> Interval:  # noqa: FBT001 -- as above
    """Read the last or the next so many days, weeks, months or years, up to and from the day on which it is said."""
    length, today = _count(match["count"]) * LENGTHS[match["unit"].casefold()] * DAY, days(said)
    if match["which"].casefold() in ("next", "coming"):
        return Interval(today.start, today.end + length)
    return Interval(today.start - length, today.end)


def _unit(match: re.Match[str], said: datetime, _asking: bool) -> Interval:  # noqa: FBT001 -- as above
    """Read last, this or next week, weekend, month or year."""
    step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(match["which"].casefold(), 0)
    return stepped(around(match["unit"], said), match["unit"], step)


def _weekday(match: re.Match[str], said: datetime, _asking: bool) -> Interval:  # noqa: FBT001 -- as above
    """Read last, this or next Monday; on its own it is the last."""
    away = (_number_of(match["weekday"], _WEEKDAYS) - said.weekday()) % 7
    which = (match["which"] or "last").casefold()
    return days(said + (away if which in ("next", "this", "coming") else away - 7) * DAY)


def _recently(_match: re.Match[str], said: datetime, _asking: bool) -> Interval:  # noqa: FBT001 -- as above
    return Interval(days(said).start - RECENT, days(said).end)


def _count(word: str | None) -> int:
    word = (word or "one").casefold()
    return int(word) if word.isdigit() else NUMBERS[word]


_BETWEEN: Final = _compiled(r"\s*(?:–|—|-|to|until|till|through|and)\s+(?:the )?$|\s*[–—-]\s*$")
_RANGE: Final = _compiled(r"(?:\b(?:from|between)|\()\s*(?:the )?$")


def _joined(text: str, found: list[_Named]) -> list[_Named]:
    """Join the two ends of a range, "from Sep 1941 to Dec 2004", to one interval."""
    joined: list[_Named] = []
    for each in found:
        last = joined[-1] if joined else None
        if last is not None and last.interval.start <= each.interval.start:
            link = text[last.right : each.left]
            if _BETWEEN.fullmatch(link) and ("and" not in link.casefold() or _RANGE.search(_lead(text, last))):
                joined[-1] = _Named(
                    last.left, each.right, Interval(last.interval.start, max(last.interval.end, each.interval.end))
                )
                continue
        joined.append(each)
    return joined


def _lead(text: str, each: _Named) -> str:
    """Return what stands right before an interval."""
    return text[max(0, each.left - 48) : each.left]


_SHIFT: Final = _compiled(rf"(?:{_COUNT}|\bthe )?{_UNIT} (?P<where>before|prior to|after|following) (?:the )?$")
_SIDE: Final = _compiled(r"\b(?P<side>before|until|till|by|after|since)\s+(?:the )?$")


def _shifted(text: str, each: _Named, said: datetime) -> Interval:
    """Return what is meant by "two weeks before", "the day after", "before", "since" an interval."""
    lead, interval = _lead(text, each), each.interval
    if shift := _SHIFT.search(lead):
        unit, count = shift["unit"], _count(shift["count"])
        earlier = shift["where"].casefold() in ("before", "prior to")
        if not shift["count"] and unit.casefold() in ("week", "month", "year"):  # "the week before": up to it
            length = LENGTHS[unit.casefold()] * DAY
            return (
                Interval(interval.start - length, interval.start)
                if earlier
                else Interval(interval.end, interval.end + length)
            )
        near = interval.start if earlier else interval.end - DAY
        return stepped(
            days(near) if unit.casefold() in ("week", "weekend") else around(unit, near),
            unit,
            -count if earlier else count,
        )
    if side := _SIDE.search(lead):
        match side["side"].casefold():
            case "after":
                return Interval(interval.end, interval.end + OPEN)
            case "since":
                return Interval(interval.start, max(interval.end, said))
            case _:
                return Interval(interval.start - OPEN, interval.start)
    return interval


_THESE_DAYS: Final = r"yesterday|last night|today|tonight|this (?:morning|afternoon|evening)|tomorrow"
_WHICH: Final = r"(?:\b(?P<which>last|past|this|next|previous|coming) )"
_ANY: Final = _compiled(
    rf"\d{{4}}|\bago\b|day\b|\b(?:recently|lately|{_THESE_DAYS})\b|{_WHICH}{_COUNT}?{_UNIT}|\b{_SEASON}|\b{_MONTH}"
)
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime, bool], Interval | None]], ...]] = (
    (_compiled(r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})(?!\d)"), _date),
    (_compiled(rf"\b{_DAY}{_UNTIL}(?: of)? {_MONTH},?(?: {_YEAR})?"), _date),
    (_compiled(rf"\b{_MONTH} {_DAY}{_UNTIL}(?!:),?(?: {_YEAR})?"), _date),
    (_compiled(rf"\b{_MONTH}(?=(?:{_TO}| (?:and|or) )(?:{_A_MONTH})\b\.?,?(?: of)? {_YEAR})"), _of_the_year),
    (_compiled(rf"{_PART}\b{_MONTH},?(?: of)? {_YEAR}"), _of_the_year),
    (_compiled(rf"{_PART}\b{_SEASON}(?: of)? {_YEAR}"), _of_the_year),
    (_compiled(rf"{_PART}(?:the )?{_NO_NUMBER[0]}{_YEAR}(?P<decade>s)?\b{_NO_NUMBER[1]}"), _of_years),
    (_compiled(rf"{_NO_VERB}{_WHICH}(?:{_MONTH}|{_SEASON})"), _of_the_year),
    (_compiled(rf"\b(?P<word>{_THESE_DAYS})\b"), _relative_day),
    (_compiled(rf"{_COUNT}{_UNIT} ago\b"), _ago),
    (_compiled(rf"{_WHICH}{_COUNT}{_UNIT}"), _lately),
    (_compiled(rf"{_WHICH}{_UNIT}"), _unit),
    (_compiled(rf"(?:{_WHICH}|\bon ){_WEEKDAY}"), _weekday),
    (_compiled(rf"{_BEFORE_A_BARE_MONTH}(?P<body>{_PART}{_MONTH})"), _of_the_year),
    (_compiled(rf"{_BEFORE_A_SEASON}(?P<body>{_PART}{_SEASON})(?! of\b)"), _of_the_year),
    (_compiled(r"\b(?:recently|lately)\b"), _recently),
)
"""In this order, the most telling first."""
