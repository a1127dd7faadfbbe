"""What each memory is connected with, by row: links, causal edges, shortcuts, rare names. E8 is made of it."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import msgspec

from projections.graph.relations import CONFIDENCE
from projections.memories.lifecycle import Lifecycle
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

Arc: TypeAlias = tuple[int, int, str]
"""Source, target and relation of an edge."""


class Edge(msgspec.Struct, frozen=True, array_like=True):
    """One end's view of an edge."""

    other: int
    """The row at the other end."""
    weight: float
    """In [0, 1], as it was drawn."""
    relation: str
    outgoing: bool
    """Whether this end is its source."""
    run: UUID | None = None
    """The run that found it, with which it is undone; None if the author of its source drew it."""

    def arc(self, row: int, other: int) -> Arc:
        """Return the edge between these rows."""
        return (row, other, self.relation) if self.outgoing else (other, row, self.relation)


class Strength(msgspec.Struct, frozen=True, array_like=True):
    """What a run made of an edge that was followed."""

    weight: float
    confidence: float


class Neighbour(NamedTuple):
    """A memory at the other end of an edge."""

    row: int
    """The last survivor."""
    weight: float
    """In [0, 2]."""
    anywhere: bool
    """Whether the link may lead to another namespace: its author saw both ends, other callers may not."""


class MergedRows:
    """The merge sets of a life cycle by row, as they are at present."""

    def __init__(self, ids: Sequence[UUID], rows: dict[UUID, int], lifecycle: Lifecycle) -> None:
        self._ids = ids
        self._rows = rows
        self._lifecycle = lifecycle

    def root(self, row: int) -> int:
        """Return the row of the last survivor; the row itself unless it is merged."""
        if not self._lifecycle.has_merges:
            return row
        memory = self._ids[row]
        root = self._lifecycle.root(memory)
        return row if root is memory else self._rows[root]

    def members(self, row: int) -> list[int]:
        """Return all rows of a row's merge set, the last survivor last."""
        root = self.root(row)
        return [*(self._rows[memory] for memory in self._lifecycle.absorbed(self._ids[root])), root]

    def expanded(self, rows: Iterable[int]) -> set[int]:
        """Return these rows, and all of their merge sets."""
        return {member for row in rows for member in self.members(row)}


