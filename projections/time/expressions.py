"""Parser of English time expressions: finds them in a text and resolves them to intervals.

Supports dates ("8 May 2023", "8.5.2023", "Sep 1941", "2010 to 2012", "the 1990s"), expressions relative to the anchor,
which is the time of the text ("yesterday", "two weeks ago", "last May"), and offsets from a date ("the week before 9
June"). The patterns are tried in order, and text that one has matched isn't matched again. The only clock is the
anchor.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from projections.time import lexicon as lex
from projections.time import resolvers
from projections.time.day_parts import find_day_part
from projections.time.periods import DAY, UNIT_DAYS, Interval, containing, days, shift
from projections.time.resolvers import Reference, resolved
from projections.time.weekdays import looks_ahead, looks_back

MAX_INTERVALS: Final = 64
"""Intervals of one text; further ones, as in a timetable, add no information."""
MAX_CHARACTERS: Final = 16_384
_OPEN_END: Final = timedelta(days=365)
"""Length of "before 2010" and "after 9 June"."""
_ENDS: Final = ("end of", "End of")
"""What an expression begins with whose last moment is the border of "until" and "before" it."""
_PREFIX_CHARACTERS: Final = 48
"""Characters before an expression that may modify it."""


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
    return list(dict.fromkeys(interval for _, interval in _named(text, anchor, question=question)))[:MAX_INTERVALS]


def find_day_parts(text: str, anchor: datetime) -> list[Interval]:
    """Return the distinct parts of single days that a question names, such as "yesterday evening", in its order.

    `find_intervals` returns the whole days of these. `text` and `anchor` are as there.
    """
    found: dict[Interval, None] = {}
    for one, interval in _named(text, anchor, question=True):
        begin = _begin(text, one)
        is_day = interval.end - interval.start == DAY and (begin < one.left or not _SIDE.search(_prefix(text, one)))
        part = find_day_part(text[:MAX_CHARACTERS], begin, one.right) if is_day else None
        if part and (narrowed := resolved(partial(part.of, interval))):
            found[narrowed] = None
    return list(found)[:MAX_INTERVALS]


def _named(text: str, anchor: datetime, *, question: bool) -> Iterator[tuple[_Expression, Interval]]:
    """Yield each expression of a text with the interval that it names there."""
    text = text[:MAX_CHARACTERS]
    back = _reference(text, anchor, question=question)
    is_ahead = question and (_NAMED.search(text) or _OF_EACH_YEAR.search(text)) and looks_ahead(text)
    for reference in [back, back._replace(ahead=True)] if is_ahead else [back]:
        for one in _join_ranges(text, _expressions(text, reference)):
            interval = resolved(partial(_modified, text, one, reference.anchor))
            if interval is not None:
                yield one, interval


def without_times(text: str, anchor: datetime, *, modifiers: bool = False) -> str:
    """Return a question without the words that `find_intervals` reads as times.

    With `modifiers` also without those beside them, such as "the day before" and "in the evening".
    """
    text, end, kept = text[:MAX_CHARACTERS], 0, ""
    for one in _expressions(text, _reference(text, anchor, question=True)):
        left, right = (_begin(text, one) if modifiers else one.left), one.right
        is_day = one.interval.end - one.interval.start == DAY
        if modifiers and is_day and (part := find_day_part(text, left, right)):
            left, right = part.left, part.right
        kept, end = f"{kept}{text[end:left]} ", right
    return kept + text[end:]


def _reference(text: str, anchor: datetime, *, question: bool) -> Reference:
    is_past = question and _NAMED.search(text) is not None and looks_back(text)
    return Reference(anchor.replace(tzinfo=UTC), question, is_past=is_past)


def _expressions(text: str, reference: Reference) -> list[_Expression]:
    """Return the time expressions of a text in its order, at most `MAX_INTERVALS`."""
    found: list[_Expression] = []
    if _ANY.search(text) is None:
        return found
    for left, right, resolve in _matches(text, reference):
        index = bisect_left(found, (left,))
        if (index and left < found[index - 1].right) or (index < len(found) and found[index].left < right):
            continue
        interval = resolved(resolve)
        if interval is not None:
            found.insert(index, _Expression(left, right, interval))
            if len(found) == MAX_INTERVALS:
                break
    return found


def _matches(text: str, reference: Reference) -> Iterator[tuple[int, int, Callable[[], Interval | None]]]:
    """Yield the span of each match of each pattern, and the function that resolves it."""
    for pattern, resolve in _PATTERNS if _NAMED.search(text) else _WITHOUT_NAMES:
        for match in pattern.finditer(text):
            yield *match.span("body" if "body" in pattern.groupindex else 0), partial(resolve, match, reference)


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


def _begin(text: str, one: _Expression) -> int:
    """Return where an expression begins, with "two weeks before" or "the day after" in front of it."""
    prefix = _prefix(text, one)
    offset = _OFFSET.search(prefix)
    return one.left - len(prefix) + offset.start() if offset else one.left


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
            border = interval.end if text.startswith(_ENDS, one.left) else interval.start
            today = days(anchor).start
            return Interval(today if today < border else border - _OPEN_END, border)


_ANY: Final = lex.compiled(
    rf"(?<!\d)\d{{4}}(?!\d)|\bago\b|day\b|weekend\b|\bon the \d|\b(?:before last|after next)\b"
    rf"|\b(?:recently|lately|{lex.DEICTIC_DAY})\b|{lex.WHICH}{lex.COUNT}?{lex.SPAN}|{lex.QUARTER}"
    rf"|\bof the (?:week|month|quarter|year|decade)\b|\bcalendar week\b|\b{lex.SEASON}|\b{lex.MONTH}"
)
"""Prefilter: matches every text that contains a time expression, and few others."""
_OF_EACH_YEAR: Final = lex.compiled(r"\bon the \d|\bcalendar week\b")
"""Times other than months and days that come again, so that a question may mean the coming one."""
_OF_YEAR: Final = rf"(?:,? (?:of )?{lex.YEAR})?"
_PART_OF_DAY: Final = r"(?: (?:morning|afternoon|evening|night))?"
_BEFORE_NUMBERS: Final = rf"{lex.AROUND}{lex.NOT_A_VERSION}"
_LAST_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\w/-]|\.\d)"
_NO_MONTH: Final = r"(?P<day>1[3-9]|2\d|3[01])"
"""A day that is no month: beside it, 17/11/2017 and 11/17/2017 are the same."""
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Reference], Interval | None]], ...]] = tuple(
    (lex.compiled(pattern), resolve)
    for pattern, resolve in (
        (rf"{lex.AROUND}\b(?P<year>\d{{4}})-(?P<number>\d{{2}})-(?P<day>\d{{2}})(?!\d)", resolvers.day_or_days),
        (rf"{_BEFORE_NUMBERS}(?P<day>\d\d?)\.(?P<number>\d\d?)\.{_LAST_YEAR}", resolvers.day_or_days),
        (rf"{_BEFORE_NUMBERS}{_NO_MONTH}(?P<by>[/-])(?P<number>\d\d?)(?P=by){_LAST_YEAR}", resolvers.day_or_days),
        (rf"{_BEFORE_NUMBERS}(?P<number>\d\d?)(?P<by>[/-]){_NO_MONTH}(?P=by){_LAST_YEAR}", resolvers.day_or_days),
        (r"\b(?P<year>\d{4})-W(?P<week>\d\d)\b", resolvers.iso_week),
        (rf"\bcalendar week (?P<week>\d{{1,2}})\b{_OF_YEAR}", resolvers.iso_week),
        (rf"\bweek (?P<week>\d{{1,2}}) (?:of|in) {lex.YEAR}\b{lex.NOT_BEFORE_UNIT}", resolvers.iso_week),
        (r"\b(?P<year>\d{4})[ /-]?Q(?P<quarter>[1-4])(?P<named>)\b", resolvers.month_or_longer),
        (rf"{lex.QUARTER},? (?:of )?{lex.YEAR}", resolvers.month_or_longer),
        (rf"{lex.BETWEEN}{lex.DAY_OF_MONTH}{lex.AND}(?: of)? {lex.MONTH},?(?: {lex.YEAR})?", resolvers.day_or_days),
        (rf"{lex.BETWEEN}{lex.MONTH} {lex.DAY_OF_MONTH}{lex.AND}(?!:),?(?: {lex.YEAR})?", resolvers.day_or_days),
        (rf"{lex.AROUND}\b{lex.DAY_OF_MONTH}{lex.UNTIL}(?: of)? {lex.MONTH},?(?: {lex.YEAR})?", resolvers.day_or_days),
        (rf"{lex.AROUND}\b{lex.MONTH} {lex.DAY_OF_MONTH}{lex.UNTIL}(?!:),?(?: {lex.YEAR})?", resolvers.day_or_days),
        (
            rf"\b(?P<nth>first|second|third|fourth|last) week (?:of|in) {lex.MONTH}{_OF_YEAR}",
            resolvers.week_of_month,
        ),
        (
            rf"\b{lex.MONTH}(?=(?:{lex.TO}| (?:and|or) )(?:{lex.MONTH_NAME})\b\.?,?(?: of)? {lex.YEAR})",
            resolvers.month_or_longer,
        ),
        (rf"{lex.PART}\b{lex.MONTH},?(?: of)? {lex.YEAR}", resolvers.month_or_longer),
        (rf"{lex.PART}\b{lex.SEASON}(?: of)? {lex.YEAR}", resolvers.month_or_longer),
        # Behind the seasons, so that "spring 2018 week 3" is a spring.
        (rf"{lex.NOT_A_NUMBER}\b{lex.YEAR},? week (?P<week>\d{{1,2}})\b", resolvers.iso_week),
        (
            rf"{lex.PART}(?:the )?{lex.NOT_A_NUMBER}{lex.YEAR}(?P<decade>s)?\b{lex.NOT_BEFORE_UNIT}",
            resolvers.year_or_decade,
        ),
        (rf"{lex.NOT_A_VERB}{lex.WHICH}(?:{lex.MONTH}|{lex.SEASON})", resolvers.month_or_longer),
        (rf"{lex.WHICH}{lex.QUARTER}", resolvers.month_or_longer),
        (rf"\b(?P<word>{lex.DEICTIC_DAY})\b", resolvers.deictic_day),
        (lex.AGO, resolvers.ago),
        (rf"{lex.WHICH}{lex.COUNT}{lex.SPAN}", resolvers.counted_units),
        (rf"{lex.WHICH}(?P<unit>fortnight|hour)\b", resolvers.counted_units),
        (
            rf"\b{lex.WEEKDAY}{_PART_OF_DAY}(?: of)? {lex.WHICH}week\b(?!['’])",
            resolvers.weekday_of_week,
        ),
        (rf"{lex.WHICH}week(?:['’]s| on)? {lex.WEEKDAY}", resolvers.weekday_of_week),
        (
            rf"{lex.A_PART}(?:the |{lex.WHICH})(?P<unit>week|month|quarter|year|decade)\b(?! (?:of\b|\d))",
            resolvers.unit,
        ),
        (rf"\bthe {lex.UNIT} (?P<which>before last|after next)\b(?!(?-i: [A-Z]))", resolvers.second_unit),
        (rf"{lex.WHICH}{lex.UNIT}", resolvers.unit),
        (rf"{lex.BEFORE_WEEKEND}(?P<body>weekend)\b(?! (?:of|before|after|in)\b)", resolvers.weekend),
        (rf"(?:{lex.WHICH}|\b(?P<preposition>on|by|for|to|until|till) |\b){lex.WEEKDAY}", resolvers.weekday),
        (rf"{lex.A_PART}{lex.MONTH}", resolvers.month_or_longer),
        (rf"{lex.BEFORE_MONTH}(?P<body>{lex.PART}{lex.MONTH})", resolvers.month_or_longer),
        (rf"{lex.BEFORE_SEASON}(?P<body>{lex.PART}{lex.SEASON})(?! of\b)", resolvers.month_or_longer),
        (
            rf"{lex.BEFORE_BARE_SEASON}(?P<body>{lex.PART}(?-i:{lex.SEASON})){lex.NOT_OF}",
            resolvers.season_of_past_question,
        ),
        (r"\bon the (?P<body>(?P<day>\d{1,2})(?:st|nd|rd|th))(?=\s*(?:$|[.,;?!)]))", resolvers.day_of_month),
        (r"(?<!\bmost )\b(?:recently|lately)\b", resolvers.recently),
    )
)
"""From the most to the least specific."""
_NAMED: Final = lex.compiled(rf"\b(?:{lex.MONTH}|{lex.SEASON})")
_WITHOUT_NAMES: Final = tuple(one for one in _PATTERNS if not one[0].groupindex.keys() & {"month", "season"})
"""Those that match a text without the name of a month or a season: the others take two thirds of the time."""
