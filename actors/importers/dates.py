"""The date that the name of a file or a heading states.

A file's own time is when it was last written, cloned or synchronised. The minutes of a meeting, the page of a diary and
the entry of a changelog name the day that they are from.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from projections.time.expressions import find_intervals, without_times

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""An earlier date is what a text is about, not when it was written."""
LONGEST: Final = timedelta(days=31)
"""A month dates a record, a season or a year doesn't."""
MOST_WORDS: Final = 5
"""Words of a heading beside its date; in a longer one the date is a part of what is told."""

_YEAR: Final = r"(?<!\d)(?P<year>(?:19|20)\d\d)"
_SEPARATOR: Final = r"[-_./ ]"
_NUMERIC: Final = (
    re.compile(rf"{_YEAR}(?P<by>{_SEPARATOR}?)(?P<month>\d\d)(?P=by)(?P<day>\d\d)(?:[T_ -]?\d{{4}}(?:\d\d)?)?(?!\d)"),
    re.compile(rf"{_YEAR}-?[Ww](?P<week>\d\d)(?!\d)"),
    re.compile(rf"{_YEAR}{_SEPARATOR}(?P<month>\d\d)(?!\d)"),
)
_ISO_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


def date_in_path(path: str) -> str | None:
    """Return the date in a path without suffix, in ISO 8601, a month or a week as its first day; None without one.

    `2024-03-05`, `2024_03_05`, `2024/03/05`, `20240305`, `202403051230`, `2024-03`, `2024-W10`, `5-March-2024` and
    `Mar 2024` are dates; of several the last one in numbers counts, else the latest in words. What is from before 1970
    or still to come is none.
    """
    for pattern in _NUMERIC:
        days = [day for match in pattern.finditer(path) if (day := _day(match.groupdict()))]
        if days:
            return days[-1]
    return next(reversed(_in_words(re.sub(r"[-_/]+", " ", path))), None)


def date_in_heading(heading: str) -> str | None:
    """Return the date of a heading that dates what is under it, in ISO 8601, the earliest of several; None without one.

    A date in words counts beside at most `MOST_WORDS` other words: "Monday, 23 October 2023", "Version 3.1 (May 2023)".
    """
    rest = without_times(heading, EARLIEST).split()
    stated = _in_words(heading) if _ISO_DAY.search(heading) or len(rest) <= MOST_WORDS else []
    return next(iter(stated), None)


def _day(groups: dict[str, str | None]) -> str | None:
    """Return the day of a numeric date; None where the calendar has none or it isn't past."""
    year, week = int(groups["year"] or 0), groups.get("week")
    try:
        found = date.fromisocalendar(year, int(week), 1) if week else None
        found = found or date(year, int(groups["month"] or 0), int(groups.get("day") or 1))
    except ValueError:
        return None
    return found.isoformat() if EARLIEST.date() <= found <= datetime.now(UTC).date() else None


def _in_words(text: str) -> list[str]:
    """Return the days and months of a text that depend on no reading time, unlike "Monday" or "5 March"."""
    now = datetime.now(UTC)
    always = set(find_intervals(text, EARLIEST)).intersection(find_intervals(text, now))
    dated = sorted(one for one in always if one.end - one.start <= LONGEST and EARLIEST <= one.start <= now)
    return [one.start.date().isoformat() for one in dated]
