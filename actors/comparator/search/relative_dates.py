"""Times that a question counts from something that happened: "two weeks before the trip"."""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from projections.time.lexicon import NUMBERS
from projections.time.periods import DAY, UNIT_DAYS, Interval

_ANCHORED: Final = re.compile(
    rf"\b(?:(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})(?: of| couple of| few)?|the) "
    r"(?P<unit>day|night|week|weekend|month|year)s? "
    r"(?P<side>before|prior to|after|following) (?P<event>[^?.,;!]{3,80})",
    re.IGNORECASE,
)
_BREADTH: Final = 4
"""Who says four weeks means it to a week: a quarter, but no less than a day."""


class Anchor(NamedTuple):
    """A distance in time from an event."""

    event: str
    """As the question names it."""
    asked: str
    """The question without it: who asks what came before the trip doesn't look for the trip."""
    distance: timedelta
    """Negative before it."""

    def around(self, happened: datetime) -> Interval | None:
        """Return the time that is meant, given when the event happened; None if it lies beyond the calendar."""
        breadth = max(DAY, abs(self.distance) / _BREADTH)
        try:
            return Interval(happened + (self.distance - breadth), happened + (self.distance + breadth))
        except OverflowError:
            return None


def anchor(question: str) -> Anchor | None:
    """Return the distance and the event from which a question counts, if it does."""
    match = _ANCHORED.search(question)
    if match is None:
        return None
    count = (match["count"] or "one").casefold()
    days = UNIT_DAYS[match["unit"].casefold()] * (int(count) if count.isdigit() else NUMBERS[count])
    earlier = match["side"].casefold() in ("before", "prior to")
    asked = f"{question[: match.start()]}{question[match.end() :]}".strip()
    return Anchor(match["event"].strip(), asked, timedelta(days=-days if earlier else days))
