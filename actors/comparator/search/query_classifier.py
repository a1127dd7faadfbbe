"""What a question asks for, told from its wording: its kinds, and what it says beside its embeddings."""

import re
from datetime import datetime
from enum import StrEnum

from actors.comparator.search import recurring_dates as rhythm
from events.vocabulary.values import Modality
from projections.spaces.directed import Direction
from projections.time.expressions import find_intervals
from projections.time.time_mentions import QueryHints, words


class QueryKind(StrEnum):
    """What a question is like. The first three exclude each other; the rest add to them."""

    TALK = "talk"
    """About what was said: all that is neither of the next two."""
    CODE = "code"
    CAUSE = "cause"
    """It tells something and asks for its cause or effect; a mere "why" names what it seeks, and is talk."""
    TIME = "time"
    """It names a time."""
    RHYTHM = "rhythm"
    """It names a time that comes again."""
    ORDER = "order"
    """It asks for the beginning or the end of a session."""
    VOICE = "voice"
    """It names somebody who speaks in what is stored."""
    UNKNOWN = "unknown"
    """It holds a word that nothing in the store holds, such as a misspelt one."""


_NOUNS = r"(?:cause|reason|effect|result|consequence|outcome|impact)s?"
_TELLING = re.compile(
    rf"^\s*what (?:caused|led to|(?:is|was|are|were) the {_NOUNS} of|"
    r"(?:happens|happened|will happen) (?:when|if|after|because))(?: this\s*:)?\s*",
    re.IGNORECASE,
)
"""How a question begins that tells something and asks for its cause or effect."""
_EFFECT = re.compile(r"\b(?:effect|result|consequence|outcome|impact)s?\b|\bhappen", re.IGNORECASE)
_CAUSE = re.compile(r"\b(?:why|cause[sd]?|led to|reasons?)\b", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"\b(?:python[23]?|javascript|typescript|golang|bash|numpy|pandas|django)\b|\bc\+\+|\bc#", re.IGNORECASE
)
"""Names of languages and libraries that hardly mean anything else."""
_CODE = re.compile(
    r"\b(?:java|rust|function|method|class|regex|api|code|snippet|def|dataframe|string|list|dict|array|json|csv|sql|file|"
    r"import|parse|iterate|exception|loop|datetime)\b|(?<![a-z])[a-z]+_[a-z]+|\b\w+\(\)",
    re.IGNORECASE,
)
"""Words that mean code when `MEETING` of them meet."""
MEETING = 2
_START = re.compile(
    r"\b(?:at (?:the )?(?:beginning|start|first)|to begin with|(?:start|began|begin|open)(?:ed|s)? with|"
    r"(?:the )?(?:very )?first (?:thing|message|turn|topic|question))\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:at the (?:very )?end|(?:end|finish|close)(?:ed|s)? with|just now|a moment ago|"
    r"(?:the )?(?:very )?last (?:thing|message|turn|topic|question))\b",
    re.IGNORECASE,
)


class SessionPart(StrEnum):
    """Where in a session something is looked for."""

    START = "start"
    END = "end"


def direction(question: str) -> Direction | None:
    """Return whether a question asks for causes or for effects, or for neither."""
    asking = _TELLING.match(question)
    if asking is not None:
        return Direction.EFFECT if _EFFECT.search(asking.group()) else Direction.CAUSE
    return Direction.CAUSE if _CAUSE.search(question) else None


def subject(question: str) -> str:
    """Return what a question for a cause or an effect tells, without the asking; any other question as it is.

    "What is the effect of this: it rained" looks for what follows from rain, not for texts about effects.
    """
    return _TELLING.sub("", question).strip() or question


def place(question: str) -> SessionPart | None:
    """Return which end of a session a question asks for."""
    return SessionPart.START if _START.search(question) else SessionPart.END if _END.search(question) else None


def main_kind(question: str) -> QueryKind:
    """Return which of the first three kinds a question is."""
    if _TELLING.match(question):
        return QueryKind.CAUSE
    words = {match.group().casefold() for match in _CODE.finditer(question)}
    return QueryKind.CODE if _LANGUAGE.search(question) or len(words) >= MEETING else QueryKind.TALK


def cues(question: str, asked_at: datetime) -> QueryHints:
    """Return what a question says beside its embeddings."""
    end = place(question)
    return QueryHints(
        direction=direction(question),
        intervals=tuple(find_intervals(question, asked_at, question=True)),
        recurring=rhythm.moments(question, asked_at),
        start=end is SessionPart.START,
        end=end is SessionPart.END,
        modality=Modality.CODE if main_kind(question) is QueryKind.CODE else Modality.TEXT,
        words=words(question),
    )


def kinds(question: str, cues: QueryHints) -> frozenset[QueryKind]:
    """Return what a question is like, as far as its wording tells."""
    found = {main_kind(question)}
    if cues.intervals:
        found.add(QueryKind.TIME)
    if cues.recurring:
        found.add(QueryKind.RHYTHM)
    if cues.start or cues.end:
        found.add(QueryKind.ORDER)
    return frozenset(found)
