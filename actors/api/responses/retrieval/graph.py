"""Answers about the graph: paths and neighbourhoods."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from actors.api.responses.common import LABEL, rounded, shown
from actors.comparator.messages.graph import Edge, Path, Reached, Ways
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from actors.text.causes.clauses import sentence_around
from actors.text.excerpts import excerpt
from projections.graph.relations import CAUSAL_SHORTCUT, CAUSES, CLUSTER, LINK_TO, NEXT, SHORTCUT
from projections.memories.catalog import Entry

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


def path(ways: Ways, texts: Mapping[UUID, str], ends: Mapping[str, End]) -> JsonObject:
    """Return the answer of `find_causal_path`.

    Args:
        ways: The paths, best first.
        texts: The text of every memory on a path.
        ends: Both ends by field name.
    """
    answer: JsonObject = {"path_found": bool(ways.paths)}
    for name, end in ends.items():
        answer[name] = _node(end.memory, texts)
        if end.similarity is not None:
            answer[name]["similarity"] = rounded(end.similarity)
        if end.confidence is not None:
            answer[name]["confidence"] = end.confidence.value
    if ways.paths:
        best, *others = (_path(one, texts) for one in ways.paths)
        answer |= best | {"alternatives": others}
    if not ways.complete:
        answer["incomplete"] = "the search stopped at its limit of edges: a better path may exist"
    return answer


def neighbourhood(centre: Entry, reached: Sequence[Reached], entries: Sequence[Entry]) -> JsonObject:
    """Return the answer of `get_neighborhood`."""
    return {
        "center": {"id": str(centre.id), **shown(centre)},
        "neighbors": [
            {
                "id": str(one.memory),
                **shown(entry),
                "hops": one.hops,
                "from": str(one.edge.start),
                "confidence": rounded(one.confidence),
                **_edge(one.edge),
            }
            for one, entry in zip(reached, entries, strict=True)
        ],
        "count": len(reached),
    }


def narrative(path: Path, texts: Mapping[UUID, str]) -> str:
    """Return a path as one line: the quoted memories, and the wording of each relation between them.

    Raises:
        KeyError: the text of a memory is missing.
    """
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
