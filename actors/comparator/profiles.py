"""What each kind of question weighs: the seeds' six profiles, and `auto`, which reads the question.

Every profile has one weight per space and sums to 1.
"""

import re
from typing import Final

from actors.settings import SearchProfile
from events.spaces import SPACES
from projections.directed import Direction

Weights = dict[str, float]
"""By space key; all thirteen, summing to 1."""

_EXPANSION = 0.02
"""E13's share: seed 002 lists twelve weights, so it comes off the largest other than E1's (design 5)."""


def _row(*twelve: float) -> Weights:
    weights = dict(zip((space.key for space in SPACES), (*twelve, _EXPANSION), strict=True))
    keys = [space.key for space in SPACES[1:-1]]
    largest = max(keys, key=weights.__getitem__)
    weights[largest] = round(weights[largest] - _EXPANSION, 4)
    return weights


SEED_PROFILES: Final[dict[SearchProfile, Weights]] = {
    SearchProfile.SEMANTIC_SEARCH: _row(0.30, 0.05, 0.05, 0.05, 0.10, 0.05, 0.20, 0.05, 0.05, 0.05, 0.03, 0.02),
    SearchProfile.CAUSAL_REASONING: _row(0.15, 0.03, 0.03, 0.03, 0.45, 0.03, 0.10, 0.03, 0.03, 0.05, 0.05, 0.02),
    # Seed 002 gives order (E4) .35 and code (E7) .25 here, an index slip; this is the row as it was mended (facts 8.2).
    SearchProfile.CODE_SEARCH: dict(
        zip(
            (space.key for space in SPACES),
            (0.15, 0.02, 0.02, 0.15, 0.05, 0.05, 0.35, 0.02, 0.02, 0.05, 0.05, 0.05, 0.02),
            strict=True,
        )
    ),
    SearchProfile.TEMPORAL_NAVIGATION: _row(0.15, 0.20, 0.20, 0.20, 0.05, 0.02, 0.05, 0.02, 0.03, 0.03, 0.03, 0.02),
    SearchProfile.FACT_CHECKING: _row(0.10, 0.02, 0.02, 0.02, 0.20, 0.05, 0.05, 0.02, 0.02, 0.05, 0.43, 0.02),
    SearchProfile.BALANCED: dict.fromkeys((space.key for space in SPACES), 1 / len(SPACES)),
}
"""The fixed profiles by name (seed 002, thirteen wide as design 5 settles)."""


def _mix(**shares: float) -> Weights:
    """Weights proportional to the shares named, zero elsewhere."""
    total = sum(shares.values())
    return {space.key: shares.get(space.key, 0.0) / total for space in SPACES}


TALK: Final = _mix(e12_late_interaction=1.0, e6_sparse=0.3, e8_graph=0.2, e1_semantic=0.1)
"""Questions about what was said: the words of a turn decide; its meaning, alone and in context, helps."""

CODE: Final = _mix(e1_semantic=1.5, e12_late_interaction=0.8, e7_code=0.3, e6_sparse=0.15)
"""Questions for code: meaning leads, since code seldom repeats the words of the question."""

CAUSE: Final = _mix(e5_causal=1.0, e12_late_interaction=0.3)
"""Questions for the cause or effect of something that they tell; a mere "why" names what it seeks, and is TALK."""

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
    r"import|parse|iterate|exception|loop|datetime)\b|[a-z]+_[a-z]+|\w+\(\)",
    re.IGNORECASE,
)
"""Words that mean code when two of them meet."""


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


def weights(profile: SearchProfile, question: str) -> Weights:
    """Return the weights of a profile; `auto` chooses them by the question's wording."""
    if profile is not SearchProfile.AUTO:
        return SEED_PROFILES[profile]
    if _TELLING.match(question):
        return CAUSE
    return CODE if _LANGUAGE.search(question) or len(_CODE.findall(question)) >= 2 else TALK
