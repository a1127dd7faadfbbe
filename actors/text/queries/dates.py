"""Parse times of a query that are no dates: recurring ones ("on Sunday mornings") and "two weeks before the trip".

E3 encodes hour, weekday and season of one moment. The mean of many moments that share only the named period encodes
that period alone.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from projections.time.lexicon import NUMBERS, SEASONS, WEEKDAYS
from projections.time.periods import DAY, UNIT_DAYS, Interval, weyl_sequence

_DAY: Final = re.compile(
    r"\b(?:(?:every|each|usual|usually on|typically on) (?P<one>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?day\b"
    r"|(?P<many>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?days\b|(?P<weekend>weekends)\b|(?P<weekday>weekdays)\b"
    r"|(?P<named>mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?day (?:mornings|afternoons|evenings|nights)\b)",
    re.IGNORECASE,
)
"""As in "every Monday", "Mondays", "weekends", "Monday evenings"."""
_PART: Final = re.compile(
    r"\b(?:(?:in|during) the (?P<in>morning|afternoon|evening|night)s?|at (?P<at>night|noon|lunch ?time)"
    r"|(?P<many>morning|afternoon|evening|night)s)\b",
    re.IGNORECASE,
)
"""As in "in the morning", "at noon", "evenings"."""
_SEASON: Final = re.compile(
    r"\b(?:every|each|in|during) (?P<name>spring|summer|autumn|fall|winter)s?\b(?! (?:of )?\d)", re.IGNORECASE
)
"""As in "every spring", "in winter"; not "in winter 2020"."""
_HOURS: Final = {
    "morning": (6, 12),
    "noon": (11, 14),
    "lunch": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 23),
    "night": (21, 29),
}
_YEAR: Final = 364
"""Days to sample from: whole weeks, so that every weekday occurs equally often."""
_STRIDE: Final = 5
"""Days between two samples where any day matches; coprime to 7, so that all weekdays occur."""


def sample_moments(query: str, asked_at: datetime) -> tuple[datetime, ...]:
    """Return sample moments of the recurring time in a query, from the year before `asked_at`; empty without one.

    At most 260, one a day, spread evenly over the hours of the named part of the day.
    """
    day, part, season = _DAY.search(query), _PART.search(query), _SEASON.search(query)
    if day is None and part is None and season is None:
        return ()
    first, last = _HOURS[_part_of_day(part)] if part else (0, 24)
    start = asked_at.replace(year=max(2, asked_at.year), hour=0, minute=0, second=0, microsecond=0)
    days = [*_days_ago(day, season, start)]
    return tuple(
        start - timedelta(days=ago) + timedelta(hours=first + share * (last - first))
        for ago, share in zip(days, weyl_sequence(len(days)), strict=True)
    )


def recurring_words(query: str) -> list[str]:
    """Return the words that name the recurring time in a query, each as it stands there; none without one."""
    return [match[0] for pattern in (_DAY, _PART, _SEASON) if (match := pattern.search(query))]


def _part_of_day(part: re.Match[str]) -> str:
    name = next(name for name in part.groups() if name is not None).casefold()
    return "lunch" if name.startswith("lunch") else name


def _days_ago(day: re.Match[str] | None, season: re.Match[str] | None, start: datetime) -> Iterator[int]:
    """Yield the matching days of the year before `start`, as days before it."""
    wanted = set[int]()
    if day is not None:
        if name := day["one"] or day["many"] or day["named"]:
            wanted = {WEEKDAYS.index(name.casefold())}
        else:
            wanted = {5, 6} if day["weekend"] else set(range(5))
    months = set[int]()
    if season is not None:
        begin = SEASONS[season["name"].casefold()]
        months = {(begin + month - 1) % 12 + 1 for month in range(3)}
    for ago in range(1, _YEAR + 1, 1 if wanted or months else _STRIDE):
        date = start - timedelta(days=ago)
        if (not wanted or date.weekday() in wanted) and (not months or date.month in months):
            yield ago


_RELATIVE: Final = re.compile(
    rf"\b(?:(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})(?: of| couple of| few)?|the) "
    r"(?P<unit>day|night|week|weekend|month|year)s? "
    r"(?P<side>before|prior to|after|following) (?!(?:last|next)\W*$)(?P<event>[^?.,;!]{3,80})",
    re.IGNORECASE,
)
"""As in "two weeks before the trip", "the day after the party"; not "the week before last"."""
_TOLERANCE: Final = 1 / 4
"""Tolerance as a share of the distance, at least a day: "four weeks before" is precise to a week."""


class RelativeDate(NamedTuple):
    """A time relative to an event."""

    event: str
    remainder: str
    """The query without the event, so that a search does not find the event itself."""
    offset: timedelta
    """Negative before the event."""

    def resolve(self, event_time: datetime) -> Interval | None:
        """Return the interval that is meant, given the time of the event; None if it leaves the calendar."""
        tolerance = max(DAY, abs(self.offset) * _TOLERANCE)
        try:
            return Interval(event_time + (self.offset - tolerance), event_time + (self.offset + tolerance))
        except OverflowError:
            return None


def parse_relative_date(query: str) -> RelativeDate | None:
    """Return the relative date in a query, if it contains one."""
    match = _RELATIVE.search(query)
    if match is None:
        return None
    count = (match["count"] or "one").casefold()
    days = UNIT_DAYS[match["unit"].casefold()] * (int(count) if count.isdigit() else NUMBERS[count])
    earlier = match["side"].casefold() in ("before", "prior to")
    remainder = f"{query[: match.start()]}{query[match.end() :]}".strip()
    return RelativeDate(match["event"].strip(), remainder, timedelta(days=-days if earlier else days))
