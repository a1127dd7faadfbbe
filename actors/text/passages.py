"""What a result shows of a long text: whole sentences or items, and of those what a question asks for."""

import re
from collections.abc import Collection, Sequence
from itertools import compress
from math import log
from typing import Final

from projections.spaces.lexical import stems

_REACH: Final = 250
"""Characters by which an excerpt grows at either end."""
_BORDERS: Final = tuple(
    map(
        re.compile,
        (
            # The end of a sentence, an empty line, or a line before a heading, an item of a list or a speaker.
            r"[.!?][\"')\]”’]*\s+|\n\s*\n\s*|\n\s*(?=[-*+#>|]|\d+[.)]\s|[^\W\d][\w ]{,30}:)",
            r"\n\s*",
            r"\s+",
        ),
    )
)
"""Where an excerpt may start or end, the best border first."""


def question_terms(question: str) -> frozenset[str]:
    """Return the starts of a question's words by which its answers are found; computed once for all results.

    A stem is searched as the start of a word, which takes a third or less of stemming the text; "happy" has the stem
    "happi".
    """
    return frozenset(stem[:-1] if len(stem) > 3 and stem.endswith("i") else stem for stem in stems(question))


def grown_to_borders(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the characters [start, end) of a part of a text, grown to borders near it."""
    return _start(text, start), _end(text, end)


def best_part(terms: Collection[str], text: str, start: int, end: int, length: int) -> tuple[int, int]:
    """Return the characters [start, end) of at most `length` that have most terms of a question, within a part.

    They start where the part, a line or a sentence starts. Of those with the same words the middle one is taken, since
    it has them in its midst; without any, the first.
    """
    if end - start <= length:
        return start, end
    starts = sorted({start, *(match.end() for border in _BORDERS[:2] for match in border.finditer(text, start, end))})
    ranges = [(first, min(first + length, end)) for first in starts if first < end]
    shares = _shares_of_words(terms, [text[first:last] for first, last in ranges])
    most = max(shares)
    equal = [part for part, share in zip(ranges, shares, strict=True) if share == most]
    return equal[(len(equal) - 1) // 2 if most else 0]


def _shares_of_words(terms: Collection[str], parts: Sequence[str]) -> list[float]:
    """Return the share of a question's terms that each part of a text contains, weighted by rarity among the parts."""
    folded = [part.casefold() for part in parts]
    found = [[_contains(part, term) for part in folded] for term in terms]
    rarity = [log((len(parts) + 1) / (sum(where) + 0.5)) for where in found]
    total = sum(rarity) or 1
    return [sum(compress(rarity, has)) / total for has in zip(*found, strict=True)] if found else [0.0] * len(parts)


def _contains(folded: str, term: str) -> bool:
    """Tell whether a word of a casefolded text starts with a term; one of another script may be within a word."""
    at = folded.find(term)
    while at > 0 and term.isascii() and folded[at - 1].isalnum():
        at = folded.find(term, at + 1)
    return at >= 0


def _start(text: str, at: int) -> int:
    """Return the best place before a character where an excerpt starts."""
    low = max(0, at - _REACH)
    found = ([match.end() for match in border.finditer(text, low, at)] for border in _BORDERS)
    return next((ends[-1] for ends in found if ends), 0 if low == 0 else at)


def _end(text: str, at: int) -> int:
    """Return the best place behind a character where an excerpt ends."""
    found = (border.search(text, at - 1, at + _REACH) for border in _BORDERS)
    match = next(filter(None, found), None) if at < len(text) else None
    return match.start() + len(match.group().rstrip()) if match else min(len(text), at + _REACH)