class Connections:
    """Edges and names of rows, and the rows whose E8 they may have changed since it was computed.

    Merged rows are one memory, and have the connections of all.
    """

    _edges: dict[int, list[Edge]]
    """In drawing order."""
    _strengths: dict[Arc, dict[UUID, Strength]]
    """By the run that set them, the latest last."""
    _mentions: dict[str, dict[str, list[int]]]
    """The rows that mention each name, ascending, by namespace."""
    stale: set[int]
    """Rows whose E8 is to be computed again, with that of the rows merged with them."""

    def __init__(self) -> None:
        self._edges = {}
        self._strengths = {}
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

    def mention(self, row: int, namespace: str, names: Iterable[str], merged: MergedRows) -> None:
        """Note the names of a row."""
        if distinct := {*names}:
            self._names[row] = (namespace, distinct)
            for name in distinct:
                insort(self._mentions.setdefault(namespace, {}).setdefault(name, []), row)
            self._touch_names(row, merged)

    def link(self, arc: Arc, weight: float, run: UUID | None, merged: MergedRows) -> None:
        """Add an edge, drawn by the author of its source, or found by a run."""
        source, target, relation = arc
        if source != target:
            self._edges.setdefault(source, []).append(Edge(target, weight, relation, outgoing=True, run=run))
            self._edges.setdefault(target, []).append(Edge(source, weight, relation, outgoing=False, run=run))
            self._touch_ends(arc, merged)

    def strengthen(self, arc: Arc, strength: Strength, run: UUID, merged: MergedRows) -> None:
        """Give an edge the strength that a run found."""
        strengths = self._strengths.setdefault(arc, {})
        strengths.pop(run, None)  # so that the new entry is the last one
        strengths[run] = strength
        self._touch_ends(arc, merged)

    def undo(self, run: UUID, merged: MergedRows) -> None:
        """Remove the edges that a run found, and the strengths that it gave."""
        for row in [row for row, edges in self._edges.items() if any(edge.run == run for edge in edges)]:
            self.stale.update((row, *(one.row for one in self._neighbours(row, merged))))
            self._keep(row, [edge for edge in self._edges[row] if edge.run != run])
        for arc in [arc for arc, strengths in self._strengths.items() if run in strengths]:
            self._touch_ends(arc, merged)
            del self._strengths[arc][run]
            if not self._strengths[arc]:
                del self._strengths[arc]

    def erase(self, row: int, merged: MergedRows) -> None:
        """Forget a row, its edges and its names."""
        self.touch(row, merged)
        for other in {edge.other for edge in self._edges.pop(row, ())}:
            self._keep(other, [edge for edge in self._edges[other] if edge.other != row])
        for arc in [arc for arc in self._strengths if row in arc[:2]]:
            del self._strengths[arc]
        self._drop_names(row)

    def move(self, row: int, namespace: str, merged: MergedRows) -> None:
        """Put a row into another namespace."""
        self.touch(row, merged)
        self.mention(row, namespace, self._drop_names(row), merged)

    def touch(self, row: int, merged: MergedRows, changes: int = 1) -> None:
        """Note that the connections of a row change, and with them those of what its edges and names connect.

        `merged` are the merge sets before or after, `changes` the rows whose merge sets change at once.
        """
        self.stale.add(row)
        root = merged.root(row)
        for other in {one.row for one in self._neighbours(row, merged)}:
            self.stale.add(other)
            further = (one.row for one in self._neighbours(other, merged) if one.row != root)
            if len(few := [*islice(further, NARROW + 1)]) <= NARROW:
                self.stale.update(few)
        for member in merged.members(row):
            self._touch_names(member, merged, changes)

    def weights(self, row: int, merged: MergedRows) -> Iterator[Neighbour]:
        """Yield the rows that a row is connected with."""
        root = merged.root(row)
        edges = [*islice(self._neighbours(row, merged), MOST)][::-1]
        near: dict[int, float] = defaultdict(float)
        for other, weight, _ in edges:
            near[other] = max(near[other], weight)
        drawn = {one.row for one in edges if one.anywhere}
        for other, weight in near.items():
            yield Neighbour(other, DECAY * weight, other in drawn)
            beyond = [*islice(self._neighbours(other, merged), NARROW + 1)][::-1]
            if len(beyond) <= NARROW:
                further = {one.row: one.weight for one in beyond if one.row != root and one.row not in near}
                yield from (
                    Neighbour(one, DECAY**2 * weight * more / len(further), anywhere=False)
                    for one, more in further.items()
                )
        shared: dict[int, float] = defaultdict(float)
        for rows in self._shared(row, merged):
            roots = _roots(rows, merged, RARE + 1)
            for other in sorted(roots - {root}):
                shared[other] += 1 / (len(roots) - 1)
        yield from (Neighbour(other, DECAY * min(1.0, weight), anywhere=False) for other, weight in shared.items())

    def digest(self) -> bytes:
        """Return the SHA-256 of all edges and names."""
        strengths = {arc: list(strengths.items()) for arc, strengths in self._strengths.items()}
        return digest_of(self._edges, strengths, self._mentions)

    def _neighbours(self, row: int, merged: MergedRows) -> Iterator[Neighbour]:
        """Yield what the edges of a row's merge set lead to outside of it, those of the last survivor first.

        Of each member the latest edge comes first.
        """
        root = merged.root(row)
        for member in reversed(merged.members(root)):
            for edge in reversed(self._edges.get(member, ())):
                other = merged.root(edge.other)
                if other != root:
                    weight = edge.weight
                    if self._strengths:  # mostly empty
                        weight = self._followed(edge, {edge.arc(member, edge.other), edge.arc(root, other)})
                    yield Neighbour(other, weight, edge.outgoing and edge.run is None)

    def _followed(self, edge: Edge, arcs: Iterable[Arc]) -> float:
        """Return the weight of an edge, up to twice as much for one that was followed often.

        Most links are drawn with weight 1, so that only the confidence tells those that were followed.
        """
        weight = edge.weight
        for strengths in (self._strengths[arc] for arc in arcs if arc in self._strengths):
            latest = next(reversed(strengths.values()))
            weight = max(weight, max(edge.weight, latest.weight) * latest.confidence / CONFIDENCE)
        return weight

    def _shared(self, row: int, merged: MergedRows) -> list[list[int]]:
        """Return the rows that mention each name of a row's merge set."""
        known = [(member, *self._names[member]) for member in merged.members(row) if member in self._names]
        names = {(namespace, name) for _, namespace, names in known for name in names}
        return [self._mentions[namespace][name] for namespace, name in sorted(names)]

    def _touch_ends(self, arc: Arc, merged: MergedRows) -> None:
        """Note that an edge is new, has another weight, or is about to have one."""
        for row in arc[:2]:
            self.stale.add(row)
            around = [*islice(self._neighbours(row, merged), NARROW + 2)]
            if len(around) <= NARROW + 1:  # with one more than `NARROW`, a new edge ends what its row joined
                self.stale.update(one.row for one in around)

    def _touch_names(self, row: int, merged: MergedRows, changes: int = 1) -> None:
        namespace, names = self._names.get(row, ("", ()))
        for name in names:
            rows = self._mentions[namespace][name]
            # With one more than are rare beside itself, this row ends what the name joined.
            if _roots(rows, merged, RARE + 1 + changes):
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


def _roots(rows: Iterable[int], merged: MergedRows, limit: int) -> set[int]:
    """Return the last survivors of these rows; none if there are more than `limit`."""
    roots: set[int] = set()
    for row in rows:
        roots.add(merged.root(row))
        if len(roots) > limit:
            return set()
    return roots
