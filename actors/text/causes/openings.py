"""Phrases and clauses before a main clause that state its cause: "with the bridge closed, …", "faced with a ban, …"."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from actors.text.causes.patterns import FINITE, HAPPENED, IRREGULAR, NOMINAL, PERFECT, TIME, WORD
from actors.text.causes.spans import Reading, first_clause, main_comma, skip_leading
from actors.text.causes.subjects import is_by_no_actor, is_no_actor
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
_NOMINATIVE: Final = re.compile(r"(?:i|we|he|she|they)\s", re.IGNORECASE)
"""Begins a main clause, and is no object of the clause before."""
_FURTHER: Final = rf"(?!(?:{DETERMINER}|{any_of('prepositions')}|that|i|we|he|she|they|it)\b|(?-i:[A-Z][a-z]))[\w'’-]+"
_NOUN_CLAUSE: Final = re.compile(
    rf"(?:{DETERMINER}\s+(?:{_FURTHER}\s+){{1,3}}?|{NAME}\s+)(?:(?:is|are|was|were|has|have|had|did|does|can|could|will|would|"
    rf"must|cannot|\w+n['’]t)\s+\w|{IRREGULAR}\b|[a-z]{{2,}}ed(?=\W*$|\s+{DETERMINER}\b))",
    re.IGNORECASE,
)
"""A noun phrase with its verb, which begins a main clause too: "the match was cancelled", not "the painted door"."""

_NOMINAL: Final = re.compile(rf"(?P<name>{NOMINAL})\s+(?=\w)", re.IGNORECASE)
_CLAUSAL: Final = re.compile(r"(?P<name>because|now that|given that)\s+(?!of\b)", re.IGNORECASE)
_SAID: Final = re.compile(
    r"\b(?:heard|knows?|knew|thinks?|thought|believed?|believes|claim(?:s|ed)?|noticed|reali[sz]ed|found|promised|said|says|"
    r"told \w+|saw|felt|hoped|learn(?:ed|t)|wrote)$",
    re.IGNORECASE,
)
"""Before what is said or thought: "because we heard the road was blocked"."""
_RELATIVE: Final = re.compile(r"\b(?:that|which|who|where|what|how)\b", re.IGNORECASE)
"""May begin a clause whose end can't be told: "because the knowledge that supports its decisions is stored"."""
_SINCE: Final = re.compile(r"(?P<name>since)\s+(?=\w)", re.IGNORECASE)
SUBORDINATE: Final = re.compile(r"(?:because|now that|given that)\s+(?!of\b)", re.IGNORECASE)
"""Begins a sentence whose first clause is subordinate."""

_PREDICATE: Final = any_of("predicate")
_WITH: Final = re.compile(r"with\s+(?!(?:\w+ ){0,2}(?:eyes|arms|hands|legs|head|mouth|face)\b)", re.IGNORECASE)
_WITH_STATE: Final = re.compile(
    rf"(?:.*\s)?{_PREDICATE}$|(?:no|hardly any|(?:too|so) (?:little|few|many|much)|only (?:one|two|three|a))\s|"
    rf"(?:{DETERMINER}|{NAME})\s+(?:[\w'’-]+\s+){{1,4}}?{_PREDICATE}\b(?!\s+[a-z]+$)",
    re.IGNORECASE,
)
"""As in "(with) the bridge closed", "no money", "too few people"."""
_WITH_ROLE: Final = re.compile(
    r"[\w'’-]+\s+(?:[\w'’-]+\s+){0,2}?as\s+(?!(?:well|my|our|its|his|her|their)\b)\w", re.IGNORECASE
)
"""Somebody or something in a role."""
_WITHOUT: Final = re.compile(
    r"without\s+(?!(?:a|any|further|another)\s+(?:word|doubt|hesitation|delay|question|warning|ado)\b)", re.IGNORECASE
)
"""Not "without a word", "without any delay"."""
_FAILS: Final = re.compile(
    r"\b(?:not|no|never|hardly|nobody|nothing|none|unable|could|cannot|\w+n['’]t|no longer|had to|too|far|only|failed|"
    r"stopped)\b",
    re.IGNORECASE,
)
"""Something is not done, can't be done, or has to be."""
_BECAME: Final = re.compile(rf"(?<![\w'’-]){any_of('became')}(?![\w'’-])", re.IGNORECASE)

