"""The graph as it is walked: stored links either way, and the turns of sessions, among memories that can be found."""

from collections.abc import Iterator
from uuid import UUID

import numpy as np

from actors.comparator.paths import Edge, Reached, Ways, best_paths, neighbourhood, walkable
from actors.messages.comparator import FindNeighbourhood, FindPaths
from projections.atlas import Atlas
from projections.links import CONFIDENCE, NEXT, TURN_WEIGHT, Link, Links
from projections.projection import State

BUDGET = 20_000
"""Edges that a search for paths looks at: a search that comes meanwhile waits some 40 ms for it at most."""


def ways(atlas: Atlas, links: Links, wanted: FindPaths) -> Ways:
    """Return the best paths from one memory to another."""

    def edges_of(memory: UUID) -> Iterator[Edge]:
        return (edge for edge in _edges(atlas, links, memory) if walkable(edge, wanted.kind))

    return best_paths(wanted.start, wanted.end, edges_of, wanted.max_hops, wanted.alternatives, BUDGET)


def around(atlas: Atlas, links: Links, wanted: FindNeighbourhood) -> tuple[Reached, ...]:
    """Return what a memory is connected with, the nearest and strongest first."""
    return neighbourhood(wanted.memory, lambda memory: _edges(atlas, links, memory), wanted.depth, wanted.limit)


def _edges(atlas: Atlas, links: Links, memory: UUID) -> Iterator[Edge]:
    """Yield the edges of a memory whose other end can be found."""
    for edge in _all_edges(atlas, links, memory):
        if atlas.facets.state(atlas.row_of(edge.end)) is State.LIVE:
            yield edge


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
