"""Whether a later statement holds only for a part of what an earlier one says, so that it does not correct it.

A part is what a restriction leaves that the earlier statement lacks: a condition or an exception ("if it rains"), an
occasion ("this week"), a phrase before the statement ("for the film crew"), after it or in its subject ("loans of
films"), or a narrower subject ("audit logs"). What holds for a part takes nothing from what holds in general.
"""

import re
from collections.abc import Iterator
from typing import Final

from actors.text.statements.phrases import RECURRING, phrases, subject
from actors.text.statements.scopes import NO_HEADS, VERSIONS, has_modifier
from actors.text.statements.statement import Statement, Word, any_of
from actors.text.statements.values import AMOUNTS, DATED, TIMES, have_one_kind, other_values, read_values
from actors.text.text_equivalence import ENGLISH
from events.vocabulary.values import Span
from projections.spaces.lexical import stem_words

_CONDITION, _OCCASION, _TRANSITION = any_of("condition"), any_of("occasion"), any_of("transition")
"""When a statement holds, and what happens at such a time for good."""
_ONSET: Final = any_of("onset", after=r"\s+(?:the\s+)?$")
_ONWARDS: Final = re.compile(r"\s+on(?:wards?)?\b")
_UNTIL: Final = re.compile(
    r"\b(?:until|till|through)\s+(?:the\s+)?(?:(?:end|middle) of\s+)?(?:the\s+)?$", re.IGNORECASE
)
_NOT_UNTIL: Final = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"[.!?;]\s+")
_CLAUSE: Final = re.compile(r"[,;:.!?–—]\s|\sbut\s")
_LIMITS: Final = frozenset("for in on at during under near".split()) | {RECURRING}
_POSTMODIFIER: Final = re.compile(
    r"\b(?:of|for|in|on|at|about|with|without|from|to|under|over|above|below|between|by)\b",
    re.IGNORECASE,
)
_RELATIVE: Final = re.compile(r"\s+(?:that|which|who|whose)\b", re.IGNORECASE)
_TRAILING: Final = re.compile(r"\b(?:for|in|on|at|under|within|inside|during)\s+", re.IGNORECASE)
_PLURAL: Final = re.compile(r"[^s\W]s\Z")
_DETERMINERS: Final = frozenset("the my our your his her their its this these that those all".split())
_LIMITING: Final = re.compile(
    r"\b(?:in|on|at|under|within|inside|during|for(?=\s+(?:(?:the|my|our|his|her|their)\s|(?:[\w-]+\s)?[\w-]+s\b)))\s+",
    re.IGNORECASE,
)
"""After an amount, "for" and a bare singular say what it is paid for ("for heating"), a plural whom it is for."""
_WHEN: Final = re.compile(r"wh", re.IGNORECASE)
"""Begins a clause that may tell an event: "when Ada joined"."""
_PASSIVE: Final = re.compile(r"\b(is|are|be) (?:no longer |(?:now|not|only|also|\w+ly) )++", re.IGNORECASE)
"""A form of "be" and the adverbs between it and a participle."""
_FILLERS: Final = frozenset(stem_words(ENGLISH["corrections"]["filler"].split()))
_DENIAL: Final = re.compile(r"\b(?:no longer|no more)\b|n['’]t\b", re.IGNORECASE)
"""Directly before a phrase it denies the phrase, and is not restricted by it: "is no longer in use"."""


def narrows(earlier: Statement, later: Statement, now: Span | None) -> bool:
    """Return whether a later statement holds only for a part of what an earlier one says.

    Args:
        earlier: What may hold in general.
        later: A statement that seems to correct it.
        now: The place of its new value; None where there is none. Only the sentence around it is read.
    """
    if later.admits_error:
        return False
    told = _sentence(later, now)
    return (
        _has_other_condition(earlier, told)
        or _is_of_occasion(earlier, told)
        or _begins_with_limit(earlier, told)
        or _has_narrower_subject(earlier, told)
        or _ends_with_limit(earlier, told)
    )


def _sentence(statement: Statement, at: Span | None) -> Statement:
    """Return the sentence of a statement that holds a place; all of it for no place."""
    if at is None:
        return statement
    cuts = [match.end() for match in _SENTENCE.finditer(statement.text)]
    start = max((cut for cut in cuts if cut <= at[0]), default=0)
    return Statement(statement.text[start : min((cut for cut in cuts if cut > at[0]), default=None)])


def _news(earlier: Statement, words: list[Word]) -> list[Word]:
    """Return the words, other than numbers and times, that an earlier statement lacks."""
    return [word for word in words if word.kind in {"words", "name"} and word.key not in earlier.keys]


