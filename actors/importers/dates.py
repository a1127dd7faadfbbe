"""The date that the name of a file, a heading, a field or a property states.

A file's own time is when it was last written, cloned or synchronised. The minutes of a meeting, the page of a diary and
the entry of a changelog name the day that they are from.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from actors.importers.records import moment
from events.local_time import calendar_time
from projections.time.expressions import find_intervals, without_times
from projections.time.lexicon import MONTH_NAME

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""An earlier date is what a text is about, not when it was written."""
LONGEST: Final = timedelta(days=31)
"""A month dates a record, a season or a year doesn't."""
MOST_WORDS: Final = 5
"""Words of a heading beside its date; in a longer one the date is a part of what is told."""

_NUMERIC: Final = re.compile(
    r"""
    (?<!\d)(?:
        (?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>(?:19|20)\d\d)  # 5.3.2024
    |   (?<!\d\d[-_/.]\d\d[-_/.])(?P<y>(?:19|20)\d\d)(?:
            (?P<by>[-_./\ ]?)(?P<m>\d\d)(?P=by)(?P<d>\d\d)(?:[T_\ -]?\d{4}(?:\d\d)?)?  # 2024-03-05, 202403051230
        |   -?[Ww](?P<week>\d\d)  # 2024-W10
        |   [-_./\ ](?P<only>\d\d)  # 2024-03
        )
    )(?!\d)
    """,
    re.VERBOSE,
)
"""Where the day comes first with hyphens, it may be the month: that is no date."""
_ISO_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_MONTH: Final = rf"(?=[A-Z])(?i:{MONTH_NAME})\b\.?"
_OF_MONTH: Final = r"\d\d?(?:st|nd|rd|th)?\b"
_YEARLESS: Final = re.compile(
    rf"\A{_MONTH}\Z|\b{_MONTH} {_OF_MONTH}(?:\s?[-–]\s?{_OF_MONTH})?|(?<![\w.]){_OF_MONTH}\.? (?:of )?{_MONTH}"
)
"""A day without its year. A month without its day may be a word, such as "March", unless it is alone."""
_YEAR: Final = re.compile(r"(?<![\w.])(?:19|20)\d\d(?![\w%]|\.\d)")
_EPOCH: Final = re.compile(r"1\d{9}(?:\d{3})?")
"""Seconds or milliseconds from 2001 to 2033, by which Dendron dates notes; other numbers are dates in digits."""


def date_in_path(path: str) -> str | None:
    """Return the date in a path without suffix, in ISO 8601, a month or a week as its first day; None without one.

    `2024-03-05`, `2024_03_05`, `2024/03/05`, `20240305`, `202403051230`, `05.03.2024`, `2024-03`, `2024-W10`,
    `5-March-2024` and `Mar 2024` are dates; of several the last one in numbers counts, else the latest in words. Dates
    before 1970 and in the future don't count, nor does `2010-11` beside other words: it may be a season.
    """
    days = [day for match in _NUMERIC.finditer(path) if (day := _day(match, path))]
    return days[-1] if days else next(reversed(_in_words(re.sub(r"[-_/]+", " ", path))), None)


def date_in_heading(heading: str) -> str | None:
    """Return the date of a heading that dates what is under it, in ISO 8601, the earliest of several; None without one.

    A date other than `2023-10-23` counts beside at most `MOST_WORDS` other words: "Monday, 23 October 2023",
    "23.10.2023", "23/10/2023", "Version 3.1 (May 2023)", "2023 week 43". 05/03/2024 could be two days.
    """
    rest = without_times(heading, EARLIEST).split()
    stated = _in_words(heading) if _ISO_DAY.search(heading) or len(rest) <= MOST_WORDS else []
    return next(iter(stated), None)


def date_in_headings(headings: Sequence[str], near: str | None) -> str | None:
    """Return the date that the innermost heading with one states, in ISO 8601; None without one.

    A day without a year ("May 3") is the nearest one to what is above it.

    Args:
        headings: From the outermost one, each under those before it.
        near: A date in ISO 8601 that what they are in states.
    """
    found = None
    for heading in headings:
        stated = date_in_heading(heading) or (_nearest(heading, near) if near else None)
        found, near = stated or found, stated or middle_of_year(heading) or near
    return found


def middle_of_year(text: str) -> str | None:
    """Return a day to which every day of the last year in a text is near, in ISO 8601; None without a year."""
    years = _YEAR.findall(text)
    return f"{years[-1]}-07-02" if years else None


def _nearest(heading: str, near: str) -> str | None:
    """Return the date nearest to another one that a heading without a year can mean; None if it names no day."""
    named, other = _YEARLESS.search(heading), date.fromisoformat(near[: len("2021-05-03")])
    if named is None or _YEAR.search(heading):
        return None
    dated = (f"{heading[: named.end()]} {other.year + more}{heading[named.end() :]}" for more in (-1, 0, 1))
    days = [found for one in dated if (found := date_in_heading(one))]
    return min(days, key=lambda one: abs(date.fromisoformat(one) - other), default=None)


def time_in_field(field: str) -> str | None:
    """Return a time in ISO 8601, given so, in numbers as in a path or as a day in words; None for an ambiguous one.

    More than eight digits in a row count seconds or their parts, though Python reads 1612120112345 as the year 1612.
    """
    if re.match(r"\d{9}", field):
        return None
    try:
        return datetime.fromisoformat(field).isoformat()
    except ValueError:
        in_words = re.sub(r"(?<=\d)-(?=[A-Za-z])|(?<=[A-Za-z])-(?=\d)", " ", field)  # 10-May-2016
        return date_in_path(field) if _NUMERIC.fullmatch(field) else date_in_heading(in_words)


def time_in_property(value: object) -> str | None:
    """Return the time that a property states, in ISO 8601, no more exactly than it does, but for the day of a month."""
    said = str(value).strip("[]")
    if isinstance(value, int) and _EPOCH.fullmatch(said):
        return moment(value)
    found = time_in_field(said)
    return said if found and len(said) >= len("2022-02-02") and found.startswith(said) else found


def _day(match: re.Match[str], path: str) -> str | None:
    """Return the day of a numeric date in a path; None where the calendar has none or it isn't past."""
    year = int(match["y"] or match["year"])
    month, day = match["m"] or match["only"] or match["month"], match["d"] or match["day"]
    if match["only"] and int(month) == year % 100 + 1 and match[0] not in path.split("/"):
        return None
    try:
        found = date(year, int(month), int(day or 1)) if month else date.fromisocalendar(year, int(match["week"]), 1)
    except ValueError:
        return None
    return found.isoformat() if is_past(found.isoformat()) else None


def is_past(time: str) -> bool:
    """Return whether a time in ISO 8601 is of a day from 1970 to today."""
    return EARLIEST.date().isoformat() <= time[:10] <= datetime.now().astimezone().date().isoformat()


def _in_words(text: str) -> list[str]:
    """Return the days and months of a text that depend on no reading time, unlike "Monday" or "5 March"."""
    now = calendar_time(datetime.now().astimezone())
    always = set(find_intervals(text, EARLIEST)).intersection(find_intervals(text, now))
    dated = sorted(one for one in always if one.end - one.start <= LONGEST and EARLIEST <= one.start <= now)
    return [one.start.date().isoformat() for one in dated]
