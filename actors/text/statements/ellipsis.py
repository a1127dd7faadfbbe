"""Corrections that name only what changed: "Stand-up is at 10 now" after "The stand-up is at 9:30 in the small room".

A later statement may leave out the place, the frequency and other details of the earlier one, so that few words are
shared. It still corrects it if one of its clauses names the same subject, gives a new value of a kind that the earlier
one gives too, and says nothing else.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from actors.text.statements.phrases import subject
from actors.text.statements.statement import Statement
from actors.text.statements.text_equivalence import ENGLISH, synonym
from actors.text.statements.values import UNITS, Value, are_of_one_kind, read_values
from events.vocabulary.values import Span
from projections.spaces.lexical import stem_words

_BETWEEN: Final = re.compile(r"[,;:.!–—]\s+(?:(?:and|but|so)\s+)?|\s(?:because|since|so|and)\s+")
"""Between two clauses."""
_FAMILY: Final[dict[str, str]] = dict.fromkeys(("clock", "daypart", "weekday", "month", "date"), "time")
"""Kinds that answer "when"."""
MAX_CLAUSES: Final = 4
_PLACED: Final = re.compile(
    r"\b(?:is|are|'s|lives?|lies?|stands?|hangs?|sits?|stays?|kept|stored|parked) "
    r"(?:in|at|on|under|behind|beside|near|next to|with|by)\b",
    re.IGNORECASE,
)
"""Says where something is."""
_PUT: Final = re.compile(
    r"\b(?P<verb>put|moved|brought|taken|hung|parked|relocated|shifted)\b(?:\s++[\w'’-]++){0,5}?\s++"
    r"(?:to|into|in|on|onto|at|under|behind|beside|next to)\b",
    re.IGNORECASE,
)
"""Says where something was put, with up to five words for what."""
_SINCE: Final = re.compile(r"\b(?:from|since|as of|starting|starting on|until)\s+$", re.IGNORECASE)
"""Before the time of a change."""
_ATTRIBUTES, _WORDS = (
    frozenset(stem_words([synonym(word) for word in ENGLISH["corrections"][name].split()]))
    for name in ("attributes", "free")
)
_FREE: Final = _ATTRIBUTES | _WORDS | UNITS
"""Words that say nothing but the kind of a value: "the start time", "it takes", "euros"."""


def find_ellipsis(earlier: Statement, later: Statement) -> tuple[Value, Value] | None:
    """Return a value of an earlier statement and the one that a later statement gives in its place; None without one.

    Args:
        earlier: A statement.
        later: A text that was said after it.
    """
    if not later.starts_at and (earlier.state_at is None or earlier.tells_event):
        return None
    old = [value for value in read_values(earlier) if value.key not in later.keys]
    if not _pairs(old, _new(earlier, later)):
        return None
    for start, clause in _clauses(later):
        new = _new(earlier, clause)
        replaced = _pairs(old, new)
        if (
            len({other for _, other in replaced}) == len(new) > 0
            and len({_FAMILY.get(value.kind, value.kind) for value in new}) == 1
            and not _says_more(earlier, clause)
            and _names_subject(earlier, clause, later)
        ):
            one, other = replaced[-1]
            return one, other._replace(span=(other.span[0] + start, other.span[1] + start))
    return None


def _new(earlier: Statement, later: Statement) -> list[Value]:
    """Return the values of a later statement that the earlier one lacks, but not the time of the change."""
    return [
        value
        for value in read_values(later)
        if value.key not in earlier.keys and not _SINCE.search(later.text, max(0, value.span[0] - 16), value.span[0])
    ]


def _pairs(old: list[Value], new: list[Value]) -> list[tuple[Value, Value]]:
    return [(one, other) for other in new for one in old if are_of_one_kind(one, other)]


def find_new_place(earlier: Statement, later: Statement) -> Span | None:
    """Return where a later statement says that what an earlier one places somewhere has been put; None without it."""
    put, was = _PUT.search(later.text), _PLACED.search(earlier.text)
    if put is None or was is None or any(_is_value(*place) for place in ((earlier, was.end()), (later, put.end()))):
        return None
    one, other = subject(earlier), subject(later)
    what = later.object_after(put.end("verb")) or (other.stems if other else [])
    if one is None or what[-1:] != one.stems[-1:]:
        return None
    return next((word.span for word in later.words if word.span[0] >= put.end()), None)


def _is_value(statement: Statement, at: int) -> bool:
    """Return whether the first content word from a place on is a time or a number, so that no place follows."""
    return next((word.kind in {"time", "number"} for word in statement.words if word.span[0] >= at), True)


def _clauses(statement: Statement) -> Iterator[tuple[int, Statement]]:
    """Yield the parts of a text that may state a value, each with its place: the whole, and each of its clauses."""
    text, start = statement.text, statement.starts_at
    cuts = [match.span() for match in islice(_BETWEEN.finditer(text, start), MAX_CLAUSES)]
    spans: list[Span] = [(start, len(text))]
    if cuts:
        starts, ends = [start, *(end for _, end in cuts)], [*(begin for begin, _ in cuts), len(text)]
        spans += zip(starts, ends, strict=True)
    for begin, end in spans:
        yield begin, Statement(text[begin:end])


def _says_more(earlier: Statement, clause: Statement) -> bool:
    """Return whether a clause has words that are neither of the earlier statement nor part of a value or a change."""
    known = {*earlier.keys, *_FREE, *(stem for value in read_values(clause) for stem in value.of)}
    values = [value.span for value in read_values(clause)]
    return any(
        word.key not in known
        and not clause.is_change(word)
        and not any(start <= word.span[0] < end for start, end in values)
        for word in clause.words
    )


def _names_subject(earlier: Statement, clause: Statement, later: Statement) -> bool:
    """Return whether a clause is about what the earlier statement is about.

    The head of a subject counts: "the library card" is not "the library". A noun without an article may stand for the
    compound that it begins, "piano" for "the piano lessons"; so may one before a colon.
    """
    one, other = subject(earlier), subject(clause)
    if one is None or (later.starts_at and not other):
        about = {word.key for word in earlier.words if word.kind in {"words", "name"}}
        return not about.isdisjoint(other.stems[-1:] if other else {*clause.keys} | later.announced)
    head = one.stems[-1]
    if other is None:
        return head in clause.keys or head in later.announced
    if other.stems[-1] in one.stems:
        is_short = not other.follows or clause.text.startswith(":", clause.verb_at)
        return other.stems[-1] == head or (other.stems[0] == one.stems[0] and is_short)
    return other.stems[-1] in _ATTRIBUTES and other.stems[-2:-1] == [head]
