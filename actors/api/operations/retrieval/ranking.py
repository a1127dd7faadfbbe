"""Rankings of all memories by exactly what was asked: weights, one space, several spaces, a purpose."""

from time import perf_counter

from actors.api.answers import alignment, content_fields, rounded
from actors.api.context import Context, wait_until_ready
from actors.api.operations.retrieval.query import Query, parse_query
from actors.api.operations.retrieval.search import (
    TOP_SPACES,
    live_memories,
    milliseconds_since,
    reaches,
    record_recall,
    relevance_of,
)
from actors.api.params import embeddings
from actors.api.params.search import (
    MemorySearchMultiPerspective,
    SearchByPurpose,
    SearchMulti,
    SearchSingleSpace,
    SearchWeightProfiles,
)
from actors.comparator.messages import Match, Rank, RankByPerspectives, RankByPurpose, Ranked
from actors.comparator.messages.search import FIXED_PROFILES, Weights
from actors.runtime.ask import ask
from actors.runtime.settings import Confidence, SearchProfile
from actors.runtime.types import JsonObject
from events.spaces import INDEX, SPACES
from projections.memories.entries import Entry
from projections.time.time_mentions import NO_HINTS

NO_PURPOSE = (
    "No memory has such a purpose: memories have one once discover_goals has chosen the North Star of their namespace"
)
PRIMARY = 0.15
"""Weight above which a space is one of the primary spaces of its profile."""


async def search_multi(context: Context, params: SearchMulti) -> JsonObject:
    asked_at = context.parse_time(params.asked_at, "asked_at")
    await wait_until_ready(context)
    start = perf_counter()
    wanted = context.search_filter(params.namespace, params.session)
    if params.weights is not None:
        applied = dict(zip(INDEX, params.weights, strict=True))
    else:
        applied = FIXED_PROFILES[SearchProfile(params.query_type.value)]
    active = {SPACES[index].key for index in params.active_spaces or range(len(SPACES))}
    weights = {key: weight for key, weight in applied.items() if key in active and weight > 0}
    if isinstance(params.query, str):
        query = await parse_query(context, params.query, asked_at, wanted)
    else:
        given = embeddings.decode_query(params.query, weights, context.state.dimensions)
        query = Query("", NO_HINTS, given, wanted, asked_at)
    weights = {key: weight for key, weight in weights.items() if key in query.embeddings}
    if not weights:
        raise embeddings.no_embedding("active_spaces", active)
    shown = tuple(query.embeddings.keys() & active) if params.include_per_embedder_scores else ()
    found, matches = await _rank_by_weights(context, query, weights, params, shown)
    return {
        "results": [_weighted_match(match, entry, weights, params) for match, entry in matches],
        "query_metadata": {
            "query_type_used": params.query_type.value,
            "weights_applied": [0.0 if key in found.silent else weights.get(key, 0.0) for key in INDEX],
            "spaces_searched": len(weights.keys() - found.silent),
            "total_candidates_scanned": found.scanned,
            "search_time_ms": milliseconds_since(start),
        },
        **relevance_of(found.relevance),
    }


async def search_single_space(context: Context, params: SearchSingleSpace) -> JsonObject:
    asked_at = context.parse_time(params.asked_at, "asked_at")
    await wait_until_ready(context)
    start = perf_counter()
    wanted = context.search_filter(params.namespace, params.session)
    space = SPACES[params.space_index]
    if params.query is not None:
        query = await parse_query(context, params.query, asked_at, wanted)
        if space.key not in query.embeddings:
            raise embeddings.no_embedding("space_index", {space.key})
    else:
        dimension = context.state.dimensions[space.key]
        given = embeddings.decode(space, params.query_embedding, dimension, "query_embedding")
        query = Query("", NO_HINTS, {space.key: given}, wanted, asked_at)
    found, matches = await _rank_by_weights(context, query, {space.key: 1.0}, params)
    return {
        "results": [_match(match, entry) for match, entry in matches],
        "space_index": params.space_index,
        "space_name": space.key,
        **relevance_of(found.relevance),
        "total_candidates_scanned": found.scanned,
        "search_time_ms": milliseconds_since(start),
    }


