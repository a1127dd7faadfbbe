"""The weight of each view of a search: that of a fixed profile, or of `auto`, which measures the question.

A view is a space, or one of the further scores of E1. In `auto` its weight is softplus(bias + Σ effect · measurement),
where a measurement is centred, scaled and clipped: a smooth function of what is measured of a question among the
memories that recall found. `scripts/train/fusion.py` fits the numbers in `auto.json`.
"""

from collections.abc import Collection, Mapping
from math import exp, log1p
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta

from actors.comparator.messages import Search
from actors.comparator.messages.search import FIXED_PROFILES, Weights
from actors.comparator.search.fusion import IMAGES_ALONE, WORDING_AROUND, Candidates, Scale, space_of
from actors.runtime.settings import SearchProfile
from actors.runtime.types import JsonObject
from actors.text.queries.causal_questions import causal_subject
from events.fingerprint import Sparse
from events.spaces import E1, E2, E3, E4, E5, E6, E12, SPACES
from events.vocabulary.values import Modality
from projections.atlas.atlas import Atlas
from projections.spaces.lexical import term_frequencies
from projections.storage.arrays import Mask, Scores, top_k
from projections.time.periods import A_MONTH
from projections.time.time_mentions import QueryHints

FILE: Final = Path(__file__).with_name("auto.json")

Measurements = dict[str, float]

LIMIT: Final = 2.0
"""Deviations from the mean at which a measurement is clipped: an unknown kind of text must not lead to weights that no
known kind has."""

MEASURED: Final = (E1, E6)

NEAREST: Final = 32
"""Best candidates in E1, whose modality tells whether the question is about code."""
BEST: Final = 10
"""Best candidates of a space, whose mean distance from all others is its tail."""
SPOKEN: Final = 0.05
"""Share of the candidates said by those whom the question names from which on it surely asks what they said. The title
"Information: a review" begins like a line of a transcript, but few memories begin so."""

LEAST_SHARE: Final = 0.01
"""Share of the weights below which `auto` leaves a view out, which saves scoring it."""

IMAGE_FACTOR: Final = 4.0
"""Factor of the weight of what images show where only images are searched: their captions are short and alike, and
standardising would let small differences between them decide."""

SHARP_TIME_FACTOR: Final = 1.5
"""Factor of the weight of times where a question names a month, a day or less: fewer memories are of it than of a year,
so it tells more."""

NUMBER_FACTOR: Final = 3.0
"""Factor of the weight of words where a question names a number that few memories hold, as that of an issue: of 32 such
questions about minutes the right memory is first for 29 instead of 18."""
FEW_HOLDERS: Final = (8, 0.02)
"""Memories that hold a number at most to be few: so many, or that share of all eligible ones."""

KNOWN_SHARES: Final = (0.7, 1.0)
CAUSE_FACTORS: Final = (1.0, 0.3)
"""Factors of the weight of causes at these shares of the question's words in one memory. The memory that holds all of
them, or one near it, mostly tells why. E5 is for what shares no word with the event, and would rank others above."""


def weighted_views(request: Search) -> list[str]:
    """Return the views that a search may weigh: of the spaces for which the query has an embedding."""
    views = AUTO.views_for(request.hints) if request.profile is SearchProfile.AUTO else FIXED_PROFILES[request.profile]
    available = request.embeddings.keys() - request.without
    return [view for view in views if space_of(view) in available]


def applied_weights(atlas: Atlas, request: Search, eligible: Mask, candidates: Candidates) -> Weights:
    """Score the candidates by all weighted views but those of late interaction, and return the weight of each view.

    The weights sum to 1; a view without any score has none, and neither has one below `LEAST_SHARE` in `auto`.
    """
    views = weighted_views(request)
    if request.profile is SearchProfile.AUTO:
        weights = _auto_weights(atlas, request, eligible, candidates)
        least = LEAST_SHARE * sum(weights[view] for view in views)
        views = [view for view in views if weights[view] >= least]
    else:
        weights = FIXED_PROFILES[request.profile]
    candidates.score(view for view in views if space_of(view) != E12)
    silent = candidates.silent()
    return normalised({view: 0.0 if view in silent else weights[view] for view in views})


def _auto_weights(atlas: Atlas, request: Search, eligible: Mask, candidates: Candidates) -> Weights:
    """Return the weights of `auto` for a question, with the factors of what it names or searches."""
    candidates.score(MEASURED)
    measured = measure(atlas, request, eligible, candidates)
    weights = AUTO.weights(measured, request.hints)
    if not measured["session"]:
        weights[WORDING_AROUND] = 0.0
    if request.hints.direction is not None:
        share = _largest_known_share(atlas, request, candidates)
        weights[E5] *= float(np.interp(share, KNOWN_SHARES, CAUSE_FACTORS))
    if any(time.end - time.start <= A_MONTH for time in request.hints.intervals):
        weights[E2] *= SHARP_TIME_FACTOR
    if _names_rare_number(atlas, request, eligible):
        weights[E6] *= NUMBER_FACTOR
    if request.filter.modality is Modality.IMAGE:
        weights[IMAGES_ALONE] *= IMAGE_FACTOR
    return weights


def _largest_known_share(atlas: Atlas, request: Search, candidates: Candidates) -> float:
    """Return the largest share of the question's words that a candidate holds, in [0, 1].

    All words count alike: by their rarity in the whole store, the weight would tell what other namespaces hold.
    """
    words = request.embeddings.get(E6)
    if not isinstance(words, Sparse):
        return 0.0
    return float(atlas.coverage(E6, words, candidates.rows).max(initial=0.0))


