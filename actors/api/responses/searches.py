"""Answers of searches and comparisons: what was found, how alike it is, and which spaces say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.api.responses.memories import alignment, rounded, shown
from events.spaces import INDEX, SPACES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from actors.comparator.messages import Comparison, Found, Hit, Match
    from projections.memories.entries import Entry

TOP_SPACES = 3
"""Spaces that a result names as those which found it (seed 002)."""


def result(hit: Hit, entry: Entry, *, explain: bool) -> dict[str, Any]:
    """Return one result of a search: what was found, and which spaces found it."""
    ranked = list(hit.spaces.items())
    answer: dict[str, Any] = {
        "fingerprintId": str(hit.memory),
        **shown(entry, *(hit.passage or (0, None))),
        "similarity": rounded(hit.similarity),
        "score": rounded(hit.score),
        "dominantEmbedder": ranked[0][0],
        "topSpaces": [
            {"space": key, "similarity": rounded(space.similarity), "contribution": rounded(space.contribution)}
            for key, space in ranked[:TOP_SPACES]
        ],
        "purposeAlignment": alignment(entry),
    }
    if explain:
        answer["embedderScores"] = {space.key: None for space in SPACES} | {
            key: rounded(space.similarity) for key, space in ranked
        }
        answer["contributions"] = {key: rounded(space.contribution) for key, space in ranked} | {
            "context": rounded(hit.context),
            "priming": rounded(hit.priming),
            "renewal": rounded(hit.renewal),
        }
        if hit.alignment is not None:
            answer["contributions"]["alignment"] = rounded(hit.alignment)
    return answer


def explanation(found: Found) -> dict[str, Any]:
    """Return how a search went: the weights that were applied, and what each stage let through."""
    return {
        "weightsApplied": {key: rounded(weight) for key, weight in found.weights.items()},
        "stages": [
            {"name": stage.name, "candidates": stage.candidates, "milliseconds": round(stage.milliseconds, 2)}
            | ({"skipped": True} if stage.skipped else {})
            for stage in found.stages
        ],
    }


def match(found: Match, entry: Entry) -> dict[str, Any]:
    """Return one result of a search that has a single figure for each."""
    return {"id": str(found.memory), "similarity": found.similarity, **shown(entry)}


def weighed(
    found: Match, entry: Entry, weights: Mapping[str, float], *, scores: bool, alignment_too: bool
) -> dict[str, Any]:
    """Return one result of `search/multi` (seed 002)."""
    total = sum(weights.values())
    parts = sorted(((weight / total * found.spaces[key], key) for key, weight in weights.items()), reverse=True)
    answer: dict[str, Any] = {
        "id": str(found.memory),
        "aggregate_similarity": found.similarity,
        "top_contributing_spaces": [
            {"space_index": INDEX[key], "space_name": key, "weighted_contribution": part}
            for part, key in parts[:TOP_SPACES]
        ],
        **shown(entry),
    }
    if scores:
        answer["per_embedder_scores"] = {space.key: found.spaces.get(space.key) for space in SPACES}
    if alignment_too:
        answer["purpose_alignment"] = alignment(entry)
    return answer


def fused(found: Match, entry: Entry) -> dict[str, Any]:
    """Return one result of a search by several perspectives (facts 7.3)."""
    return {
        "memoryId": str(found.memory),
        "rrfScore": found.similarity,
        "perspectiveScores": {key: rounded(score) for key, score in found.spaces.items()},
        "perspectiveRanks": found.ranks,
        **shown(entry),
    }


def comparison(found: Comparison, *, per_embedder: bool) -> dict[str, Any]:
    """Return what `memory/compare` answers (seed 000)."""
    answer: dict[str, Any] = {
        "overall_similarity": found.similarity,
        "coherence": found.coherence,
        "dominant_embedder": found.dominant,
    }
    return answer | ({"per_embedder": list(found.spaces)} if per_embedder else {})


def ranked_comparison(target: UUID, rank: int, found: Comparison, *, per_embedder: bool) -> dict[str, Any]:
    """Return one line of what `memory/batch_compare` answers."""
    answer: dict[str, Any] = {
        "target": str(target),
        "rank": rank,
        "similarity": found.similarity,
        "coherence": found.coherence,
        "dominantEmbedder": found.dominant,
    }
    return answer | ({"perEmbedder": list(found.spaces)} if per_embedder else {})
