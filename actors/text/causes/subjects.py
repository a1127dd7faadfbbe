"""Subjects that may be causes: events, conditions and things, and no people, groups, animals or times."""

import re
from typing import Final

from actors.text.causes.patterns import FINITE
from actors.text.causes.words import DETERMINER, any_of, words_of

MAX_SUBJECT: Final = 12
"""Words of a subject."""
_PERSONS: Final = words_of("persons")
_HAPPENINGS: Final = words_of("happenings")
_NO_HAPPENINGS: Final = words_of("no_happenings")
_HAPPENING: Final = re.compile(r"\w{2,}(?:[ts]ion|ment|ness)|\w+-(?:up|in|out|off|down|over)")
"""Endings of nouns of happenings: "explosion", "shipment", "illness", "break-up"."""
_THINGS: Final = words_of("things")
_EVENTS: Final = words_of("events")

_NO_SUBJECT: Final = re.compile(
    r"\b(?:i|we|he|she|they|you|it|there|is|are|was|were|be|been|has|have|had|can|could|will|would|may|might|must|should|do|"
    r"does|did|not|never|no longer|please|hope|hoped|\w+n['’]t|(?:i|we|he|she|it)['’]\w+|who|which)\b|"
    r"^(?:for|of|to|with|from|by|about|like)\b|^(?:as|during|in|on|at|under|among|despite)\s",
    re.IGNORECASE,
)
"""Pronouns, verbs and opening prepositions, which no noun phrase that is a subject has."""
_UNFINISHED: Final = re.compile(rf"(?:^|\s)(?:{any_of('prepositions')}|{DETERMINER})$", re.IGNORECASE)
_OBJECT_INSIDE: Final = re.compile(
    r"(?<!\b(?:of|in|at|on|or|by|to|as))(?<!\b(?:for|and|all|off|out))(?<!ing)(?<!\b(?:with|from|near|over|into|both|half|past|"
    r"upon))(?<!\b(?:under|about|after|above|along|among|below|since|until))(?<!\b(?:during|before|behind|around|across|beside|"
    r"within))(?<!\b(?:without|between|through|outside|against|towards))(?<!^)"
    r"\s(?:the|an?|my|our|your|his|her|their|its|this|these|those)\s",
    re.IGNORECASE,
)
"""A determiner that no preposition precedes: it begins the object of a verb."""
_NOT_DOING: Final = re.compile(r"not (?=\w+ing\b)", re.IGNORECASE)
_ADVERB: Final = re.compile(
    r"\s(?:inside|outside|down|up|away|out|off|again|early|late|today|yesterday)$", re.IGNORECASE
)
_GERUND: Final = re.compile(
    rf"(?:(?:my|our|your|his|her|their|\w+['’]s)\s+(?=\w+ing\s+{DETERMINER}\s))?"
    rf"(?!(?:during|according|regarding|including|considering|concerning|following)\b)(?P<gerund>\w+ing)\b"
    rf"(?P<object>\s+{DETERMINER}\s)?",
    re.IGNORECASE,
)
"""As in "painting", with whose it is and what is painted if both are told: "my leaving the band"."""
_NO_GERUND: Final = frozenset(
    "king ring spring string building nothing something everything anything thing morning evening ceiling during "
    "according regarding including considering wedding clothing sibling starting beginning following".split()
)
_NO_NOUN: Final = re.compile(
    r"also|never|always|often|just|then|soon|still|now|nearly|almost|even|only|once|later|again"
)
_NAME_IN_S: Final = frozenset(
    "james charles jules agnes ines frances mercedes giles lars hans miles les wes jens".split()
)
_PERSON_NOUN: Final = re.compile(r"\w+(?:ist|cian|[eo]r)|\w*m[ae]n")
"""Endings of nouns of persons: "dentist", "musician", "driver", "fireman"."""
_THING: Final = re.compile(
    r"\w*(?:ator|meter|water|power|paper|weather|mower|washer|dryer|hammer|disorder|wrist|mist|fist|waist|twist|list|heist)"
)
"""Nouns with such endings that name things: "generator", "weather", "waist"."""
_TIME: Final = re.compile(
    r"(?:(?:last|next|this|that|these|those|every|each|one|the (?:last|next|past|same|following|previous)) )"
    r"(?:seconds?|minutes?|hours?|days?|nights?|mornings?|evenings?|afternoons?|weekends?|weeks?|months?|quarters?|seasons?|"
    r"years?|decades?|century|centuries|spring|summer|autumn|winter|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|"
    r"(?:(?:the|in|year|early|late) )*\d{2,4}(?:['’]?s)?|yesterday|today|tomorrow|tonight",
    re.IGNORECASE,
)
"""As in "last week", "the early 1990s", "yesterday"."""
_HEAD_END: Final = re.compile(
    r"\s+(?:of|in|at|on|for|with|without|between|from|near|by|over|under|about|to|through|during|after|before|behind|against|"
    r"across|along|among|around|into|that|which|next|down|up|outside|inside|above|below)\s",
    re.IGNORECASE,
)
"""After the head of a noun phrase: "the closure" of "the closure of the bridge"."""
_TOKEN: Final = re.compile(r"[\w'’-]+")


