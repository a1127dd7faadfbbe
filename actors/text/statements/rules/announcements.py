"""Corrections that announce a change: "The retry policy has changed: …", "instead of 9:30", "`make run` is gone".

They name the subject that changed, or the former value alone. They are compared with the label and the first words of
the earlier text as well, since many a note has no verb ("Retry policy: 3 attempts").
"""

import re
from typing import Final

from actors.text.statements.phrases import subject
from actors.text.statements.rules.exchanges import VALUE
from actors.text.statements.scopes import VERSIONS
from actors.text.statements.statement import VERB, Statement, Word, any_of
from actors.text.statements.values import have_one_kind, other_values
from events.vocabulary.values import Span

_CLAUSE: Final = re.compile(r"[.;:!?]\s|,\s")
_GENERIC: Final = re.compile(rf"\W*+{any_of('generic').pattern}\s?:\s+", re.IGNORECASE)
"""A label that is not what the text is about."""
_LABEL: Final = re.compile(r"\s*+[^:.!?\n]{1,80}+:(?=\s)")
_VALUE_END: Final = rf"(?=[.,;:!?](?:\s|$)|\s{any_of('beside').pattern}|\s?[—–]|$)"
_INSTEAD: Final = any_of("instead", after=rf"\s(?P<was>{VALUE}){_VALUE_END}")
_ENDED: Final = (
    _INSTEAD,
    any_of("unused", after=rf"\s(?P<was>{VALUE}){_VALUE_END}"),
    any_of(
        "gone", before=rf"(?:^|[.;!]\s)(?!{any_of('condition').pattern}|once\b)(?:the |our |my )?(?P<was>{VALUE})\s"
    ),
)
"""What no longer holds: beside a new value, or by itself."""
_HAS_CHANGED: Final = re.compile(
    r"\W*(?P<what>[^.,;:!?]{2,60}?) (?:has|have)(?: \w+ly)? (?P<how>changed|moved)\s?[:;,.–—-]\s+"
    r"(?:(?:it|they)(?: is| are|['’]s|['’]re)(?: now)? )?",
    re.IGNORECASE,
)
_PLACED: Final = re.compile(rf"{any_of('placed').pattern}|[/#]\w", re.IGNORECASE)
_GIVES: Final = re.compile(rf"(?:{any_of('gives').pattern}|[:;,(–—-])(?: now)?(?: (?:the|an?|our))?\W*$", re.IGNORECASE)


def find_change(earlier: Statement, later: Statement) -> tuple[Span | None, Span | None] | None:
    """Return the places of the former value and of the new one where a text says that something has changed.

    Either is None where nothing names it. None is returned if the later text announces no change of what the earlier
    text is about.
    """
    if later.is_asked or (later.is_negated and not later.ends):
        return None
    if (found := _HAS_CHANGED.match(later.text, later.starts_at)) and _is_about(earlier, later, found):
        now = next((word.span for word in later.words if word.span[0] >= found.end()), None)
        was = next((span for one in _ended(later) if (span := _place(earlier, one[1]))), None)
        return (was, now) if now else None
    for match, words in _ended(later):
        if (was := _place(earlier, words)) and _rest_is_known(earlier, later, match):
            return was, None
    return None


def names_another(earlier: Statement, later: Statement) -> bool:
    """Return whether all that a text names as no longer used is unknown to an earlier one.

    A number or a time may be written in another way ("half past nine", "9:30"), and "the old one" names nothing.
    """
    named = [
        {word.key for word in words}
        for _, words in _ended(later)
        if any(word.kind in {"words", "name"} for word in words) and VERSIONS.isdisjoint(word.key for word in words)
    ]
    return bool(named) and all(keys.isdisjoint(earlier.keys) for keys in named)


def _ended(later: Statement) -> list[tuple[re.Match[str], list[Word]]]:
    """Return what a text says no longer holds, with its content words."""
    found: list[tuple[re.Match[str], list[Word]]] = []
    for match in (one for pattern in _ENDED for one in pattern.finditer(later.text)):
        start, end = match.span("was")
        if words := [word for word in later.words if start <= word.span[0] < end]:
            found.append((match, words))
    return found


def _about(earlier: Statement) -> tuple[int, list[str]]:
    """Return where what a text says begins, and the keys of what it is about: a label before it, or its subject."""
    generic = _GENERIC.match(earlier.text)
    start = generic.end() if generic else 0
    if label := _LABEL.match(earlier.text, start):
        return label.end(), [word.key for word in earlier.words if start <= word.span[0] < label.end()]
    one = subject(Statement(earlier.text[start:]))
    return start, one.stems if one else []


def _is_about(earlier: Statement, later: Statement, found: re.Match[str]) -> bool:
    """Return whether what has changed is what an earlier text is about.

    What is said of more than the earlier text ("the retry policy") changes one of a part ("retry policy for webhooks")
    only if it names a former value.
    """
    start, end = found.span("what")
    what = {word.key for word in later.words if start <= word.span[0] < end}
    at, about = _about(earlier)
    if not what or not what <= {*about}:
        return False
    named = any(_place(earlier, words) for _, words in _ended(later))
    if found["how"].casefold() == "moved" and not (named or _PLACED.search(earlier.text, at)):
        return False
    return named or what == {*about} or have_one_kind(other_values(earlier, later), other_values(later, earlier))


def _place(earlier: Statement, words: list[Word]) -> Span | None:
    """Return where an earlier text gives a value, some words in one run; None if it does not."""
    keys = [word.key for word in words]
    for at, word in enumerate(earlier.words):
        is_it = earlier.keys[at : at + len(keys)] == keys
        if is_it and _GIVES.search(earlier.text, max(0, word.span[0] - 24), word.span[0]):
            return word.span[0], earlier.words[at + len(keys) - 1].span[1]
    return None


def _rest_is_known(earlier: Statement, later: Statement, match: re.Match[str]) -> bool:
    """Return whether an earlier text has what the clause is about that ends a value; what a new one replaces has to."""
    start = match.start("was")
    begins = max((cut.end() for cut in _CLAUSE.finditer(later.text, 0, start)), default=0)
    is_replaced = match.re is _INSTEAD
    verb = VERB.search(later.text, begins, start)
    end = verb.start() if verb and is_replaced else match.start()
    about = [word.key for word in later.words if begins <= word.span[0] < end and not later.is_change(word)]
    return {*about} <= {*earlier.keys} and (bool(about) or not is_replaced)
