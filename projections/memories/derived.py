"""Which sealed events were made of which memories, and so must not outlive them."""

from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import GoalDiscovered, MemoryErased, PatternDiscovered
from projections.projection import digest_of


class Derived:
    """The goals and patterns of which a member is left, by their events.

    One whose event can't be read any more (`Shredded`) was never there. So a later reader of the log knows the same,
    provided that none is shredded before its last member is erased.
    """

    _members: dict[UUID, set[UUID]]
    _serving: dict[UUID, set[UUID]]
    """The events whose words come from each memory, among others."""
    _erased: set[UUID]

    def __init__(self) -> None:
        self._members = {}
        self._serving = {}
        self._erased = set()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case GoalDiscovered(members=members) | PatternDiscovered(members=members):
                self._members[envelope.id] = {*members} - self._erased
                for member in self._members[envelope.id]:
                    self._serving.setdefault(member, set()).add(envelope.id)
            case MemoryErased(memory=memory):
                self._erased.add(memory)
                for event in self._serving.pop(memory, ()):
                    self._members[event].discard(memory)
            case _:
                pass

    def release(self) -> tuple[UUID, ...]:
        """Return the events that have no member left, each once: their keys must go."""
        bereft = tuple(event for event, left in self._members.items() if not left)
        for event in bereft:
            del self._members[event]
        return bereft

    def digest(self) -> bytes:
        """Return the SHA-256 of all members that are left, and of which memories were erased."""
        members = sorted((event, sorted(left)) for event, left in self._members.items() if left)
        return digest_of(msgspec.msgpack.encode((members, sorted(self._erased))))
