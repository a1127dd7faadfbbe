"""Relevance: the probability that what a search found bears on the query, and what it is called.

A logistic regression on the calibrated similarities of the best results and on how many windows were searched: the more
there are, the more similar is the best of those that have nothing to do with the query. The similarities of a long
memory are low where only one of its passages answers, so a second regression reads E1 and the words of one passage of
long results; the higher probability counts. `relevance.json` holds the coefficients and the two thresholds, fitted by
scripts/train/relevance.py to questions put to stores that can answer them and to stores that can't. None reads fused
scores, so they hold for every way of ranking.

Two texts in a language that the model of E1 does not know are similar whatever they say. So where it reads few of a
query's words whole, and those of English don't prevail, a third regression counts (scripts/train/other_languages.py).
It reads by how much the best result is more similar than others in the language, and which words of the query it has.
"""

from collections.abc import Iterable, Mapping
from math import exp, log
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from actors.comparator.compare.similarity import Similarities
from actors.comparator.messages import RankByQuery, Relevance, Search
from actors.comparator.search.passages import best_coverage
from actors.comparator.search.versions import contain_words, have_heading
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from actors.text.entities import find_names
from actors.text.queries.query_hints import asked_words, naming_words
from actors.text.text_equivalence import NUMBERS
from events.fingerprint import Sparse
from events.spaces import E1, E6, E11, E13
from projections.atlas.atlas import Atlas
from projections.spaces.lexical import term_frequencies
from projections.spaces.lexical import words as tokens
from projections.spaces.section_terms import without_sections
from projections.storage.arrays import Mask, Rows, Scores

FILE: Final = Path(__file__).with_name("relevance.json")

CONSIDERED: Final = 10
"""Best results that are read: an answer is rarely found below."""

NAMING: Final = 3
"""Best results of which one must have all words that a question names."""

WORDS: Final = (E11, E13)
"""The spaces of words, the query's own and related ones: their mean says whether they agree on one result."""

NOTHING_FOUND: Final = Relevance(probability=0.0, confidence=Confidence.NOTHING)

FEWEST_WINDOWS: Final = 50
MOST_WINDOWS: Final = 5_000
"""Between these the number of windows counts: those of most stores of the fit."""

UNFAMILIAR: Final = (0.5, 0.7)
"""Shares of a query's words that the model does not read whole, between which the third regression replaces the others
by degrees."""

SAMPLED: Final = 200
"""Memories whose similarities tell what is usual in the language of a query."""

SAME_LANGUAGE: Final = 0.2
"""Calibrated similarity in E1 from which on a memory is taken to be in the language of a query."""

USUAL: Final = 0.75
"""Quantile of these similarities that the best result must exceed. With a higher one some more questions are told
apart, but a fact that is stored in several wordings would count as usual."""

EXPECTED: Final = 0.5
"""What is usual between two texts of such a language, known before any is stored: .37 in German to .70 in Arabic."""
EXPECTED_WEIGHT: Final = 3
"""How many memories it counts as, since few say little of what is usual."""


