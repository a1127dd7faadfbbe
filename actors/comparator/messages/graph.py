"""Messages about the edges between memories."""

import math
from typing import Final
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.runtime.messages import Answer, Message
from actors.runtime.settings import PathKind
from events.fingerprint import Embedding
from events.vocabulary.causes import CausalLink, Clause
from events.vocabulary.values import Step
from projections.graph.relations import Link

SURE: Final = 0.75
"""Agreement, the mean of E1's and E12's similarity, from which on two phrases name the same event. Of 900 phrases of
conversations and encyclopaedias no two of different texts reach it, apart from those of one word."""


class Edge(Link, frozen=True, order=True):
    """An edge and the direction of traversal."""

    forward: bool = True
    """Whether it is traversed from source to target."""

    @property
    def start(self) -> UUID:
        """The end where traversal enters."""
        return self.source if self.forward else self.target

    @property
    def end(self) -> UUID:
        """The end where traversal leaves."""
        return self.target if self.forward else self.source

    @property
    def strength(self) -> float:
        """Weight times confidence."""
        return self.weight * self.confidence


class Path(msgspec.Struct, frozen=True):
    """A simple path; without edges it ends where it starts."""

    start: UUID
    edges: tuple[Edge, ...]

    @property
    def memories(self) -> tuple[UUID, ...]:
        """The memories on the path, in order."""
        return (self.start, *(edge.end for edge in self.edges))

    @property
    def confidence(self) -> float:
        """The product of its edges' strengths."""
        return math.prod(edge.strength for edge in self.edges)


class Paths(msgspec.Struct, frozen=True):
    """Paths from one memory to another, the most confident first."""

    paths: tuple[Path, ...]
    complete: bool
    """False if the search budget ran out, so that better paths may exist."""


class Reached(msgspec.Struct, frozen=True):
    """A memory reached from another one."""

    memory: UUID
    hops: int
    edge: Edge
    """The last edge on the way."""
    confidence: float
    """The product of the strengths of all edges on the way."""


class Edges(Answer, frozen=True, kw_only=True):
    """The outgoing and incoming edges of a memory, and its E8, which follows from them."""

    outgoing: tuple[Link, ...]
    incoming: tuple[Link, ...]
    graph: Embedding


class Walks(Answer, frozen=True, kw_only=True):
    """Links on paths that were returned as answers."""

    links: tuple[Link, ...]
    """Links that were traversed, that join two replayed memories, or that join the ends of a path."""
    paths: tuple[tuple[tuple[Step, ...], int], ...]
    """Paths of three steps or more with the count of answers, the most frequent first."""


class FindPaths(Message[Paths], frozen=True, kw_only=True):
    """Find paths from one memory to another."""

    start: UUID
    end: UUID
    namespace: str | None
    """Limits the paths to one namespace; None for all."""
    max_hops: int
    kind: PathKind
    alternatives: int


class FindNeighbourhood(Message[tuple[Reached, ...]], frozen=True, kw_only=True):
    """Find the memories reached from a memory."""

    memory: UUID
    namespace: str
    """Of the memory; others are omitted."""
    depth: int
    limit: int


class ListUnexamined(Message[tuple[UUID, ...]], frozen=True, kw_only=True):
    """List live memories that were not examined for causes yet, in the order of storage, the latest if limited."""

    namespace: str | None
    """None for all."""
    skip: frozenset[UUID]
    """Memories that are left out."""
    limit: int


class FindCauses(Message[tuple[CausalLink, ...]], frozen=True, kw_only=True):
    """Find the edges from causes to effects between these memories and all others of their namespace."""

    namespace: str
    memories: tuple[UUID, ...]
    clauses: dict[UUID, tuple[Clause, ...]]
    """Of these memories, by the memory that states them; those of others are in the log."""
    statements: frozenset[UUID]
    """Those of these memories that are single plain statements, which E5 may join."""


class ReadLinks(Message[Edges], frozen=True, kw_only=True):
    """Read the edges of a memory."""

    memory: UUID


class CountLinks(Message[npt.NDArray[np.int64]], frozen=True, kw_only=True):
    """Count the drawn and causal links of each memory; shape (memories,)."""

    memories: tuple[UUID, ...]


class ReadWalks(Message[Walks], frozen=True, kw_only=True):
    """Read the traversed links, and those that matter for the replayed memories."""

    replayed: tuple[UUID, ...]
