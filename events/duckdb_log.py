"""The log in a DuckDB file, with the head that was acknowledged last and the keys beside it."""

import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import duckdb

from events.chain import GENESIS, Row, envelope, extend, read_row, replay, verify
from events.durable import HeadFile
from events.keys import KeyRing, KeyUnreadableError
from events.log import Draft, Envelope, Head, LogBehindError, LogCorruptError, LogError, LogInUseError

_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "256MB",  # at the default of 16 MB an append in some hundred waits for up to .5 s
    "memory_limit": "1GB",
    "temp_directory": "",  # nothing is spilled beside whatever folder we happen to run in
}

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS log.main.log (
    seq BIGINT PRIMARY KEY,
    id UUID NOT NULL,
    "at" TIMESTAMP NOT NULL,
    kind VARCHAR NOT NULL,
    actor VARCHAR NOT NULL,
    correlation_id UUID NOT NULL,
    causation_id UUID,
    -- DuckDB would choose ZSTD in frames of 2,048 rows, and a read of 200 rows would take 5 s (duckdb PR #14514).
    data BLOB NOT NULL USING COMPRESSION uncompressed,
    prev_hash BLOB NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS log.main.guard (refused INTEGER);
"""

_TRIGGERS: Final = tuple(
    f"CREATE TRIGGER IF NOT EXISTS no_{action.lower()} BEFORE {action} ON log.main.log FOR EACH STATEMENT "
    "INSERT INTO log.main.guard SELECT error('the log is append-only')"
    for action in ("UPDATE", "DELETE")
)
"""A guard against accidents: whoever drops them still can't mend the chain."""

_SELECT: Final = f"""SELECT {", ".join(f'"{column}"' for column in Row._fields)} FROM log.main.log"""  # noqa: S608 (our own columns)
_PLACES: Final = f"({', '.join('?' * len(Row._fields))})"
_BATCH: Final = 256
"""Rows fetched at a time."""


class DuckDBLog:
    """Implements `events.log.Log` in three files of one folder: `log.duckdb`, `head` and `keys`."""

    def __init__(self, folder: Path) -> None:
        """Open the log in `folder`, or begin one there.

        Raises:
            LogInUseError: it is open already, here or in another process.
            LogBehindError: events that were acknowledged are missing from its end.
            LogCorruptError: its last event, or the one acknowledged last, isn't what it was.
            LogError: one of the files can't be read.
        """
        self._closed = False
        self._failed = False
        with ExitStack() as opened:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._database = opened.enter_context(closing(_connect(folder / "log.duckdb")))
                self._writer = self._database.cursor()
                self._head_file = opened.enter_context(closing(HeadFile(folder / "head")))
                self._keys = opened.enter_context(closing(KeyRing(folder / "keys")))
                self._head = self._recover()
            except OSError as error:
                raise LogError(f"the log can't be opened: {error}") from error
            self._resources = opened.pop_all()

    @property
    def head(self) -> Head:
        """Where the log ends."""
        return self._head

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all or none, durably, in one transaction.

        Raises:
            LogError: the log is closed, or the outcome is unknown; then it takes no more.
            ValueError, TypeError, OverflowError: a draft can't be written (`events.chain.extend`); the log goes on.
        """
        self._check_open()
        if self._failed:
            raise LogError("an append failed and its outcome is unknown: open the log again")
        if not drafts:
            return ()
        try:
            rows = extend(self._head, drafts, self._keys)
            self._insert(rows)
            self._head_file.write(rows[-1].head)
        except (duckdb.Error, OSError, KeyUnreadableError) as error:
            self._failed = True
            raise LogError(f"an append failed and its outcome is unknown: {error}") from error
        self._head = rows[-1].head
        return tuple(envelope(row, draft.event) for row, draft in zip(rows, drafts, strict=True))

    def read(self, after: int = 0) -> Iterator[Envelope]:
        """Yield every event after `after` in order, checking the chain on the way (`LogCorruptError`).

        What is appended meanwhile isn't read.
        """
        end = self._head
        with self._cursor() as cursor:
            if after >= end.seq:
                return
            start = self._row(cursor, after).head if after else GENESIS
            cursor.execute(f"{_SELECT} WHERE seq > ? AND seq <= ? ORDER BY seq", [after, end.seq])
            yield from replay(start, end, _fetch(cursor), self._keys)

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`.

        Any thread may call this.
        """
        wanted = sorted(set(seqs))
        if not wanted:
            return []
        with self._cursor() as cursor:
            places = ", ".join("?" * len(wanted))
            cursor.execute(f"{_SELECT} WHERE seq IN ({places}) ORDER BY seq", wanted)
            rows = list(_fetch(cursor))
        missing = set(wanted) - {row.seq for row in rows}
        if missing:
            raise LogCorruptError(min(missing), "it is missing")
        return [read_row(row, self._keys) for row in rows]

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these sealed events for good; unknown ids and repeats are no error."""
        self._check_open()
        try:
            self._keys.destroy(ids)
        except OSError as error:
            raise LogError(f"the keys can't be written: {error}") from error

    def checkpoint(self) -> None:
        """Fold what was appended into the main file: for idle times, as it takes up to a second."""
        with self._cursor() as cursor:
            cursor.execute("CHECKPOINT log")

    def close(self) -> None:
        """Checkpoint and let go of the files; a second call does nothing."""
        if self._closed:
            return
        with self._resources:
            try:
                if not self._failed:
                    self.checkpoint()
            finally:
                self._closed = True

    def _recover(self) -> Head:
        """Compare the end of the log with what was acknowledged, and return it."""
        with self._cursor() as cursor:
            last = cursor.execute(f"{_SELECT} ORDER BY seq DESC LIMIT 1").fetchone()
            head = _verified(last).head if last else GENESIS
            acknowledged = self._head_file.acknowledged
            if acknowledged is None and head.seq:
                raise LogError(f"the head file is missing: nothing says whether the log should go on after {head.seq}")
            if acknowledged is not None and acknowledged.seq > head.seq:
                raise LogBehindError(head.seq, acknowledged.seq)
            if (
                acknowledged is not None
                and acknowledged.seq
                and self._row(cursor, acknowledged.seq).head != acknowledged
            ):
                raise LogCorruptError(acknowledged.seq, "it isn't the event that was acknowledged")
        # Events that a crash left committed but not acknowledged are read from now on, so they must not get lost.
        if head != acknowledged:
            self._head_file.write(head)
        return head

    def _insert(self, rows: Sequence[Row]) -> None:
        """Write all rows with one statement, five times faster than one by one."""
        statement = "INSERT INTO log.main.log VALUES " + ", ".join([_PLACES] * len(rows))  # noqa: S608 (question marks only)
        self._writer.execute(statement, [value for row in rows for value in row])

    def _row(self, cursor: duckdb.DuckDBPyConnection, seq: int) -> Row:
        fields = cursor.execute(f"{_SELECT} WHERE seq = ?", [seq]).fetchone()
        if fields is None:
            raise LogCorruptError(seq, "it is missing")
        return _verified(fields)

    @contextmanager
    def _cursor(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        """Lend a cursor to one caller in one thread: two threads on one raise `ResourceInUseException`."""
        self._check_open()
        try:
            with closing(self._database.cursor()) as cursor:
                yield cursor
        except duckdb.Error as error:
            raise LogError(f"DuckDB can't work on the log: {error}") from error

    def _check_open(self) -> None:
        if self._closed:
            raise LogError("the log is closed")


def _connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Attach the file to an instance of its own, so that a second log on it is refused within a process too."""
    database = duckdb.connect(":memory:", config=_CONFIG)
    quoted = str(path).replace("'", "''")
    try:
        database.execute(f"ATTACH '{quoted}' AS log")
        database.execute("SET enable_external_access = false")  # from here on it can touch no other file
        database.execute(_SCHEMA)
        for trigger in _TRIGGERS:
            database.execute(trigger)
    except duckdb.Error as error:
        database.close()
        raise _open_error(path, error) from error
    return database


def _open_error(path: Path, error: duckdb.Error) -> LogError:
    if isinstance(error, duckdb.IOException) and "Could not set lock" in str(error):
        holder = re.search(r"PID (\d+)", str(error))
        return LogInUseError(f"{path} is open in another process{f', PID {holder[1]}' if holder else ''}")
    if "already attached" in str(error):
        return LogInUseError(f"{path} is open already in this process")
    return LogError(f"{path} can't be opened: {error}")


def _verified(fields: tuple[Any, ...]) -> Row:
    row = Row(*fields)
    verify(row)
    return row


def _fetch(cursor: duckdb.DuckDBPyConnection) -> Iterator[Row]:
    while batch := cursor.fetchmany(_BATCH):
        yield from map(Row._make, batch)
