"""Whether a question names a subject, or asks for all that there is of a time, a speaker or a filter."""

import re
from datetime import datetime
from typing import Final, Literal

from actors.text.queries.causal_questions import causal_direction
from actors.text.queries.speaking import SAYING
from projections.spaces.lexical import STOP_WORDS, stem_words
from projections.spaces.lexical import words as tokens
from projections.time.expressions import without_times

GENERAL: Final = frozenset(
    stem_words(
        """
        anything chat chatted discuss event everything give go going gone happen know learn list memory mention new news
        note occur place please recap record remember said say show since something speak spoke store summarise
        summarize summary take talk tell thing told took update went work write wrote
        """.split()
    )
)
"""Stems with which a question asks for all there is: what happened, what we talked about, what is new."""
OF_TIME: Final = GENERAL | frozenset(
    stem_words(
        """
        agree came change come complete decide decided decision done everybody everyone finish get got made make team
        """.split()
    )
)
"""Stems with which a question of a time asks for all there is of it: what the team decided, what got done."""
_ASKS_FOR_ALL: Final = re.compile(
    r"\W*(?:(?:and|but|can|could|ok|okay|please|so|then|would|you)\W+)*"
    r"(?:anything|catch|everything|give|is there anything|list|recap|remind|review|show|summari[sz]e|summary|tell|what"
    r"|what['’]s|which|who)\b",
    re.IGNORECASE,
)
"""The beginning of a question or request, unlike keywords such as "make" or a name such as "Will"."""
_OCCASION: Final = re.compile(
    r"\b(?:at|during|from|in|on(?=.{1,40}\bcall\b)|over)\s+"
    r"(?:(?:a|an|the|my|our|that|this|your|['’]s) )?(?:(?-i:[a-z])[\w-]* )?"
    r"(?:breakfast|briefing|call|chat|check-in|conversation|dinner|discussion|interview|kick-?off|lunch|meeting|planning"
    r"|retro(?:spective)?|session|stand-?up|sync|workshop)\b(?: (?:at|from|in|of|on)\s\s+)?",
    re.IGNORECASE,
)
"""Names when something was said rather than what: "in the weekly meeting", "at lunch", "in the meeting on" a day.

Not with whom or about what: "at Petra's dinner", "on lunch".
"""
_TALKING: Final = SAYING | frozenset(stem_words("agree chatted decide decided decision".split()))
"""Stems of what is done by talking; what happened at an interview may be told at any time."""
_PARTS_OF_DAY: Final = frozenset(stem_words("early late morning noon afternoon evening night".split()))


_PLACE: Final = r"(?P<which>(?:very )?first|last|latest|previous|most recent)"
_SESSION: Final = r"(?:(?:chat|coding|work|working) )?(?:chat|conversation|session|sitting)"
_IN_SESSION: Final = re.compile(
    rf"(?<!before )(?<!since )(?<!after )(?<!before the )(?<!since our )(?<!since the )(?<!after the )"
    rf"\b(?:(?:at|during|from|in|of|on) )?(?:(?:the|my|our|your) )?{_PLACE} {_SESSION}\b",
    re.IGNORECASE,
)
"""Names a session by its place among all: "in our last session"."""
_LEFT_OFF: Final = re.compile(
    r"(?:(?:can|could|shall|should) (?:I|we|you) |let['’]?s |(?:please )?(?:remind|tell) me |"
    r"do you (?:know|remember) )?"
    r"(?:(?:back to|carry on|continue|get back to|go on|keep going|pick (?:it |things )?(?:back )?up|resume|start)"
    r"(?: again)?(?: from)? )?(?:"
    r"where (?:(?:did|do|had|have) )?(?:(?:I|we|you) (?:leave|left) off|we stop(?:ped)?)"
    r"|where (?:were we|was I)"
    r"|what (?:was|were) (?:I|we|you) (?:last )?(?:doing|up to|working on)"
    r"|what did (?:I|we|you) (?:decide|discuss|do|finish|talk about|work on) last"
    r")(?: (?:again|last time|(?:in )?(?:the |our )?last session|yesterday))?",
    re.IGNORECASE,
)
"""Asks for what was done last, as a whole: "let's pick up where we left off"."""
_OPENING: Final = re.compile(
    r"\W*(?:(?:all ?right|and|good (?:afternoon|evening|morning)|hello|hey|hi|now|ok|okay|please|so|thanks?)\b"
    r"(?:,? (?-i:[A-Z][a-z]+)(?=[,.!]))?[\s,.!–-]*)*",
    re.IGNORECASE,
)
_DOING: Final = frozenset(
    stem_words(
        """
        achieve add back build built carry catch change continue continuing fix fixed get implement keep left open
        pick refactor remove resume review solve solved start test try tried
        """.split()
    )
)
"""Stems of what is done in a session, and of going on with it."""


def session_asked(query: str) -> Literal["", "first", "last"]:
    """Return which session a query asks for all of, as "what did we do in the last session?"; empty for none."""
    opening = _OPENING.match(query)
    said = query[opening.end() if opening else 0 :].rstrip(" .!?")
    if _LEFT_OFF.fullmatch(said):
        return "last"
    found = _IN_SESSION.search(said)
    if found is None:
        return ""
    rest = f"{said[: found.start()]} {said[found.end() :]}"
    left = {*stem_words([word for word in tokens(rest) if word not in STOP_WORDS])}
    asks = not rest.strip() or not left.isdisjoint(_DOING) or _ASKS_FOR_ALL.match(rest)
    if not asks or not left <= OF_TIME | _DOING:
        return ""
    return "first" if found["which"].casefold().endswith("first") else "last"


def rest_of(query: str, asked_at: datetime, *, is_limited: bool = False) -> str:
    """Return a query without its times; a question for what was said at a time also without its occasion.

    `is_limited` says whether a filter names the time.
    """
    rest = without_times(query, asked_at, modifiers=True)
    bare = _OCCASION.sub("", rest)
    is_said = not _TALKING.isdisjoint(stem_words(tokens(bare))) and (is_limited or rest != query)
    return bare if is_said and _ASKS_FOR_ALL.match(bare) else rest


def is_general(rest: str) -> bool:
    """Return whether the rest of a question has nothing but function words and general words."""
    left = [word for word in tokens(rest) if word not in STOP_WORDS]
    return (OF_TIME | _PARTS_OF_DAY).issuperset(stem_words(left))


def has_no_subject(query: str, asked_at: datetime) -> bool:
    """Return whether a question names nothing that a memory could be about: it asks for all that a filter leaves."""
    rest = rest_of(query, asked_at, is_limited=True)
    return _ASKS_FOR_ALL.match(rest) is not None and causal_direction(query) is None and is_general(rest)
