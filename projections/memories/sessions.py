"""Where each session stands: what the next turn needs of those before it."""

from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense, Float32, Levels, directions, levels
from events.storage.log import Envelope
from events.vocabulary import MemoryErased, MemoryStored
from projections.projection import digest_of
from projections.storage.arrays import Growing

REACH: Final = 3
"""How many positions back a turn draws context from."""

_Key = tuple[str, str]


class _Ahead(NamedTuple):
    """A turn that was embedded and hasn't come back from the log."""

    position: int
    e1: Levels


class Sessions:
    """The turns of every session, by namespace and session.

    The embedder advances a session as it embeds a turn, so that the next one in the same batch sees it; when
    that turn comes back from the log it is known by its position and not counted again. A turn that never
    reached the log leaves a gap in the positions, which harms nothing; it is no part of what the log tells, and so
    neither of the digest.

    An erased turn was never there: a session stands where its last turn left it that isn't erased. So all turns are
    kept, 400 bytes each, since any of them may be among the last once later ones are erased.
    """

    _numbers: dict[_Key, int]
    _next_number: int
    _latest: dict[_Key, tuple[int, ...]]
    """The turns of the highest positions in each session, ascending."""

    def __init__(self) -> None:
        self._memories = Growing(np.uint8, 16)
        self._owners = Growing(np.int32)
        """The session of each turn by its number; -1 once the turn is erased."""
        self._positions = Growing(np.int64)
        self._vectors = Growing(np.int8, 0)
        """As wide as the first one."""
        self._numbers = {}
        self._next_number = 0
        self._latest = {}
        self._ahead: dict[_Key, tuple[_Ahead, ...]] = {}

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoryStored(session=str(session)) as stored:
                e1 = stored.fingerprint.take("e1_semantic", Dense).levels
                self._push((stored.namespace, session), envelope.id, stored.position, e1)
            case MemoryErased(memory=memory):
                self._erase(memory)
            case _:
                pass

    def advance(self, namespace: str, session: str, e1: npt.NDArray[np.floating]) -> None:
        """Give the next position of a session to a turn with this E1 vector, shape (dimension,)."""
        key = (namespace, session)
        turn = _Ahead(self.next_position(*key), levels(e1))
        self._ahead[key] = (*self._ahead.get(key, ()), turn)[-REACH:]

    def next_position(self, namespace: str, session: str | None) -> int:
        """Return the position of the next turn; 0 without a session."""
        if session is None:
            return 0
        key = (namespace, session)
        last = max((turn.position for turn in self._ahead.get(key, ())), default=-1)
        return max(last, self._last(key)) + 1

    def tail(self, namespace: str, session: str | None) -> tuple[Float32, ...]:
        """Return unit E1 vectors of the turns on the last three positions, the latest last; none without a session."""
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
        """Return the SHA-256 of all turns that aren't erased, by session, in the order in which they were stored."""
        keys = {number: key for key, number in self._numbers.items()}
        left = np.flatnonzero(self._owners.array >= 0)
        named = msgspec.msgpack.encode([keys[number] for number in self._owners.array[left].tolist()])
        return digest_of(named, self._memories.array[left], self._positions.array[left], self._vectors.array[left])

    def _last(self, key: _Key) -> int:
        latest = self._latest.get(key)
        return int(self._positions.array[latest[-1]]) if latest else -1

    def _push(self, key: _Key, memory: UUID, position: int, e1: Levels) -> None:
        if not self._vectors:
            self._vectors = Growing(np.int8, len(e1))
        if key not in self._numbers:
            self._numbers[key] = self._next_number
            self._next_number += 1
        turn = len(self._owners)
        self._memories.append(np.frombuffer(memory.bytes, np.uint8))
        self._owners.append(self._numbers[key])
        self._positions.append(position)
        self._vectors.append(e1)
        self._rank(key, (*self._latest.get(key, ()), turn))
        ahead = tuple(other for other in self._ahead.get(key, ()) if other.position != position)
        if ahead:
            self._ahead[key] = ahead
        else:
            self._ahead.pop(key, None)

    def _rank(self, key: _Key, turns: tuple[int, ...]) -> None:
        """Keep those of a session's turns that have the highest positions, of equals the one that was stored later."""
        ranked = sorted(turns, key=lambda turn: (int(self._positions.array[turn]), turn))
        self._latest[key] = tuple(islice(ranked, max(0, len(ranked) - REACH), None))

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
        left = tuple(np.flatnonzero(self._owners.array == number).tolist())
        if left:
            self._rank(key, left)
        else:  # nothing of an erased memory may stay behind
            del self._numbers[key], self._latest[key]
