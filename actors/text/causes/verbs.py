"""Verbs that state an effect of their subject: "the heat warped the rails", "the noise kept us awake".

They state a cause only where the subject is an event, a condition or a thing. What people and groups do are acts.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Final

from actors.text.causes.patterns import FINITE, HAPPENED, HYPOTHETICAL, UNREAL
from actors.text.causes.spans import Reading, Span, first_clause, is_claimed, last_clause, skip_leading
from actors.text.causes.subjects import is_by_no_actor, is_no_actor
from actors.text.causes.words import (
    DETERMINER,
    NAME,
    UNCHANGED,
    any_form,
    any_of,
    listed,
    one_of,
    participle,
    phrases,
    stem,
)

MAX_VERBS: Final = 16
"""Verbs of a sentence that are tried."""

_CHANGED: Final = " ".join(phrases("change"))
_CHANGING_NOW: Final = one_of(stem(verb) + "ing" for verb in _CHANGED.split())
_PHRASAL: Final = [verb.split() for verb in listed("phrasal")]
PARTICIPLES: Final = one_of(map(participle, _CHANGED.split()))
"""The pattern of the past participles of verbs of change."""
PHRASAL_PARTICIPLES: Final = one_of({participle(verb) for verb, _ in _PHRASAL})
"""That of verbs with a particle."""
_WORD: Final = rf"(?!{any_of('prepositions')}\b)[\w'’-]++"
_PERSON: Final = r"(?:me|us|him|her|them|everyone|everybody|everything|people|nobody|someone)\b"
_OBJECT: Final = (
    rf"(?:{_PERSON}|it\b|(?:half|most|all|many|some|one|two) of {DETERMINER}\s++{_WORD}|"
    rf"(?!(?:too|so|such|hardly)\b){DETERMINER}\s++(?:{_WORD}\s++){{0,3}}?{_WORD}(?:\s++of\s++{_WORD})?|{NAME}|"
    rf"(?!{DETERMINER}\b)[a-z'’-]+s\b(?:\s++of\s++{_WORD})?)"
)
_RESULT: Final = (
    rf"(?:{_WORD}|without\b|with (?:no|only|just|too|hardly)\b|out of\b|under water\b|too \w|"
    r"in (?:tears|pieces|ruins|doubt|pain|debt|tatters|the dark|an? [\w -]{0,24}?(?:state|mode)|[\w-]++ mode)\b)"
)
_TO_DO: Final = r"(?:\s++\w++)?\s++to\s++(?!(?:the|an?|my|his|her|our|their)\b)\w"
_PARTICLE: Final = r"\s++(?:(?:up|out|off|down|over|away|back|apart)\s++)?"
"""Between a verb and its object."""
_DEFINITE: Final = rf"(?!\d|(?:an?|no|sense|one|two|three|four|five|six|ten|the (?:\w+est|most|same|first))\b){_OBJECT}"


def _phrasal() -> Iterator[tuple[str, str]]:
    """Yield a row for each particle, which stands before or after an object."""
    for particle in sorted({particle for _, particle in _PHRASAL}):
        verbs = " ".join(verb for verb, other in _PHRASAL if other == particle)
        yield (
            any_form(verbs),
            rf"\s++(?:{particle}\s++(?!a (?:bit|little|lot)\b|{any_of('prepositions')}\b)\w|{_OBJECT}\s++{particle}\b)",
        )


# What follows each verb. The effect is what follows verbs of the first table, and begins with those of the second.
_CAUSATIVE: Final = (
    (
        any_form("make render") + "|making",
        rf"\s++(?:{_DEFINITE}\s++(?:{_RESULT}|late\b)|(?:{_WORD}\s++){{1,3}}?(?:more|less|{any_of('qualities')})\b)",
    ),
    (
        "let|letting",
        rf"\s++(?!(?:you|go|alone)\b)(?:{_OBJECT}\s++{_WORD}|{_WORD}\s++(?:{_WORD}\s++)?(?:in|out|through|into)\b)",
    ),
    (any_form("get"), rf"\s++(?!you\b){_OBJECT}(?:{_TO_DO}|\s++(?:out|into|\w+ing|\w+ed)\b)"),
    (
        any_form("inspire compel oblige encourage persuade convince tempt lead force")
        + "|allowed|enabled|permitted|prompts?",
        rf"\s++(?!you\b)(?:{_OBJECT}|{_WORD})(?:{_TO_DO}|\s++into\b)",
    ),
    ("triggers?|sparks?|sparked|provokes?|ignited|unleashed|inspires?|inspired", rf"\s++{_WORD}"),
    ("created|generated|spawned|fuelled|fueled|fuels|stirred", rf"\s++(?:up\s++)?(?!\w++ly\b){_WORD}"),
    (
        "started",
        rf"\s++(?:an?|another|the|my|our|his|her|their)\s++(?!(?:\w++\s++)?{any_of('units_of_time')}\b){_WORD}",
    ),
    ("meant|means|meaning", r"\s++\w"),
)
_CHANGING: Final = (
    *_phrasal(),
    (any_form("keep") + "|keeping", rf"\s++{_OBJECT}\s++(?:{_RESULT}|from \w+ing\b|(?:away|up|off|at|in|indoors)\b)"),
    (any_form("leave") + "|leaving", rf"\s++{_OBJECT}\s++{_RESULT}"),
    (any_form("cost"), rf"\s++(?:{_PERSON}|{NAME}|(?:the|my|our|his|her|their)\s++{_WORD})\s++\w"),
    (
        any_form("send bring"),
        (
            rf"\s++(?:(?:down|to (?:light|an end|a halt|a standstill))\s++(?={_WORD})|"
            rf"(?:{_OBJECT}|(?!(?:right|straight|together|only|just)\b){_WORD})\s++(?:home|away|down|up|back|\w+ing|into|to|over|across|through|off)\b)"
        ),
    ),
    (
        any_form("take") + "|taking",
        rf"\s++(?:(?:down|out|offline)\s++(?={_WORD})|{_OBJECT}\s++(?:down|out|offline|out of service|off the air)\b)",
    ),
    (
        any_form("put"),
        (
            rf"\s++(?:{_OBJECT}\s++(?:out of|off|at risk|into (?!an?\b|the\b)|in (?:danger|hospital|prison|doubt)|"
            r"under|on hold)|(?:more |extra |too much )?(?:pressure|strain|stress|an end|a stop)\s++(?:on|to))\b"
        ),
    ),
    (any_form("earn get win buy bring lose deny give"), rf"\s++{_PERSON}\s++{DETERMINER}\s"),
    ("helped", rf"\s++{_OBJECT}\s++(?:to\s++)?{_WORD}"),
    (any_form("save spare rob deprive strip"), rf"\s++{_PERSON}\s++\w"),
    (
        f"{any_form(_CHANGED)}|{_CHANGING_NOW}",
        (
            rf"{_PARTICLE}(?!(?!every\s++(?!\w+day\b|(?:\w+\s++)?{any_of('units_of_time')}\b)){any_of('prepositions')}\b|\w+ly\b|{any_of('idioms')}\b)"
            r"(?=\w)"
        ),
    ),
)
_ROWS: Final = (*((*row, True) for row in _CAUSATIVE), *((*row, False) for row in _CHANGING))
"""The verbs of each row, what follows them, and whether it is of the first table."""
_VERB: Final = rf"(?<![\w'’-])(?:{'|'.join(verbs for verbs, _, _ in _ROWS)})(?![\w'’-])"
_BASES: Final = frozenset(
    f"{_CHANGED} make get inspire compel oblige encourage persuade convince tempt lead force keep leave give send "
    "bring take turn put save spare rob deprive strip".split()
)
_HAS_OBJECT: Final = re.compile(rf"{_PARTICLE}{_OBJECT}|\s+(?:pressure|strain|stress)\b", re.IGNORECASE)
"""After a verb: its object, perhaps behind a particle."""
_KNOWN: Final = re.compile(rf"{_PARTICLE}(?:{_PERSON}|{DETERMINER}\b|{NAME})", re.IGNORECASE)
"""An object, and no noun that a participle describes."""
_PLURAL: Final = re.compile(r"[^s'’]s\b|\band\b|\bpeople\b|\bchildren\b")
"""A subject that takes a verb in its base form."""
_MEANING: Final = frozenset({"meant", "means", "meaning"})
NOTHING: Final = re.compile(r"(?:no|none|neither|hardly|scarcely|barely)\b", re.IGNORECASE)
"""Begins a subject that did nothing. Only where it "means" something, it is a lack."""
_GERUND: Final = re.compile(r"(?:making|letting|keeping|leaving|meaning)$", re.IGNORECASE)
_MODAL: Final = re.compile(r"\b(?:can|could|may|might|must|shall|should|will|would)\b", re.IGNORECASE)
_PARTICIPLE: Final = re.compile(r"\w\s+[a-z]{3,}[^e\W]ed$")
"""Ends a clause whose object the verb is an attribute of: "we had reduced capacity"."""
_MEANS: Final = re.compile(
    r"\s+(?:that\s+)?(?!a lot|so much|the world|everything|nothing|something)"
    rf"(?=(?:[\w'’-]+\s+){{1,8}}?(?:(?!\w+s\b){FINITE.pattern}|has|is|was|loses|needs|misses|gets|can['’]t|won['’]t)|"
    r"(?<=meant\s)\w+ing\s+\w|(?<=meant\s)(?:an?|another|extra)\s+(?!lot\b|great\b|bit\b|thing\b)|"
    r"(?:no|more|less|fewer|longer|higher|lower|shorter|later|extra|additional|the (?:end|loss) of)\s+\w)",
    re.IGNORECASE,
)
"""After "meant": a clause."""
_AUXILIARY: Final = re.compile(
    r"\s+(?:(?:have|has|had|'ve|'s|also|then|soon|finally|even|already|really|just|all|twice|in turn|"
    r"(?:is|was|are|were) what|"
    rf"in the end|(?!{UNREAL}\b)\w+ly)\s+)*+$",
    re.IGNORECASE,
)
"""Between a subject and its verb: "has", "then", "in turn", "quickly"."""
_WHICH: Final = re.compile(r"(?:,|[;–—-]|\band)\s*(?:all (?:of )?)?(?:which|this|that)$", re.IGNORECASE)
_CLEFT: Final = re.compile(r"it (?:is|was) (?P<subject>[^,;:]{1,80}) (?:that|which)$", re.IGNORECASE)
"""Before a verb: "it was the frost that"."""
_AND_DID: Final = re.compile(r",?\s+and(?: then)?$", re.IGNORECASE)
"""Before a second verb of a clause: "the pump ran for hours and"."""
_THIS: Final = re.compile(r"(?:all (?:of )?)?(?:this|that)$", re.IGNORECASE)
_BOUNDARY: Final = re.compile(
    r"[;:–—()\"]|,(?= (?:and|but|so|then|while|yet)\b)|\b(?:but|because|so(?! (?:many|much|few|little|long|often)\b)|"
    r"that|which|who|when|while|where|as|since|after|before|if|whether|unless|until|although|though|whose|whom|what|how|why)\b",
    re.IGNORECASE,
)
"""Where no subject reaches beyond."""
_CONDITION: Final = re.compile(r"(?:if|whether|unless|until|who|whose|what|how|why|which|whom)$", re.IGNORECASE)
_AND: Final = re.compile(r",? and\b", re.IGNORECASE)
_PLACE: Final = re.compile(
    r"(?:in|on|at|by|during|after|before|for|from|last|next|this|that|yesterday|today|later|one|then|over|under|near|within)\b",
    re.IGNORECASE,
)
"""Begins a phrase before the subject."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the tables when a text needs it: all of them take 0.2 s, and most texts need few."""
    return re.compile(pattern, re.IGNORECASE)


