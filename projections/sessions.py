"""Where each session stands: what the next turn needs of those before it."""

from typing import Final
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense, Float16
from events.log import Envelope
from events.vocabulary import MemoryErased, MemoryStored
from projections.projection import digest_of

REACH: Final = 3
"""How many turns back a turn draws context from."""

_Key = tuple[str, str]


class _Turn(msgspec.Struct, frozen=True):
    position: int
    e1: bytes
    memory: UUID | None
    """Unknown until the turn has come back from the log."""


class Sessions:
    """Next position and last turns of every session.

    The embedder advances a session as it embeds a turn, so that the next one in the same batch sees it; when
    that turn comes back from the log it is known by its position and not counted again. A turn that never
    reached the log leaves a gap in the positions, which harms nothing.
    """

    def __init__(self) -> None:
        self._next: dict[_Key, int] = {}
        self._tails: dict[_Key, tuple[_Turn, ...]] = {}

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoryStored(session=str(session)) as stored:
                e1 = stored.fingerprint.take("e1_semantic", Dense)
                self._confirm((stored.namespace, session), _Turn(stored.position, e1.vector, envelope.id))
            case MemoryErased(memory=memory):
                self._tails = {
                    key: tuple(turn for turn in tail if turn.memory != memory) for key, tail in self._tails.items()
                }
            case _:
                pass

    def advance(self, namespace: str, session: str, e1: npt.NDArray[np.floating]) -> None:
        """Give the next position of a session to a turn with this E1 vector, shape (dimension,)."""
        key = (namespace, session)
        self._push(key, _Turn(self._next.get(key, 0), Dense.of(e1).vector, None))

    def next_position(self, namespace: str, session: str | None) -> int:
        """Return the position of the next turn; 0 without a session."""
        return 0 if session is None else self._next.get((namespace, session), 0)

    def tail(self, namespace: str, session: str | None) -> tuple[Float16, ...]:
        """Return the E1 vectors of the last three turns, the latest last; none without a session."""
        turns = () if session is None else self._tails.get((namespace, session), ())
        return tuple(np.frombuffer(turn.e1, dtype="<f2") for turn in turns)

    def digest(self) -> bytes:
        """Return the SHA-256 of all sessions."""
        return digest_of(msgspec.msgpack.encode((sorted(self._next.items()), sorted(self._tails.items()))))

    def _confirm(self, key: _Key, stored: _Turn) -> None:
        if stored.position >= self._next.get(key, 0):
            self._push(key, stored)
        else:
            tail = self._tails.get(key, ())
            self._tails[key] = tuple(stored if turn.position == stored.position else turn for turn in tail)

    def _push(self, key: _Key, turn: _Turn) -> None:
        self._next[key] = turn.position + 1
        self._tails[key] = (*self._tails.get(key, ()), turn)[-REACH:]
