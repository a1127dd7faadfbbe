"""Answers of searches and comparisons."""

from collections.abc import Collection, Mapping
from uuid import UUID

from actors.api.responses.common import alignment, body_of, rounded, shown
from actors.comparator.messages import Comparison, Found, Hit, Match, Relevance
from actors.runtime.types import JsonObject
from actors.text.passages import best_part, grown_to_borders
from events.spaces import INDEX, SPACES
from projections.memories.catalog import Entry

TOP_SPACES = 3
"""Spaces that a result names as the ones that found it."""


def result(terms: Collection[str], hit: Hit, entry: Entry, max_characters: int, *, explain: bool) -> JsonObject:
    """Return one result of `search_graph`; of a longer memory the part that answers a question of these terms best."""
    ranked = list(hit.spaces.items())
    text = body_of(entry).text
    part = (0, len(text))
    if hit.passage and len(text) > max_characters:
        part = grown_to_borders(text, *hit.passage)
    part = best_part(terms, text, *part, max_characters)
    answer: JsonObject = {
        "fingerprintId": str(hit.memory),
        **shown(entry, *part),
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
        answer["embedderScores"] = dict.fromkeys(INDEX) | {key: rounded(space.similarity) for key, space in ranked}
        answer["contributions"] = {key: rounded(space.contribution) for key, space in ranked} | {
            name: rounded(getattr(hit, name)) for name in ("context", "priming", "renewal", "causes")
        }
        if hit.scope:
            answer["contributions"]["scope"] = rounded(hit.scope)
        if hit.alignment is not None:
            answer["contributions"]["alignment"] = rounded(hit.alignment)
    return answer


def explanation(found: Found) -> JsonObject:
    """Return the applied weights, and the candidates and duration of each stage."""
    return {
        "weightsApplied": {key: rounded(weight) for key, weight in found.weights.items()},
        "stages": [
            {"name": stage.name, "candidates": stage.candidates, "milliseconds": round(stage.milliseconds, 2)}
            | ({"skipped": True} if stage.skipped else {})
            for stage in found.stages
        ],
    }


def relevance(found: Relevance | None) -> JsonObject:
    """Return how sure a search is that its results bear on the query; nothing where it can't tell."""
    return {} if found is None else {"confidence": found.confidence.value, "relevance": rounded(found.probability)}


def match(found: Match, entry: Entry) -> JsonObject:
    """Return one result of `search_single_space` or `search_by_purpose`."""
    return {"id": str(found.memory), "similarity": found.similarity, **shown(entry)}


def weighted_match(
    found: Match, entry: Entry, weights: Mapping[str, float], *, scores: bool, alignment_too: bool
) -> JsonObject:
    """Return one result of `search_multi`."""
    heard = {key: weight for key, weight in weights.items() if key in found.spaces}
    total = sum(heard.values())
    parts = sorted(((weight / total * found.spaces[key], key) for key, weight in heard.items()), reverse=True)
    answer: JsonObject = {
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


def fused_match(found: Match, entry: Entry) -> JsonObject:
    """Return one result of `memory_search_multi_perspective`."""
    return {
        "memoryId": str(found.memory),
        "rrfScore": found.similarity,
        "perspectiveScores": {key: rounded(score) for key, score in found.spaces.items()},
        "perspectiveRanks": found.ranks,
        **shown(entry),
    }


def comparison(found: Comparison, *, per_embedder: bool) -> JsonObject:
    """Return the answer of `memory_compare`."""
    answer: JsonObject = {
        "overall_similarity": found.similarity,
        "coherence": found.coherence,
        "dominant_embedder": found.dominant,
    }
    return answer | ({"per_embedder": list(found.spaces)} if per_embedder else {})


def ranked_comparison(target: UUID, rank: int, found: Comparison, *, per_embedder: bool) -> JsonObject:
    """Return one row of the answer of `memory_batch_compare`."""
    answer: JsonObject = {
        "target": str(target),
        "rank": rank,
        "similarity": found.similarity,
        "coherence": found.coherence,
        "dominantEmbedder": found.dominant,
    }
    return answer | ({"perEmbedder": list(found.spaces)} if per_embedder else {})
