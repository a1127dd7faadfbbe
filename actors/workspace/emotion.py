"""The emotional weight of a text, from a small lexicon in three tiers."""

import re

TIERS = {
    0.9: (
        "love adore thrilled ecstatic brilliant perfect amazing wonderful triumph",
        "hate terrible disaster catastrophe furious devastated horrible nightmare tragedy",
    ),
    0.6: (
        "happy glad proud excited great success solved win excellent grateful",
        "sad angry afraid failed failure broken crash worried upset painful lost",
    ),
    0.3: (
        "good nice fine pleased like works helpful useful better enjoy",
        "bad annoying slow wrong problem issue difficult tired miss worse",
    ),
}
"""Strength of (positive, negative) words."""

_POSITIVE, _NEGATIVE = (
    {word: strength for strength, words in TIERS.items() for word in words[sign].split()} for sign in (0, 1)
)
_WORD = re.compile(r"[a-z]+")


def emotional_weight(content: str) -> float:
    """Return w_e in [.5, 1.5], a factor of the learning score (TOOL-INJECT-001/utl/learning-score).

    w_e = clamp(1 + .25 * (p - n) + .15 * (p + n) / 2), where p and n are the strengths of the strongest positive and
    negative word: 1 for a neutral text, more for a positive or intense one, less for a negative one.
    """
    words = set(_WORD.findall(content.casefold()))
    positive, negative = (
        max((lexicon[word] for word in words & lexicon.keys()), default=0.0) for lexicon in (_POSITIVE, _NEGATIVE)
    )
    return min(1.5, max(0.5, 1.0 + 0.25 * (positive - negative) + 0.15 * (positive + negative) / 2))
