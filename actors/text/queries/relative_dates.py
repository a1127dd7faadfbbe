"""Parse times that a query states relative to an event: "two weeks before the trip"."""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from projections.time.lexicon import NUMBERS
from projections.time.periods import DAY, UNIT_DAYS, Interval

_RELATIVE: Final = re.compile(
    rf"\b(?:(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})(?: of| couple of| few)?|the) "
    r"(?P<unit>day|night|week|weekend|month|year)s? "
    r"(?P<side>before|prior to|after|following) (?P<event>[^?.,;!]{3,80})",
    re.IGNORECASE,
)
_TOLERANCE: Final = 1 / 4
"""Tolerance as a share of the distance, at least a day: "four weeks before" is precise to a week."""


class RelativeDate(NamedTuple):
    """A time relative to an event."""

    event: str
    """The event as the query names it."""
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
