"""Answers about the graph: paths and neighbourhoods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.api.responses.memories import rounded, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from actors.comparator.messages.graph import Edge, Path, Reached, Ways
    from projections.memories.entries import Entry

LABEL = 120
"""Characters by which a node of a path is named; memory_retrieve reads the whole."""


def path(
    ways: Ways,
    told: Sequence[str],
    texts: Mapping[UUID, str],
    ends: Mapping[str, tuple[UUID, float | None]],
) -> dict[str, Any]:
    """Return what `find_causal_path` answers (facts 11.6).

    Of each end it says how similar the memory is to the words that it was found by, if it was.
    """
    answer: dict[str, Any] = {"path_found": bool(ways.paths)}
    for name, (memory, similarity) in ends.items():
        found = {} if similarity is None else {"similarity": rounded(similarity)}
        answer[name] = {"node_id": str(memory), "node_name": texts[memory][:LABEL], **found}
    if ways.paths:
        answer |= _told(ways.paths[0], told[0], texts)
        answer["alternatives"] = [_told(way, words, texts) for way, words in zip(ways.paths[1:], told[1:], strict=True)]
    if not ways.complete:
        answer["incomplete"] = "there are more edges than were looked at: a better path may exist"
    return answer


def _told(way: Path, words: str, texts: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "narrative": words,
        "path": [
            {"node_id": str(memory), "node_name": texts[memory][:LABEL]} | (_edge(edge) if edge else {})
            for memory, edge in zip(way.memories, (None, *way.edges), strict=True)
        ],
        "hop_count": len(way.edges),
        "path_confidence": rounded(way.confidence),
    }


def _edge(edge: Edge) -> dict[str, Any]:
    """Return the edge by which a node was reached."""
    return {
        "edge_type": edge.relation,
        "edge_weight": rounded(edge.weight),
        "edge_confidence": rounded(edge.confidence),
        "forward": edge.forward,
    }


def neighbourhood(centre: Entry, reached: Sequence[Reached], entries: Sequence[Entry]) -> dict[str, Any]:
    """Return what `get_neighborhood` answers."""
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
