"""The keys of the hubs' snapshots, in a table of the log: an erasure by any hub makes all snapshots unreadable.

A hub that is to start while the server is away needs the key of its snapshot in its folder. That is off unless chosen:
what other hubs erase then stays readable in the folder of a hub that doesn't run, until it runs again and learns of it.
"""

import os
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from events.crypto.key_file import replace_keys
from events.crypto.keys import KeyRing, KeyUnreadableError, record_id
from events.postgres.address import OFFLINE_VARIABLE
from events.postgres.connection import Connection, ReaderPool
from events.storage.durable import write_durably
from events.storage.log import Head, LogAwayError

OFFLINE: Final = "offline.keys"
"""Name of a file in the folder of a hub: the header of the log's keys, behind the same passphrase, and the key of the
snapshot."""


class Known(NamedTuple):
    """What a process knows of a log whose server is away."""

    keys: KeyRing
    """The header of the log's keys, and the key of the snapshot."""
    head: Head
    """Up to which the snapshot goes."""
    age: float
    """Seconds since the snapshot was taken."""


class OfflineKeys:
    """The file in the folder of a hub."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / OFFLINE

    @property
    def chosen(self) -> bool:
        """Whether the file is to be kept: as the environment says, or else as it was before."""
        chosen = os.environ.get(OFFLINE_VARIABLE, "").lower()
        return chosen in {"1", "true"} if chosen else self._path.exists()

    def load(self, passphrase: str | None) -> KeyRing | None:
        """Return the keys (`PassphraseError`); None without the file, or where it isn't to be kept."""
        return KeyRing.of(self._path.read_bytes(), passphrase) if self.chosen and self._path.exists() else None

    def record(self, ring: KeyRing) -> bytes:
        """Return the record of the snapshot's key behind a ring's header; nothing if it isn't kept (`OSError`)."""
        known = self.chosen and self._path.exists()
        return self._path.read_bytes().removeprefix(ring.header.content) if known else b""

    def keep(self, ring: KeyRing) -> None:
        """Let the file hold these keys alone, if it is to be kept; otherwise delete it (`OSError`)."""
        if not self.chosen:
            self.delete()
        elif self._path.exists():
            replace_keys(self._path, ring.content())
        else:
            write_durably(self._path, ring.content())

    def drop(self, ids: Collection[UUID]) -> None:
        """Delete the file if it holds one of these keys (`OSError`)."""
        if self._path.exists():
            content = self._path.read_bytes()
            if any(id_.bytes in content for id_ in ids):
                self.delete()

    def delete(self) -> None:
        """Overwrite the file with zeros and delete it (`OSError`)."""
        if self._path.exists():
            write_durably(self._path, bytes(self._path.stat().st_size))
            self._path.unlink()


class SnapshotKeys:
    """Implements `events.crypto.keys.Keys` on the table `snapshot_keys`."""

    def __init__(self, pool: ReaderPool, ring: KeyRing, offline: OfflineKeys) -> None:
        self._pool = pool
        self._ring = ring
        self._offline = offline

    def create(self, ids: Collection[UUID]) -> None:
        """Generate a key for each id, durably (`OSError`)."""
        ring = self._ring.holding(b"")
        ring.create(ids)
        with self._connection() as connection, connection.cursor() as cursor:
            records = [(record_id(record), record) for record in ring.records()]
            cursor.executemany("INSERT INTO context_graph.snapshot_keys VALUES (%s, %s)", records)
        self._offline.keep(ring)

    def seal(self, id_: UUID, aad: bytes, plain: bytes) -> bytes:
        """Encrypt with the key of this id (`KeyUnreadableError`, `OSError`)."""
        return self._load(id_).seal(id_, aad, plain)

    def open(self, id_: UUID, aad: bytes, sealed: bytes) -> bytes | None:
        """Decrypt the result of `seal` (`KeyUnreadableError`, also where the key was destroyed; `OSError`)."""
        return self._load(id_).open(id_, aad, sealed)

    def destroy(self, ids: Collection[UUID]) -> None:
        """Delete these keys, durably (`OSError`)."""
        with self._connection() as connection:
            connection.execute("DELETE FROM context_graph.snapshot_keys WHERE id = ANY(%s)", [list(ids)])
        self._offline.drop(ids)

    def _load(self, id_: UUID) -> KeyRing:
        query = "SELECT record FROM context_graph.snapshot_keys WHERE id = %s"
        try:
            with self._connection() as connection:
                row = connection.execute(query, [id_], binary=True).fetchone()
        except OSError:  # the server is away
            if not (record := self._offline.record(self._ring)):
                raise
            return self._ring.holding(record)
        if row is None:
            raise KeyUnreadableError(f"the key of snapshot {id_} was destroyed")
        return self._ring.holding(row[0])

    @contextmanager
    def _connection(self) -> Generator[Connection, None, None]:
        try:
            with self._pool.borrow() as connection:
                yield connection
        except LogAwayError as error:
            raise OSError(str(error)) from error
