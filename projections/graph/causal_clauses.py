"""Causal clauses by memory, and the memories that were not examined for causes yet."""

from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import CausalClausesFound, CausesLinked, MemoriesMoved, MemoryErased, MemoryStored
from events.vocabulary.causes import Clause
from events.vocabulary.values import Modality
from projections.projection import digest_of, is_shredded_memory


class CausalClauses:
    """The causal clauses that memories state, with the embeddings of their phrases."""

    _clauses: dict[UUID, tuple[Clause, ...]]
    _unexamined: dict[UUID, str]
    """Namespaces of memories that are not examined, in the order of storage. Code states no causes."""

    def __init__(self) -> None:
        self._clauses = {}
        self._unexamined = {}
        self.forgotten = 0
        """Number of memories whose clauses were removed since the start, for caches of what is derived from them."""

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log; shredded clauses are those of an erased memory."""
        match envelope.event:
            case MemoryStored(namespace=namespace, modality=modality) if modality is not Modality.CODE:
                self._unexamined[envelope.id] = namespace
            case CausalClausesFound(memory=memory, clauses=clauses):
                self._clauses[memory] = clauses
            case CausesLinked(examined=examined):
                for memory in examined:
                    self._unexamined.pop(memory, None)
            case MemoriesMoved(memories=memories, target=target):
                self._unexamined |= dict.fromkeys((one for one in memories if one in self._unexamined), target)
            case MemoryErased(memory=memory):
                self._forget(memory)
            case event if is_shredded_memory(event):
                self._forget(envelope.id)
            case _:
                pass

    def of(self, memory: UUID) -> tuple[Clause, ...]:
        """Return the clauses of a memory."""
        return self._clauses.get(memory, ())

    def all(self) -> dict[UUID, tuple[Clause, ...]]:
        """Return the clauses of all memories that state any."""
        return self._clauses

    def unexamined(self, namespace: str | None = None) -> tuple[UUID, ...]:
        """Return the memories of a namespace, or of all, that are not examined, in the order of storage."""
        return tuple(memory for memory, where in self._unexamined.items() if namespace in {None, where})

    def digest(self) -> bytes:
        """Return the SHA-256 of all clauses and of the memories that are not examined."""
        return digest_of(msgspec.msgpack.encode((sorted(self._clauses.items()), sorted(self._unexamined.items()))))

    def _forget(self, memory: UUID) -> None:
        self.forgotten += self._clauses.pop(memory, None) is not None
        self._unexamined.pop(memory, None)
