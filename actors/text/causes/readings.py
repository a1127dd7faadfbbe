"""Readings: causes and effects that a sentence states in ordinary wording, without "because" or "led to".

Verbs of change whose subject is no actor, phrases before and after the main clause ("with the bridge closed, …"),
degrees ("so loud that") and adverbs inside a clause ("and we therefore …"). Each counts only where its surroundings
exclude a time, a manner or a comparison.
"""

import re
from typing import Final

from actors.text.causes import openings
from actors.text.causes.degrees import read_degree
from actors.text.causes.happenings import read_happening
from actors.text.causes.patterns import CONDITION, FINITE, HYPOTHETICAL
from actors.text.causes.spans import Reading, Span, first_clause, last_clause, skip_leading
from actors.text.causes.subjects import is_no_actor
from actors.text.causes.verbs import PARTICIPLES, PHRASAL_PARTICIPLES, read_verb
from actors.text.causes.words import SUBJECT, any_of

_INNER_AS: Final = re.compile(rf",?\s+as\s+(?={SUBJECT}\s)", re.IGNORECASE)
_NO_REASON: Final = re.compile(
    rf"\b(?:{any_of('no_reason')}|(?:as|so|such|same|not) (?:\w+ ){{0,3}}\w+)$", re.IGNORECASE
)
_INNER_AFTER: Final = re.compile(r",?\s+(?P<name>after|when)\s+(?=\w)", re.IGNORECASE)
_PASSIVE: Final = re.compile(
    rf"\s(?:was|were|been|being|got)\s+(?:\w+ly\s+|also\s+|all\s+)?(?:(?:{PARTICIPLES})"
    r"(?:\s+(?:up|out|off|down|over|away|back|apart))?|"
    rf"{PHRASAL_PARTICIPLES}\s+(?:up|out|off|down|over|away|back|short|awake)|"
    r"(?:made|rendered) [\w-]+)\s+(?P<by>by)\s+"
    rf"(?!\d|(?:about|around|almost|nearly|over|half|{any_of('amounts')})\b)(?=\w)",
    re.IGNORECASE,
)
"""As in "was delayed by", "got cut off by", "was made late by"; not "by 5 %" or "by half"."""
_THEREFORE: Final = (
    re.compile(
        r"(?:[,;]\s*|\s)and\s+(?=(?:[\w'’-]+\s+){1,5}?"
        r"(?P<adverb>therefore|consequently|thus|hence|as a result|for that reason)\b(?!\s+\w+ing\b))",
        re.IGNORECASE,
    ),
    re.compile(r",\s*(?:and )?(?P<adverb>which in turn|that in turn)\s", re.IGNORECASE),
)
"""Between two clauses: "and we therefore", ", which in turn"."""
_REFERRING: Final = re.compile(
    r"(?:[\w'’-]+\s+){1,6}?(?P<adverb>therefore|consequently|thus|hence)\b(?! far\b)", re.IGNORECASE
)
"""As in "We therefore left": the cause is the sentence before."""
_IN_THE_END: Final = re.compile(r",?\s+(?P<adverb>as a (?:direct )?(?:result|consequence))\W*$", re.IGNORECASE)
_AND: Final = re.compile(r",?\s+and\s+", re.IGNORECASE)
_LACK: Final = re.compile(r"\s(?:for(?=\s+being\s)|(?:for|from)(?=\s+(?:lack|want|fear) of\s))\s+", re.IGNORECASE)
"""As in "for being unsafe", "from lack of sleep"."""
_THANKS: Final = re.compile(
    r"\b(?:thank\w*|sorry|apolog\w+|prais\w+|known|famous|reputation|credit|excuse|love|proud)\b", re.IGNORECASE
)
"""Before "for being": a reason of thanks or fame, and no cause."""


def read_unmarked(text: str, sentence: Span) -> Reading | None:
    """Read a sentence without a connective, by the first reading that applies."""
    start, end = sentence
    if CONDITION.match(text, start, end):
        return None
    begin = skip_leading(text, start, end)
    if openings.SUBORDINATE.match(text, begin, end):
        return openings.read_opening(text, begin, end)
    tried = (
        (_adverb, begin),
        (openings.read_opening, start),  # "after" would be skipped
        (openings.read_opening, begin),
        (read_degree, begin),
        (_trailing, begin),
        (read_verb, begin),
        (_passive, begin),
        (read_happening, begin),
    )
    return next(filter(None, (read(text, place, end) for read, place in tried)), None)


def _adverb(text: str, start: int, end: int) -> Reading | None:
    for pattern in _THEREFORE:
        if match := pattern.search(text, start, end):
            cause, effect = (start, match.start()), (match.end(), end)
            return Reading(match["adverb"].lower(), last_clause(text, cause), first_clause(text, effect))
    if match := _IN_THE_END.search(text, start, end):
        parts = [part for part in _AND.finditer(text, start, match.start()) if FINITE.search(text, start, part.start())]
        cause = last_clause(text, (start, parts[-1].start())) if parts else None
        return Reading(match["adverb"].lower(), cause, (parts[-1].end() if parts else start, match.start()))
    match = _REFERRING.match(text, start, end)
    return Reading(match["adverb"].lower(), None, (start, end)) if match else None


def _trailing(text: str, start: int, end: int) -> Reading | None:
    """Read a phrase after the main clause: as the kitchen was hot, after the frost, for being unsafe."""
    for match in _INNER_AS.finditer(text, start + 1, end):
        cause = text[match.start() : end].lstrip(" ,")
        if (
            not _NO_REASON.search(text[max(start, match.start() - openings.REACH) : match.start()])
            and openings.AS.match(cause)
            and openings.is_as_reason(cause[3:], "")
        ):
            return Reading("as", (match.end(), end), last_clause(text, (start, match.start())))
    for match in _INNER_AFTER.finditer(text, start + 1, end):
        main, name = last_clause(text, (start, match.start())), match["name"].lower()
        is_reason = openings.is_after_reason if name == "after" else openings.is_when_reason
        if is_reason(text[match.end() : end], text[slice(*main)]):
            return Reading(name, (match.end(), end), main)
    match = _LACK.search(text, start, end)
    if match is None or _THANKS.search(text, start, match.start()):
        return None
    return Reading(match.group().strip().lower(), (match.end(), end), last_clause(text, (start, match.start())))


def _passive(text: str, start: int, end: int) -> Reading | None:
    """Read a passive whose agent is a cause: was delayed by fog."""
    for match in _PASSIVE.finditer(text, start, end):
        cause = first_clause(text, (match.end(), end))
        if is_no_actor(text[slice(*cause)].rstrip(".! ")) and not HYPOTHETICAL.search(text[start : match.start()]):
            return Reading("by", cause, last_clause(text, (start, match.start("by"))))
    return None
