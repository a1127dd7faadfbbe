"""What a memory is connected with, and how nodes, edges and paths of the graph are shown."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final
from uuid import UUID

from msgspec import Meta

from actors.api.answers import LABEL, body_of, content_fields, rounded
from actors.api.context import Context, check_live, describe
from actors.api.params.fields import MemoryId, Reading
from actors.api.params.memories import ID_ALIASES
from actors.comparator.messages import FindNeighbourhood
from actors.comparator.messages.graph import Edge, Path
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.text.causes.clauses import sentence_around
from actors.text.excerpts import excerpt
from projections.graph.relations import CAUSAL_SHORTCUT, CAUSES, CLUSTER, LINK_TO, NEXT, SHORTCUT

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


class GetNeighborhood(Reading, frozen=True, kw_only=True):
    """List what a memory is connected with: links, causes, groups, turns."""

    aliases: ClassVar[dict[str, str]] = ID_ALIASES

    id: MemoryId
    depth: Annotated[int, Meta(ge=1, le=3, description="Hops")] = 1
    limit: Annotated[int, Meta(ge=1, le=100, description="Memories")] = 20


async def get_neighborhood(context: Context, params: GetNeighborhood) -> JsonObject:
    (centre,) = await describe(context, params.id)
    check_live(centre)
    namespace = body_of(centre).namespace
    wanted = FindNeighbourhood(memory=centre.id, namespace=namespace, depth=params.depth, limit=params.limit)
    reached = await ask(context.hub.comparator, wanted)
    entries = await describe(context, *(one.memory for one in reached))
    neighbours = [
        {
            "id": str(one.memory),
            **content_fields(entry),
            "hops": one.hops,
            "from": str(one.edge.start),
            "confidence": rounded(one.confidence),
            **_edge(one.edge),
        }
        for one, entry in zip(reached, entries, strict=True)
        if entry.body
    ]
    center = {"id": str(centre.id), **content_fields(centre)}
    return {"center": center, "neighbors": neighbours, "count": len(neighbours)}


def narrative(path: Path, texts: Mapping[UUID, str]) -> str:
    """Return a path as one line: the quoted memories, and the wording of each relation between them."""
    parts = [_quote(texts[path.start])]
    for edge in path.edges:
        forward, backward = _RELATIONS.get(edge.relation, (edge.relation, f"is target of '{edge.relation}' from"))
        parts += [forward if edge.forward else backward, _quote(texts[edge.end])]
    return " -> ".join(parts)


def path(path: Path, texts: Mapping[UUID, str]) -> JsonObject:
    """Return a path as it is shown: its line, its nodes with the edges that lead to them, and its confidence."""
    return {
        "narrative": narrative(path, texts),
        "path": [
            node(memory, texts) | (_edge(edge) | _evidence(edge, texts) if edge else {})
            for memory, edge in zip(path.memories, (None, *path.edges), strict=True)
        ],
        "hop_count": len(path.edges),
        "path_confidence": rounded(path.confidence),
    }


def node(memory: UUID, texts: Mapping[UUID, str]) -> JsonObject:
    """Return a memory as a node of a path."""
    return {"node_id": str(memory), "node_name": texts[memory][:LABEL]}


def _edge(edge: Edge) -> JsonObject:
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
