"""Operations on the graph: paths between memories, and what a memory is connected with."""

from collections.abc import Mapping
from itertools import product
from typing import Annotated, ClassVar, Final, NamedTuple
from uuid import UUID

from msgspec import Meta

from actors.api.answers import LABEL, body_of, rounded, shown
from actors.api.context import Context, append, check_live, describe, wait_until_ready, wait_until_replayed
from actors.api.operations.retrieval.query import parse_query, search
from actors.api.params.fields import EVERYWHERE, MemoryId, NamespaceFilter, QueryText, Reading
from actors.api.params.memories import ID_ALIASES
from actors.comparator.messages import FindNeighbourhood, FindPaths
from actors.comparator.messages.graph import Edge, Path, Ways
from actors.linker.messages import LinkCauses
from actors.runtime.ask import MODEL_TIMEOUT, ask
from actors.runtime.faults import NotFoundFault
from actors.runtime.settings import Confidence, PathKind, SearchProfile
from actors.runtime.types import JsonObject
from actors.text.causes.clauses import sentence_around
from actors.text.excerpts import excerpt
from events.vocabulary import LinksTraversed
from projections.graph.relations import CAUSAL_SHORTCUT, CAUSES, CLUSTER, LINK_TO, NEXT, SHORTCUT

ALTERNATIVES = 3
"""Further paths that are shown on request."""
FOUND_ENDS = 3
"""Memories that words for one end may mean: of these, the best found pair that a path joins is chosen."""
AS_WELL_MEANT: Final = 2 / 3
"""Least similarity of such a memory, relative to the best: a memory that shares one of several words is not meant."""
MAX_EXAMINED = 2_000
"""Memories that a request has examined for causes first; what an earlier version stored waits for a deep run."""
MAX_QUOTE: Final = 80
"""Characters of a memory in a narrative."""

_RELATIONS: Final = {
    LINK_TO: ("links to", "is linked from"),
    CLUSTER: ("belongs with", "belongs with"),
    CAUSES: ("caused", "was caused by"),
    NEXT: ("is followed by", "follows"),
    SHORTCUT: ("leads to", "follows from"),
    CAUSAL_SHORTCUT: ("led to", "followed from"),
}
"""Wording of each relation from source to target, and back."""


class End(NamedTuple):
    """One end of a path."""

    memory: UUID
    similarity: float | None = None
    """To the words that found it; None for an id."""
    confidence: Confidence | None = None
    """That what was found bears on these words; None also where no relevance is known."""


class FindCausalPath(Reading, frozen=True, kw_only=True):
    """Find the chain of causes, or of any links, from one memory to another, with its confidence."""

    not_blank = ("start_concept", "end_concept")

    start_concept: Annotated[QueryText, Meta(description="Id of a memory, or words that find it")]
    end_concept: Annotated[QueryText, Meta(description="The same")]
    max_hops: Annotated[int, Meta(ge=1, le=6, description="Length of a path")] = 4
    path_type: Annotated[PathKind, Meta(description="Which links it may follow")] = PathKind.ANY
    include_alternatives: Annotated[bool, Meta(description="Add up to three other paths")] = False
    namespace: NamespaceFilter = None


class GetNeighborhood(Reading, frozen=True, kw_only=True):
    """List what a memory is connected with: links, causes, groups, turns."""

    aliases: ClassVar[dict[str, str]] = ID_ALIASES

    id: MemoryId
    depth: Annotated[int, Meta(ge=1, le=3, description="Hops")] = 1
    limit: Annotated[int, Meta(ge=1, le=100, description="Memories")] = 20


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
    answer: JsonObject = {"path_found": bool(ways.paths)}
    for name, found in ends_found.items():
        answer[name] = _node(found.memory, texts)
        if found.similarity is not None:
            answer[name]["similarity"] = rounded(found.similarity)
        if found.confidence is not None:
            answer[name]["confidence"] = found.confidence.value
    if ways.paths:
        best, *others = (_path(one, texts) for one in ways.paths)
        answer |= best | {"alternatives": others}
    if not ways.complete:
        answer["incomplete"] = "the search stopped at its limit of edges: a better path may exist"
    return answer


