"""Destroyed keys compared with the events that tell of erasures: a key that somebody zeroed is no erasure."""

from typing import Final
from uuid import UUID

from events.crypto.keys import KeyRing
from events.storage.chain import Row, read_row
from events.storage.log import Envelope
from events.vocabulary import ChainKeyed, DerivedEventsErased, MemoryErased, Shredded
from events.vocabulary.codec import is_memory, is_sealed, name_of
from events.vocabulary.integrity import ERASURES

UNEXPLAINED: Final = "its key was destroyed, and no event tells of its erasure"

_KEYED: Final = "chain_keyed"


class ErasureCheck:
    """Collects shredded events and what erased them, over a whole log.

    `derived` tells whether every derived event that is shredded must be explained: before `ChainKeyed`, no event told
    of the erasure of a goal, a pattern or clauses.
    """

    def __init__(self, *, derived: bool = True) -> None:
        self._derived = derived
        self._shredded: dict[UUID, tuple[int, bool]] = {}
        self._erased: set[UUID] = set()
        self._plain = 0

    def observe(self, envelope: Envelope) -> None:
        """Take the next event."""
        match envelope.event:
            case Shredded(kind=kind):
                self._shredded[envelope.id] = envelope.seq, is_memory(kind)
            case MemoryErased(memory=memory):
                self._erased.add(memory)
            case DerivedEventsErased(events=events):
                self._erased.update(events)
            case ChainKeyed():
                self._plain = envelope.seq
            case _:
                pass

    def observe_row(self, row: Row, keys: KeyRing) -> None:
        """Take the next row, which is verified; only those that matter are decoded."""
        name = name_of(row.kind)
        if name in ERASURES or name == _KEYED or (is_sealed(row.kind) and keys.is_destroyed(row.id)):
            self.observe(read_row(row, keys))

    def unexplained(self) -> list[int]:
        """Return the sequence numbers of shredded events that no event erased, ascending."""
        return sorted(
            seq
            for id_, (seq, is_memory) in self._shredded.items()
            if id_ not in self._erased and (is_memory or (self._derived and seq > self._plain))
        )
