"""Search by the five stages, page by page, within a budget of tokens."""

import hashlib
from collections.abc import Collection
from time import perf_counter
from typing import NamedTuple, TypeVar
from uuid import UUID

import msgspec

from actors.api.answers import alignment, body_of, content_fields, rounded
from actors.api.context import Context, describe, wait_until_ready
from actors.api.operations.retrieval import pagination
from actors.api.operations.retrieval.query import Query, parse_query, respell, search
from actors.api.operations.retrieval.restated import COMPARED, asks_for_one_version, find_restated
from actors.api.params.fields import MAX_EXCERPT
from actors.api.params.parsing import invalid, moment
from actors.api.params.search import MemorySearch, SearchGraph
from actors.comparator.messages import Found, Hit, Match, Relevance
from actors.comparator.messages.search import Weights, pool_size
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from actors.store.messages import Append
from actors.text.passages import best_part, grown_to_borders, question_terms
from actors.workspace.messages import QueryAnswered
from events.spaces import INDEX, SEMANTIC, SPACES
from events.vocabulary import MemoryRecalled
from projections.atlas.facets import Filter
from projections.memories.catalog import Entry
from projections.projection import MemoryState

TOP_SPACES = 3
"""Spaces that a result names as the ones that found it."""
F = TypeVar("F", Hit, Match)


async def search_graph(context: Context, params: SearchGraph) -> JsonObject:
    """Find memories for a question by the five stages, page by page, within a budget of tokens."""
    if params.cursor:
        page = pagination.decode_cursor(params.cursor, params, context.as_of)
    else:
        asked_at = context.parse_time(params.asked_at, "asked_at")
        page = pagination.first_page(params, pool_size(params.top_k), asked_at, context.as_of)
    since, until = params.said_between
    wanted = msgspec.structs.replace(
        context.search_filter(params.namespace, params.session),
        speaker=params.speaker,
        modality=params.modality,
        quadrant=params.quadrant,
        tags=params.tags,
        since=since,
        until=until,
    )
    await wait_until_ready(context)
    start = perf_counter()
    query, found, hits = await _find_page(context, params, page, wanted)
    if not reaches(found.relevance, params.min_confidence):
        found, hits = msgspec.structs.replace(found, hits=(), more=False), []
    length = params.max_characters or MAX_EXCERPT
    terms = question_terms(query.text)
    results = [_result(terms, hit, entry, length, explain=params.explain) for hit, entry in hits]
    answer: JsonObject = {"profile": found.profile.value, **relevance_of(found.relevance)}
    if query.hints.kind:
        answer["read_as"] = ", ".join(query.hints.subject.split())
    elif query.text != params.query:
        answer["read_as"] = query.text
    if params.explain:
        answer |= _explanation(found)
    fitting = results
    if params.max_tokens is not None:
        fitting = pagination.fit(results, params.max_tokens - pagination.tokens(answer) - pagination.FRAME)
    is_cut = len(fitting) < len(results)
    if found.more or is_cut:
        answer["next_cursor"] = _next_cursor(page, found, len(fitting) if is_cut else len(found.hits))
    record_recall(context, query, [hit.memory for hit, _ in hits[: len(fitting)]], found.weights)
    return {"results": fitting, "count": len(fitting)} | answer | {"queryLatencyMs": milliseconds_since(start)}


class _Results(NamedTuple):
    """What was found for a query, with the catalog entries of the hits that are live."""

    query: Query
    found: Found
    hits: list[tuple[Hit, Entry]]


async def _find_page(context: Context, params: SearchGraph, page: pagination.Page, wanted: Filter) -> _Results:
    """Search for one page; with a misspelt word replaced if that alone finds what bears on the query."""
    query = await parse_query(context, params.query, moment(page.asked_at, "cursor"), wanted)
    results = await _search_page(context, params, page, query)
    if not _is_relevant(results.found) and (text := await respell(context, query)):
        respelt_query = await parse_query(context, text, query.asked_at, wanted)
        respelt = await _search_page(context, params, page, respelt_query)
        if _is_relevant(respelt.found):
            return respelt
    return results


async def _search_page(context: Context, params: SearchGraph, page: pagination.Page, query: Query) -> _Results:
    """Search for a page; a second time if of two statements of one value the query asks for the lower one."""

    async def ranked(limit: int, primed: dict[UUID, float] | None, restated: dict[UUID, UUID]) -> _Results:
        found = await search(
            context,
            query,
            params.profile,
            limit,
            page.pool,
            offset=page.offset,
            stored=page.stored,
            min_similarity=params.min_similarity,
            min_alignment=params.min_alignment,
            include_alignment=params.include_purpose_alignment,
            include_superseded=params.include_superseded,
            primed=primed,
            restated=restated,
        )
        return _Results(query, found, await live_memories(context, found.hits))

    if page.restated is not None or not asks_for_one_version(query):
        return await ranked(params.top_k, page.primed, page.restated or {})
    results = await ranked(max(params.top_k, COMPARED), page.primed, {})
    if restated := find_restated(query, results.hits[:COMPARED]):
        return await ranked(params.top_k, results.found.primed, restated)
    return _cut(results, params.top_k)


