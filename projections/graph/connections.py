"""What each memory is connected with, by row: links, causal edges, shortcuts, rare names. E8 is made of it."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final
from uuid import UUID

import msgspec

from projections.projection import digest_of

REACH: Final = 3
"""Positions of a session up to which turns are connected, before and after."""
DECAY: Final = 0.5
"""Factor of a connection's weight for each step away: turns of a session, what a linked memory is linked to."""
RARE: Final = 8
"""Other mentions up to which a name connects the memories that mention it; a commoner one says too little."""
MOST: Final = 32
"""Edges of a memory that its E8 follows, the latest ones."""
NARROW: Final = 8
"""Edges up to which a memory connects those at their other ends with each other; a busier one says too little."""


class Edge(msgspec.Struct, frozen=True, array_like=True):
    """One end's view of an edge."""

    other: int
    """The row at the other end."""
    weight: float
    """In [0, 1]."""
    drawn: bool
    """Whether the author of this end drew it. Other edges count within one namespace only, since whoever sees this end
    need not see the other."""
    run: UUID | None = None
    """The run that found it, with which it is undone."""


class Connections:
    """Edges and names of rows, and the rows whose E8 they may have changed since it was computed."""

    _edges: dict[int, list[Edge]]
    """In drawing order."""
    _mentions: dict[str, dict[str, list[int]]]
    """The rows that mention each name, ascending, by namespace."""
    stale: set[int]
    """Rows whose E8 is to be computed again."""

    def __init__(self) -> None:
        self._edges = {}
        self._mentions = {}
        self._names: dict[int, tuple[str, set[str]]] = {}
        """The namespace and the names of each row that has names."""
        self.stale = set()

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for namespace, names in self._mentions.items():
            for name, rows in names.items():
                for row in rows:
                    self._names.setdefault(row, (namespace, set()))[1].add(name)

    def mention(self, row: int, namespace: str, names: Iterable[str]) -> None:
        """Note the names of a row."""
        if distinct := {*names}:
            self._names[row] = (namespace, distinct)
            for name in distinct:
                insort(self._mentions.setdefault(namespace, {}).setdefault(name, []), row)
            self._touch_names(row)

    def link(self, source: int, target: int, weight: float, run: UUID | None = None, *, drawn: bool = False) -> None:
        """Add an edge: `drawn` by the author of its source, or else found by a run."""
        if source != target:
            self._edges.setdefault(source, []).append(Edge(target, weight, drawn, run))
            self._edges.setdefault(target, []).append(Edge(source, weight, drawn=False, run=run))
            for row in (source, target):
                self.stale.add(row)
                if len(self._edges[row]) <= NARROW + 1:  # with one more than `NARROW`, the new edge ends what it joined
                    self.stale.update(edge.other for edge in self._edges[row])

    def undo(self, run: UUID) -> None:
        """Remove the edges that a run found."""
        for row in [row for row, edges in self._edges.items() if any(edge.run == run for edge in edges)]:
            self.stale.update((row, *(edge.other for edge in self._edges[row])))
            self._keep(row, [edge for edge in self._edges[row] if edge.run != run])

    def erase(self, row: int) -> None:
        """Forget a row, its edges and its names."""
        self._touch(row)
        for other in {edge.other for edge in self._edges.pop(row, ())}:
            self._keep(other, [edge for edge in self._edges[other] if edge.other != row])
        self._drop_names(row)

    def move(self, row: int, namespace: str) -> None:
        """Put a row into another namespace."""
        self._touch(row)
        self.mention(row, namespace, self._drop_names(row))

    def weights(self, row: int) -> Iterator[tuple[int, float, bool]]:
        """Yield the rows that a row is connected with, their weights, and whether they may be of another namespace."""
        edges = self._edges.get(row, ())[-MOST:]
        near: dict[int, float] = defaultdict(float)
        for edge in edges:
            near[edge.other] = max(near[edge.other], edge.weight)
        drawn = {edge.other for edge in edges if edge.drawn}
        for other, weight in near.items():
            yield other, DECAY * weight, other in drawn
            beyond = self._edges[other]
            further = {edge.other: edge.weight for edge in beyond if edge.other != row and edge.other not in near}
            if len(beyond) <= NARROW:
                yield from ((one, DECAY**2 * weight * more / len(further), False) for one, more in further.items())
        namespace, names = self._names.get(row, ("", ()))
        shared: dict[int, float] = defaultdict(float)
        for name in sorted(names):
            others = self._mentions[namespace][name]
            if len(others) <= RARE + 1:
                others = [one for one in others if one != row]
                for other in others:
                    shared[other] += 1 / len(others)
        yield from ((other, DECAY * min(1.0, weight), False) for other, weight in shared.items())

    def digest(self) -> bytes:
        """Return the SHA-256 of all edges and names."""
        mentions = [(namespace, sorted(names.items())) for namespace, names in sorted(self._mentions.items())]
        return digest_of(msgspec.msgpack.encode((sorted(self._edges.items()), mentions)))

    def _touch(self, row: int) -> None:
        """Note that the E8 of a row changes, and of those that its edges and names connect with it."""
        self.stale.add(row)
        for other in {edge.other for edge in self._edges.get(row, ())}:
            self.stale.add(other)
            further = [edge.other for edge in self._edges[other] if edge.other != row]
            if len(further) <= NARROW:
                self.stale.update(further)
        self._touch_names(row)

    def _touch_names(self, row: int) -> None:
        namespace, names = self._names.get(row, ("", ()))
        for name in names:
            rows = self._mentions[namespace][name]
            if len(rows) <= RARE + 2:  # with one more than are rare beside itself, this row ends what the name joined
                self.stale.update(rows)

    def _keep(self, row: int, edges: list[Edge]) -> None:
        self._edges[row] = edges
        if not edges:
            del self._edges[row]

    def _drop_names(self, row: int) -> set[str]:
        """Remove the names of a row, and the names and the namespace that no other row holds; return what it named."""
        namespace, names = self._names.pop(row, ("", set[str]()))
        known = self._mentions.get(namespace, {})
        for name in names:
            known[name].remove(row)
            if not known[name]:
                del known[name]
        if not known:
            self._mentions.pop(namespace, None)
        return names