def _verbs(text: str, start: int, end: int) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield the verbs that are followed by what a row of their table names, and whether it is the first table."""
    for verb in _compiled(_VERB).finditer(text, start, end):
        for verbs, rest, is_causative in _ROWS:
            if _compiled(verbs).fullmatch(text, *verb.span()) and _compiled(rest).match(text, verb.end(), end):
                yield verb, is_causative
                break


def read_verb(text: str, start: int, end: int) -> Reading | None:
    """Read a verb that states an effect of its subject; "this" stands for the sentence before."""
    for match, is_causative in islice(_verbs(text, start, end), MAX_VERBS):
        auxiliary = _AUXILIARY.search(text, start, match.start())
        stop = auxiliary.start() if auxiliary else match.start()
        before, verb = text[start:stop], match.group().lower()
        if match.group()[0].isupper() or HYPOTHETICAL.search(before) or is_claimed(text, start, stop):
            continue
        if not _governs(text, match, before, end):
            continue
        effect = first_clause(text, (match.end() if is_causative else match.start(), end))
        if _GERUND.match(verb):
            if before.endswith(","):
                return Reading(verb, last_clause(text, (start, stop)), effect)
        elif re.fullmatch(f"{_CHANGING_NOW}|taking", verb):
            clause = last_clause(text, (start, stop))
            if before.endswith(",") and _happened(text[slice(*clause)]):
                return Reading(verb, clause, effect)
        elif coordinate := _AND_DID.search(before):
            clause = last_clause(text, (start, start + coordinate.start()))
            if verb not in _BASES and _KNOWN.match(text, match.end(), end) and _happened(text[slice(*clause)]):
                return Reading(verb, clause, effect)
        elif _THIS.match(before):
            return Reading(verb, None, effect)
        elif (
            (subject := _subject(text, start, stop)) is not None
            and (verb not in _BASES or verb in UNCHANGED or _PLURAL.search(text[slice(*subject)]))
            and (verb in _MEANING or not NOTHING.match(text, *subject))
        ):
            return Reading(verb, subject, effect)
    return None


def _happened(clause: str) -> bool:
    """Tell whether a clause tells what happened, and nobody did."""
    return HAPPENED.search(clause) is not None and _MODAL.search(clause) is None and is_by_no_actor(clause)


def _governs(text: str, verb: re.Match[str], before: str, end: int) -> bool:
    """Tell whether what follows a verb is its object or clause, where its form may be a noun's."""
    word = verb.group().lower()
    if word in _MEANING:
        return _MEANS.match(text, verb.end(), end) is not None or _WHICH.search(before) is not None
    return word not in _BASES or _HAS_OBJECT.match(text, verb.end(), end) is not None


def _subject(text: str, start: int, stop: int) -> Span | None:
    """Return the subject that ends at a place; None if it is a person, a group or no noun phrase."""
    if which := _WHICH.search(text[start:stop]):
        return last_clause(text, (start, start + which.start()))
    if _PARTICIPLE.search(text[start:stop]):
        return None
    if cleft := _CLEFT.match(text, start, stop):
        return cleft.span("subject") if is_no_actor(cleft["subject"]) else None
    for boundary in _BOUNDARY.finditer(text, start, stop):
        if _CONDITION.match(boundary.group()):
            return None
        start = boundary.end()
    for boundary in _AND.finditer(text, start, stop):
        if FINITE.search(text, start, boundary.start()):
            start = boundary.end()
    start = skip_leading(text, start, stop)
    comma = text.rfind(",", start, stop)
    if comma >= 0:
        if not _PLACE.match(text, start, stop):
            return None
        start = skip_leading(text, comma, stop)
    return (start, stop) if is_no_actor(text[start:stop]) else None
