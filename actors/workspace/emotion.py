"""The emotional weight of a text, by VADER (Hutto and Gilbert 2014), whose package carries its lexicon and rules."""

from functools import cache
from typing import Final, cast

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

WINDOW: Final = 64
"""Words that are scored together: VADER is made for sentences, and slow for pages."""


def emotional_weight(content: str) -> float:
    """Return w_e in [1, 1.5], a factor of the learning score (TOOL-INJECT-001/utl/learning-score).

    w_e = 1 + |compound| / 2 of the most emotional window of the text, where VADER's compound lies in [-1, 1]: 1 for a
    neutral text, more for joy as for grief. English alone; a text in another language is neutral.
    """
    words = content.split()
    windows = (" ".join(words[start : start + WINDOW]) for start in range(0, len(words), WINDOW))
    return 1.0 + max(map(_strength, windows), default=0.0) / 2


def _strength(text: str) -> float:
    scores = cast("dict[str, float]", _analyzer().polarity_scores(text))
    return abs(scores["compound"])


@cache
def _analyzer() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()
