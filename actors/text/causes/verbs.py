"""Verbs that state an effect of their subject: "the heat warped the rails", "the noise kept us awake".

They state a cause only where the subject is an event, a condition or a thing. What people and groups do are acts.
"""

import re
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from actors.text.causes.patterns import FINITE, HYPOTHETICAL
from actors.text.causes.spans import Span, last_clause, skip_leading
from actors.text.statements.text_equivalence import ENGLISH

MAX_SUBJECT: Final = 12
"""Words of a subject."""
MAX_VERBS: Final = 16
"""Verbs of a sentence that are tried."""

_LISTS: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
_IRREGULAR: Final = {
    forms[0]: forms[1:]
    for entry in ENGLISH["equivalence"]["irregular"].split(",")
    if (forms := entry.partition("/")[0].split())
}
_UNCHANGED: Final = frozenset(_LISTS["unchanged"].split(", "))
_PERSONS: Final = frozenset(_LISTS["persons"].split())
_EVENTS: Final = frozenset(_LISTS["events"].split())


def phrases(name: str) -> list[str]:
    """Return the phrases of a list, as patterns that any whitespace may separate."""
    return [r"\s++".join(phrase.split()) for phrase in re.split(r",\s+", _LISTS[name].strip())]


def any_of(name: str) -> str:
    """Return the pattern of any phrase of a list."""
    return rf"(?:{'|'.join(phrases(name))})"


def _forms(verb: str) -> Iterator[str]:
    """Yield the finite forms of a verb."""
    yield verb
    yield verb + ("es" if re.search(r"(?:s|x|z|ch|sh)$", verb) else "s")
    if re.search(r"[^aeiou]y$", verb):
        yield from (verb[:-1] + "ies", verb[:-1] + "ied")
    elif verb in _IRREGULAR:
        yield from _IRREGULAR[verb]
    elif verb not in _UNCHANGED:
        doubled = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb)
        yield (verb + verb[-1] if doubled else verb.removesuffix("e")) + "ed"


def _any(verbs: str) -> str:
    """Return the pattern of the finite forms of verbs."""
    return "|".join(sorted({form for verb in verbs.split() for form in _forms(verb)}, reverse=True))


DETERMINER: Final = any_of("determiners")
_NAME: Final = r"(?-i:[A-Z])[\w'’-]*+"
_WORD: Final = rf"(?!{any_of('prepositions')}\b)[\w'’-]++"
_PERSON: Final = r"(?:me|us|him|her|them|everyone|everybody|everything|people|nobody|someone)\b"
_OBJECT: Final = (
    rf"(?:{_PERSON}|it\b|(?!(?:too|so|such|hardly)\b){DETERMINER}\s++(?:{_WORD}\s++){{0,3}}?{_WORD}|{_NAME}|"
    rf"(?!{DETERMINER}\b)[a-z'’-]+s\b)"
)
_RESULT: Final = (
    rf"(?:{_WORD}|without\b|with (?:no|only|just|too|hardly)\b|out of\b|under water\b|too \w|"
    r"in (?:tears|pieces|ruins|doubt|pain|debt|tatters|the dark)\b)"
)
_TO_DO: Final = r"(?:\s++\w++)?\s++to\s++(?!(?:the|an?|my|his|her|our|their)\b)\w"
_DEFINITE: Final = rf"(?!\d|(?:an?|no|sense|one|two|three|four|five|six|ten|the (?:\w+est|most|same|first))\b){_OBJECT}"
_CHANGED: Final = " ".join(phrases("change"))

