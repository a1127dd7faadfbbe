"""Choose the weight of each view of a search: those of a fixed profile, or of `auto`, which measures the question."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

import numpy as np

from actors.comparator.messages import Search
from actors.comparator.messages.profiles import FIXED_PROFILES, Weights
from actors.comparator.search.fusion import SHOWN, WORDING_AROUND, Candidates, space_of
from actors.comparator.search.weights.measurements import MEASURED, measure
from actors.comparator.search.weights.ranker import AUTO
from actors.runtime.settings import SearchProfile
from events.fingerprint import Sparse
from events.spaces import E2, E5, E6, E12, SPACES
from events.vocabulary.values import Modality
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask

LEAST_SHARE: Final = 0.01
"""Share of the weights below which `auto` leaves a view out, which saves scoring it."""

AMONG_IMAGES: Final = 4.0
"""Factor of the weight of what images show where only images are searched: their captions are short and alike, and
standardising would let small differences between them decide."""

A_MONTH: Final = timedelta(days=31)
SHARP_TIME: Final = 1.5
"""Factor of the weight of times where a question names a month, a day or less: fewer memories are of it than of a year,
so it tells more."""

NAMED: Final = (0.7, 1.0)
SPARED: Final = (1.0, 0.3)
"""Factor of the weight of causes by the largest share of the words of the question that a memory holds. It, or one near
it, mostly tells why. E5 is for what shares no word with the event, and would rank others above."""


def weighted_views(request: Search) -> list[str]:
    """Return the views that a search may weigh: of the spaces for which the query has an embedding."""
    views = AUTO.asked(request.hints) if request.profile is SearchProfile.AUTO else FIXED_PROFILES[request.profile]
    available = request.embeddings.keys() - request.without
    return [view for view in views if space_of(view) in available]


def applied_weights(atlas: Atlas, request: Search, eligible: Mask, candidates: Candidates) -> Weights:
    """Score the candidates by all weighted views but those of late interaction, and return the weight of each view.

    The weights sum to 1; a view without any score has none, and neither has one below `LEAST_SHARE` in `auto`.
    """
    views = weighted_views(request)
    if request.profile is SearchProfile.AUTO:
        candidates.score(MEASURED)
        measured = measure(atlas, request, eligible, candidates)
        weights = AUTO.weights(measured, request.hints)
        if not measured["session"]:
            weights[WORDING_AROUND] = 0.0
        if request.hints.direction is not None:
            weights[E5] *= float(np.interp(_named(atlas, request, candidates), NAMED, SPARED))
        if any(time.end - time.start <= A_MONTH for time in request.hints.intervals):
            weights[E2] *= SHARP_TIME
        if request.filter.modality is Modality.IMAGE:
            weights[SHOWN] *= AMONG_IMAGES
        least = LEAST_SHARE * sum(weights[view] for view in views)
        views = [view for view in views if weights[view] >= least]
    else:
        weights = FIXED_PROFILES[request.profile]
    candidates.score(view for view in views if space_of(view) != E12)
    silent = candidates.silent()
    return normalised({view: 0.0 if view in silent else weights[view] for view in views})


def _named(atlas: Atlas, request: Search, candidates: Candidates) -> float:
    """Return the largest share of the question's words that a candidate holds, in [0, 1].

    All words count alike: by their rarity in the whole store, the weight would tell what other namespaces hold.
    """
    words = request.embeddings.get(E6)
    if not isinstance(words, Sparse):
        return 0.0
    return float(atlas.coverage(E6, words, candidates.rows).max(initial=0.0))


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
