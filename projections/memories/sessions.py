"""What the embedder knows of a store: positions and recent turns of each session, and who mentions which names."""

from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense
from events.quantization import Float32, Levels, directions, levels
from events.spaces import E1
from events.storage.log import Envelope
from events.vocabulary import MemoriesMoved, MemoryErased, MemoryStored
from projections.graph.mentions import Mentions
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, rows_of_ids

REACH: Final = 3
"""Number of preceding positions that give context to a turn."""

_Key = tuple[str, str]


class _PendingTurn(NamedTuple):
    """A turn that is embedded and not yet in the log."""

    position: int
    e1: Levels


class Sessions:
    """The turns of every session, by namespace and session.

    The embedder advances a session when it embeds a turn, so that the next turn of the same batch sees it. The stored
    turn later replaces the pending one by its position. A turn that never reaches the log leaves a gap in the
    positions. Pending turns are neither part of the digest nor of a snapshot.

    All turns are kept, 400 bytes each, since erasing the last ones of a session makes earlier ones the context.
    """

    _numbers: dict[_Key, int]
    _next_number: int
    _latest: dict[_Key, tuple[int, ...]]
    """The `REACH` turns of the highest positions in each session, ascending."""

    def __init__(self) -> None:
        self._memories = GrowableArray(np.uint8, 16)
        self._owners = GrowableArray(np.int32)
        """Session number of each turn; -1 once the turn is erased."""
        self._positions = GrowableArray(np.int64)
        self._vectors = GrowableArray(np.int8, 0)
        """As wide as the first one."""
        self._numbers = {}
        self._next_number = 0
        self._latest = {}
        self._ahead: dict[_Key, tuple[_PendingTurn, ...]] = {}
        self.mentions = Mentions()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case MemoryStored(session=session) as stored:
                self.mentions.append(envelope.id, stored)
                if session is not None:
                    e1 = stored.fingerprint.take(E1, Dense).levels
                    self._append((stored.namespace, session), envelope.id, stored.position, e1)
            case MemoriesMoved(memories=memories, source=source, target=target):
                self.mentions.move(memories, source, target)
                self._move(memories, target)
            case MemoryErased(memory=memory):
                self.mentions.erase(memory)
                self._erase(memory)
            case _:
                pass

    def advance(self, namespace: str, session: str, e1: npt.NDArray[np.floating]) -> None:
        """Give the next position of a session to a pending turn with this E1 vector, shape (dimension,)."""
        key = (namespace, session)
        turn = _PendingTurn(self.next_position(*key), levels(e1))
        self._ahead[key] = (*self._ahead.get(key, ()), turn)[-REACH:]

    def next_position(self, namespace: str, session: str | None) -> int:
        """Return the position of the next turn; 0 without a session."""
        if session is None:
            return 0
        key = (namespace, session)
        stored = (int(self._positions.array[turn]) for turn in self._latest.get(key, ()))
        return max((*stored, *(turn.position for turn in self._ahead.get(key, ()))), default=-1) + 1

    def tail(self, namespace: str, session: str | None) -> tuple[Float32, ...]:
        """Return unit E1 vectors of the last `REACH` positions, the latest last; none without a session."""
        if session is None:
            return ()
        key = (namespace, session)
        turns: dict[int, Levels] = {}
        for turn in self._latest.get(key, ()):
            turns[int(self._positions.array[turn])] = self._vectors.array[turn]
        turns |= {turn.position: turn.e1 for turn in self._ahead.get(key, ())}
        since = self.next_position(namespace, session) - REACH
        return tuple(directions(turns[position]) for position in sorted(turns) if position >= since)

    def digest(self) -> bytes:
        """Return the SHA-256 of the turns that aren't erased, by session, in the order in which they were stored."""
        keys = {number: key for key, number in self._numbers.items()}
        left = np.flatnonzero(self._owners.array >= 0)
        owners = msgspec.msgpack.encode([keys[number] for number in self._owners.array[left].tolist()])
        turns = (self._memories.array[left], self._positions.array[left], self._vectors.array[left])
        return digest_of(owners, *turns, self.mentions.digest())

    def _append(self, key: _Key, memory: UUID, position: int, e1: Levels) -> None:
        if not self._vectors:
            self._vectors = GrowableArray(np.int8, len(e1))
        turn = len(self._owners)
        self._memories.append(np.frombuffer(memory.bytes, np.uint8))
        self._owners.append(self._number(key))
        self._positions.append(position)
        self._vectors.append(e1)
        self._set_latest(key, (*self._latest.get(key, ()), turn))
        pending = tuple(other for other in self._ahead.pop(key, ()) if other.position != position)
        if pending:
            self._ahead[key] = pending

    def _number(self, key: _Key) -> int:
        if key not in self._numbers:
            self._numbers[key] = self._next_number
            self._next_number += 1
        return self._numbers[key]

    def _move(self, memories: tuple[UUID, ...], target: str) -> None:
        turns = rows_of_ids(self._memories, memories)
        keys = {number: key for key, number in self._numbers.items()}
        for number in dict.fromkeys(self._owners.array[turns].tolist()):
            moved = turns[self._owners.array[turns] == number]
            key = (target, keys[number][1])
            self._owners.array[moved] = self._number(key)
            self._set_latest(key, (*self._latest.get(key, ()), *moved.tolist()))
            self._leave(keys[number], number)

    def _leave(self, key: _Key, number: int) -> None:
        """Find the latest turns of a session anew, after one left it."""
        left = tuple(np.flatnonzero(self._owners.array == number).tolist())
        if left:
            self._set_latest(key, left)
        else:  # erasure leaves no trace, not even the name of the session
            del self._numbers[key], self._latest[key]

    def _set_latest(self, key: _Key, turns: tuple[int, ...]) -> None:
        """Keep the turns of the highest positions; of equal positions the turn that was stored later."""
        ranked = sorted(turns, key=lambda turn: (int(self._positions.array[turn]), turn))
        self._latest[key] = tuple(ranked[-REACH:])

    def _erase(self, memory: UUID) -> None:
        found = np.flatnonzero((self._memories.array == np.frombuffer(memory.bytes, np.uint8)).all(axis=1))
        if not len(found):
            return
        turn = int(found[0])
        number = int(self._owners.array[turn])
        key = next(key for key, one in self._numbers.items() if one == number)
        self._memories.array[turn] = 0
        self._owners.array[turn] = -1
        self._positions.array[turn] = 0
        self._vectors.array[turn] = 0
        self._leave(key, number)
