"""Whether a query asks for what holds or for what held before."""

import re
from typing import Final

from actors.text.queries.dates import recurring_words
from projections.spaces.lexical import STOP_WORDS, words
from projections.time.time_mentions import QueryHints

USED_TO: Final = (
    "".join(rf"(?<!\b{word} )" for word in "is are was were be been being get got getting".split())
    + r"(?<!['’]m )(?<!['’]re )used to\b"
)
"""A past habit: neither "is used to open the lid" nor "got used to the noise"."""
_ARTICLE = r"(?:an?|her|his|its|my|our|the|their|your)"
_PAST: Final = re.compile(
    rf"\b{USED_TO}|"
    rf"^(?!\W*(?:what|which)\b.*\buse to \w+ {_ARTICLE}\b).{{0,200}}?\bdid\b.{{0,80}}?\buse to\b|"
    r"^(?!\W*(?:have|has)\b)(?s:.*)\bbefore\W*$|"
    r"\b(?:before|until|till|prior to) (?:that|this|then|it|we|they|the (?:change|switch|move|"
    r"update|correction))\b|\b(?:previous(?:ly)?|former(?:ly)?|original(?:ly)?|initially|at first|back then|"
    r"in the past|in those days|superseded|outdated|earlier(?! than))\b|"
    r"\b(?:think|thought|believed?|say|said|planned?|assumed?) (?:first|before)\b",
    re.IGNORECASE,
)
"""Words that ask for what held before; not "what did we use to clean the pan"."""
_OLD: Final = re.compile(r"\b(?:the|my|our|his|her|their|your|its|an) (old)\b", re.IGNORECASE)
"""Words that ask for what held before, or name what a query is about."""
_FIRST: Final = re.compile(
    r"^(?!.*\b(?:previous|former|before (?:that|this|then|the))).*"
    r"\b(?:original(?:ly)?|initially|at first|(?:think|thought|believed?|say|said|planned?|assumed?) first)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Words that ask for the first of several former versions, and none that ask for the last."""
_BEFORE: Final = re.compile(
    r"\b(?:(?P<time>before|prior to|until|till)|replaced by|superseded by) "
    r"(?:the )?(?P<name>\w[^?.,;!]{0,80}?)\W{0,9}$",
    re.IGNORECASE,
)
"""The end of a question for what something preceded: "What did we use before Redis?"."""
_TENSE: Final = re.compile(
    r"\b(?:(?P<past>did|had|was|were)|am|are|do|does|is|must|need|should|(?-i:can|will))\b|^\W*(?:can|will)\b|"
    r"\b(?:how|it|that|there|what|when|where|who)['’]s\b",
    re.IGNORECASE,
)
"""Verbs that tell the tense of a question, the first of them: "What should I do before the audit?"."""
_HAPPENED: Final = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
"""Verbs of a question for what happened, which has no latest version."""


def asks_for_past(query: str) -> bool:
    """Return whether the wording of a query asks for what held before, rather than for what holds."""
    return _PAST.search(query) is not None or _OLD.search(query) is not None


def successor_asked(query: str) -> str:
    """Return the words of what a query may ask for the predecessor of; "" for none.

    "Redis" in "What did we use before Redis?".
    """
    found = _BEFORE.search(query)
    if found is None or (found["time"] and is_of_present(query)):
        return ""
    return " ".join(word for word in words(found["name"]) if word not in STOP_WORDS)


def asks_for_first(query: str) -> bool:
    """Return whether a query that asks for what held before asks for what held first."""
    return _FIRST.search(query) is not None


def is_of_present(query: str) -> bool:
    """Return whether a question is in the present or future tense, whatever time it names."""
    verb = _TENSE.search(query)
    return verb is not None and verb["past"] is None


def asks_for_present(query: str, hints: QueryHints) -> bool:
    """Return whether a query may ask for what holds, unless its ambiguous words ask for another time."""
    return ambiguous_words(query, hints) is not None and _HAPPENED.search(query) is None


def ambiguous_words(query: str, hints: QueryHints) -> str | None:
    """Return the words that alone may ask for another time than the present; "" without any, None if others do.

    "The old parser" and "in the morning" ask for another time only of a statement that does not contain these words.
    """
    if hints.intervals or hints.start or hints.end or _PAST.search(query):
        return None
    return " ".join([*(match[1] for match in _OLD.finditer(query)), *recurring_words(query)])
