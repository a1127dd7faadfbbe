"""What backups, checks and migrations read of a log: its rows as they are stored, and its keys."""

from collections.abc import Iterator
from typing import Protocol

from events.crypto.keys import KeyRing, Keys
from events.storage.chain import Row
from events.storage.log import Log


class StoredLog(Log, Protocol):
    """A log on a disk. Any thread may call these."""

    @property
    def keys(self) -> KeyRing:
        """The keys of its sealed events as they are now."""
        ...

    @property
    def snapshot_keys(self) -> Keys:
        """The keys of the snapshots of its projections."""
        ...

    def rows(self, first: int, last: int) -> Iterator[Row]:
        """Yield the rows from `first` to `last`, unverified and in pages; missing ones are left out."""
        ...
