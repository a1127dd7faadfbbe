"""The emotional weight of a text: a small lexicon in three tiers (facts 5.4)."""

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
"""Strength of (pleasant, unpleasant) words."""

_VALENCE = {
    word: (strength, -strength)[unpleasant]
    for strength, both in TIERS.items()
    for unpleasant, words in enumerate(both)
    for word in words.split()
}
_WORD = re.compile(r"[a-z]+")


def emotional_weight(content: str) -> float:
    """Return w_e in [.5, 1.5]: 1 for a sober text, more for a joyful or stirring one, less for a bleak one.

    w_e = 1 + .25 · net + .15 · arousal (facts 5.4, neutral mood), where net and arousal are the difference and the mean
    of the strongest pleasant and unpleasant word.
    """
    valences = [_VALENCE[word] for word in set(_WORD.findall(content.casefold())) & _VALENCE.keys()]
    pleasant = max((value for value in valences if value > 0), default=0.0)
    unpleasant = max((-value for value in valences if value < 0), default=0.0)
    return min(1.5, max(0.5, 1.0 + 0.25 * (pleasant - unpleasant) + 0.15 * (pleasant + unpleasant) / 2))
