"""Choose the weight of each view of a search: those of a fixed profile, or of `auto`, which measures the question."""

from collections.abc import Collection, Mapping

from actors.comparator.messages import Search
from actors.comparator.messages.profiles import FIXED_PROFILES, Weights
from actors.comparator.search.fusion import Candidates, space_of
from actors.comparator.search.measurements import measure
from actors.comparator.search.ranker import AUTO
from actors.runtime.settings import SearchProfile
from events.spaces import SPACES
from projections.memories.atlas import Atlas
from projections.storage.arrays import Mask


def weighted_views(request: Search) -> list[str]:
    """Return the views that a search may weigh: of the spaces for which the query has an embedding."""
    views = AUTO.asked(request.hints) if request.profile is SearchProfile.AUTO else FIXED_PROFILES[request.profile]
    available = request.embeddings.keys() - request.without
    return [view for view in views if space_of(view) in available]


def applied_weights(atlas: Atlas, request: Search, eligible: Mask, candidates: Candidates) -> Weights:
    """Return the weight of each view; they sum to 1, and one without any score has none.

    Args:
        atlas: The atlas of the rows.
        request: The parsed query.
        eligible: The rows that the search admits.
        candidates: The recalled rows, scored by all views but late interaction.
    """
    if request.profile is SearchProfile.AUTO:
        weights = AUTO.weights(measure(atlas, request, eligible, candidates), request.hints)
    else:
        weights = FIXED_PROFILES[request.profile]
    silent = candidates.silent()
    return normalised({view: 0.0 if view in silent else weights[view] for view in weighted_views(request)})


def by_space(weights: Mapping[str, float], available: Collection[str]) -> Weights:
    """Return the weight of each space for which the query has an embedding: the sum of its views."""
    return {
        space.key: sum(weight for view, weight in weights.items() if space_of(view) == space.key)
        for space in SPACES
        if space.key in available
    }


def normalised(weights: Weights) -> Weights:
    """Return weights scaled to sum 1; unchanged if all are 0."""
    total = sum(weights.values()) or 1.0
    return {key: weight / total for key, weight in weights.items()}
