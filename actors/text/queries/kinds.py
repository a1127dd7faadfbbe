"""Questions for all statements of a kind: "Which decisions did we make?", "known bugs", "list the user's preferences".

Statements seldom name their kind as the question does: "We agreed on …" tells a decision. So such a question is
searched by the words that they use (`kinds` in `english.toml`).
"""

import re
from typing import Final, NamedTuple

from actors.text.text_equivalence import ENGLISH
from projections.spaces.lexical import STOP_WORDS, stem_words
from projections.spaces.lexical import words as tokens


class Kind(NamedTuple):
    """A kind of statement."""

    naming: tuple[str, ...]
    """Words by which a statement says that it is one."""
    words: tuple[str, ...]
    """These, and further words that such a statement may use."""
    beside: frozenset[str]
    """Stems beside the name of the kind that don't restrict it."""


_KINDS: Final = {
    name: Kind(
        naming=tuple(lists["naming"].split()),
        words=tuple((lists["naming"] + " " + lists["using"]).split()),
        beside=frozenset(stem_words((ENGLISH["asking_for_kinds"]["beside"] + " " + lists["beside"]).split())),
    )
    for lists in ENGLISH["kinds"].values()
    for name in lists["names"].split()
}
"""The kinds by each of their names."""
_LISTING: Final = re.compile(
    r"\W*(?:(?:can|could|please|you) )*(?:get|give|list|recall|show)\b(?: (?:me|us)\b)?", re.IGNORECASE
)
_OPENING: Final = re.compile(
    r"\W*(?:all|any|anything|are there|do (?:I|we) have|my|our|what|what['’]s|which)\b", re.IGNORECASE
)
_RESTRICTED: Final = re.compile(
    rf"\b(?:you|your|should|would)\b|\b(?:{'|'.join(_KINDS)}) (?:about|by|for|from|in|me|of|on|with)\b", re.IGNORECASE
)
"""Asks for advice, or for those of something: "What would you prefer?", "bugs in this"."""
_TO_DO: Final = re.compile(
    r"\b(?:(?:left|remain(?:s|ing)?|still)(?: (?:have|has|needs?|is|are|left|open))? to (?:do|be done)|to-dos?)\b",
    re.IGNORECASE,
)
"""Names tasks in stop words: "what's left to do"."""
_MOST_CHARACTERS: Final = 100
"""A longer query tells something."""


def asked_kind(query: str) -> Kind | None:
    """Return the kind of statement of which a query asks for all; None if it asks for something else.

    "Which bugs are known?" does, "bugs of the importer" and "The bugs are gone" don't.
    """
    listing = _LISTING.match(query)
    named = _TO_DO.sub("todos", query[listing.end() if listing else 0 :])
    if len(query) > _MOST_CHARACTERS or _RESTRICTED.search(named):
        return None
    found = tokens(named)
    if "did" in found:  # "What did we decide?", but not "What do we have to decide?"
        found = ["decided" if word == "decide" else word for word in found]
    is_asked = listing or _OPENING.match(query) or STOP_WORDS.isdisjoint(found)
    kinds = {_KINDS[word] for word in found if word in _KINDS}
    others = [word.removesuffix("'s") for word in found if word not in _KINDS and word not in STOP_WORDS]
    if not is_asked or len(kinds) != 1:
        return None
    kind = kinds.pop()
    return kind if kind.beside.issuperset(stem_words(others)) else None
