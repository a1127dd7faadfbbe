"""Parts of a sentence as half-open intervals of characters: its main clause, its first and its last clause."""

import re
from typing import Final, NamedTuple, TypeAlias

from actors.text.causes.patterns import CLAIM, CLAUSE_END, FINITE, LAST_CLAUSE, LEADING, WORD

Span: TypeAlias = tuple[int, int]
"""Half-open interval [start, end) of characters."""


class Reading(NamedTuple):
    """A cause and an effect; the cause is None where it is the sentence before."""

    connective: str
    cause: Span | None
    effect: Span


_COMMA: Final = re.compile(r",(?=\s)")
_NO_MAIN_CLAUSE: Final = re.compile(r"\s*(?:and|or|which|who)\b")


def main_comma(text: str, start: int, end: int) -> int | None:
    """Return the place of the comma between an opening clause and the main one: the first whose rest is a clause."""
    for match in _COMMA.finditer(text, start, end):
        rest = text[match.end() : end]
        if FINITE.search(rest) and len(WORD.findall(rest)) > 1 and not _NO_MAIN_CLAUSE.match(rest):
            return match.start()
    return None


def first_clause(text: str, part: Span) -> Span:
    """Return the part up to the end of its first clause."""
    start, end = part
    cut = CLAUSE_END.search(text, start + 1, end)
    return (start, cut.start()) if cut is not None and WORD.search(text, start, cut.start()) else part


def last_clause(text: str, part: Span) -> Span:
    """Return the part from the start of its last clause."""
    start, end = part
    for cut in LAST_CLAUSE.finditer(text, start, end):
        if text[cut.start()] == ";" or FINITE.search(text, cut.end(), end):
            start = cut.end()
    return start, end


def skip_leading(text: str, start: int, end: int) -> int:
    """Return where a part begins after its conjunctions and interjections."""
    match = LEADING.match(text, start, end)
    return match.end() if match else start


def trimmed(text: str, span: Span) -> Span:
    """Return a span without conjunctions at its start and punctuation at its ends."""
    start, end = span
    start = skip_leading(text, start, end)
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in ")%"):
        end -= 1
    return start, max(start, end)


def is_claimed(text: str, start: int, place: int) -> bool:
    """Tell whether a place is the predicate of a clause that is believed or denied: "the rumour that the frost …"."""
    claims = [match.end() for match in CLAIM.finditer(text, start, place)]
    return bool(claims) and FINITE.search(text, claims[-1], place) is None