# What follows each verb. The effect is what follows verbs of the first table, and begins with those of the second.
_CAUSATIVE: Final = (
    (_any("make") + "|making", rf"\s++{_DEFINITE}\s++{_RESULT}"),
    (_any("let") + "|letting", rf"\s++(?!(?:you|go|alone)\b){_OBJECT}\s++{_WORD}"),
    (_any("get"), rf"\s++(?!you\b){_OBJECT}(?:{_TO_DO}|\s++(?:out|\w+ing)\b)"),
    (
        _any("inspire compel oblige encourage persuade convince tempt lead force") + "|allowed|enabled|prompts?",
        rf"\s++(?!you\b){_OBJECT}(?:{_TO_DO}|\s++into\b)",
    ),
    ("triggers?|sparks?|sparked|provokes?|ignited|unleashed", rf"\s++{_WORD}"),
    ("meant|means", r"\s++\w"),
)
_CHANGING: Final = (
    (_any("keep") + "|keeping", rf"\s++{_OBJECT}\s++(?:{_RESULT}|from \w+ing\b|(?:away|up|off|at|indoors)\b)"),
    (_any("leave") + "|leaving", rf"\s++{_OBJECT}\s++{_RESULT}"),
    (_any("cost"), rf"\s++(?:{_PERSON}|{_NAME}|(?:the|my|our|his|her|their)\s++{_WORD})\s++\w"),
    (
        _any("give"),
        (
            rf"\s++{_OBJECT}\s++(?:{_WORD}\s++){{0,3}}?(?:\w*aches?|colds?|frights?|shocks?|ideas?|thirst|fevers?|"
            r"blisters?|pains?|nightmares?|rash|trouble|knees?|cramps?|hope|bruises?|scares?|migraines?)\b"
        ),
    ),
    (
        _any("send bring"),
        rf"\s++{_OBJECT}\s++(?:home|away|down|up|back|\w+ing|into|to|over|across|through|off)\b",
    ),
    (_any("turn"), rf"\s++{_OBJECT}\s++(?:(?:into|off|to|away)\b|{_WORD})"),
    (_any("put"), rf"\s++{_OBJECT}\s++(?:out of|off|at risk|in (?:danger|hospital|prison|doubt)|under|on hold)\b"),
    (
        _any("add"),
        r"\s++(?:[\w.]++\s++){1,3}?(?:seconds?|minutes?|hours?|days?|weeks?|months?|euros?|dollars?|pounds?|percent)\b",
    ),
    (_any("save spare rob deprive strip"), rf"\s++{_PERSON}\s++\w"),
    (
        _any(_CHANGED),
        (
            r"\s++(?:(?:up|out|off|down|over|away|back|apart)\s++)?"
            rf"(?!{any_of('prepositions')}\b|\w+ly\b|{any_of('idioms')}\b)(?=\w)"
        ),
    ),
)
_VERB: Final = re.compile(
    r"(?<![\w'’-])(?:(?P<causative>"
    + "|".join(rf"(?:{verbs})(?={rest})" for verbs, rest in _CAUSATIVE)
    + ")|(?P<changing>"
    + "|".join(rf"(?:{verbs})(?={rest})" for verbs, rest in _CHANGING)
    + r"))(?![\w'’-])",
    re.IGNORECASE,
)
_BASES: Final = frozenset(
    f"{_CHANGED} make let get inspire compel oblige encourage persuade convince tempt lead force keep leave give send "
    "bring turn put save spare rob deprive strip".split()
)
_HAS_OBJECT: Final = re.compile(rf"\s+{_OBJECT}", re.IGNORECASE)
_PLURAL: Final = re.compile(r"[^s'’]s\b|\band\b|\bpeople\b|\bchildren\b")
"""A subject that takes a verb in its base form."""
_GERUND: Final = re.compile(r"(?:making|letting|keeping|leaving)$", re.IGNORECASE)
_MEANS: Final = re.compile(
    r"\s+(?:that\s+)?(?!a lot|so much|the world|everything|nothing|something)"
    rf"(?=(?:[\w'’-]+\s+){{1,8}}?(?:(?!\w+s\b){FINITE.pattern}|has|is|was|loses|needs|misses|gets|can['’]t|won['’]t))",
    re.IGNORECASE,
)
"""After "meant": a clause."""
_AUXILIARY: Final = re.compile(
    r"\s+(?:(?:have|has|had|'ve|'s|also|then|soon|finally|almost|nearly|even|already|really|just|all|twice|\w+ly|"
    r"in turn|in the end)\s+)*+$",
    re.IGNORECASE,
)
_WHICH: Final = re.compile(r"(?:,|[;–—-]|\band)\s*(?:all (?:of )?)?(?:which|this|that)$", re.IGNORECASE)
_THIS: Final = re.compile(r"(?:all (?:of )?)?(?:this|that)$", re.IGNORECASE)
_BOUNDARY: Final = re.compile(
    r"[;:–—()\"]|,(?= (?:and|but|so|then|while|yet)\b)|\b(?:but|because|so|that|which|who|when|while|where|as|since|"
    r"after|before|if|whether|unless|until|although|though|whose|whom|what|how|why)\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"(?:if|whether|unless|until|who|whose|what|how|why|which|whom)$", re.IGNORECASE)
_AND: Final = re.compile(r",? and\b", re.IGNORECASE)
_NO_SUBJECT: Final = re.compile(
    r"\b(?:i|we|he|she|they|you|it|there|is|are|was|were|be|been|has|have|had|can|could|will|would|may|might|must|should|do|"
    r"does|did|not|never|no longer|please|hope|hoped|\w+n['’]t|(?:i|we|he|she|it)['’]\w+|who|which)\b|"
    r"^(?:for|of|to|with|from|by|about|like)\b",
    re.IGNORECASE,
)
_UNFINISHED: Final = re.compile(rf"(?:^|\s)(?:{any_of('prepositions')}|{DETERMINER})$", re.IGNORECASE)
_OBJECT_INSIDE: Final = re.compile(
    r"(?<!\b(?:of|in|at|on|or|by|to|as))(?<!\b(?:for|and|all|off|out))(?<!ing)(?<!\b(?:with|from|near|over|into|both|half|past|"
    r"upon))(?<!\b(?:under|about|after|above|along|among|below|since|until))(?<!\b(?:during|before|behind|around|across|beside|"
    r"within))(?<!\b(?:without|between|through|outside|against|towards))(?<!^)"
    r"\s(?:the|an?|my|our|your|his|her|their|its|this|these|those)\s",
    re.IGNORECASE,
)
"""A determiner that no preposition precedes: it begins the object of a verb."""
_PLACE: Final = re.compile(
    r"(?:in|on|at|by|during|after|before|for|from|last|next|this|that|yesterday|today|later|one|then|over|under|near|within)\b",
    re.IGNORECASE,
)
"""Begins a phrase before the subject."""
_NO_GERUND: Final = frozenset(
    "king ring spring string building nothing something everything anything thing morning evening ceiling during "
    "according regarding including considering wedding clothing sibling".split()
)
_NO_NOUN: Final = re.compile(
    r"also|never|always|often|just|then|soon|still|now|nearly|almost|even|only|once|later|again"
)
_NAME_IN_S: Final = frozenset(
    "james charles jules agnes ines frances mercedes giles lars hans miles les wes jens".split()
)
_PERSON_NOUN: Final = re.compile(r"(?:\w{2}ist|man|men|woman|women)s?")
_HEAD_END: Final = re.compile(
    r"\s+(?:of|in|at|on|for|with|without|between|from|near|by|over|under|about|to|through|during|after|before|behind|against|"
    r"across|along|among|around|into|that|which|next|down|up|outside|inside|above|below)\s",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[\w'’-]+")


class StatedEffect(NamedTuple):
    """A verb that states an effect of its subject."""

    verb: str
    subject: Span | None
    """None where "this" refers to the sentence before."""
    effect: Span


def stated_effects(text: str, start: int, end: int) -> Iterator[StatedEffect]:
    """Yield the effects that verbs in a part of a sentence state."""
    for match in islice(_VERB.finditer(text, start, end), MAX_VERBS):
        auxiliary = _AUXILIARY.search(text, start, match.start())
        stop = auxiliary.start() if auxiliary else match.start()
        before, verb = text[start:stop], match.group().lower()
        if HYPOTHETICAL.search(before) or not _governs(text, match, before, end):
            continue
        effect = (match.end() if match["causative"] else match.start(), end)
        if _GERUND.match(verb):
            if before.endswith(","):
                yield StatedEffect(verb, last_clause(text, (start, stop)), effect)
        elif _THIS.match(before):
            yield StatedEffect(verb, None, effect)
        elif (subject := _subject(text, start, stop)) is not None and (
            verb not in _BASES or verb in _UNCHANGED or _PLURAL.search(text[slice(*subject)])
        ):
            yield StatedEffect(verb, subject, effect)


def _governs(text: str, verb: re.Match[str], before: str, end: int) -> bool:
    """Tell whether what follows a verb is its object or clause, where its form may be a noun's."""
    word = verb.group().lower()
    if word in {"meant", "means"}:
        return _MEANS.match(text, verb.end(), end) is not None or _WHICH.search(before) is not None
    return word not in _BASES or _HAS_OBJECT.match(text, verb.end(), end) is not None


def _subject(text: str, start: int, stop: int) -> Span | None:
    """Return the subject that ends at a place; None if it is a person, a group or no noun phrase."""
    if which := _WHICH.search(text[start:stop]):
        return last_clause(text, (start, start + which.start()))
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


def is_no_actor(phrase: str) -> bool:
    """Tell whether a noun phrase names an event, a condition or a thing, and no person or group."""
    words = _TOKEN.findall(phrase)
    if not 0 < len(words) <= MAX_SUBJECT or any(
        pattern.search(phrase) for pattern in (_NO_SUBJECT, _UNFINISHED, _OBJECT_INSIDE)
    ):
        return False
    if words[0].endswith("ing") and words[0].lower() not in _NO_GERUND:
        return True
    head = _TOKEN.findall(_HEAD_END.split(phrase, maxsplit=1)[0])
    noun = head[-1].lower() if head else ""
    if not noun or _NO_NOUN.fullmatch(noun) or _is_person(noun):
        return False
    if len(head) == 1:
        return noun in _EVENTS or (noun.endswith("s") and noun[-2:-1] not in "aious'’" and noun not in _NAME_IN_S)
    determined = re.fullmatch(DETERMINER, words[0], re.IGNORECASE) is not None
    if noun.endswith("ly") and len(head) == 2 and not determined:
        return False
    return not head[-1][0].isupper() and (
        determined or not any(word[0].isupper() for word in head[1:] if "and" in head)
    )


def _is_person(noun: str) -> bool:
    singular = {noun, noun.removesuffix("s"), noun.removesuffix("es"), noun.removesuffix("ies") + "y"}
    return bool(singular & _PERSONS) or _PERSON_NOUN.fullmatch(noun) is not None
