"""Words of a query that may be misspelt or abbreviated, and the words that they may stand for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice
from string import ascii_lowercase
from typing import Final

from actors.text.text_equivalence import ENGLISH

LETTERS: Final = range(5, 21)
"""Letters of a word that is corrected: too many words are one letter away from a shorter one."""
MOST: Final = 10
"""Unknown words of a query that are corrected, from its beginning: each takes .2 ms, and a text in another language or
a pasted log has hundreds."""

_WORD: Final = re.compile(r"(?<![\w.@/#'’-])[^\W\d_]+(?![\w@/#-]|\.\w)")
"""A word in plain prose, neither a part of a path or an address nor of a compound."""

_PAIRS: Final = [
    [one.strip() for one in pair.split(":")] for pair in ENGLISH["equivalence"]["abbreviations"].split(",")
]
_WRITTEN_OUT: Final = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
"""What each abbreviation stands for, and the abbreviation of that."""


def respellings(query: str, words: AbstractSet[str]) -> dict[str, tuple[str, ...]]:
    """Return what words of a query may stand for: abbreviations written out, and the other way round.

    Also for the first words that are none of `words`, which are in lower case, those that one mistake makes,
    alphabetically. A mistake adds, leaves out or changes a letter, or swaps two; the first letter is hardly ever wrong.
    """
    asked = dict.fromkeys(match[0].lower() for match in _WORD.finditer(query))
    unknown = (word for word in asked if word.isascii() and len(word) in LETTERS and word not in words)
    found = {word: tuple(sorted({*_one_mistake(word)} & words)) for word in islice(unknown, MOST)}
    known = {match[0].lower() for match in _whole(_WRITTEN_OUT).finditer(query)}
    written_out = {word: (_of_singular(_WRITTEN_OUT, word),) for word in sorted(known)}
    return {word: others for word, others in found.items() if others} | written_out


def respelt(query: str, replaced: Mapping[str, str]) -> str:
    """Return a query with some of its words or phrases replaced; the names of `replaced` are in lower case."""
    return _whole(replaced).sub(lambda found: _of_singular(replaced, found[0].lower()), query)


def _of_singular(replaced: Mapping[str, str], word: str) -> str:
    """Return what replaces a word, or the singular of which it is the plural."""
    return replaced.get(word) or replaced[word[:-1]]


@lru_cache(8)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    word = rf"(?<!\d )(?:{either})(?:(?<=(?-i:[A-Z][A-Z]))s)?"
    return re.compile(_WORD.pattern.replace(r"[^\W\d_]+", word), re.IGNORECASE)


def _whole(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of whole words or phrases in plain prose, none behind a number, and of plurals such as "PRs"."""
    return _pattern(tuple(phrases))


def _one_mistake(word: str) -> Iterator[str]:
    """Yield what one mistake after the first letter makes of a word."""
    for place in range(1, len(word)):
        start, letter, rest = word[:place], word[place], word[place + 1 :]
        yield start + rest
        if rest:
            yield start + rest[0] + letter + rest[1:]
        yield from (start + other + rest for other in ascii_lowercase)
        yield from (start + other + letter + rest for other in ascii_lowercase)
    yield from (word + other for other in ascii_lowercase)
