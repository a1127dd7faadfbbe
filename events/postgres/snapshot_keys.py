"""The keys of the hubs' snapshots, in a table of the log: an erasure by any hub makes all snapshots unreadable."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from uuid import UUID

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.postgres.connection import Connection, ReaderPool
from events.storage.log import LogAwayError


class SnapshotKeys:
    """Implements `events.crypto.keys.Keys` on the table `snapshot_keys`.

    Args:
        pool: Of the log.
        ring: Wraps keys behind the passphrase of the log.
    """

    def __init__(self, pool: ReaderPool, ring: KeyRing) -> None:
        self._pool = pool
        self._ring = ring

    def create(self, ids: Collection[UUID]) -> None:
        """Generate a key for each id, durably (`OSError`)."""
        ring = self._ring.holding(b"")
        ring.create(ids)
        with self._connection() as connection, connection.cursor() as cursor:
            records = [(UUID(bytes=record[:16]), record) for record in ring.records()]
            cursor.executemany("INSERT INTO context_graph.snapshot_keys VALUES (%s, %s)", records)

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

    def _load(self, id_: UUID) -> KeyRing:
        with self._connection() as connection:
            query = "SELECT record FROM context_graph.snapshot_keys WHERE id = %s"
            row = connection.execute(query, [id_], binary=True).fetchone()
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