def _has_other_condition(earlier: Statement, later: Statement) -> bool:
    """Return whether a condition or an exception has a word that an earlier statement lacks.

    It may be followed by what holds under it, so that one that begins alike is the same: "If it rains call Ada".
    """
    known = [words[0].key for _, words in _conditions(earlier) if words]
    return any(
        words[0].key not in known
        and any(word.key not in earlier.keys for word in words)
        and not (_WHEN.match(clause) and _tells_past(clause))
        for clause, words in _conditions(later)
        if words
    )


def _conditions(statement: Statement) -> Iterator[tuple[str, list[Word]]]:
    """Yield what follows each word that begins a condition, up to the next sign."""
    text = statement.text
    for found in _CONDITION.finditer(text):
        start = found.end()
        end = next((cut.start() for cut in _CLAUSE.finditer(text, start)), len(text))
        yield text[found.start() : end], [word for word in statement.words if start <= word.span[0] < end]


def _tells_past(text: str) -> bool:
    """Return whether a text tells what happened once; "are now kept" does not."""
    return Statement(_PASSIVE.sub(r"\1 ", text)).tells_event


def _is_of_occasion(earlier: Statement, later: Statement) -> bool:
    """Return whether a later statement holds for one time, and an earlier one names no such time."""
    dated = [value for value in read_values(earlier) if value.kind in DATED]
    if dated and have_one_kind(dated, other_values(later, earlier)) and not _OCCASION.search(later.text):
        return False
    if _OCCASION.search(earlier.text) or _tells_past(later.text):
        return False
    text = later.text
    if any(
        not (_ONSET.search(text, max(0, found.start() - 24), found.start()) or _ONWARDS.match(text, found.end()))
        for found in _OCCASION.finditer(text)
    ):
        return True
    return not dated and any(
        (found := _UNTIL.search(text, max(0, value.span[0] - 30), value.span[0]))
        and not _NOT_UNTIL.search(text, 0, found.start())
        for value in read_values(later)
        if value.kind in DATED
    )


def _begins_with_limit(earlier: Statement, later: Statement) -> bool:
    """Return whether a phrase before the statement restricts it: "For the film crew tickets cost five euros"."""
    first = next(iter(phrases(later)), None)
    if first is None or _tells_past(later.text) or first.preposition not in _LIMITS:
        return False
    if later.text[later.starts_at : first.start].strip().count(" ") > 1 or not VERSIONS.isdisjoint(first.stems):
        return False
    words = [word for word in later.words if word.span[0] >= first.start][: len(first.stems)]
    times = [one for one in read_values(later) if one.kind in TIMES - {"clock"} and one.span[0] <= first.start]
    if times and times[0].key not in earlier.keys:
        is_value = have_one_kind(other_values(earlier, later), times)
        return not (is_value or _TRANSITION.search(later.text))
    return bool(_news(earlier, words)) and first.stems[-1] not in _FILLERS and first.stems[0] not in _FILLERS


def _has_narrower_subject(earlier: Statement, later: Statement) -> bool:
    """Return whether the subject has a modifier of its own before or after its head: "audit logs", "loans of films"."""
    one, other, verb = subject(earlier), subject(later), later.verb_at
    if one is None or other is None or verb is None:
        return False
    words = [word for word in later.words if other.start <= word.span[0] < verb]
    noun, words = words[: len(other.stems)], words[len(other.stems) :]
    if one.stems[-1] != other.stems[-1] or not noun or ":" in later.text[other.start : verb]:
        return False
    is_plural = _PLURAL.search(later.text, *noun[-1].span) is not None
    if is_plural and other.follows not in _DETERMINERS and has_modifier(one, other, {*earlier.keys}):
        return True  # "the choir rehearsal" may be "the rehearsal"
    if clause := _RELATIVE.match(later.text, noun[-1].span[1]):
        return bool(_news(earlier, [word for word in later.words if word.span[0] >= clause.end()][:2]))
    after = [word for word in _news(earlier, words) if not later.is_change(word) and word.key not in NO_HEADS]
    return bool(after) and _POSTMODIFIER.search(later.text, other.start, after[0].span[0]) is not None


def _ends_with_limit(earlier: Statement, later: Statement) -> bool:
    """Return whether a phrase at the end restricts what is denied or how much: "no longer runs for the tests"."""
    denial = _DENIAL.search(later.text)
    amounts = [value for value in other_values(later, earlier) if value.kind in AMOUNTS]
    if denial:
        start, limits, must_follow = denial.end(), _TRAILING, True
    elif have_one_kind(read_values(earlier), amounts):
        start, limits, must_follow = amounts[-1].span[1], _LIMITING, False
    else:
        return False
    end = next((cut.start() for cut in _CLAUSE.finditer(later.text, start)), len(later.text))
    for found in limits.finditer(later.text, start, end):
        before = [word for word in later.words if start <= word.span[0] < found.start()]
        words = [word for word in later.words if found.end() <= word.span[0] < end][:2]
        news = _news(earlier, words)
        if news and news[0].key not in _FILLERS and (before or not must_follow):
            return True
    return False
