"""Read the memory graph: links in both directions, and session turns, between eligible memories."""

from collections.abc import Iterator
from itertools import combinations
from uuid import UUID

import numpy as np
from msgspec.structs import astuple

from actors.comparator.graph.paths import best_paths, is_traversable, nearest_nodes
from actors.comparator.messages import FindNeighbourhood, FindPaths, Walks
from actors.comparator.messages.graph import Edge, Paths, Reached
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.graph.links import Links
from projections.graph.relations import CAUSES, CLUSTER, LINK_TO, NEXT, TURN_WEIGHT
from projections.storage.arrays import Mask

MAX_EDGES = 20_000
"""Edges that a path search visits: delays a concurrent search by 40 ms at most."""


def find_paths(atlas: Atlas, links: Links, request: FindPaths) -> Paths:
    """Return the best paths from one memory to another."""
    eligible = atlas.facets.eligible(Filter(namespace=request.namespace))

    def edges_of(memory: UUID) -> Iterator[Edge]:
        return (edge for edge in _edges(atlas, links, eligible, memory) if is_traversable(edge, request.kind))

    return best_paths(request.start, request.end, edges_of, request.max_hops, request.alternatives, MAX_EDGES)


def find_neighbourhood(atlas: Atlas, links: Links, request: FindNeighbourhood) -> tuple[Reached, ...]:
    """Return the memories connected with a memory, by hops, then by confidence."""
    eligible = atlas.facets.eligible(Filter(namespace=request.namespace))
    return nearest_nodes(
        request.memory, lambda memory: _edges(atlas, links, eligible, memory), request.depth, request.limit
    )


def count_links(links: Links, memory: UUID) -> int:
    """Return the number of explicit and causal links of a memory; links of a cluster follow from similarity alone."""
    return sum(link.relation in {LINK_TO, CAUSES} for link in (*links.outgoing(memory), *links.incoming(memory)))


def walked_links(links: Links, replayed: tuple[UUID, ...]) -> Walks:
    """Return the walked paths, and the links that were walked, join replayed memories or join the ends of a path."""
    paths = tuple(links.traversed_paths())
    pairs = {frozenset(pair) for pair in combinations(replayed, 2)}
    for steps, _ in paths:
        first, last = steps[0], steps[-1]
        pairs |= {frozenset({a, b}) for a in (first.source, first.target) for b in (last.source, last.target)}
    joining = (link for memory in {memory for pair in pairs for memory in pair} for link in links.outgoing(memory))
    found = {link.step: link for link in joining if frozenset({link.source, link.target}) in pairs}
    found |= {link.step: link for link in links.traversed_links()}
    return Walks(links=tuple(found[step] for step in sorted(found)), paths=paths)


def _edges(atlas: Atlas, links: Links, eligible: Mask, memory: UUID) -> Iterator[Edge]:
    """Return the edges of a memory whose other end is eligible.

    That two turns follow each other says less than a cause or a link that joins them, and more than a common cluster.
    """
    found = [Edge(*astuple(link)) for link in links.outgoing(memory)]
    found += [Edge(*astuple(link), forward=False) for link in links.incoming(memory)]
    related = {edge.end for edge in found if edge.relation != CLUSTER}
    turns, _ = atlas.facets.turns(np.array([atlas.row_of(memory)]), 1)
    for row, forward in zip(turns[0].tolist(), (False, True), strict=True):
        if row >= 0 and (turn := atlas.ids([row])[0]) not in related:
            source, target = (memory, turn) if forward else (turn, memory)
            found.append(Edge(source, target, NEXT, TURN_WEIGHT, forward=forward))
    return (edge for edge in found if eligible[atlas.row_of(edge.end)])
