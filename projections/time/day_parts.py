"""Parts of a day that a question names beside the day: "yesterday evening", "at 3 pm on 7 July".

The index of times (`projections.time.time_mentions`) knows days only: these rank memories by the clock when they were
said.
"""

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Final, NamedTuple

from projections.time import lexicon as lex
from projections.time.periods import Interval, part_of

HOURS: Final = {
    "morning": (5, 12),
    "midday": (12, 12),
    "noon": (12, 12),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, 29),
    "tonight": (18, 29),
}
"""Begin and end of each part in hours from the beginning of its day; a night ends in the next day."""
AROUND_CLOCK: Final = timedelta(minutes=30)
"""What "at 3 pm" and "at noon" mean on either side of it."""
_WHOLE: Final = timedelta(days=1)
_NOON: Final = 12
_HOURS: Final = 24
_MINUTES: Final = 60
_REACH: Final = 64
"""Characters on either side of a day that are read."""

_WHEN: Final = (
    r"(?:(?P<when>at|around|about|roughly|approximately|in|during|between|from|before|by|until|till|after|since) )?"
    r"(?:around |about |roughly )?(?:the )?"
)
_PART: Final = rf"(?:(?P<half>early|mid|late)[ -])?(?P<part>{'|'.join(HOURS)})\b"
_MERIDIEM: Final = r" ?[ap]\.?m\b"
_CLOCK: Final = (
    rf"(?:(?P<first>\d{{1,2}}(?:[:.]\d\d)?(?:{_MERIDIEM}\.?)?) ?(?:[–-]|to|and|until|till) ?)?"
    rf"(?P<clock>\d{{1,2}}(?:[:.]\d\d(?::\d\d)?)?(?:{_MERIDIEM})?)(?!\d|[.:]\d)(?: o['’]clock)?"
)
_TIME: Final = rf"{_WHEN}(?<![\w.:/$€£#-])(?:{_PART}|{_CLOCK})"
_BEFORE: Final = lex.compiled(rf"(?<![\w.:/$€£#-]){_TIME}\.?,?(?: (?:on|of))? (?:the )?$")
_INSIDE: Final = lex.compiled(rf"\b{_PART}")
_AFTER: Final = lex.compiled(rf"T(?P<iso>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|,? {_TIME}")
_OF_CLOCK: Final = lex.compiled(
    r"(?P<hour>\d+)(?:(?P<mark>[:.])(?P<minute>\d\d)(?::\d\d)?)?(?: ?(?P<half>[ap])\.?m\.?)?"
)


class DayPart(NamedTuple):
    """The characters [left, right) of a text that name a day with a part of it, and that part from the day's begin."""

    left: int
    right: int
    start: timedelta
    end: timedelta
    half: str | None = None
    """"early", "mid" or "late"."""

    def of(self, day: Interval) -> Interval:
        """Return the part of a day."""
        return part_of(Interval(day.start + self.start, day.start + self.end), self.half)


def find_day_part(text: str, left: int, right: int) -> DayPart | None:
    """Return the part of the day that stands within or beside the characters [left, right), which name that day."""
    around = (
        _BEFORE.search(text, max(0, left - _REACH), left),
        _INSIDE.search(text, left, right),
        _AFTER.match(text, right, right + _REACH),
    )
    groups = [(match, match.groupdict()) for match in around if match]
    named = next((one for one in groups if one[1].get("part")), None)
    part = named[1]["part"].casefold() if named else ""
    for match, of_match in groups:
        if found := _at_clock(of_match, part):
            return DayPart(*_span((match, *(named[:1] if named else ())), left, right), *found)
    if named is None:
        return None
    match, of_match = named
    first, last = HOURS[part]
    hours = _sided(of_match, timedelta(hours=first), timedelta(hours=last))
    return DayPart(*_span((match,), left, right), *hours, of_match["half"])


def _span(matches: Iterable[re.Match[str]], left: int, right: int) -> tuple[int, int]:
    spans = [(left, right), *(match.span() for match in matches)]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _at_clock(groups: dict[str, str | None], part: str) -> tuple[timedelta, timedelta] | None:
    """Return the time about a clock time, or between two; None without one, or for a number that may be none."""
    said = groups.get("iso") or groups.get("clock")
    match = _OF_CLOCK.fullmatch(said) if said else None
    if match is None:
        return None
    is_range_by_day = groups.get("first") and int(match["hour"]) > _NOON
    is_sure = match["mark"] == ":" or match["half"] or (groups["when"] and (part or is_range_by_day))
    end = _moment(match, match["half"], part)
    if not is_sure or end is None:
        return None
    if (first := _OF_CLOCK.fullmatch(groups.get("first") or "")) is not None:
        start = _moment(first, first["half"] or match["half"], part)
        return (start, end) if start is not None and start < end else None
    return _sided(groups, end, end)


def _moment(match: re.Match[str], half: str | None, part: str) -> timedelta | None:
    """Return the time since the beginning of the day of a clock time; None for one that no clock shows."""
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if hour > _HOURS or minute >= _MINUTES or (half and not 0 < hour <= _NOON):
        return None
    if half:
        hour = hour % _NOON + (_NOON if half.casefold() == "p" else 0)
    if part:
        first, last = (0, _NOON) if part == "morning" else HOURS[part]
        steps = (0, _HOURS) if half else (0, _NOON, _HOURS)
        within = [hour + step for step in steps if first <= hour + step <= last]
        if not within:
            return None
        hour = within[0]
    return timedelta(hours=hour, minutes=minute)


def _sided(groups: dict[str, str | None], start: timedelta, end: timedelta) -> tuple[timedelta, timedelta]:
    """Return what "before", "after" or "since" in front of a time leaves of the day; the time itself for others."""
    match (groups.get("when") or "").casefold():
        case "before" | "by" | "until" | "till":
            return timedelta(), start
        case "after":
            return end, max(end, _WHOLE)
        case "since" | "from":
            return start, max(end, _WHOLE)
        case _:
            return (start - AROUND_CLOCK, end + AROUND_CLOCK) if start == end else (start, end)
