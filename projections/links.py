"""The edges that were drawn between memories."""

from typing import Final
from uuid import UUID

import msgspec

from events.log import Envelope
from events.vocabulary import MemoriesLinked, MemoryErased
from projections.projection import digest_of, is_shredded_memory

CONFIDENCE: Final = 0.5
"""Of an edge as long as nothing confirms it."""


class Link(msgspec.Struct, frozen=True, order=True):
    """An edge; `weight` and `confidence` in [0, 1]."""

    source: UUID
    target: UUID
    relation: str
    weight: float
    confidence: float = CONFIDENCE


_Edges = dict[UUID, dict[tuple[UUID, str], Link]]


class Links:
    """All edges by either end; of two between the same memories with the same relation the later one holds."""

    def __init__(self) -> None:
        self._outgoing: _Edges = {}
        self._incoming: _Edges = {}
        self._erased: set[UUID] = set()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoriesLinked() as linked:
                for target in linked.targets:
                    self._draw(Link(linked.source, target, linked.relation, linked.weight))
            case MemoryErased(memory=memory):
                self._erase(memory)
            case event if is_shredded_memory(event):
                self._erase(envelope.id)
            case _:
                pass

    def outgoing(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges from this memory, in the order in which they were drawn."""
        return tuple(self._outgoing.get(memory, {}).values())

    def incoming(self, memory: UUID) -> tuple[Link, ...]:
        """Return the edges to this memory, in the order in which they were drawn."""
        return tuple(self._incoming.get(memory, {}).values())

    def digest(self) -> bytes:
        """Return the SHA-256 of all edges and of which memories were erased."""
        links = sorted(link for edges in self._outgoing.values() for link in edges.values())
        return digest_of(msgspec.msgpack.encode((links, sorted(self._erased))))

    def _draw(self, link: Link) -> None:
        if not {link.source, link.target} & self._erased:
            self._outgoing.setdefault(link.source, {})[link.target, link.relation] = link
            self._incoming.setdefault(link.target, {})[link.source, link.relation] = link

    def _erase(self, memory: UUID) -> None:
        self._erased.add(memory)
        for link in self._outgoing.pop(memory, {}).values():
            self._incoming.get(link.target, {}).pop((memory, link.relation), None)
        for link in self._incoming.pop(memory, {}).values():
            self._outgoing.get(link.source, {}).pop((memory, link.relation), None)