def _names_rare_number(atlas: Atlas, request: Search, eligible: Mask) -> bool:
    """Return whether the question names a number that some memory holds, but only few."""
    terms = request.embeddings.get(E6)
    if not (request.hints.numbers and isinstance(terms, Sparse)):
        return False
    named = np.intersect1d(term_frequencies(" ".join(request.hints.numbers)).ids, terms.ids)
    holders = atlas.holders(E6, named, eligible)
    most = max(FEW_HOLDERS[0], FEW_HOLDERS[1] * np.count_nonzero(eligible))
    return bool(((holders > 0) & (holders <= most)).any())


def by_space(weights: Mapping[str, float], available: Collection[str]) -> Weights:
    """Return the weight of each space for which the query has an embedding: the sum of its views."""
    sums = {space.key: 0.0 for space in SPACES if space.key in available}
    for view, weight in weights.items():
        if (space := space_of(view)) in sums:
            sums[space] += weight
    return sums


def normalised(weights: Weights) -> Weights:
    """Return weights scaled to sum 1; unchanged if all are 0."""
    total = sum(weights.values()) or 1.0
    return {key: weight / total for key, weight in weights.items()}


def measure(atlas: Atlas, request: Search, eligible: Mask, candidates: Candidates) -> Measurements:
    """Measure a question and its candidates, which the spaces of `MEASURED` have scored.

    Only eligible rows are read: otherwise the weights would leak what other namespaces hold.
    """
    rows, e1, e6 = candidates.rows, candidates.scores(E1), candidates.scores(E6)
    e1_scale, e6_scale = candidates.scale(E1), candidates.scale(E6)
    nearest = top_k(e1, NEAREST)
    # A time in the question that is no candidate's, as those of a long description often are, tells none from another.
    intervals = request.hints.intervals
    terms = request.embeddings.get(E6)
    known = atlas.known_share(E6, terms, eligible) if isinstance(terms, Sparse) else 1.0
    speakers = atlas.time_mentions.speakers(request.hints.words)
    spoken = float(atlas.time_mentions.speaker_scores(speakers, rows).mean()) if len(speakers) else 0.0
    return {
        "event": float(causal_subject(request.text) != request.text),
        "time": float(atlas.time_mentions.time_scores(intervals, rows).max()) if intervals else 0.0,
        "speaker": min(1.0, spoken / SPOKEN),
        "unknown_word": float(known < 1),
        "unknown_share": 1 - known,
        "code": float(atlas.facets.is_code(rows[nearest]).mean()),
        "session": float(atlas.facets.in_session(rows).mean()),
        "passages": float((atlas.passage_counts(rows) > 0).mean()),
        "question_length": float(np.log1p(len(request.text.split()))),
        "memory_length": float(np.log1p(atlas.term_counts(rows)).mean()),
        "nearness": float(e1.max()),
        "agreement": _correlation(e1, e1_scale, e6, e6_scale),
        "e1_tail": _tail(e1[nearest[:BEST]], e1_scale),
        "e6_tail": _tail(e6[top_k(e6, BEST)], e6_scale),
    }


def _correlation(first: Scores, of_first: Scale, second: Scores, of_second: Scale) -> float:
    """Return Pearson's correlation of two spaces over the candidates; 0 where one does not differ."""
    spread = of_first.deviation * of_second.deviation
    return float(((first - of_first.mean) * (second - of_second.mean)).mean() / spread)


def _tail(best: Scores, of_all: Scale) -> float:
    """Return by how many standard deviations the best scores exceed the mean of all; 0 where none differ."""
    return float((best.mean() - of_all.mean) / of_all.deviation)


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The distribution of one measurement over the questions of the fit."""

    mean: float
    deviation: Annotated[float, Meta(gt=0)]


class View(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weight of one view: its bias, and the effect of each measurement."""

    bias: float
    effects: dict[str, float] = {}


class Ranker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `auto.json`."""

    provenance: JsonObject
    measurements: dict[str, Measured]
    views: dict[str, View]
    shares: dict[str, float]
    """Weight, relative to the sum of all others, of spaces that some questions ask for and no training set teaches."""

    def views_for(self, hints: QueryHints) -> list[str]:
        """Return the views that a question asks for."""
        asks = asked_spaces(hints)
        return [view for view in (*self.views, *self.shares) if asks.get(view, True)]

    def weights(self, measured: Measurements, hints: QueryHints) -> Weights:
        """Return the weight of each view that a question asks for (`KeyError`: a measurement is missing)."""
        scaled = {
            name: min(LIMIT, max(-LIMIT, (measured[name] - usual.mean) / usual.deviation))
            for name, usual in self.measurements.items()
        }
        weights = {
            key: softplus(view.bias + sum(effect * scaled[name] for name, effect in view.effects.items()))
            for key in self.views_for(hints)
            if (view := self.views.get(key)) is not None
        }
        total = sum(weights.values())
        return weights | {key: self.shares[key] * total for key in self.views_for(hints) if key in self.shares}


def asked_spaces(hints: QueryHints) -> dict[str, bool]:
    """Return for each space that only some questions ask for whether this one does."""
    return {
        E2: bool(hints.intervals),
        E3: bool(hints.recurring),
        E4: hints.start or hints.end,
        E5: hints.direction is not None,
    }


def softplus(value: float) -> float:
    """Return ln(1 + e^value)."""
    return max(0.0, value) + log1p(exp(-abs(value)))


AUTO: Final = msgspec.json.decode(FILE.read_bytes(), type=Ranker)