def _cut(results: _Results, count: int) -> _Results:
    hits, left = results.found.hits[:count], results.found.hits[count:]
    found = msgspec.structs.replace(results.found, hits=hits, more=results.found.more or bool(left))
    kept = {hit.memory for hit in hits}
    return _Results(results.query, found, [one for one in results.hits if one[0].memory in kept])


def _is_relevant(found: Found) -> bool:
    """Tell whether what was found may bear on the query; true where its relevance is unknown."""
    return found.relevance is None or found.relevance.confidence is not Confidence.NOTHING


async def memory_search(context: Context, params: MemorySearch) -> JsonObject:
    """Find memories as `search_graph`, by default with the score of every space."""
    return await search_graph(context, params)


async def live_memories(context: Context, found: tuple[F, ...]) -> list[tuple[F, Entry]]:
    """Return found memories with their catalog entries, without those that were deleted since."""
    entries = await describe(context, *(one.memory for one in found))
    return [(one, entry) for one, entry in zip(found, entries, strict=True) if entry.state is MemoryState.LIVE]


def reaches(relevance: Relevance | None, least: Confidence) -> bool:
    """Tell whether an answer is as relevant as was asked for (`InvalidParamsFault` if its relevance is unknown)."""
    if least is Confidence.NOTHING:
        return True
    if relevance is None:
        problem = (
            "the relevance of an answer is known for queries of text, with the embedded models, or with a chosen one "
            "that `context-graph calibrate` has calibrated, and not among images alone"
        )
        raise invalid("min_confidence", problem)
    order = list(Confidence)
    return order.index(relevance.confidence) >= order.index(least)


def record_recall(context: Context, query: Query, found: list[UUID], weights: Weights) -> None:
    """Log what an answer contained, and make the query the focus of the workspace; the answer waits for neither.

    The focus is compared in the spaces of meaning, and in those of time that weigh at least their share. A query of a
    past state of the store leaves no trace.
    """
    if context.as_of is not None or not context.traced:
        return
    if found:
        event = MemoryRecalled(memories=tuple(found), query_sha256=hashlib.sha256(query.text.encode()).digest())
        context.hub.store.tell(Append.of([event], context.actor))
    keys = frozenset({*SEMANTIC, *(key for key, weight in weights.items() if weight >= 1 / len(SPACES))})
    context.hub.workspace.tell(
        QueryAnswered(
            text=query.text,
            embeddings=query.embeddings,
            keys=keys,
            namespace=query.filter.namespace,
            results=tuple(found),
        )
    )


def milliseconds_since(start: float) -> float:
    """Return the milliseconds since a time of `perf_counter`."""
    return round((perf_counter() - start) * 1e3, 2)


def _next_cursor(page: pagination.Page, found: Found, shown: int) -> str:
    return pagination.encode_cursor(
        msgspec.structs.replace(
            page,
            offset=page.offset + shown,
            stored=found.stored if page.stored is None else page.stored,
            primed=found.primed,
            restated=found.restated,
        )
    )


def relevance_of(found: Relevance | None) -> JsonObject:
    """Return the fields of an answer's relevance; none where it is unknown."""
    return {} if found is None else {"confidence": found.confidence.value, "relevance": rounded(found.probability)}


def _result(terms: Collection[str], hit: Hit, entry: Entry, max_characters: int, *, explain: bool) -> JsonObject:
    """Return one result of `search_graph`; of a longer memory the part that answers a question of these terms best."""
    ranked = list(hit.spaces.items())
    text = body_of(entry).text
    part = (0, len(text))
    if hit.passage and len(text) > max_characters:
        part = grown_to_borders(text, *hit.passage)
    part = best_part(terms, text, *part, max_characters)
    answer: JsonObject = {
        "fingerprintId": str(hit.memory),
        **content_fields(entry, *part),
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


def _explanation(found: Found) -> JsonObject:
    return {
        "weightsApplied": {key: rounded(weight) for key, weight in found.weights.items()},
        "stages": [
            {"name": stage.name, "candidates": stage.candidates, "milliseconds": round(stage.milliseconds, 2)}
            | ({"skipped": True} if stage.skipped else {})
            for stage in found.stages
        ],
    }
