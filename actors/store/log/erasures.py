"""Erasures that the log tells of: the keys that have to be destroyed, until they are."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

from actors.store.snapshot_policy import SnapshotPolicy
from events.storage.log import Draft, Envelope, Log
from events.vocabulary import DerivedEventsErased, Event, MemoryErased
from projections.memories.derived_events import DerivedEvents


class Erasures:
    """Destroys keys after the event that tells of it was folded. Used by the thread of the store's actor.

    Snapshots are erased too, since they contain what was erased.
    """

    def __init__(self, log: Log, snapshots: SnapshotPolicy | None) -> None:
        self._log = log
        self._snapshots = snapshots
        self.due: list[UUID] = []
        """Events whose keys the next call destroys."""

    def carry_out(self, envelopes: Iterable[Envelope]) -> None:
        """Destroy the keys that folded events erase, and the snapshots.

        Raises:
            LogAwayError: the server of the log can't be reached; the next call makes up for it.
            LogError, OSError: the keys can't be written.
        """
        self.due += (id_ for envelope in envelopes for id_ in erased_by(envelope.event))
        if self.due:
            self._log.shred(self.due)
            if self._snapshots is not None:
                self._snapshots.erase()
            self.due = []


def erased_by(event: Event) -> tuple[UUID, ...]:
    """Return the events whose keys an event says are destroyed."""
    match event:
        case MemoryErased(memory=memory):
            return (memory,)
        case DerivedEventsErased(events=events):
            return events
        case _:
            return ()


def erasure_of_derived(drafts: Sequence[Draft], derived: DerivedEvents) -> list[Draft]:
    """Return the event that erases what was derived from erased memories alone, if anything was.

    `verify` compares destroyed keys with such events; a key without one was destroyed by somebody else.
    `derived` is the state after the events before `drafts`.
    """
    orphans = derived.orphans({draft.event.memory for draft in drafts if isinstance(draft.event, MemoryErased)})
    if not orphans:
        return []
    at = drafts[-1].at if drafts else datetime.now(UTC)
    event = DerivedEventsErased(events=orphans)
    return [Draft(id=uuid4(), at=at, actor="store", correlation_id=uuid4(), event=event)]