AS: Final = re.compile(
    r"as\s+(?!\d|(?:soon|far|long|well|if|though|for|of|to|usual|always|ever|before|planned|expected|agreed|a|an|in|at|"
    r"we all|you|i said|it were|it is known|mentioned|such|many|much|more (?:than|of|or)|per|with|is|was|are|were|has)"
    r"\b)",
    re.IGNORECASE,
)
"""Not "as soon as", "as for", "as a child"."""
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
_WHEN: Final = re.compile(r"when\s+", re.IGNORECASE)
_TIME: Final = re.compile(
    rf"(?!\w+\s+{any_of('units_of_time')}\s+without\s)(?:{DETERMINER}\s+|\w+\s+)?{any_of('times')}(?!\w)", re.IGNORECASE
)
"""After "after": "three weeks", "the winter"."""
_LACKING: Final = re.compile(rf"\w+\s+{any_of('units_of_time')}\s+without\s", re.IGNORECASE)
_PLACE: Final = re.compile(
    rf"(?:{DETERMINER}\s+)?(?:(?!new\b|\w+ed\b)\w+\s+){{0,2}}?{any_of('places')}(?:\s+(?:in|at|on|of|near|by)\s|$)",
    re.IGNORECASE,
)
"""After "after": "the old bridge on"."""

_AFFECTED: Final = re.compile(
    rf"(?:still |\w+ly )?(?!(?:left|lost|stuck|low|frozen|struck)\s+(?:in|on|to)\b){any_of('affected')}\s+"
    r"(?:by|with|from|of|in|on|at|without|to|for|after)\s+(?!\d|(?-i:[A-Z])\w+\s+\d)",
    re.IGNORECASE,
)
"""As in "weakened by", "stuck without"; not "left in", "struck on"."""
_HAVING: Final = re.compile(
    r"being\s+(?!(?:an?|said|able)\b)(?=\w)|not\s+\w+ing\s+(?=\w)|having\s+"
    r"(?:lost|missed|forgotten|run out|failed|no|not|slept|broken|been|"
    r"had|hurt|injured|overslept)\b|unable to\b|"
    rf"{any_of('minding')}\s+(?!(?:to|of|about|you|him|her|me|us)\b|(?-i:[A-Z])\w+,)(?=\w)|(?!\w+thing\b)\w+ing\s+(?=(?:\w+\s+)?(?:late|too\s+\w+),)",
    re.IGNORECASE,
)
"""A participle of a state, of what is known or feared, or of a degree is a reason. Others tell a time or a manner."""
_PREDICATED: Final = re.compile(r"\b(?:is|was|are|were)\s+(?:[\w'’-]+\s+){0,2}[\w'’-]+$", re.IGNORECASE)
_ABSOLUTE: Final = re.compile(
    r"(?:(?:the|my|our|his|her|their|its)\s+(?:[\w'’-]+\s+){1,3}?|all of (?:us|them)\s+|"
    rf"(?!(?:i|we|he|she|they|it|that|this|there|not|keep|stop|start|enjoy|love|hate|like|try|{any_of('prepositions')})\b){NAME}\s+)"
    r"(?<!human )(?P<name>being)\s+\w",
    re.IGNORECASE,
)
"""As in "the lift being out of order": the phrase has a subject of its own."""
_NO_CLAUSE: Final = re.compile(rf"{any_of('prepositions')}\b", re.IGNORECASE)


def read_opening(text: str, start: int, end: int) -> Reading | None:
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


def is_as_reason(phrase: str, main: str) -> bool:
    """Tell whether "as" gives a reason: a state, or an event without an actor by which something becomes another."""
    verb = FINITE.search(phrase, 1)
    return _STATE.match(phrase) is not None or bool(
        verb and _BECAME.search(main.partition(",")[0]) and is_no_actor(phrase[: verb.start()].strip())
    )


