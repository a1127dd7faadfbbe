"""Corrections that name the former value beside the new one: "from Jenkins to Buildkite", "tea instead of ale".

Such a text says itself what took the place of what, so that it need not repeat more of the earlier statement. It
corrects this one if its predicate gives the former value and not the new one.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from actors.text.statements.phrases import subject
from actors.text.statements.scopes import are_of_different_subjects
from actors.text.statements.statement import Statement, Word, any_of

_PHRASE: Final = r"[^.,;:!?]{1,60}?"
_EXCHANGE: Final = any_of("exchange").pattern
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<verb>{_EXCHANGE})[^.;:!?]{{0,40}}?\sfrom (?P<was>{_PHRASE}) (?:over )?to (?P<now>)",
        rf"(?P<verb>{_EXCHANGE})[^.;:!?]{{0,20}}?\sto (?P<now>{_PHRASE}) from (?P<was>)",
        rf"(?P<verb>{any_of('replacement').pattern}) (?P<was>{_PHRASE}) (?:with|by|for|in favou?r of) (?P<now>)",
        rf"\b(?P<verb>not) (?!(?:only|just|merely)\b)(?P<was>{_PHRASE}),? but (?P<now>)",
    )
)
_PREFERENCE: Final = any_of("preference", before=",? ", after=" ")
"""Between the new value and the former one."""
_UNREAL: Final = re.compile(rf"{any_of('unreal').pattern}|n['’]t\b|['’](?:ll|d)\b", re.IGNORECASE)
"""Before the verb of what has not come about."""
_DECISION: Final = any_of("decision")
"""Tells an event from which on a value holds: "We picked Jenkins for the builds"."""
_CLAUSE_START: Final = re.compile(r"[.;:!?]\s|,\s(?:but|and|so)\s")
_THIRD: Final = re.compile(r"\b(?:he|she|it|they)\b", re.IGNORECASE)


class Exchange(NamedTuple):
    """Two values that a text names, the later one in place of the former."""

    was: list[Word]
    now: list[Word]


def find_exchange(earlier: Statement, later: Statement) -> Exchange | None:
    """Return the value of an earlier statement that a later text names as replaced, with the new one; None without it.

    The places of both are those in the later text.
    """
    if earlier.tells_event and not _DECISION.search(earlier.text):
        return None
    return next(
        (
            one
            for one in _exchanges(later)
            if _gives(earlier, one.was)
            and not {word.key for word in one.now} <= {*earlier.keys}
            and _is_about(earlier, later, one)
        ),
        None,
    )


def _exchanges(later: Statement) -> Iterator[Exchange]:
    """Yield what a text says has been replaced."""
    runs = _runs(later)
    for pattern in _PATTERNS:
        for match in pattern.finditer(later.text):
            verb = match.start("verb")
            start = max((found.end() for found in _CLAUSE_START.finditer(later.text, 0, verb)), default=0)
            if not _UNREAL.search(later.text, start, verb):
                was, now = (_first(runs, match.start(name)) for name in ("was", "now"))
                if was and now:
                    yield Exchange(was, now)
    for match in _PREFERENCE.finditer(later.text):
        before = [kept for run in runs if (kept := [word for word in run if word.span[1] <= match.start()])]
        was = _first(runs, match.end())
        if was and before:
            yield Exchange(was, before[-1])


def _runs(statement: Statement) -> list[list[Word]]:
    """Return the content words of a statement, those in one list that stand side by side."""
    found: list[list[Word]] = [[word] for word in statement.words[:1]]
    for one, other in pairwise(statement.words):
        if statement.text[one.span[1] : other.span[0]] in {" ", "-"}:
            found[-1].append(other)
        else:
            found.append([other])
    return found


def _first(runs: list[list[Word]], start: int) -> list[Word]:
    """Return the first words from a place on that stand side by side; none at the end."""
    return next((left for run in runs if (left := [word for word in run if word.span[0] >= start])), [])


def _gives(earlier: Statement, was: list[Word]) -> bool:
    """Return whether an earlier statement gives a value after its verb, or else after its first words."""
    keys = [word.key for word in was]
    begins = _runs(earlier)[0][-1].span[0] if earlier.verb_at is None else earlier.verb_at
    return any(
        earlier.keys[at : at + len(keys)] == keys and word.span[0] > begins for at, word in enumerate(earlier.words)
    )


def _is_about(earlier: Statement, later: Statement, one: Exchange) -> bool:
    """Return whether both statements share more than the former value, or whether that tells what both are about.

    A name does ("We switched from Jenkins to Buildkite"), unless the later text tells it of somebody.
    """
    values = {word.key for word in (*one.was, *one.now)}
    if are_of_different_subjects(earlier, later, lambda phrase: phrase.at_once or not values.isdisjoint(phrase.stems)):
        return False
    was = {word.key for word in one.was}
    if {*earlier.keys} & {*later.keys} - was:
        return True
    is_named = len(was) > 1 or one.was[0].kind == "name"
    return is_named and subject(later) is None and not _THIRD.search(later.text)
