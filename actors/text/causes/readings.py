"""Readings: causes and effects that a sentence states in ordinary wording, without "because" or "led to".

They are verbs of change whose subject is no actor, phrases before and after the main clause ("with the bridge closed,
…"), degrees ("so loud that"), and adverbs inside a clause ("and we therefore …"). Each counts only where its
surroundings exclude a time, a manner or a comparison.
"""

import re
from itertools import islice
from typing import Final

from actors.text.causes import openings
from actors.text.causes.degrees import read_degree, read_first_degree
from actors.text.causes.happenings import read_happening
from actors.text.causes.patterns import CONDITION, FINITE, HYPOTHETICAL
from actors.text.causes.spans import Reading, Span, first_clause, last_clause, main_comma, skip_leading
from actors.text.causes.subjects import head_noun, is_activity, is_no_actor, names_happening
from actors.text.causes.verbs import PARTICIPLES, PHRASAL_PARTICIPLES, read_verb
from actors.text.causes.words import SUBJECT, any_of

MAX_PLACES: Final = 6
"""Places of a kind in a sentence that are tried."""

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
_HAD_TO: Final = re.compile(
    r"(?:;\s+|,?\s+and\s+)(?=(?:[\w'’-]+\s+){0,4}?"
    r"(?P<adverb>had to|(?:was|were) (?:forced|obliged|unable) to|could no longer|could not|couldn['’]t)\b)",
    re.IGNORECASE,
)
"""What became necessary or impossible, after what made it so."""
_CONTRARY: Final = re.compile(
    r"(?:and\s+|but\s+)?(?:if\s+(?=.{0,80}\shad(?:n['’]t|\s+not|\s+never)\s)|"
    r"(?=had\s+(?:[\w'’-]+\s+){1,4}?(?:not|never)\s))",
    re.IGNORECASE,
)
"""Begins a condition contrary to fact: "if it had not", "had he never"."""
_WOULD_HAVE: Final = re.compile(r"\b(?:would|could|might)(?:n['’]t|\s+not|\s+never)?\s+have\b", re.IGNORECASE)
_LACK: Final = re.compile(r"\s(?:for|from)\s+(?=(?:being|lack of|want of|fear of)\s)", re.IGNORECASE)
"""As in "for being unsafe", "from lack of sleep"."""
_FEELING: Final = re.compile(
    r",?\s+to (?:the|my|our|his|her|their|[\w’']+['’]s) (?:great |utter |obvious )?(?=(?:annoyance|delight|dismay|"
    r"displeasure|surprise|relief|horror|joy|disappointment|regret|amusement|embarrassment|astonishment)\b)",
    re.IGNORECASE,
)
"""As in ", to her great annoyance": what is told before it made the feeling."""
_REACTION: Final = re.compile(
    r"\b(?:(?:complain(?:ed|s)?|protest(?:ed|s)?)(?=\s+about\b)|"
    r"(?:quarrell?ed|angry|furious|annoyed|upset|cross|irritated|mad)(?=\s+(?:about|over|at)\b)|"
    r"(?:fined|sued|fired|sacked|arrested|expelled|suspended|banned|disqualified|scolded|criticised|criticized|blamed|"
    r"jailed)(?=\s+for\b)|"
    rf"(?:{any_of('weary')}|died|fainted|collapsed|swelled(?: up)?|ached|hurt|shook|trembled)(?=\s+from\b))"
    r"\s+(?P<name>\w+)\s+(?=\w)",
    re.IGNORECASE,
)
"""What a reaction is about made it; so did a happening for which somebody is punished or from which one is weary."""
_THANKS: Final = re.compile(
    r"\b(?:thank\w*|sorry|apolog\w+|prais\w+|known|famous|reputation|credit|excuse|love|proud)\b", re.IGNORECASE
)
"""Before "for being": a reason of thanks or fame, and no cause."""


def read_unmarked(text: str, sentence: Span) -> Reading | None:
    """Read a sentence without a connective, by the first reading that applies."""
    start, end = sentence
    if contrary := _contrary(text, start, end):
        return contrary
    if CONDITION.match(text, start, end):
        return None
    begin = skip_leading(text, start, end)
    if openings.SUBORDINATE.match(text, begin, end):
        return openings.read_opening(text, begin, end)
    tried = (
        (_adverb, begin),
        (openings.read_opening, start),  # "after" would be skipped
        (openings.read_opening, begin),
        (read_first_degree, start),  # "so" would be skipped
        (read_degree, begin),
        (_trailing, begin),
        (_had_to, begin),
        (read_verb, begin),
        (_passive, begin),
        (read_happening, begin),
    )
    return next(filter(None, (read(text, place, end) for read, place in tried)), None)


def _contrary(text: str, start: int, end: int) -> Reading | None:
    """Read a condition contrary to fact: "if it had not rained, we would …" says that it rained."""
    match = _CONTRARY.match(text, start, end)
    comma = main_comma(text, match.end(), end) if match else None
    if match is None or comma is None or not _WOULD_HAVE.search(text, comma, end):
        return None
    return Reading("if … not", (match.end(), comma), first_clause(text, (comma + 1, end)))


def _adverb(text: str, start: int, end: int) -> Reading | None:
    """Read an adverb inside a clause: and … therefore, which in turn."""
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


def _had_to(text: str, start: int, end: int) -> Reading | None:
    """Read what became necessary or impossible, after something that nobody did."""
    for match in islice(_HAD_TO.finditer(text, start, end), MAX_PLACES):
        cause = last_clause(text, (start, match.start()))
        told = text[slice(*cause)].strip()
        if openings.has_failed(told):
            return Reading(match["adverb"].lower(), cause, first_clause(text, (match.end(), end)))
    return None


def _trailing(text: str, start: int, end: int) -> Reading | None:
    """Read a phrase after the main clause: as the kitchen was hot, after the frost, for being unsafe."""
    for match in _INNER_AS.finditer(text, start + 1, end):
        cause = text[match.start() : end].lstrip(" ,")
        if (
            not _NO_REASON.search(text[max(start, match.start() - openings.REACH) : match.start()])
            and openings.may_be_reason(cause)
            and openings.is_as_reason(cause[3:], "")
        ):
            return Reading("as", (match.end(), end), last_clause(text, (start, match.start())))
    for match in _INNER_AFTER.finditer(text, start + 1, end):
        main, name = last_clause(text, (start, match.start())), match["name"].lower()
        is_reason = openings.is_after_reason if name == "after" else openings.is_when_reason
        if is_reason(text[match.end() : end], text[slice(*main)]):
            return Reading(name, (match.end(), end), main)
    if match := _FEELING.search(text, start + 1, end):
        cause = last_clause(text, (start, match.start()))
        return Reading("to the … of", cause, first_clause(text, (match.end(), end)))
    for match in islice(_REACTION.finditer(text, start, end), MAX_PLACES):
        cause, name = first_clause(text, (match.end(), end)), match["name"].lower()
        told = text[slice(*cause)].rstrip(".! ")
        if name == "about" or match.group().lower().startswith("died"):
            is_cause = is_no_actor(told)
        else:
            is_cause = is_activity(told) or names_happening(head_noun(told))
        if is_cause and not HYPOTHETICAL.search(text[start : match.start()].rstrip()):
            return Reading(name, cause, last_clause(text, (start, match.start("name"))))
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
