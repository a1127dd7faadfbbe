"""The graph as it is walked: stored links either way, and the turns of sessions, among memories that can be found."""

from collections.abc import Iterator
from uuid import UUID

import numpy as np

from actors.comparator.paths import Edge, Reached, Ways, best_paths, neighbourhood, walkable
from actors.messages.comparator import FindNeighbourhood, FindPaths
from projections.arrays import Mask
from projections.atlas import Atlas
from projections.facets import Filter
from projections.links import CONFIDENCE, NEXT, TURN_WEIGHT, Link, Links

BUDGET = 20_000
"""Edges that a search for paths looks at: a search that comes meanwhile waits some 40 ms for it at most."""


def ways(atlas: Atlas, links: Links, wanted: FindPaths) -> Ways:
    """Return the best paths from one memory to another."""
    eligible = atlas.facets.eligible(Filter(namespace=wanted.namespace))

    def edges_of(memory: UUID) -> Iterator[Edge]:
        return (edge for edge in _edges(atlas, links, eligible, memory) if walkable(edge, wanted.kind))

    return best_paths(wanted.start, wanted.end, edges_of, wanted.max_hops, wanted.alternatives, BUDGET)


def around(atlas: Atlas, links: Links, wanted: FindNeighbourhood) -> tuple[Reached, ...]:
    """Return what a memory is connected with, the nearest and strongest first."""
    eligible = atlas.facets.eligible(Filter(namespace=wanted.namespace))
    return neighbourhood(
        wanted.memory, lambda memory: _edges(atlas, links, eligible, memory), wanted.depth, wanted.limit
    )


def _edges(atlas: Atlas, links: Links, eligible: Mask, memory: UUID) -> Iterator[Edge]:
    """Yield the edges of a memory whose other end is eligible."""
    return (edge for edge in _all_edges(atlas, links, memory) if eligible[atlas.row_of(edge.end)])


def _all_edges(atlas: Atlas, links: Links, memory: UUID) -> Iterator[Edge]:
    yield from (_walked(link, forward=True) for link in links.outgoing(memory))
    yield from (_walked(link, forward=False) for link in links.incoming(memory))
    turns, _ = atlas.facets.turns(np.array([atlas.row_of(memory)]), 1)
    for row, forward in zip(turns[0].tolist(), (False, True), strict=True):
        if row >= 0:
            (turn,) = atlas.ids([row])
            source, target = (memory, turn) if forward else (turn, memory)
            yield Edge(source, target, NEXT, TURN_WEIGHT, CONFIDENCE, forward)


def _walked(link: Link, *, forward: bool) -> Edge:
    return Edge(link.source, link.target, link.relation, link.weight, link.confidence, forward)
