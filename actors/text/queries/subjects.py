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


_SITTING: Final = re.compile(
    r"\b(?:(?:at|during|from|in|of) )?(?:(?:the|my|our|your) )?"
    r"(?P<which>(?:very )?first|last|latest|previous|most recent) "
    r"(?:(?:chat|coding|work|working) )?(?:chat|conversation|session|sitting)\b",
    re.IGNORECASE,
)
"""Names a session by its place among all: "in our last session"."""
_LEFT_OFF: Final = re.compile(
    r"\bwhere (?:did )?(?:I|we|you) (?:leave|left|stop(?:ped)?)(?: off)?\b|\b(?:lately|recently)\b|"
    r"\bwhat (?:was|were) (?:I|we|you) (?:doing|up to|working on)\b|\blast(?=\W*\Z)",
    re.IGNORECASE,
)
"""Asks for what was done last, without a name for it: "where did we leave off?", "recently"."""
_TO_CONTINUE: Final = frozenset(stem_words("back begin carry continue get keep last pick resume start".split()))
"""Stems of going on with what was done last."""


def session_asked(query: str) -> Literal["", "first", "last"]:
    """Return which session a query asks for all of, as "what did we do in the last session?"; empty for none."""
    found = _SITTING.search(query) or _LEFT_OFF.search(query)
    if found is None:
        return ""
    rest = f"{query[: found.start()]} {query[found.end() :]}"
    said = tokens(rest)
    left = {*stem_words([word for word in said if word not in STOP_WORDS])}
    is_bare = found[0].casefold() == "last" and not left and "did" not in said  # "who was last?"
    asks = found.re is _LEFT_OFF or not left.isdisjoint(_TO_CONTINUE) or _ASKS_FOR_ALL.match(rest)
    if is_bare or not asks or not left <= OF_TIME | _TO_CONTINUE:
        return ""
    return "first" if (found.groupdict().get("which") or "").casefold().endswith("first") else "last"


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