class Regression(msgspec.Struct, frozen=True):
    """A logistic regression."""

    intercept: float
    coefficients: dict[str, float]
    """By the name of the feature."""

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability of the values of its features."""
        logit = self.intercept + sum(weight * values[name] for name, weight in self.coefficients.items())
        return 1 / (1 + exp(-logit))


class Model(msgspec.Struct, frozen=True):
    """The content of `relevance.json`."""

    provenance: JsonObject
    regressions: dict[str, Regression]
    """Of all results (`memories`), of long ones (`passages`), of all in an unfamiliar language (`other_languages`)."""
    uncertain: float
    """Probability from which a result may be relevant."""
    confident: float
    """Probability from which it is."""

    def probability(self, found: Mapping[str, Mapping[str, float]], unfamiliar: float = 0.0) -> float:
        """Return the probability that the best results are relevant.

        Args:
            found: What `features` returned.
            unfamiliar: The share of the query's words that the model of E1 does not read whole.
        """
        by_name = {name: self.regressions[name].probability(values) for name, values in found.items()}
        other = by_name.pop("other_languages", 1.0)
        familiar = max(by_name.values())
        share = float(np.interp(unfamiliar, UNFAMILIAR, (0.0, 1.0)))
        # The third regression only lowers: a rare name in an English question is no evidence of an answer.
        return (1 - share) * familiar + share * min(familiar, other)


def features(
    similarity: Similarities, rows: Rows, coverage: Scores, searched: int, others: Rows
) -> dict[str, dict[str, float]]:
    """Return what the regressions read of one search; the second one nothing where no result is long.

    Args:
        similarity: Of the query.
        rows: The best ranked rows, best first; at least one.
        coverage: Of each row the share of the query's terms in one passage, NaN for a memory of one window.
        searched: How many windows the memories have that might have been found.
        others: Rows that tell what is usual, for a query in an unfamiliar language; without any the third regression
            reads nothing.
    """
    size = log(min(max(searched, FEWEST_WINDOWS), MOST_WINDOWS))
    meaning = np.nan_to_num(similarity(E1, rows))
    own, related = (np.nan_to_num(similarity(key, rows)) for key in WORDS)
    words = (own + related) / 2
    found = {"memories": {"meaning": float(meaning.max()), "words": float(words.max()), "size": size}}
    if len(others):
        lead = _lead(float(meaning.max()), np.nan_to_num(similarity(E1, others)))
        found["other_languages"] = {"lead": lead, "own_words": float(own.max()), "size": size}
    is_long = ~np.isnan(coverage)
    if is_long.any():
        found["passages"] = {
            "meaning": float(meaning[is_long].max()),
            "coverage": float(coverage[is_long].max()),
        }
    return found


def estimate(
    atlas: Atlas, request: Search | RankByQuery, similarity: Similarities, rows: Rows, eligible: Mask
) -> Relevance | None:
    """Return the relevance of ranked rows.

    None without a calibrated similarity in one of the spaces read, and among images alone, of which these spaces read
    the captions.

    `rows` are ranked, best first; `eligible` says which might have been found, shape (rows of the atlas,).
    """
    if not {E1, *WORDS}.issubset(similarity.calibrated):
        return None
    if not len(rows):
        return NOTHING_FOUND
    best = rows[:CONSIDERED]
    able = np.flatnonzero(eligible)
    if atlas.facets.images[able].all():
        return None
    searched = len(able)
    if searched < MOST_WINDOWS:
        searched = int(np.maximum(atlas.passage_counts(able), 1).sum())
    others = able[:: len(able) // SAMPLED + 1] if request.unfamiliar > UNFAMILIAR[0] else able[:0]
    found = features(similarity, best, best_coverage(atlas, request.embeddings, best), searched, others)
    probability = _MODEL.probability(found, request.unfamiliar)
    return Relevance(probability=probability, confidence=_confidence(probability), features=found)


def relevance_by_words(atlas: Atlas, request: Search, rows: Rows) -> Relevance | None:
    """Return the least relevance that is not `nothing` if one of the best rows has all words that a question names.

    The model compares all words of a question. Of a short one ("Anything on the boiler?") most words only ask: 14 of 40
    answerable questions in everyday wording were taken for `nothing`. Arguments as in `estimate`.
    """
    best = rows[:NAMING]
    words = asked_words(request.text)
    if words and contain_words(atlas, request.embeddings, words, best).any():
        return LEAST
    _, is_section = named_sections(atlas, request, best)
    return LEAST if is_section.any() else None


def named_sections(atlas: Atlas, request: Search, rows: Rows) -> tuple[Mask, Mask]:
    """Return which rows have a heading that a query names, and which of them also a word of what else it names.

    If it names nothing else, these are all. Both have shape (rows,).
    """
    headed = have_heading(atlas, request.hints, rows)
    beside = naming_words(tokens(without_sections(request.text))) if headed.any() else []
    return headed, headed & use_words(atlas, request, beside, rows) if beside else headed


def use_words(atlas: Atlas, request: Search, words: Iterable[str], rows: Rows) -> Mask:
    """Return which rows contain one of these words of a query, shape (rows,)."""
    found = np.zeros(len(rows), np.bool_)
    for word in words:
        found |= contain_words(atlas, request.embeddings, word, rows)
    return found


def names_something_else(atlas: Atlas, request: Search, rows: Rows, eligible: Mask) -> bool:
    """Tell whether what was found is about something else than the question names, however similar it is.

    Either none of the best rows has a number of the question, as that of another week, ticket or version, or no memory
    that it may find has its names or its subject. Arguments as in `estimate`.
    """
    best = rows[:CONSIDERED]
    for digits in request.hints.digits:
        written = (digits, *(word for word, number in NUMBERS.items() if number == digits))
        if not any(contain_words(atlas, {E6: term_frequencies(one)}, one, best).any() for one in written):
            return True
    return _names_nothing_known(atlas, request, eligible)


def _names_nothing_known(atlas: Atlas, request: Search, eligible: Mask) -> bool:
    """Tell whether no memory that a question may find has a word of its names, or any word of what it is about.

    What says the same of somebody else is similar, and no answer. Of 1,711 questions of LoCoMo and TimeQA 5 are such in
    a store that answers them, 4 of these misspelt; of those of LoCoMo 725 of 760 in another person's store. A cause or
    an effect needs not name what it belongs to, and the name of a month or a day tells a time.

    "Who is the dentist?" is similar to a lost tooth where nothing else is stored. Among up to 4,000 memories no word of
    its subject is known of none of 1,240 questions of five sets and of 4 of 400 about causes; among 20 memories of 6 of
    some 70 that these answered in other words.
    """
    hints, asked = request.hints, request.embeddings.get(E6)
    if hints.direction is not None or hints.intervals or hints.recurring or request.unfamiliar > UNFAMILIAR[0]:
        return False
    subject = asked_words(request.text)
    if subject and asked is not None and atlas.known_share(E6, term_frequencies(subject), eligible) == 0:
        return True
    words = [term_frequencies(word) for name in find_names(request.text) for word in name.split()]
    if not words or not isinstance(asked, Sparse) or not all(np.isin(word.ids, asked.ids).all() for word in words):
        return False
    speakers = atlas.time_mentions.speakers(hints.words)
    if len(speakers) and atlas.time_mentions.speaker_scores(speakers, np.flatnonzero(eligible)).any():
        return False
    return not any(atlas.known_share(E6, word, eligible) == 1 for word in words)


def _lead(best: float, others: Scores) -> float:
    """Return how far the best similarity in E1 is from what is usual in its language (0) to identity (1).

    Args:
        best: Of the results.
        others: Of a sample of the memories, which may contain the best.
    """
    alike = np.sort(others)[:-1]
    alike = alike[alike >= SAME_LANGUAGE]
    seen = float(np.quantile(alike, USUAL)) if len(alike) else EXPECTED
    usual = (len(alike) * seen + EXPECTED_WEIGHT * EXPECTED) / (len(alike) + EXPECTED_WEIGHT)
    return (best - usual) / (1 - min(usual, 0.99))


def _confidence(probability: float) -> Confidence:
    if probability < _MODEL.uncertain:
        return Confidence.NOTHING
    return Confidence.CONFIDENT if probability >= _MODEL.confident else Confidence.UNCERTAIN


_MODEL: Final = msgspec.json.decode(FILE.read_bytes(), type=Model)

LEAST: Final = Relevance(probability=_MODEL.uncertain, confidence=Confidence.UNCERTAIN)
"""The least that is not `nothing`."""
