"""Operations on the graph: paths between memories, and what a memory is connected with."""

from __future__ import annotations

from itertools import product
from uuid import UUID

from actors.api.context import Context, append, check_live, describe, wait_until_ready, wait_until_replayed
from actors.api.operations.retrieval.query import parse_query, search
from actors.api.params.fields import EVERYWHERE
from actors.api.params.mind import FindCausalPath, GetNeighborhood
from actors.api.responses.common import body_of
from actors.api.responses.retrieval import graph
from actors.api.responses.retrieval.graph import End
from actors.comparator.messages import FindNeighbourhood, FindPaths
from actors.comparator.messages.graph import Ways
from actors.linker.messages import LinkCauses
from actors.runtime.ask import MODEL_TIMEOUT, ask
from actors.runtime.faults import NotFoundFault
from actors.runtime.settings import SearchProfile
from actors.runtime.types import JsonObject
from events.vocabulary import LinksTraversed

ALTERNATIVES = 3
"""Further paths that are shown on request."""

FOUND_ENDS = 3
"""Memories that words for one end may mean: of these, the best found pair that a path joins is chosen."""

MAX_EXAMINED = 2_000
"""Memories that a request has examined for causes first; what an earlier version stored waits for a deep run."""


async def find_causal_path(context: Context, params: FindCausalPath) -> JsonObject:
    """Find the most confident path from one memory to another; the path that is shown counts as traversed."""
    starts = await _resolve(context, params.start_concept, "start_concept", params.namespace)
    ends = await _resolve(context, params.end_concept, "end_concept", params.namespace)
    if context.hub.linker is not None:
        examined = context.one_or_all(params.namespace)
        await ask(context.hub.linker, LinkCauses(namespace=examined, limit=MAX_EXAMINED), MODEL_TIMEOUT)
    ends_found, ways = await _best_ways(context, params, starts, ends)
    start, end = (found.memory for found in ends_found.values())
    shown = {start, end} if not ways.paths else {memory for path in ways.paths for memory in path.memories}
    texts = {entry.id: entry.body.text for entry in await describe(context, *shown) if entry.body}
    if gone := next((memory for memory in shown if memory not in texts), None):
        raise NotFoundFault(f"Memory was erased or merged meanwhile: {gone}", id=str(gone))
    if ways.paths and ways.paths[0].edges:
        await append(context, LinksTraversed(steps=tuple(edge.step for edge in ways.paths[0].edges)))
    return graph.path(ways, texts, ends_found)


async def _best_ways(
    context: Context, params: FindCausalPath, starts: list[End], ends: list[End]
) -> tuple[dict[str, End], Ways]:
    """Return the best found pair of ends that a path joins, with the paths; the very best pair if none is joined.

    Words for both ends may find one memory first. Two different ones are tried before it.
    """
    pairs = sorted(
        product(starts, ends),
        key=lambda pair: (pair[0].memory == pair[1].memory, starts.index(pair[0]) + ends.index(pair[1])),
    )
    complete = True
    for start, end in pairs:
        ways = await ask(
            context.hub.comparator,
            FindPaths(
                start=start.memory,
                end=end.memory,
                namespace=None if params.namespace == EVERYWHERE else params.namespace,
                max_hops=params.max_hops,
                kind=params.path_type,
                alternatives=ALTERNATIVES if params.include_alternatives else 0,
            ),
        )
        if ways.paths:
            return {"start": start, "end": end}, ways
        complete &= ways.complete
    return {"start": starts[0], "end": ends[0]}, Ways(paths=(), complete=complete)


async def get_neighborhood(context: Context, params: GetNeighborhood) -> JsonObject:
    """Return what a memory is connected with."""
    await wait_until_replayed(context)
    (centre,) = await describe(context, params.id)
    check_live(centre)
    namespace = body_of(centre).namespace
    wanted = FindNeighbourhood(memory=centre.id, namespace=namespace, depth=params.depth, limit=params.limit)
    reached = await ask(context.hub.comparator, wanted)
    entries = await describe(context, *(one.memory for one in reached))
    found = [(one, entry) for one, entry in zip(reached, entries, strict=True) if entry.body]
    return graph.neighbourhood(centre, [one for one, _ in found], [entry for _, entry in found])


async def _resolve(context: Context, concept: str, parameter: str, namespace: str | None) -> list[End]:
    """Return the memory with this id, or the first that a search finds, each with how similar it is."""
    try:
        memory = UUID(concept)
    except ValueError:
        return await _search(context, concept, parameter, namespace)
    await wait_until_replayed(context)
    (entry,) = await describe(context, memory)
    check_live(entry)
    if namespace not in {None, EVERYWHERE, body_of(entry).namespace}:
        raise NotFoundFault(f"Memory isn't in namespace {namespace}: {memory}", id=str(memory), parameter=parameter)
    return [End(entry.id)]


async def _search(context: Context, text: str, parameter: str, namespace: str | None) -> list[End]:
    await wait_until_ready(context)
    query = await parse_query(context, text, context.now(), context.searched(namespace))
    found = await search(context, query, SearchProfile.SEMANTIC_SEARCH, limit=FOUND_ENDS, primed={})
    if not found.hits:
        raise NotFoundFault(f"No memory is found by '{parameter}'", parameter=parameter)
    confidence = found.relevance and found.relevance.confidence
    return [End(hit.memory, hit.similarity, confidence) for hit in found.hits]
