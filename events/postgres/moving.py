"""A log that is copied to a server as a whole, in one transaction: until it is committed, there is nothing."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager

from events.crypto.keys import KeyRing, record_id
from events.postgres import rows as table
from events.postgres import schema
from events.postgres.connection import Connection, connect, translated
from events.storage.chain import GENESIS, Row, decode_rows
from events.storage.log import Envelope, LogError

_COPY = "COPY context_graph.log FROM STDIN"
_COPY_KEYS = "COPY context_graph.keys FROM STDIN"


class NewLog:
    """A log in the open transaction of a connection, which isn't committed yet."""

    def __init__(self, connection: Connection, keys: KeyRing) -> None:
        self._connection = connection
        self._keys = keys
        self._head = GENESIS

    def write(self, rows: Iterable[Row]) -> None:
        """Write chained rows, from the first one on, and all keys."""
        with translated(), self._connection.cursor() as cursor:
            with cursor.copy(_COPY) as copy:
                for row in rows:
                    copy.write_row(row)
                    self._head = row.head
            with cursor.copy(_COPY_KEYS) as copy:
                for record in self._keys.records():
                    copy.write_row((record_id(record), record))
            cursor.execute("UPDATE context_graph.head SET seq = %s, hash = %s", [self._head.seq, self._head.hash])

    def read(self) -> Iterator[Envelope]:
        """Yield the events as the server has them, and verify the chain (`LogCorruptError`)."""
        return decode_rows(GENESIS, self._head, self._rows(), self._keys)

    def _rows(self) -> Iterator[Row]:
        for start in range(1, self._head.seq + 1, table.PAGE):
            with translated():
                page = table.select_range(self._connection, start, min(start + table.PAGE - 1, self._head.seq))
            yield from page.rows


@contextmanager
def new_log(url: str, keys: KeyRing) -> Generator[NewLog, None, None]:
    """Yield a new log in a database, which is committed if the body succeeds, and leaves no trace if it fails.

    The passphrase of `keys`, which are those of the log that is copied, becomes that of the new log.

    Raises:
        LogError: the database holds a log or something else, or the role may not create one.
    """
    with closing(connect(url)) as connection, translated(), connection.transaction():
        # The session is idle while the copy is compared with the original.
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        schema.lock_creation(connection)
        if schema.exists(connection):
            raise LogError(f"the database {connection.info.dbname} holds a log already")
        schema.create(connection, keys.holding(b"").content())
        yield NewLog(connection, keys)
