"""Which memories make others easier to find: those that are in the workspace (seed 001)."""

from collections.abc import Iterable
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import MemoriesMerged, MemoriesPruned, MemoryErased, MemoryFaded, MemoryForgotten, MemoryIgnited
from projections.projection import digest_of


class Priming:
    """The ignited memories, each with its order; one that is taken out of every search primes none."""

    orders: dict[UUID, float]

    def __init__(self) -> None:
        self.orders = {}

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoryIgnited(memory=memory, order=order):
                self.orders[memory] = order
            case MemoryFaded(memory=memory) | MemoryForgotten(memory=memory) | MemoryErased(memory=memory):
                self._cool((memory,))
            case MemoriesMerged(absorbed=absorbed):
                self._cool(absorbed)
            case MemoriesPruned(pruned=pruned):
                self._cool(one.memory for one in pruned)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of all orders, in the order of ignition."""
        return digest_of(msgspec.msgpack.encode(list(self.orders.items())))

    def _cool(self, memories: Iterable[UUID]) -> None:
        for memory in memories:
            self.orders.pop(memory, None)
