"""Relevance: the probability that what a search found bears on the query, and what it is called.

A logistic regression on the calibrated similarities of the best results. `relevance.json` holds its coefficients and
the two thresholds, fitted by scripts/train/relevance.py to questions put to stores that can answer them and to stores
that can't. It reads similarities, never fused scores, so it holds for every way of ranking.
"""

from collections.abc import Callable, Collection
from math import exp
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np

from actors.comparator.messages import Relevance, Search
from actors.comparator.search.versions import says
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from actors.text.queries.query_hints import asked_words
from events.spaces import E1
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Rows, Scores

FILE: Final = Path(__file__).with_name("relevance.json")

CONSIDERED: Final = 10
"""Best results that are read: an answer is rarely found below."""

NAMING: Final = 3
"""Best results of which one must have all words that a question names."""

WORDS: Final = ("e11_entity", "e13_splade")
"""The spaces of words, the query's own and related ones: their mean says whether they agree on one result."""

NOTHING_FOUND: Final = Relevance(probability=0.0, confidence=Confidence.NOTHING)

Similarity: TypeAlias = Callable[[str, Rows], Scores]
"""Returns the calibrated similarities of a query to rows in one space."""


class Model(msgspec.Struct, frozen=True):
    """The content of `relevance.json`."""

    provenance: JsonObject
    intercept: float
    coefficients: dict[str, float]
    """By the name of the feature."""
    uncertain: float
    """Probability from which a result may be relevant."""
    confident: float
    """Probability from which it is."""

    def __post_init__(self) -> None:
        """Check features and thresholds.

        Raises:
            ValueError: the features are others than those of `features`, or the thresholds not in order within (0, 1).
        """
        if self.coefficients.keys() != {"meaning", "words"}:
            raise ValueError(f"no such features: {', '.join(self.coefficients)}")
        if not 0 < self.uncertain < self.confident < 1:
            raise ValueError(f"thresholds {self.uncertain} and {self.confident} are not in order within (0, 1)")


def features(similarity: Similarity, rows: Rows) -> dict[str, float]:
    """Return what the model reads of one search, by name.

    Args:
        similarity: Of the query.
        rows: The ranked rows, best first; at least one.
    """
    best = rows[:CONSIDERED]
    words = np.mean([np.nan_to_num(similarity(key, best)) for key in WORDS], axis=0)
    return {"meaning": float(np.nan_to_num(similarity(E1, best)).max()), "words": float(words.max())}


def estimate(similarity: Similarity, rows: Rows, calibrated: Collection[str]) -> Relevance | None:
    """Return the relevance of ranked rows; None without a calibrated similarity in one of the spaces read.

    Args:
        similarity: Of the query.
        rows: The ranked rows, best first.
        calibrated: The spaces in which the query has a calibrated similarity.
    """
    if not {E1, *WORDS}.issubset(calibrated):
        return None
    if not len(rows):
        return NOTHING_FOUND
    logit = _MODEL.intercept + sum(
        _MODEL.coefficients[name] * value for name, value in features(similarity, rows).items()
    )
    probability = 1 / (1 + exp(-logit))
    return Relevance(probability=probability, confidence=_confidence(probability))


def relevance_by_words(atlas: Atlas, request: Search, rows: Rows) -> Relevance | None:
    """Return the least relevance that is not `nothing` if one of the best rows has all words that a question names.

    The model compares all words of a question. Of a short one ("Anything on the boiler?") most words only ask: 14 of 40
    answerable questions in everyday wording were taken for `nothing`.

    Args:
        atlas: The atlas of the rows.
        request: The parsed query.
        rows: The ranked rows, best first.
    """
    words = asked_words(request.text)
    if words and says(atlas, request.embeddings, words, rows[:NAMING]).any():
        return Relevance(probability=_MODEL.uncertain, confidence=Confidence.UNCERTAIN)
    return None


def _confidence(probability: float) -> Confidence:
    if probability < _MODEL.uncertain:
        return Confidence.NOTHING
    return Confidence.CONFIDENT if probability >= _MODEL.confident else Confidence.UNCERTAIN


_MODEL: Final = msgspec.json.decode(FILE.read_bytes(), type=Model)
