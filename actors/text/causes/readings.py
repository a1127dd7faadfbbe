"""Readings: causes and effects that a sentence states in ordinary wording, without "because" or "led to".

They are verbs of change whose subject is no actor, phrases before and after the main clause ("with the bridge closed,
…"), degrees ("so loud that"), and adverbs inside a clause ("and we therefore …"). Each counts only where its
surroundings exclude a time, a manner or a comparison.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from actors.text.causes.degrees import read_degree, read_first_degree
from actors.text.causes.happenings import read_happening
from actors.text.causes.patterns import FINITE, HAPPENED, HYPOTHETICAL, WORD
from actors.text.causes.spans import Reading, Span, first_clause, last_clause, main_comma, skip_leading
from actors.text.causes.subjects import is_no_actor
from actors.text.causes.verbs import PARTICIPLES, is_by_no_actor, stated_effects
from actors.text.causes.words import DETERMINER, NAME, SUBJECT, any_of

MAX_OPENING: Final = 120
"""Characters of a phrase before the main clause that no comma ends."""
MAX_CUTS: Final = 6
"""Places where a noun phrase begins in it that are tried as its end."""
REACH: Final = 48
"""Characters before a place in which the words that precede it are sought."""


_CLAUSE_START: Final = re.compile(
    r"(?<=[\w)])\s+(?=(?:I|we|he|she|they|it|the|an?|my|our|his|her|their|its|this|these|those|nobody|everyone|no|[A-Z][\w'’-]*)"
    r"\s)"
)
"""Where a main clause may begin without a comma."""
_UNFINISHED: Final = re.compile(
    rf"\b(?:{any_of('prepositions')}|{DETERMINER}|is|are|was|were|\w+ing|have|has|had|said|told|like|own|mr|mrs|dr|st|not)$",
    re.IGNORECASE,
)
"""Before it: the phrase goes on."""

_PREDICATE: Final = any_of("predicate")
_WITH: Final = re.compile(r"with\s+(?!(?:\w+ ){0,2}(?:eyes|arms|hands|legs|head|mouth|face)\b)", re.IGNORECASE)
_WITH_STATE: Final = re.compile(
    rf"(?:.*\s)?{_PREDICATE}$|(?:no|hardly any|(?:too|so) (?:little|few|many|much)|only (?:one|two|three|a))\s|"
    rf"(?:{DETERMINER}|{NAME})\s+(?:[\w'’-]+\s+){{1,4}}?{_PREDICATE}\b(?!\s+[a-z]+$)",
    re.IGNORECASE,
)
_BROKEN: Final = re.compile(rf"(?:{DETERMINER})\s+(?:\w+ )?{any_of('broken')}\s+\w+", re.IGNORECASE)
_WITHOUT: Final = re.compile(
    r"without\s+(?!(?:a|any|further|another)\s+(?:word|doubt|hesitation|delay|question|warning|ado)\b)", re.IGNORECASE
)
_FAILS: Final = re.compile(
    r"\b(?:not|no|never|hardly|nobody|nothing|none|unable|could|cannot|\w+n['’]t|no longer|had to|too|far|only|failed|"
    r"stopped)\b",
    re.IGNORECASE,
)

_NOMINAL: Final = re.compile(
    r"(?P<name>because of|due to|owing to|thanks to|as a (?:result|consequence) of)\s+(?=\w)", re.IGNORECASE
)
_AS: Final = re.compile(
    r"as\s+(?!\d|(?:soon|far|long|well|if|though|for|of|to|usual|always|ever|before|planned|expected|agreed|a|an|in|at|"
    r"we all|you|i said|it were|it is known|mentioned|such|many|much|more (?:than|of|or)|per|with|is|was|are|were|has)"
    r"\b)",
    re.IGNORECASE,
)
_INNER_AS: Final = re.compile(rf",?\s+as\s+(?={SUBJECT}\s)", re.IGNORECASE)
_NO_REASON: Final = re.compile(
    rf"\b(?:{any_of('no_reason')}|(?:as|so|such|same|not) (?:\w+ ){{0,3}}\w+)$", re.IGNORECASE
)
_STATE: Final = re.compile(
    rf"{SUBJECT}(?:\s+(?!(?:of|in|on|which|that|who|you)\b)[\w'’-]+){{0,4}}?(?:"
    r"(?:\s+(?:am|is|are|was|were)|'s|'re|'m)\s+(?!(?:\w+ing|in|at|on|to|about|by|before|then|when|of|presented|shown|known|"
    r"described|mentioned|usual|often|always|never)\b)\w|"
    r"\s+(?:had|has|have)\s+been\s|\s+had\s+(?!(?:anticipated|expected|planned|hoped|promised|feared|said|predicted|to)\b)\w|"
    r"\s+(?:has|have)\s+(?:an?|no|the|not|never|only|such|too|so|gone|lost|run out)\s|"
    r"\s+(?:not|never|no longer|cannot|could|needed|wanted|lacked|feared|liked|hated)\s|\w*n['’]t\s)|"
    r"(?:nobody|no one|nothing|none)\s+\w+|no\s+\w+\s+\w+",
    re.IGNORECASE,
)
"""A clause that tells a state: after "as" it is a reason, an event a time."""

_AFTER: Final = re.compile(r"(?:after|following|once(?!\s+upon\b))\s+", re.IGNORECASE)
_INNER_AFTER: Final = re.compile(r",?\s+(?P<name>after|when)\s+(?=\w)", re.IGNORECASE)
_TIME: Final = re.compile(rf"(?:{DETERMINER}\s+|\w+\s+)?{any_of('times')}(?!\w)", re.IGNORECASE)
_PLACE: Final = re.compile(
    rf"(?:{DETERMINER}\s+)?(?:(?!new\b|\w+ed\b)\w+\s+){{0,2}}?{any_of('places')}(?:\s+(?:in|at|on|of|near|by)\s|$)",
    re.IGNORECASE,
)
_BECAME: Final = re.compile(rf"(?<![\w'’-]){any_of('became')}(?![\w'’-])", re.IGNORECASE)

_AFFECTED: Final = re.compile(
    rf"(?:still |\w+ly )?(?!(?:left|lost|stuck|low|frozen|struck)\s+(?:in|on|to)\b){any_of('affected')}\s+"
    r"(?:by|with|from|of|in|on|at|without|to|for|after)\s+(?!\d|(?-i:[A-Z])\w+\s+\d)",
    re.IGNORECASE,
)
_STUCK: Final = re.compile(r"(?:still )?stuck\s+in\s+", re.IGNORECASE)
_HAVING: Final = re.compile(
    r"being\s+(?!(?:an?|said|able)\b)(?=\w)|(?:not )?having\s+"
    r"(?:lost|missed|forgotten|run out|failed|no|not|slept|broken|been|"
    r"had|hurt|injured|overslept)\b|unable to\b",
    re.IGNORECASE,
)
_ABSOLUTE: Final = re.compile(
    r"(?:the|my|our|his|her|their|its)\s+(?:[\w'’-]+\s+){1,3}?(?P<name>being)\s+\w", re.IGNORECASE
)

_NO_CLAUSE: Final = re.compile(rf"{any_of('prepositions')}\b", re.IGNORECASE)

_PASSIVE: Final = re.compile(
    rf"\s(?:was|were|been|being|got)\s+(?:\w+ly\s+|also\s+|all\s+)?(?:{PARTICIPLES})"
    r"(?:\s+(?:up|out|off|down|over|away|back|apart))?\s+(?P<by>by)\s+"
    rf"(?!\d|(?:about|around|almost|nearly|over|half|{any_of('amounts')})\b)(?=\w)",
    re.IGNORECASE,
)
_THEREFORE: Final = (
    re.compile(
        r"(?:[,;]\s*|\s)and\s+(?=(?:[\w'’-]+\s+){1,5}?"
        r"(?P<adverb>therefore|consequently|thus|hence|as a result|for that reason)\b(?!\s+\w+ing\b))",
        re.IGNORECASE,
    ),
    re.compile(r",\s*(?:and )?(?P<adverb>which in turn|that in turn)\s", re.IGNORECASE),
)
_REFERRING: Final = re.compile(
    r"(?:[\w'’-]+\s+){1,6}?(?P<adverb>therefore|consequently|thus|hence)\b(?! far\b)", re.IGNORECASE
)
_LACK: Final = re.compile(r"\s(?:for|from)\s+(?=(?:being|lack of|want of|fear of)\s)", re.IGNORECASE)
_THANKS: Final = re.compile(
    r"\b(?:thank\w*|sorry|apolog\w+|prais\w+|known|famous|reputation|credit|excuse|love|proud)\b", re.IGNORECASE
)


def readings(text: str, sentence: Span) -> Iterator[Reading]:
    """Yield what a sentence without a connective states, by the first reading that applies."""
    start, end = sentence
    begin = skip_leading(text, start, end)
    for read, place in (
        (_adverb, begin),
        (_opening, start),  # "after" would be skipped
        (_opening, begin),
        (read_first_degree, start),  # "so" would be skipped
        (read_degree, begin),
        (_trailing, begin),
        (_verb, begin),
        (_passive, begin),
        (read_happening, begin),
    ):
        if (found := read(text, place, end)) is not None:
            yield found
            return


def _adverb(text: str, start: int, end: int) -> Reading | None:
    """Read an adverb inside a clause: and … therefore, which in turn."""
    for pattern in _THEREFORE:
        if match := pattern.search(text, start, end):
            cause, effect = (start, match.start()), (match.end(), end)
            return Reading(match["adverb"].lower(), last_clause(text, cause), first_clause(text, effect))
    match = _REFERRING.match(text, start, end)
    return Reading(match["adverb"].lower(), None, (start, end)) if match else None


def _opening(text: str, start: int, end: int) -> Reading | None:
    """Read a phrase before the main clause."""
    for opening in _OPENINGS:
        match = opening.pattern.match(text, start, end)
        if match is None:
            continue
        for cut in _cuts(text, match.end(), end, only_comma=opening.is_participle):
            phrase, main = (match.end(), cut), (skip_leading(text, cut, end), end)
            if FINITE.search(text, *main) and opening.is_reason(text[slice(*phrase)].strip(), text[slice(*main)]):
                connective = match.groupdict().get("name") or WORD.findall(match.group())[0]
                cause = (match.start(), cut) if opening.belongs else phrase
                return Reading(connective.lower(), cause, first_clause(text, main))
    return None


def _cuts(text: str, start: int, end: int, *, only_comma: bool) -> Iterator[int]:
    """Yield where the main clause may begin after an opening phrase: at a comma, else where one noun phrase ends."""
    comma = main_comma(text, start, end)
    if comma is not None:
        yield comma
    if not only_comma:
        stop = min(end if comma is None else comma, start + MAX_OPENING)
        for match in islice(_CLAUSE_START.finditer(text, start, stop), MAX_CUTS):
            if not _UNFINISHED.search(text, max(start, match.start() - REACH), match.start()):
                yield match.start()


def _is_with_reason(phrase: str, main: str) -> bool:
    return _is_without_reason(phrase, main) if _BROKEN.match(phrase) else _WITH_STATE.match(phrase) is not None


def _is_stuck_reason(_: str, main: str) -> bool:
    """Tell whether a main clause is no act: it fails or changes."""
    return _FAILS.search(main) is not None or _BECAME.search(main) is not None


def _is_without_reason(phrase: str, main: str) -> bool:
    """Tell whether a main clause after "without …" is no act: it fails, changes, or has no actor."""
    if _is_stuck_reason(phrase, main):
        return True
    return is_by_no_actor(main)


def _is_as_reason(phrase: str, main: str) -> bool:
    """Tell whether "as" gives a reason: a state, or an event without an actor by which something becomes another."""
    verb = FINITE.search(phrase, 1)
    return _STATE.match(phrase) is not None or bool(
        verb and _BECAME.search(main.partition(",")[0]) and is_no_actor(phrase[: verb.start()].strip())
    )


def _is_after_reason(phrase: str, main: str) -> bool:
    phrase = phrase.rstrip(".! ")
    return (
        not (_TIME.match(phrase) or _PLACE.match(phrase))
        and _BECAME.search(main.partition(",")[0]) is not None
        and (FINITE.search(phrase) is not None or is_no_actor(phrase.partition(",")[0]))
    )


def _is_when_reason(phrase: str, main: str) -> bool:
    """Tell whether something became another in the main clause when something without an actor happened."""
    return _BECAME.search(main) is not None and HAPPENED.search(phrase) is not None and is_by_no_actor(phrase)


def _is_phrase(phrase: str, main: str) -> bool:
    return bool(phrase) and _NO_CLAUSE.match(main) is None


class _Opening(NamedTuple):
    """A kind of phrase before the main clause."""

    pattern: re.Pattern[str]
    """Of its start, which names it, or whose group "name" does."""
    is_reason: Callable[[str, str], bool]
    """Tells whether the rest of the phrase and the main clause are cause and effect."""
    belongs: bool = False
    """Whether the start belongs to the cause."""
    is_participle: bool = False
    """Whether it always ends with a comma."""


_OPENINGS: Final = (
    _Opening(_NOMINAL, _is_phrase),
    _Opening(_WITH, _is_with_reason),
    _Opening(_WITHOUT, _is_without_reason, belongs=True),
    _Opening(_AS, _is_as_reason),
    _Opening(_AFTER, _is_after_reason),
    _Opening(_AFFECTED, _is_phrase, belongs=True, is_participle=True),
    _Opening(_STUCK, _is_stuck_reason, belongs=True, is_participle=True),
    _Opening(_HAVING, _is_phrase, belongs=True, is_participle=True),
    _Opening(_ABSOLUTE, _is_phrase, belongs=True, is_participle=True),
)


def _trailing(text: str, start: int, end: int) -> Reading | None:
    """Read a phrase after the main clause: as the kitchen was hot, after the frost, for being unsafe."""
    for match in _INNER_AS.finditer(text, start + 1, end):
        cause = text[match.start() : end].lstrip(" ,")
        if (
            not _NO_REASON.search(text[max(start, match.start() - REACH) : match.start()])
            and _AS.match(cause)
            and _is_as_reason(cause[3:], "")
        ):
            return Reading("as", (match.end(), end), last_clause(text, (start, match.start())))
    for match in _INNER_AFTER.finditer(text, start + 1, end):
        main, name = last_clause(text, (start, match.start())), match["name"].lower()
        is_reason = _is_after_reason if name == "after" else _is_when_reason
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


def _verb(text: str, start: int, end: int) -> Reading | None:
    """Read a verb whose subject is a cause."""
    for stated in stated_effects(text, start, end):
        return Reading(stated.verb, stated.subject, first_clause(text, stated.effect))
    return None
