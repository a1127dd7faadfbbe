"""Questions for the cause or the effect of an event that they state."""

import re
from typing import Final

from projections.spaces.directed import Direction

_NOUNS = r"(?:cause|reason|explanation)s?"
_OUTCOMES = r"(?:effect|result|consequence|outcome|impact)s?"
_IT = r"(?:this|that|it|these|those)"
DO = r"(?:did|does|do|will|would|has|have|had|could|might)"
_CAUSE_OF = (
    rf"what(?: (?:{DO}|might have|could have))? (?:caused?|led (?:\w+ )?to|lead to|made|makes|brought about|triggered|"
    r"prompted|resulted in|drove|forced|is behind|was behind|explains|(?:is|was|were) (?:responsible|to blame) for)|"
    rf"what(?:['’]s| is| was| are| were) the {_NOUNS} (?:of|for|that|why|behind)|for what reason {DO}|how come|"
    r"why(?: on earth)?(?: (?:did|does|do))?"
)
_EFFECT_OF = (
    rf"what (?:(?:happens|happened) |(?:will|would|could) happen |comes |came )(?:when|if|after|because(?: of)?|as a "
    rf"result of|due to|of)|what(?:['’]s| is| was| are| were) the {_OUTCOMES} (?:of|when|if)"
)
_ITS_CAUSE = (
    rf"why(?: {DO} {_IT} (?:happen|occur)| (?:is|was) {_IT})?|"
    rf"what (?:is|was|were|are) the {_NOUNS}(?: (?:of|for|behind) {_IT})?|what (?:caused|led to|triggered) {_IT}|"
    rf"what made {_IT} happen|how come|how {DO} {_IT} (?:happen|come about)"
)
_ITS_EFFECT = (
    r"what (?:happens|happened|will happen|would happen)"
    rf"(?: next| then| now| after {_IT}| afterwards| as a result| because of {_IT})?|"
    rf"what (?:is|was|were|are|will be) the {_OUTCOMES}(?: of {_IT})?|"
    rf"what {DO} {_IT} (?:lead to|cause|result in|mean)"
)
_BEFORE_EVENT = r"\s*(?:so |and |but )?(?:{})\b(?: this\s*:)?\s*(?P<event>.+)"
_AFTER_EVENT = r"\s*(?P<event>\S.{{2,300}}?)[.!;,:–—-]+ *(?:and |but |so )?(?:{})\s*\?+\s*$"
_LEAD_TO = rf"\s*what {DO} (?P<event>.+?) (?:lead to|cause|result in|bring about|trigger|bring|mean)\s*\?*\s*$"
_CAUSAL_QUESTIONS: Final = tuple(
    (direction, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for direction, pattern in (
        (Direction.CAUSE, _BEFORE_EVENT.format(_CAUSE_OF)),  # Why did the road close?
        (Direction.EFFECT, _BEFORE_EVENT.format(_EFFECT_OF)),  # What happened when the road closed?
        (Direction.EFFECT, _LEAD_TO),  # What did the closure lead to?
        (Direction.CAUSE, _AFTER_EVENT.format(_ITS_CAUSE)),  # The road closed. Why?
        (Direction.EFFECT, _AFTER_EVENT.format(_ITS_EFFECT)),  # The road closed. What happened next?
    )
)
"""Questions that state an event and ask for its cause or its effect."""
_NO_EVENT = re.compile(rf"(?:{_IT}|\W)*", re.IGNORECASE)
_CAUSE = re.compile(r"\b(?:why|cause[sd]?|led to|reasons?)\b", re.IGNORECASE)
"""Words that ask for a cause without an event: "list the reasons"."""


def causal_direction(query: str) -> Direction | None:
    """Return whether a query asks for causes or for effects; None for neither."""
    if asked := _asked_event(query):
        return asked[0]
    return Direction.CAUSE if _CAUSE.search(query) else None


def causal_subject(query: str) -> str:
    """Return the event that a causal query states, without the words that ask; any other query unchanged.

    Without this, "What is the effect of this: it rained" finds texts about effects instead of texts about rain.
    """
    asked = _asked_event(query)
    return asked[1] if asked else query


def _asked_event(query: str) -> tuple[Direction, str] | None:
    """Return what a causal question asks for, and the event that it states; None for any other query."""
    for direction, question in _CAUSAL_QUESTIONS:
        if (match := question.match(query)) and not _NO_EVENT.fullmatch(event := match["event"].strip(" \t\n?")):
            return direction, event
    return None
