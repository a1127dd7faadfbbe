"""The namespaces of memories that were moved out of the one that they were stored in."""

from collections.abc import Iterator
from typing import TypeVar
from uuid import UUID

from events.storage.log import Envelope
from events.vocabulary import MemoriesMoved
from projections.projection import digest_of

K = TypeVar("K")
V = TypeVar("V")


def swap_keys(values: dict[K, V], one: K, other: K) -> None:
    """Exchange the values of two keys, each of which may be missing, so that a second exchange reverts the first."""
    taken = {key: values.pop(key) for key in (one, other) if key in values}
    values |= {other if key == one else one: value for key, value in taken.items()}


class Placement:
    """Namespaces of moved memories; one that never was takes no space.

    Goals use it to leave out members that are no longer in their namespace. The members are kept, so that they return
    where the move is undone.
    """

    _namespaces: dict[UUID, str]

    def __init__(self) -> None:
        self._namespaces = {}

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case MemoriesMoved(memories=memories, target=target):
                self._namespaces |= dict.fromkeys(memories, target)
            case _:
                pass

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._namespaces)

    def __len__(self) -> int:
        return len(self._namespaces)

    def of(self, memory: UUID, stored_in: str) -> str:
        """Return the namespace of a memory, given that of its `MemoryStored`."""
        return self._namespaces.get(memory, stored_in)

    def contains(self, namespace: str, memory: UUID) -> bool:
        """Tell whether a memory that was in this namespace once is there now."""
        return self._namespaces.get(memory, namespace) == namespace

    def digest(self) -> bytes:
        """Return the SHA-256 of all namespaces by memory."""
        return digest_of(self._namespaces)