async def memory_search_multi_perspective(context: Context, params: MemorySearchMultiPerspective) -> JsonObject:
    asked_at = context.parse_time(params.asked_at, "asked_at")
    await wait_until_ready(context)
    start = perf_counter()
    wanted = context.search_filter(params.namespace, params.session)
    query = await parse_query(context, params.query, asked_at, wanted)
    if params.perspectives is None:
        keys = tuple(space.key for space in SPACES if space.key in query.embeddings)
    else:
        keys = tuple(SPACES[index].key for index in params.perspectives)
        if unanswered := {*keys} - query.embeddings.keys():
            raise embeddings.no_embedding("perspectives", unanswered)
    found, matches = await _rank(
        context,
        RankByPerspectives(
            embeddings=query.embeddings,
            unfamiliar=query.unfamiliar,
            keys=keys,
            direction=query.hints.direction,
            filter=wanted,
            limit=params.top_k,
            min_similarity=params.min_similarity,
            k=params.fusion_k,
        ),
        params.min_confidence,
    )
    record_recall(context, query, [match.memory for match, _ in matches], dict.fromkeys(keys, 1 / len(keys)))
    return {
        "results": [
            {
                "memoryId": str(match.memory),
                "rrfScore": match.similarity,
                "perspectiveScores": {key: rounded(score) for key, score in match.spaces.items()},
                "perspectiveRanks": match.ranks,
                **content_fields(entry),
            }
            for match, entry in matches
        ],
        "perspectives": [INDEX[key] for key in keys],
        "fusionK": params.fusion_k,
        **relevance_of(found.relevance),
        "queryLatencyMs": milliseconds_since(start),
    }


async def search_by_purpose(context: Context, params: SearchByPurpose) -> JsonObject:
    start = perf_counter()
    found, matches = await _rank(
        context,
        RankByPurpose(
            purpose=params.purpose,
            filter=context.search_filter(params.namespace),
            limit=params.top_k,
            min_similarity=params.min_similarity,
        ),
    )
    return {
        "results": [_match(match, entry) | {"purpose_alignment": alignment(entry)} for match, entry in matches],
        **({} if matches else {"hint": NO_PURPOSE}),
        "total_candidates_scanned": found.scanned,
        "search_time_ms": milliseconds_since(start),
    }


async def search_weight_profiles(_context: Context, _params: SearchWeightProfiles) -> JsonObject:
    return {
        "profiles": [
            {
                "query_type": profile.value,
                "weights": list(weights.values()),
                "primary_spaces": [key for key, weight in weights.items() if weight > PRIMARY],
            }
            for profile, weights in FIXED_PROFILES.items()
        ],
        "spaces": [space.key for space in SPACES],
    }


async def _rank_by_weights(
    context: Context,
    query: Query,
    weights: Weights,
    params: SearchMulti | SearchSingleSpace,
    shown: tuple[str, ...] = (),
) -> tuple[Ranked, list[tuple[Match, Entry]]]:
    """Rank for a query; record the recall if it was asked in words."""
    message = Rank(
        embeddings=query.embeddings,
        unfamiliar=query.unfamiliar,
        weights=weights,
        shown=shown,
        direction=query.hints.direction,
        filter=query.filter,
        limit=params.top_k,
        min_similarity=params.min_similarity,
    )
    found, matches = await _rank(context, message, params.min_confidence)
    if isinstance(params.query, str):
        record_recall(context, query, [match.memory for match, _ in matches], weights)
    return found, matches


async def _rank(
    context: Context, message: Rank | RankByPerspectives | RankByPurpose, least: Confidence = Confidence.NOTHING
) -> tuple[Ranked, list[tuple[Match, Entry]]]:
    """Return a ranking and its live memories, none if its relevance doesn't reach `least`.

    The actors that work in the background are told, since a query aborts a dream.
    """
    context.hub.announce_query()
    found = await ask(context.hub.comparator, message)
    return found, await live_memories(context, found.matches if reaches(found.relevance, least) else ())


def _match(found: Match, entry: Entry) -> JsonObject:
    return {"id": str(found.memory), "similarity": found.similarity, **content_fields(entry)}


def _weighted_match(found: Match, entry: Entry, weights: Weights, params: SearchMulti) -> JsonObject:
    known = {key: weight for key, weight in weights.items() if key in found.spaces}
    total = sum(known.values())
    parts = sorted(((weight / total * found.spaces[key], key) for key, weight in known.items()), reverse=True)
    answer: JsonObject = {
        "id": str(found.memory),
        "aggregate_similarity": found.similarity,
        "top_contributing_spaces": [
            {"space_index": INDEX[key], "space_name": key, "weighted_contribution": part}
            for part, key in parts[:TOP_SPACES]
        ],
        **content_fields(entry),
    }
    if params.include_per_embedder_scores:
        answer["per_embedder_scores"] = {space.key: found.spaces.get(space.key) for space in SPACES}
    if params.include_purpose_alignment:
        answer["purpose_alignment"] = alignment(entry)
    return answer