async def _best_ways(
    context: Context, params: FindCausalPath, starts: list[End], ends: list[End]
) -> tuple[dict[str, End], Ways]:
    """Return the best found pair of ends that a path joins, with the paths; the very best pair if none is joined.

    Words for both ends may find one memory. It is the answer unless two others are joined by causes, or by the links
    that were asked for: a memory that states cause and effect says more than a detour through its group.
    """
    pairs = sorted(product(starts, ends), key=lambda pair: -sum(end.similarity or 0.0 for end in pair))
    same = [pair for pair in pairs if pair[0].memory == pair[1].memory]
    apart = [pair for pair in pairs if pair not in same]
    tries = [(params.path_type, apart)]
    if same:
        sooner = PathKind.CAUSAL if params.path_type is PathKind.ANY else params.path_type
        tries = [(sooner, apart), (params.path_type, same)]
    complete = True
    for kind, tried in tries:
        for start, end in tried:
            ways = await ask(
                context.hub.comparator,
                FindPaths(
                    start=start.memory,
                    end=end.memory,
                    namespace=None if params.namespace == EVERYWHERE else params.namespace,
                    max_hops=params.max_hops,
                    kind=kind,
                    alternatives=ALTERNATIVES if params.include_alternatives else 0,
                ),
            )
            if ways.paths:
                return {"start": start, "end": end}, ways
            complete &= ways.complete
    start, end = pairs[0]
    return {"start": start, "end": end}, Ways(paths=(), complete=complete)


async def get_neighborhood(context: Context, params: GetNeighborhood) -> JsonObject:
    """Return what a memory is connected with."""
    await wait_until_replayed(context)
    (centre,) = await describe(context, params.id)
    check_live(centre)
    namespace = body_of(centre).namespace
    wanted = FindNeighbourhood(memory=centre.id, namespace=namespace, depth=params.depth, limit=params.limit)
    reached = await ask(context.hub.comparator, wanted)
    entries = await describe(context, *(one.memory for one in reached))
    neighbours = [
        {
            "id": str(one.memory),
            **shown(entry),
            "hops": one.hops,
            "from": str(one.edge.start),
            "confidence": rounded(one.confidence),
            **_edge(one.edge),
        }
        for one, entry in zip(reached, entries, strict=True)
        if entry.body
    ]
    return {"center": {"id": str(centre.id), **shown(centre)}, "neighbors": neighbours, "count": len(neighbours)}


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
    found = await search(context, query, SearchProfile.AUTO, limit=FOUND_ENDS, primed={})
    if not found.hits:
        raise NotFoundFault(f"No memory is found by '{parameter}'", parameter=parameter)
    confidence = found.relevance and found.relevance.confidence
    least = AS_WELL_MEANT * max(hit.similarity for hit in found.hits)
    return [End(hit.memory, hit.similarity, confidence) for hit in found.hits if hit.similarity >= least]


def narrative(path: Path, texts: Mapping[UUID, str]) -> str:
    """Return a path as one line: the quoted memories, and the wording of each relation between them."""
    parts = [_quote(texts[path.start])]
    for edge in path.edges:
        forward, backward = _RELATIONS.get(edge.relation, (edge.relation, f"is target of '{edge.relation}' from"))
        parts += [forward if edge.forward else backward, _quote(texts[edge.end])]
    return " -> ".join(parts)


def _path(path: Path, texts: Mapping[UUID, str]) -> JsonObject:
    return {
        "narrative": narrative(path, texts),
        "path": [
            _node(memory, texts) | (_edge(edge) | _evidence(edge, texts) if edge else {})
            for memory, edge in zip(path.memories, (None, *path.edges), strict=True)
        ],
        "hop_count": len(path.edges),
        "path_confidence": rounded(path.confidence),
    }


def _node(memory: UUID, texts: Mapping[UUID, str]) -> JsonObject:
    return {"node_id": str(memory), "node_name": texts[memory][:LABEL]}


def _edge(edge: Edge) -> JsonObject:
    """Return the edge that leads to a node."""
    return {
        "edge_type": edge.relation,
        "edge_weight": rounded(edge.weight),
        "edge_confidence": rounded(edge.confidence),
        "forward": edge.forward,
    }


def _evidence(edge: Edge, texts: Mapping[UUID, str]) -> JsonObject:
    """Return what a causal edge rests on: the sentence and its phrases, or the certainty of the trained heads."""
    found = edge.evidence
    if found is None:
        return {}
    answer: JsonObject = {"rule": found.rule, "run_id": str(edge.run) if edge.run else None}
    if found.stated_in is None or found.effect is None:
        return {"evidence": answer | {"probability": rounded(found.weight)}}
    text = texts[found.stated_in]
    spans = {"cause": found.cause, "effect": found.effect}
    other = texts[edge.target if found.stated_in == edge.source else edge.source]
    return {
        "evidence": answer
        | {"stated_in": str(found.stated_in), "sentence": sentence_around(text, found.effect)}
        | {name: text[slice(*span)] for name, span in spans.items() if span is not None}
        | {"agrees_with": other[slice(*found.joined)] if found.joined else excerpt(other, MAX_QUOTE)}
        | {"agreement": rounded(found.weight)}
    }


def _quote(text: str) -> str:
    return f'"{excerpt(text, MAX_QUOTE)}"'