def is_no_actor(phrase: str) -> bool:
    """Tell whether a noun phrase names an event, a condition or a thing, and no person, group, animal or time."""
    phrase = _NOT_DOING.sub("", phrase.strip())
    words = _TOKEN.findall(phrase)
    if not 0 < len(words) <= MAX_SUBJECT or _TIME.fullmatch(phrase) or _NO_SUBJECT.search(phrase):
        return False
    if is_activity(phrase):
        return _UNFINISHED.search(_ADVERB.sub("", phrase)) is None
    if _UNFINISHED.search(phrase) or _OBJECT_INSIDE.search(phrase):
        return False
    head, noun = _head(phrase), head_noun(phrase)
    if not noun or _NO_NOUN.fullmatch(noun) or _is_person(noun):
        return False
    if len(head) == 1:
        return (
            noun in _EVENTS
            or (_HAPPENING.fullmatch(noun) is not None and noun not in _NO_HAPPENINGS)
            or (noun.endswith("s") and noun[-2:-1] not in "aious'’" and noun not in _NAME_IN_S)
        )
    determined = re.fullmatch(DETERMINER, words[0], re.IGNORECASE) is not None
    if noun.endswith("ly") and len(head) == 2 and not determined:
        return False
    return not head[-1][0].isupper() and (
        determined or not any(word[0].isupper() for word in head[1:] if "and" in head)
    )


def is_activity(phrase: str) -> bool:
    """Tell whether a phrase begins with a gerund: "painting the hallway", "my leaving the band"."""
    match = _GERUND.match(phrase)
    return match is not None and (match["object"] is not None or match["gerund"].lower() not in _NO_GERUND)


def is_by_no_actor(clause: str) -> bool:
    """Tell whether the subject of a clause is no person or group."""
    verb = FINITE.search(clause, 1)
    return verb is not None and is_no_actor(clause[: verb.start()].strip())


def names_happening(noun: str) -> bool:
    """Tell whether a noun names a happening: "the closure", "the break-up"."""
    names = {noun, noun.removesuffix("s"), noun.removesuffix("es")}
    if names & _NO_HAPPENINGS:
        return False
    return bool(names & _HAPPENINGS) or any(map(_HAPPENING.fullmatch, names))


def head_noun(phrase: str) -> str:
    """Return the head of a noun phrase in lower case, of a compound with hyphens its last noun; "" if it has none."""
    head = _head(phrase)
    noun = head[-1].lower() if head else ""
    return noun if _HAPPENING.fullmatch(noun) else noun.rpartition("-")[2]


def _head(phrase: str) -> list[str]:
    return _TOKEN.findall(_HEAD_END.split(phrase, maxsplit=1)[0])


def _is_person(noun: str) -> bool:
    singular = {noun, noun.removesuffix("s"), noun.removesuffix("es"), noun.removesuffix("ies") + "y"}
    return any(
        word in _PERSONS
        or (_PERSON_NOUN.fullmatch(word) is not None and word not in _THINGS and _THING.fullmatch(word) is None)
        for word in singular
    )
