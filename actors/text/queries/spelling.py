"""Words of a query that may be misspelt, and the words that they may stand for."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from string import ascii_lowercase
from typing import Final

LETTERS: Final = range(5, 21)
"""Letters of a word that is corrected: too many words are one letter away from a shorter one."""
MOST: Final = 10
"""Unknown words of a query that are corrected, from its beginning: each takes .2 ms, and a text in another language or
a pasted log has hundreds."""

_WORD: Final = re.compile(r"(?<![\w.@/#'’-])[^\W\d_]+(?![\w@/#-]|\.\w)")
"""A word in plain prose, neither a part of a path or an address nor of a compound."""


def respellings(query: str, words: AbstractSet[str]) -> dict[str, tuple[str, ...]]:
    """Return for the first words of a query that are none of `words` those that one mistake makes, alphabetically.

    A mistake adds, leaves out or changes a letter, or swaps two; the first letter is hardly ever wrong.

    `words` are in lower case.
    """
    asked = dict.fromkeys(match[0].lower() for match in _WORD.finditer(query))
    unknown = (word for word in asked if word.isascii() and len(word) in LETTERS and word not in words)
    found = {word: tuple(sorted({*_one_mistake(word)} & words)) for word in islice(unknown, MOST)}
    return {word: others for word, others in found.items() if others}


def respelt(query: str, replaced: Mapping[str, str]) -> str:
    """Return a query with some of its words replaced; the names of `replaced` are in lower case."""
    return _WORD.sub(lambda word: replaced.get(word[0].lower(), word[0]), query)


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
