"""Corrections that name the former value beside the new one: "We switched from Jenkins to Buildkite".

Such a text says itself what took the place of what, so that it need not repeat more of the earlier statement. It
corrects this one if its predicate gives the former value and not the new one, and if nothing tells that somebody else,
something else, or only a part was changed.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from actors.text.statements.scopes import are_of_different_subjects
from actors.text.statements.statement import DECISION, Statement, Word, any_of
from actors.text.statements.values import UNITS

_VALUE: Final = r"(?:[^.,;:!?]|\.(?=\w)){1,60}?"
_MOVED: Final = "switched|migrated|moved|changed|upgraded|downgraded|shifted"
_DROPPED: Final = "swapped|traded|exchanged|dropped|ditched|abandoned|scrapped"
_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<verb>{_MOVED})(?P<what>[^.;:!?]{{0,40}}?)\sfrom (?P<was>{_VALUE}) (?:over )?to (?P<now>)",
        rf"\b(?P<verb>{_DROPPED}) (?P<was>{_VALUE}) (?:for|in favou?r of) (?P<now>)",
        rf"\b(?P<verb>replaced) (?P<was>{_VALUE}) (?:with|by) (?P<now>)",
    )
)
"""The past of verbs of exchange: what is planned, tried or done as a rule has another form."""
_WE: Final = re.compile(r"\b(?:we|I)(?:['’]ve| have| had)?(?: \w+ly| just| now| also| then| since)?\s*$", re.IGNORECASE)
"""Before the verb."""
_OTHERS: Final = re.compile(r"\b(?:he|she|it|they|you|who|which|that)\b", re.IGNORECASE)
_UNREAL: Final = any_of("unreal")
"""Beside the verb of what has not come about, or not for good."""
_CLAUSE: Final = re.compile(r"[.;:!?]\s|,\s")


class Exchange(NamedTuple):
    """Two values that a text names, the later one in place of the former."""

    was: list[Word]
    now: list[Word]
    told: Statement
    """The text from the subject on."""


def find_exchange(earlier: Statement, later: Statement) -> Exchange | None:
    """Return the value of an earlier statement that a later text names as replaced, with the new one; None without it.

    The places of both are those in the later text.
    """
    if earlier.tells_event and not DECISION.search(earlier.text):
        return None
    return next((one for one in _exchanges(earlier, later) if _replaces(earlier, later, one)), None)


def _exchanges(earlier: Statement, later: Statement) -> Iterator[Exchange]:
    """Yield what a text says has been replaced by those who speak, or by the subject of the earlier statement."""
    runs, known, text = _runs(later), {*earlier.keys}, later.text
    for match in (found for pattern in _PATTERNS for found in pattern.finditer(text)):
        verb = match.start("verb")
        start = max((cut.end() for cut in _CLAUSE.finditer(text, 0, verb)), default=0)
        end = next((cut.start() for cut in _CLAUSE.finditer(text, match.end())), len(text))
        before = text[start:verb]
        others = {word.key for word in later.words if start <= word.span[0] < verb} - known
        we = _WE.search(before)
        is_ours = we is not None or not (others or _OTHERS.search(before))
        what = match.span("what") if "what" in match.groupdict() else (0, 0)
        is_part = any(what[0] <= word.span[0] < what[1] and word.key not in known for word in later.words)
        was, now = (_first(runs, match.start(name)) for name in ("was", "now"))
        if is_ours and not is_part and was and now and not _UNREAL.search(text, start, end):
            yield Exchange(was, now, Statement(text[start + we.start() if we else start :]))


def _replaces(earlier: Statement, later: Statement, one: Exchange) -> bool:
    """Return whether an exchange changes what an earlier statement says, and both values are of a kind."""
    was, now = ({word.key for word in run} for run in (one.was, one.now))
    if now <= {*earlier.keys} or now <= UNITS or not _gives(earlier, one.was):
        return False
    is_named = _is_named(later, one.was)
    if is_named != _is_named(later, one.now) or (one.now[0].kind == "time") != (one.was[0].kind == "time"):
        return False
    if not (is_named or len(was) > 1 or {*earlier.keys} & {*later.keys} - was):
        return False
    return not are_of_different_subjects(
        earlier, one.told, lambda phrase: phrase.at_once or not (was | now).isdisjoint(phrase.stems)
    )


def _is_named(statement: Statement, run: list[Word]) -> bool:
    """Return whether words hold a name, which may have digits behind letters: "S3"."""
    surfaces = (statement.text[slice(*word.span)] for word in run if word.kind == "number")
    return any(word.kind == "name" for word in run) or any(one[0].isalpha() and not one.isalpha() for one in surfaces)


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
