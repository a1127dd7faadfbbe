"""The graph as it is walked: stored links either way, and the turns of sessions, among memories that can be found."""

from collections.abc import Iterator
from itertools import combinations
from uuid import UUID

import numpy as np

from actors.comparator.graph.paths import best_paths, neighbourhood, walkable
from actors.comparator.messages import FindNeighbourhood, FindPaths, Walks
from actors.comparator.messages.graph import Edge, Reached, Ways
from events.vocabulary.values import Step
from projections.graph.links import Links
from projections.graph.relations import CAUSES, CONFIDENCE, LINK_TO, NEXT, TURN_WEIGHT, Link
from projections.memories.atlas import Atlas
from projections.memories.facets import Filter
from projections.storage.arrays import Mask

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


def drawn(links: Links, memory: UUID) -> int:
    """Return at how many links a memory stands that somebody drew, or that say cause and effect.

    Those of a group follow from mere likeness.
    """
    return sum(link.relation in {LINK_TO, CAUSES} for link in (*links.outgoing(memory), *links.incoming(memory)))


def walks(links: Links, replayed: tuple[UUID, ...]) -> Walks:
    """Return the paths that were walked, and the links on them, between replayed memories, and from end to end."""
    paths = tuple(links.traversed_paths())
    near = {frozenset(pair) for pair in combinations(replayed, 2)}
    near |= {frozenset({start, end}) for steps, _ in paths for start in _ends(steps[0]) for end in _ends(steps[-1])}
    joining = (link for memory in {memory for pair in near for memory in pair} for link in links.outgoing(memory))
    found = {link.step: link for link in joining if frozenset({link.source, link.target}) in near}
    found |= {link.step: link for link in links.traversed_links()}
    return Walks(links=tuple(found[step] for step in sorted(found)), paths=paths)


def _ends(step: Step) -> tuple[UUID, UUID]:
    return step.source, step.target


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