def is_after_reason(phrase: str, main: str) -> bool:
    """Tell whether what follows "after" is a cause: it is no time or place, and something became another."""
    phrase = phrase.rstrip(".! ")
    if _LACKING.match(phrase):
        return HAPPENED.search(main) is not None
    if _TIME.match(phrase) or _PLACE.match(phrase):
        return False
    if _BECAME.search(main.partition(",")[0]) is None:
        return _BECAME.search(phrase) is not None and is_by_no_actor(phrase) and HAPPENED.search(main) is not None
    return FINITE.search(phrase) is not None or is_no_actor(phrase.partition(",")[0])


def is_when_reason(phrase: str, main: str) -> bool:
    """Tell whether something became another in the main clause when something without an actor happened."""
    return _BECAME.search(main) is not None and HAPPENED.search(phrase) is not None and is_by_no_actor(phrase)


def _is_first_when_reason(phrase: str, main: str) -> bool:
    """Tell whether something became another when something else had before it."""
    return is_when_reason(phrase, main) or (_BECAME.search(main) is not None and _BECAME.search(phrase) is not None)


def _cuts(text: str, start: int, end: int, *, only_comma: bool) -> Iterator[int]:
    """Yield where the main clause may begin after an opening phrase: at a comma, else where one noun phrase ends."""
    comma = main_comma(text, start, end)
    if comma is not None:
        yield comma
    if not only_comma:
        stop = min(end if comma is None else comma, start + MAX_OPENING)
        for match in islice(_CLAUSE_START.finditer(text, start, stop), MAX_CUTS):
            before = max(start, match.start() - REACH), match.start()
            if _NOMINATIVE.match(text, match.end()) or not _UNFINISHED.search(text, *before):
                yield match.start()


def _is_with_reason(phrase: str, main: str) -> bool:
    is_role = _WITH_ROLE.match(phrase) is not None and HAPPENED.search(main) is not None
    return is_role or _WITH_STATE.match(phrase) is not None


def _is_without_reason(phrase: str, main: str) -> bool:
    """Tell whether a main clause after "without …" is no act, or was one for want of a thing."""
    if _FAILS.search(main) or _BECAME.search(main) or is_by_no_actor(main):
        return True
    is_thing = is_no_actor(phrase) or is_no_actor(f"the {phrase}")
    return is_thing and not phrase.partition(" ")[0].endswith("ing") and HAPPENED.search(main) is not None


def _is_phrase(phrase: str, main: str) -> bool:
    return bool(phrase) and _NO_CLAUSE.match(main) is None


def _is_state(phrase: str, main: str) -> bool:
    """Tell whether a participle is no subject: "seeing him was lovely, and …"."""
    return _is_phrase(phrase, main) and _PREDICATED.search(phrase) is None


def _is_clause(phrase: str, main: str) -> bool:
    begins = _NOMINATIVE.match(main) or (_NOUN_CLAUSE.match(main) and not _RELATIVE.search(phrase))
    return bool(begins) and FINITE.search(phrase) is not None and _SAID.search(phrase) is None


def _is_since_reason(phrase: str, main: str) -> bool:
    """Tell whether "since" gives a reason of what happened: no time, and no beginning of what has lasted."""
    is_time = TIME.match(f" {phrase}") or PERFECT.search(main) or not HAPPENED.search(main)
    return not is_time and _is_clause(phrase, main) and is_as_reason(phrase, main)


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
    _Opening(_NOMINAL, _is_phrase),  # due to the storm
    _Opening(_CLAUSAL, _is_clause),  # now that the bridge is open they …
    _Opening(_SINCE, _is_since_reason),  # since nobody came we …
    _Opening(_WITH, _is_with_reason),  # with the bridge closed
    _Opening(_WITHOUT, _is_without_reason, belongs=True),  # without a key
    _Opening(AS, is_as_reason),  # as the road was icy
    _Opening(_AFTER, is_after_reason),  # after the pipe burst
    _Opening(_WHEN, _is_first_when_reason),  # when the dam broke
    _Opening(_AFFECTED, _is_phrase, belongs=True, is_participle=True),  # weakened by the flu
    _Opening(_HAVING, _is_state, belongs=True, is_participle=True),  # having missed the train
    _Opening(_ABSOLUTE, _is_phrase, belongs=True, is_participle=True),  # the lift being out of order
)
