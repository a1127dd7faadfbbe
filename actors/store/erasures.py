"""Erasures that the log tells of: the keys that have to be destroyed, until they are."""

from collections.abc import Iterable
from uuid import UUID

from actors.store.snapshot_policy import SnapshotPolicy
from events.storage.log import Envelope, Log
from events.vocabulary import MemoryErased
from projections.registry import StoreProjections


class Erasures:
    """Destroys keys after their `MemoryErased` was folded. Used by the thread of the store's actor.

    Args:
        log: Holds the keys.
        snapshots: Are erased too, since they contain what was erased; None for a store without.
    """

    def __init__(self, log: Log, snapshots: SnapshotPolicy | None) -> None:
        self._log = log
        self._snapshots = snapshots
        self._due: list[UUID] = []

    def carry_out(self, envelopes: Iterable[Envelope], projections: StoreProjections) -> None:
        """Destroy the keys of erased memories and of events derived from them alone, and the snapshots.

        Args:
            envelopes: Events that are folded.
            projections: Know which events were derived from which memories.

        Raises:
            LogAwayError: the server of the log can't be reached; the next call makes up for it.
            LogError, OSError: the keys can't be written.
        """
        self.add(envelope.event.memory for envelope in envelopes if isinstance(envelope.event, MemoryErased))
        self._due += projections.derived.pop_orphans()
        if self._due:
            self._log.shred(self._due)
            if self._snapshots is not None:
                self._snapshots.erase()
            self._due = []

    def add(self, memories: Iterable[UUID]) -> None:
        """Let the next call destroy the keys of these memories."""
        self._due += memories
