"""Events with texts derived from memories; their keys are destroyed once all of these memories are erased."""

from collections.abc import Collection
from uuid import UUID

from events import vocabulary as ev
from events.storage.log import Envelope
from projections.projection import digest_of


class DerivedEvents:
    """The remaining members of each goal and pattern, and the memory of clauses and edited tags, by event id.

    Shredded events are skipped.
    """

    _members: dict[UUID, set[UUID]]
    _serving: dict[UUID, set[UUID]]
    _erased: set[UUID]

    def __init__(self) -> None:
        self._members = {}
        self._serving = {}
        self._erased = set()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case ev.GoalDiscovered(members=members) | ev.PatternDiscovered(members=members):
                self._members[envelope.id] = {*members} - self._erased
                for member in self._members[envelope.id]:
                    self._serving.setdefault(member, set()).add(envelope.id)
            case ev.CausalClausesFound(memory=memory) | ev.MemoryTagged(memory=memory):
                self._members[envelope.id] = {memory} - self._erased
                self._serving.setdefault(memory, set()).add(envelope.id)
            case ev.MemoryErased(memory=memory):
                self._erased.add(memory)
                for event in self._serving.pop(memory, ()):
                    self._members[event].discard(memory)
            case ev.DerivedEventsErased(events=events):
                for event in events:
                    self._members.pop(event, None)
            case _:
                pass

    def orphans(self, erased: Collection[UUID] = ()) -> tuple[UUID, ...]:
        """Return the events without members besides erased ones, whose keys must be destroyed."""
        return tuple(event for event, members in self._members.items() if members.issubset(erased))

    def digest(self) -> bytes:
        """Return the SHA-256 of all remaining members, and of the erased ids."""
        return digest_of({event: left for event, left in self._members.items() if left}, self._erased)
