"""Ways along the edges between memories: the best ones from one memory to another, and what lies around a memory.

Everything here walks a function that names the edges of a memory, whichever end they have there, so that stored links
and the turns of sessions look alike.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from typing import Final, TypeAlias
from uuid import UUID

from actors.comparator.messages.graph import Edge, Path, Reached, Ways
from actors.runtime.settings import PathKind
from projections.graph.relations import (
    CAUSAL_SHORTCUT,
    CAUSES,
    CLUSTER,
    LINK_TO,
    NEXT,
    SHORTCUT,
    RelationKind,
    relation_kind,
)

LONGEST: Final = 80
"""Characters of a memory that a narrative quotes."""

_WORDS: Final = {
    LINK_TO: ("links to", "is linked from"),
    CLUSTER: ("belongs with", "belongs with"),
    CAUSES: ("caused", "was caused by"),
    NEXT: ("is followed by", "follows"),
    SHORTCUT: ("leads to", "follows from"),
    CAUSAL_SHORTCUT: ("led to", "followed from"),
}
"""How each relation reads from its source to its target, and back."""


EdgesOf: TypeAlias = Callable[[UUID], Iterable[Edge]]
"""Names the edges that start at a memory."""


def walkable(edge: Edge, kind: PathKind) -> bool:
    """Tell whether a path of this kind may take an edge the way it is walked."""
    match kind:
        case PathKind.CAUSAL:
            return edge.forward and relation_kind(edge.relation) is RelationKind.CAUSAL
        case PathKind.SEMANTIC:
            return relation_kind(edge.relation) is RelationKind.SEMANTIC
        case PathKind.ANY:
            return True


def best_paths(start: UUID, end: UUID, edges_of: EdgesOf, max_hops: int, alternatives: int, budget: int) -> Ways:
    """Return the most confident path and up to `alternatives` others, each through other memories than the rest.

    The others are the next best (Yen 1971). Of several edges between two memories the strongest counts; one without
    any strength leads nowhere.

    Args:
        start: The memory where every path begins.
        end: The memory where every path ends.
        edges_of: Names the edges of a memory that may be walked.
        max_hops: Edges that a path may have.
        alternatives: Further paths that are wanted.
        budget: Edges that may be looked at; 100,000 take a quarter of a second.
    """
    search = _Search(end, edges_of, budget)
    candidates: list[_State] = []
    seen: set[tuple[UUID, ...]] = set()
    found: list[Path] = []

    def offer(root: tuple[Edge, ...], way: tuple[Edge, ...] | None) -> None:
        if way is None:
            return
        path = Path(start, root + way)
        if path.memories not in seen:
            seen.add(path.memories)
            heappush(candidates, (_cost(path.edges), len(path.edges), path.edges))

    offer((), search.best(start, max_hops))
    while candidates:
        path = Path(start, heappop(candidates)[2])
        found.append(path)
        if len(found) > alternatives:
            break
        for place, memory in enumerate(path.memories[:-1]):
            root = path.memories[: place + 1]
            taken = {other.memories[place + 1] for other in found if other.memories[: place + 1] == root}
            offer(path.edges[:place], search.best(memory, max_hops - place, frozenset(root), taken))
    return Ways(paths=tuple(found), complete=search.budget >= 0)


def neighbourhood(start: UUID, edges_of: EdgesOf, depth: int, limit: int) -> tuple[Reached, ...]:
    """Return up to `limit` memories within `depth` hops: the nearer ones first, of these the most confident first.

    A memory is reached by as few hops as there can be, and of the ways with so many by the most confident.
    """
    reached: dict[UUID, Reached] = {}
    border = {start: 1.0}
    for hops in range(1, depth + 1):
        ways: dict[UUID, Reached] = {}
        for memory, confidence in border.items():
            for edge in edges_of(memory):
                if edge.end == start or edge.end in reached:
                    continue
                way = Reached(edge.end, hops, edge, confidence * edge.strength)
                if edge.end not in ways or _rank(way) < _rank(ways[edge.end]):
                    ways[edge.end] = way
        nearest = sorted(ways.values(), key=_rank)[: limit - len(reached)]
        reached |= {way.memory: way for way in nearest}
        border = {way.memory: way.confidence for way in nearest}
    return tuple(reached.values())


def narrative(path: Path, texts: Mapping[UUID, str]) -> str:
    """Return a path as one line: its memories' texts, shortened, and how each relation reads on the way.

    Raises:
        KeyError: the text of a memory is missing.
    """
    said = [_quoted(texts[path.start])]
    for edge in path.edges:
        said += [_wording(edge), _quoted(texts[edge.end])]
    return " -> ".join(said)


_State: TypeAlias = tuple[float, int, tuple[Edge, ...]]
"""A way so far: its cost, its hops, and its edges, which settle ties alike on every run."""


class _Search:
    """Finds the best ways to one memory; all searches share what they learn of edges, and the budget."""

    def __init__(self, end: UUID, edges_of: EdgesOf, budget: int) -> None:
        self.budget = budget
        self._end = end
        self._edges_of = edges_of
        self._known: dict[UUID, list[Edge]] = {}

    def best(
        self,
        start: UUID,
        max_hops: int,
        closed: AbstractSet[UUID] = frozenset(),
        taken: AbstractSet[UUID] = frozenset(),
    ) -> tuple[Edge, ...] | None:
        """Return the cheapest way that enters no closed memory, and none of the taken ones first; None without one.

        Dijkstra's algorithm on memory and hops: a dearer way with fewer hops still counts, as it may lead further.
        """
        queue: list[_State] = [(0.0, 0, ())]
        fewest: dict[UUID, int] = {}
        while queue and self.budget >= 0:
            cost, hops, way = heappop(queue)
            here = way[-1].end if way else start
            if here == self._end:
                return way
            if hops >= fewest.get(here, max_hops):
                continue
            fewest[here] = hops
            for edge in self._edges(here):
                if edge.end in closed or (not way and edge.end in taken):
                    continue
                if edge.end == self._end or hops + 1 < max_hops:
                    heappush(queue, (cost - math.log(edge.strength), hops + 1, (*way, edge)))
        return None

    def _edges(self, memory: UUID) -> list[Edge]:
        """Return the strongest edge to each memory that can be reached from here, and take them from the budget."""
        if memory not in self._known:
            strongest: dict[UUID, Edge] = {}
            for edge in self._edges_of(memory):
                rival = strongest.get(edge.end)
                if edge.strength > 0 and (rival is None or (-edge.strength, edge) < (-rival.strength, rival)):
                    strongest[edge.end] = edge
            self._known[memory] = list(strongest.values())
        self.budget -= len(self._known[memory])
        return self._known[memory]


def _cost(edges: tuple[Edge, ...]) -> float:
    return -sum(math.log(edge.strength) for edge in edges)


def _rank(way: Reached) -> tuple[float, UUID, Edge]:
    return -way.confidence, way.memory, way.edge


def _wording(edge: Edge) -> str:
    there, back = _WORDS.get(edge.relation, (edge.relation, f"is where '{edge.relation}' leads from"))
    return there if edge.forward else back


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= LONGEST else f'"{line[: LONGEST - 1].rstrip()}…"'
