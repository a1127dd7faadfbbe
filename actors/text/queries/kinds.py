"""Questions for all statements of a kind: "Which decisions did we make?", "known bugs", "list the user's preferences".

Statements seldom name their kind: "We agreed on …" tells a decision. So such a question is searched by the words that
they use (`kinds` in `english.toml`).
"""

import re
from typing import Final

from actors.text.text_equivalence import ENGLISH
from projections.spaces.lexical import STOP_WORDS, stem_words
from projections.spaces.lexical import words as tokens

_KINDS: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(words.split())
    for listed in ENGLISH["kinds"]["words"].split(",")
    for names, words in [listed.split(":")]
    for name in names.split()
}
"""The words of statements by each name of their kind, in lower case."""
_BESIDE: Final = frozenset(stem_words(ENGLISH["kinds"]["beside"].split()))
"""Stems beside the name of a kind that don't restrict it."""
_LISTING: Final = re.compile(
    r"\W*(?:(?:can|could|please|you) )*(?:find|get|give|list|name|recall|search(?: for)?|show)\b(?: (?:me|us)\b)?",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"\W*(?:any|anything|are there|do (?:I|we|you) have|what|what['’]s|which)\b", re.IGNORECASE
)
_MOST_CHARACTERS: Final = 100


def asked_kind(query: str) -> tuple[str, ...]:
    """Return the words of statements of whose kind a query asks for all; none if it asks for something else.

    "Which bugs are known?" does, "bugs of the importer" and "The bugs are gone" don't.
    """
    listing = _LISTING.match(query)
    named = query[listing.end() if listing else 0 :]
    found = tokens(named) if len(query) <= _MOST_CHARACTERS else []
    is_asked = listing or _OPENING.match(query) or STOP_WORDS.isdisjoint(found)
    kinds = {_KINDS[word] for word in found if word in _KINDS}
    others = [word.removesuffix("'s") for word in found if word not in _KINDS and word not in STOP_WORDS]
    return kinds.pop() if is_asked and len(kinds) == 1 and _BESIDE.issuperset(stem_words(others)) else ()
