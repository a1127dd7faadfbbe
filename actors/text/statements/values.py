"""The values that a statement gives, each with its kind: a time of day, a date, a duration, an amount, or a name.

Two statements give one value of a thing only if the kinds agree: "at 15:00" and "for 45 minutes" are two properties.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from actors.text.statements.statement import ADDRESS, Statement, Word
from actors.text.text_equivalence import ENGLISH
from events.vocabulary.values import Span
from projections.spaces.lexical import stem_words

_LISTS: Final[dict[str, str]] = ENGLISH["values"]
_FAMILIES: Final = {
    stem: family
    for family in ("duration", "money", "weight", "length", "volume", "data", "degrees")
    for stem in stem_words(_LISTS[family].split())
}
"""The kind of an amount by the stem of its unit."""
UNITS: Final = frozenset(_FAMILIES)
_TIMES: Final = {
    stem: kind for kind in ("weekday", "month", "daypart", "frequency") for stem in stem_words(_LISTS[kind].split())
}
_MONTHS: Final = frozenset(stem_words(_LISTS["month"].split()))
_BEFORE_CLOCK: Final = re.compile(
    r"(?:@|\b(?:half|quarter|past|at|until|till|by|from|between|before|after|(?:from|between) \w{1,8} (?:to|and)))\s+$",
    re.IGNORECASE,
)
"""Before a number that is a time of day: "at", "half past", "from nine to"."""
_FRACTION: Final = re.compile(r"\b(half|quarter)\s+(past|to)\s+$", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[,;:.!?–—]\s|\b(?:but|and|so)\s")
_NOT_UNTIL: Final = re.compile(r"\b(?:until|till|before)\b", re.IGNORECASE)
_PERCENT: Final = re.compile(r"\s?%")
_LAST_HOUR: Final = 24
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_AFTER_CLOCK: Final = re.compile(r"\s?(?:[ap]\.?m\b|o['’]clock\b)", re.IGNORECASE)
_CLOCK: Final = re.compile(r"\d{1,2}[:h]\d\d(?:[ap]m)?|\d{1,2}[ap]m", re.IGNORECASE)
_ORDINAL: Final = re.compile(r"\d{1,2}(?:st|nd|rd|th)|\d{4}-\d\d-\d\d", re.IGNORECASE)
DATED: Final = frozenset({"weekday", "month", "date"})
TIMES: Final = DATED | {"clock", "daypart", "frequency"}
NAMES: Final = frozenset({"name", "address"})
AMOUNTS: Final = frozenset({"count", "number", "percent", *_FAMILIES.values()})


class Value(NamedTuple):
    """A word that states a value."""

    key: str
    kind: str
    """`clock`, `date`, `weekday`, `month`, `daypart`, `frequency`, `name`, `address`, `percent`, `duration`, `money`,
    `weight`, `length`, `volume`, `data`, `degrees`, `count` ("six chairs"), `label` ("room 214") or `number`."""
    of: frozenset[str]
    """The stems of what a number counts, or of what it is the number."""
    span: Span


@lru_cache(256)
def read_values(statement: Statement) -> tuple[Value, ...]:
    """Return the values of a statement in its order."""
    words = [word for word in statement.words if word.kind == "number" or not statement.is_change(word)]
    stated = [
        at for at, word in enumerate(words) if word.kind != "words" and not (word.kind == "name" and word.key in UNITS)
    ]
    return tuple(_value(statement.text, words, at) for at in stated)


def are_of_one_kind(one: Value, other: Value) -> bool:
    """Return whether one value may stand in place of another."""
    if one.kind == other.kind:
        return one.kind not in {"count", "label"} or not one.of.isdisjoint(other.of)
    kinds = {one.kind, other.kind}
    if "number" in kinds:
        return bool(kinds & (AMOUNTS - {"number"} | {"clock", "label"}))
    return kinds <= DATED or kinds == {"clock", "daypart"}


def other_values(statement: Statement, other: Statement) -> list[Value]:
    """Return the values but names and addresses that a statement gives and another doesn't."""
    return [value for value in read_values(statement) if value.kind not in NAMES and value.key not in other.keys]


def have_one_kind(values: Iterable[Value], others: Sequence[Value]) -> bool:
    """Return whether one of some values may stand in place of one of others."""
    return any(are_of_one_kind(value, other) for value in values for other in others)


def is_denied(value: Value, statement: Statement, known: Iterable[str]) -> bool:
    """Return whether a statement says that a value does not hold, not even once: "not at 9".

    `known` are the keys of values that an earlier statement gives; what denies one of these does not deny another.
    """
    if statement.changes:
        return False  # "not at 9 any more"
    at = value.span[0]
    said = [other.span[1] for other in read_values(statement) if other.key in known and other.span[1] <= at]
    starts = [match.end() for match in _CLAUSE_END.finditer(statement.text, statement.starts_at, at)]
    before = statement.text[max([statement.starts_at, *said, *starts]) : at]
    return Statement(before).is_negated and not _NOT_UNTIL.search(before)


def _value(text: str, words: list[Word], at: int) -> Value:
    key, span, kind = words[at]
    of = frozenset[str]()
    if kind == "name" and ADDRESS.match(text, span[0]):
        kind = "address"
    if kind == "time":
        kind = _TIMES.get(key, "weekday")
    elif kind == "number":
        kind, of = _number(text, words, at)
        if fraction := _FRACTION.search(text, max(0, span[0] - 16), span[0]):
            key = f"{fraction[1]} {fraction[2]} {key}".lower()
            kind = "clock"
            of = frozenset()
            span = fraction.start(), span[1]
    return Value(key, kind, of, span)


def _number(text: str, words: list[Word], at: int) -> tuple[str, frozenset[str]]:
    """Return the kind of a number, and what it counts."""
    start, end = words[at].span
    surface = text[start:end]
    after = [word.key for word in _adjacent(text, words[at:])]
    before = [word.key for word in reversed(_adjacent(text, words[at::-1]))]
    if surface[0].isalpha() and not surface.isalpha():  # "N26"
        return "name", frozenset()
    if surface[0] in "$€£":
        return "money", frozenset()
    if _PERCENT.match(text, end) or "percent" in after[:1]:
        return "percent", frozenset()
    if family := next((_FAMILIES[stem] for stem in after[:1] if stem in _FAMILIES), None):
        return family, frozenset()
    if _ORDINAL.fullmatch(surface) or not _MONTHS.isdisjoint({*after[:1], *before[-1:]}):
        return "date", frozenset()
    if _CLOCK.fullmatch(surface) or _AFTER_CLOCK.match(text, end):
        return "clock", frozenset()
    if not after and _BEFORE_CLOCK.search(text, max(0, start - 24), start):
        if _YEAR.fullmatch(surface):
            return "date", frozenset()
        if not surface.isdecimal() or int(surface) <= _LAST_HOUR:
            return "clock", frozenset()
    if after:
        return "count", frozenset(after)
    return ("label", frozenset(before[-1:])) if before else ("number", frozenset())


def _adjacent(text: str, words: list[Word]) -> list[Word]:
    """Return the words that follow the first one, or precede it in a reversed list, with nothing but a space between.

    Times end them: "at nine Mondays".
    """
    found: list[Word] = []
    for one, other in pairwise(words):
        left, right = sorted((one.span, other.span))
        is_time = other.kind == "time" and other.key not in _MONTHS and other.key not in _FAMILIES
        if text[left[1] : right[0]] not in {" ", "-"} or other.kind == "number" or is_time:
            break
        found.append(other)
    return found
