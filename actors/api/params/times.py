"""Times that parameters name, in ISO 8601 or in the words that a search understands."""

import re
from calendar import monthrange
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from actors.api.params.parsing import DATED, as_written, invalid
from actors.runtime.faults import InvalidParamsFault
from events.local_time import calendar_time
from projections.time import lexicon as lex
from projections.time.expressions import find_intervals, without_times
from projections.time.periods import Interval

EXPECTED: Final = "such as 2026-05-02, 2026-05-02T14:30, 2026-05, 2026-W18, yesterday, two hours ago or May 2026"

_MONTH: Final = re.compile(r"(\d{4})-(\d\d)", re.ASCII)
_WEEK: Final = re.compile(r"\d{4}-?W\d\d", re.ASCII)

_BESIDE: Final = lex.compiled(
    rf"(?:in|on)?\s*(?:the)?\s*(?:{lex.COUNT}?{lex.UNIT} (?:before|prior to|after|following)(?: the)?)?"
)
"""What a name may have beside the time that it counts from, as in "the week before 9 June"."""

_AGO: Final = lex.compiled(lex.AGO)

_WITHIN_DAY: Final = lex.compiled(lex.WITHIN_DAY)
"""What a search reads as the whole day, which would be too much for a limit."""


class Period(NamedTuple):
    """A time that somebody names: a moment, or a day or longer with its first and its last instant.

    Without a zone it is calendar time: each memory is then compared by the calendar where it was said.
    """

    first: datetime
    last: datetime


def period(value: str, parameter: str, now: datetime | None = None) -> Period:
    """Parse a time in ISO 8601 or in words (`InvalidParamsFault` for anything else).

    Args:
        value: A day, an ISO week or a month alone is the whole of it, and so is what words name, such as "last week".
        parameter: Its name.
        now: What words count from, in the time zone that they mean; the present of this machine if left out.
    """
    found = find_period(value.strip(), now or datetime.now().astimezone())
    if found is None:
        if DATED.fullmatch(value.strip()):
            as_written(value.strip(), parameter)  # says what of the day no calendar has
        raise invalid(parameter, f"names no time {EXPECTED}")
    return found


def find_period(text: str, now: datetime) -> Period | None:
    """Return the time that a text without white space around it names, as `period`; None if it names none."""
    with suppress(ValueError):
        return _calendar(text)
    with suppress(InvalidParamsFault):
        parsed = as_written(text, "time")
        return Period(parsed, parsed)
    if _WITHIN_DAY.search(text) and (ago := _AGO.fullmatch(text)):
        count, unit = lex.ago(ago)
        moment = now - count * timedelta(**{f"{unit}s": 1})
        return Period(moment, moment)
    named = _named(text, now)
    return named and Period(named.start.replace(tzinfo=None), named.end.replace(tzinfo=None) - datetime.resolution)


def instant(named: datetime) -> datetime:
    """Return a time in UTC; calendar time is that of this machine."""
    try:
        return named.astimezone(UTC)
    except (ValueError, OverflowError):  # at the ends of the calendar, where no event is
        return calendar_time(named)


def between(
    since: str | None, until: str | None, now: datetime | None = None
) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last time that two parameters name, as in `Period`; None for one that is not given."""
    first = None if since is None else period(since, "since", now).first
    last = None if until is None else period(until, "until", now).last
    if first is not None and last is not None and _is_after(first, last):
        raise invalid("since", f"{since} is after 'until', {until}")
    return first, last


def _is_after(one: datetime, other: datetime) -> bool:
    return one > other if one.tzinfo is None and other.tzinfo is None else instant(one) > instant(other)


def _calendar(text: str) -> Period:
    """Return the day, ISO week or month that a text names in ISO 8601, up to the end of 9999 (`ValueError`)."""
    if month := _MONTH.fullmatch(text):
        first = date(int(month[1]), int(month[2]), 1)
        days = monthrange(first.year, first.month)[1]
    else:
        first = date.fromisoformat(text)
        days = 7 if _WEEK.fullmatch(text) else 1
    last = first + min(timedelta(days=days - 1), date.max - first)
    return Period(datetime.combine(first, time.min), datetime.combine(last, time.max))


def _named(text: str, now: datetime) -> Interval | None:
    """Return the interval that a text names and says nothing else; "May" and "Monday" are the latest that began."""
    if _WITHIN_DAY.search(text):
        return None
    for said in (text, f"in {text}", f"on {text}"):
        found = find_intervals(said, now, question=True)
        if len(found) == 1 and _BESIDE.fullmatch(without_times(said, now).strip()):
            return found[0]
    return None
