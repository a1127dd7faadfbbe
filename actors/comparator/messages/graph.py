"""The edges between memories."""

import math
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.runtime.messages import Answer, Message
from actors.runtime.settings import PathKind
from events.vocabulary.values import Step
from projections.graph.relations import Link


class Edge(msgspec.Struct, frozen=True, order=True):
    """An edge as it was drawn, and which way it is walked; `weight` and `confidence` in [0, 1]."""

    source: UUID
    target: UUID
    relation: str
    weight: float
    confidence: float
    forward: bool = True
    """Whether it is walked from its source to its target."""

    @property
    def start(self) -> UUID:
        """The end at which it is entered."""
        return self.source if self.forward else self.target

    @property
    def end(self) -> UUID:
        """The end to which it leads."""
        return self.target if self.forward else self.source

    @property
    def strength(self) -> float:
        """Weight times confidence."""
        return self.weight * self.confidence

    @property
    def step(self) -> Step:
        """The edge as it is counted when it was walked."""
        return Step(self.source, self.target, self.relation)


class Path(msgspec.Struct, frozen=True):
    """A way that visits no memory twice; without edges, it stays where it starts."""

    start: UUID
    edges: tuple[Edge, ...]

    @property
    def memories(self) -> tuple[UUID, ...]:
        """All that it visits, in order."""
        return (self.start, *(edge.end for edge in self.edges))

    @property
    def confidence(self) -> float:
        """The product of its edges' strengths (facts 11.6)."""
        return math.prod(edge.strength for edge in self.edges)


class Ways(msgspec.Struct, frozen=True):
    """Paths from one memory to another, the most confident first."""

    paths: tuple[Path, ...]
    complete: bool
    """False if the budget was spent before all was seen: then there may be others, and better ones."""


class Reached(msgspec.Struct, frozen=True):
    """A memory near another one."""

    memory: UUID
    hops: int
    edge: Edge
    """Through which it was reached."""
    confidence: float
    """The product of the strengths of all edges on the way."""


class Edges(Answer, frozen=True, kw_only=True):
    """The edges from a memory and to it, as they were drawn."""

    outgoing: tuple[Link, ...]
    incoming: tuple[Link, ...]


class Walks(Answer, frozen=True, kw_only=True):
    """Along which links paths were shown as answers."""

    links: tuple[Link, ...]
    """Those that were walked, that join two replayed memories, or that join the ends of a path."""
    paths: tuple[tuple[tuple[Step, ...], int], ...]
    """Whole paths of three steps or more, with how often each was shown, the most often first."""


class FindPaths(Message[Ways], frozen=True, kw_only=True):
    """Ways along the edges from one memory to another; answers `Ways`."""

    start: UUID
    end: UUID
    namespace: str | None
    """Within which the paths stay; None for anywhere."""
    max_hops: int
    kind: PathKind
    alternatives: int


class FindNeighbourhood(Message[tuple[Reached, ...]], frozen=True, kw_only=True):
    """What the edges lead to from a memory; answers `tuple[Reached, ...]`."""

    memory: UUID
    namespace: str
    """Of the memory; what belongs to another one isn't shown."""
    depth: int
    limit: int


class ReadLinks(Message[Edges], frozen=True, kw_only=True):
    """The edges of a memory; answers `Edges`."""

    memory: UUID


class CountLinks(Message[npt.NDArray[np.int64]], frozen=True, kw_only=True):
    """Answers at how many links that somebody drew, or that say cause and effect, each memory stands: (memories,)."""

    memories: tuple[UUID, ...]


class ReadWalks(Message[Walks], frozen=True, kw_only=True):
    """Which links were walked, and which ones matter for what is replayed; answers `Walks`."""

    replayed: tuple[UUID, ...]
