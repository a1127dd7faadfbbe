"""Operations on the graph: paths between memories, and what a memory is connected with."""

from __future__ import annotations

from uuid import UUID

from actors.api.context import Context, append, check_live, describe, wait_until_ready, wait_until_replayed
from actors.api.operations.retrieval.query import parse_query, search
from actors.api.params.mind import FindCausalPath, GetNeighborhood
from actors.api.responses import graph
from actors.api.responses.common import body_of
from actors.comparator.messages import FindNeighbourhood, FindPaths
from actors.runtime.ask import ask
from actors.runtime.faults import NotFoundFault
from actors.runtime.settings import SearchProfile
from actors.runtime.types import JsonObject
from events.vocabulary import LinksTraversed
from projections.memories.facets import Filter

ALTERNATIVES = 3
"""Further paths that are shown on request."""


async def find_causal_path(context: Context, params: FindCausalPath) -> JsonObject:
    """Find the most confident path from one memory to another; the path that is shown counts as traversed."""
    ends_found = {
        "start": await _resolve(context, params.start_concept, "start_concept", params.namespace),
        "end": await _resolve(context, params.end_concept, "end_concept", params.namespace),
    }
    (start, _), (end, _) = ends_found.values()
    ways = await ask(
        context.hub.comparator,
        FindPaths(
            start=start,
            end=end,
            namespace=params.namespace,
            max_hops=params.max_hops,
            kind=params.path_type,
            alternatives=ALTERNATIVES if params.include_alternatives else 0,
        ),
    )
    ends = {start, end} if not ways.paths else {memory for path in ways.paths for memory in path.memories}
    texts = {entry.id: entry.body.text for entry in await describe(context, *ends) if entry.body}
    if gone := next((memory for memory in ends if memory not in texts), None):
        raise NotFoundFault(f"Memory was erased or merged meanwhile: {gone}", id=str(gone))
    if ways.paths and ways.paths[0].edges:
        await append(context, LinksTraversed(steps=tuple(edge.step for edge in ways.paths[0].edges)))
    return graph.path(ways, texts, ends_found)


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


async def _resolve(context: Context, concept: str, parameter: str, namespace: str | None) -> tuple[UUID, float | None]:
    """Return the memory with this id, or the first that a search finds, with how similar that is."""
    try:
        memory = UUID(concept)
    except ValueError:
        return await _search(context, concept, parameter, namespace)
    await wait_until_replayed(context)
    (entry,) = await describe(context, memory)
    check_live(entry)
    if namespace is not None and body_of(entry).namespace != namespace:
        raise NotFoundFault(f"Memory isn't in namespace {namespace}: {memory}", id=str(memory), parameter=parameter)
    return entry.id, None


async def _search(context: Context, text: str, parameter: str, namespace: str | None) -> tuple[UUID, float]:
    await wait_until_ready(context)
    query = await parse_query(context, text, context.now(), Filter(namespace=namespace))
    found = await search(context, query, SearchProfile.SEMANTIC_SEARCH, limit=1, primed={})
    if not found.hits:
        raise NotFoundFault(f"No memory is found by '{parameter}'", parameter=parameter)
    return found.hits[0].memory, found.hits[0].similarity
