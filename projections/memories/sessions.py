"""What the embedder knows of a store: positions in each session, and who mentions which names."""

from collections.abc import Iterable
from uuid import UUID

import numpy as np

from events.storage.log import Envelope
from events.vocabulary import MemoriesMoved, MemoryErased, MemoryStored
from projections.graph.mentions import Mentions
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, Rows, rows_of_ids

_Key = tuple[str, str]


class Sessions:
    """The turns of every session, by namespace and session.

    The embedder advances a session when it embeds a turn, so that the next turn of the same batch sees it. The stored
    turn later replaces the pending one by its position. A turn that never reaches the log leaves a gap in the
    positions. Pending turns are neither part of the digest nor of a snapshot.

    All turns are kept, 28 bytes each, since erasing the last ones of a session frees their positions.
    """

    _numbers: dict[_Key, int]
    _next_number: int
    _latest: dict[_Key, int]
    """The highest position in each session."""

    def __init__(self) -> None:
        self._memories = GrowableArray(np.uint8, 16)
        self._owners = GrowableArray(np.int32)
        """Session number of each turn; -1 once the turn is erased."""
        self._positions = GrowableArray(np.int64)
        self._numbers = {}
        self._next_number = 0
        self._latest = {}
        self._ahead: dict[_Key, int] = {}
        """The highest position of a pending turn in each session."""
        self.mentions = Mentions()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case MemoryStored(session=session) as stored:
                self.mentions.append(envelope.id, stored)
                if session is not None:
                    self._append((stored.namespace, session), envelope.id, stored.position)
            case MemoriesMoved(memories=memories, source=source, target=target):
                self.mentions.move(memories, source, target)
                self._move(memories, target)
            case MemoryErased(memory=memory):
                self.mentions.erase(memory)
                self._erase(memory)
            case _:
                pass

    def advance(self, namespace: str, session: str) -> None:
        """Give the next position of a session to a pending turn."""
        self._ahead[namespace, session] = self.next_position(namespace, session)

    def next_position(self, namespace: str, session: str | None) -> int:
        """Return the position of the next turn; 0 without a session."""
        if session is None:
            return 0
        key = (namespace, session)
        return max(self._latest.get(key, -1), self._ahead.get(key, -1)) + 1

    def digest(self) -> bytes:
        """Return the SHA-256 of the turns that aren't erased, by session, in the order in which they were stored."""
        keys = {number: key for key, number in self._numbers.items()}
        left = np.flatnonzero(self._owners.array >= 0)
        owners = [keys[number] for number in self._owners.array[left].tolist()]
        turns = (self._memories.array[left], self._positions.array[left])
        return digest_of(owners, *turns, self.mentions.digest())

    def _append(self, key: _Key, memory: UUID, position: int) -> None:
        self._memories.append(np.frombuffer(memory.bytes, np.uint8))
        self._owners.append(self._number(key))
        self._positions.append(position)
        self._latest[key] = max(position, self._latest.get(key, -1))
        if self._ahead.get(key, -1) <= position:
            self._ahead.pop(key, None)

    def _number(self, key: _Key) -> int:
        if key not in self._numbers:
            self._numbers[key] = self._next_number
            self._next_number += 1
        return self._numbers[key]

    def _turns(self, memories: Iterable[UUID]) -> Rows:
        """Return the turns of memories; erased ones are zeros, as is the nil UUID, which an import may bring."""
        turns = rows_of_ids(self._memories, memories)
        return turns[self._owners.array[turns] >= 0]

    def _move(self, memories: tuple[UUID, ...], target: str) -> None:
        turns = self._turns(memories)
        keys = {number: key for key, number in self._numbers.items()}
        for number in dict.fromkeys(self._owners.array[turns].tolist()):
            moved = turns[self._owners.array[turns] == number]
            key = (target, keys[number][1])
            self._owners.array[moved] = self._number(key)
            self._latest[key] = max(int(self._positions.array[moved].max()), self._latest.get(key, -1))
            self._leave(keys[number], number)

    def _leave(self, key: _Key, number: int) -> None:
        """Find the highest position of a session anew, after a turn left it."""
        left = self._positions.array[self._owners.array == number]
        if len(left):
            self._latest[key] = int(left.max())
        else:  # erasure leaves no trace, not even the name of the session
            del self._numbers[key], self._latest[key]

    def _erase(self, memory: UUID) -> None:
        for turn in self._turns([memory]).tolist():
            number = int(self._owners.array[turn])
            key = next(key for key, one in self._numbers.items() if one == number)
            self._memories.array[turn] = 0
            self._owners.array[turn] = -1
            self._positions.array[turn] = 0
            self._leave(key, number)
