"""Priming: the ignited memories, which boost related memories in the next searches."""

from collections.abc import Iterable
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import MemoriesMerged, MemoriesPruned, MemoryErased, MemoryFaded, MemoryForgotten, MemoryIgnited
from projections.projection import digest_of


class Priming:
    """Order parameters of the ignited memories, except those that are excluded from search."""

    orders: dict[UUID, float]

    def __init__(self) -> None:
        self.orders = {}

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case MemoryIgnited(memory=memory, order=order):
                self.orders[memory] = order
            case MemoryFaded(memory=memory) | MemoryForgotten(memory=memory) | MemoryErased(memory=memory):
                self._remove((memory,))
            case MemoriesMerged(absorbed=absorbed):
                self._remove(absorbed)
            case MemoriesPruned(pruned=pruned):
                self._remove(one.memory for one in pruned)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of all order parameters, in the order of ignition."""
        return digest_of(msgspec.msgpack.encode(list(self.orders.items())))

    def _remove(self, memories: Iterable[UUID]) -> None:
        for memory in memories:
            self.orders.pop(memory, None)
