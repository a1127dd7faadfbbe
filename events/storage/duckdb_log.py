"""The log in a DuckDB file, with the head that was acknowledged last and the keys beside it."""

import os
import shutil
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, Final
from uuid import UUID

import duckdb

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.crypto.passphrase import clear_leftovers
from events.storage.chain import GENESIS, Prepared, Row, envelope, extend, in_utc, prepare, read_row, replay, verify
from events.storage.database import NAME, connect, forget, insert, last_row, pages, parser, row_at, select
from events.storage.durable import HeadFile, slots_of
from events.storage.log import Draft, Envelope, Head, LogBehindError, LogCorruptError, LogError, LogFullError

_RESERVE: Final = 64 * 2**20
"""Bytes of the disk that an append leaves alone: DuckDB needs room to close the file in good order."""
_FOLDS: Final = 4
"""How much room a batch asks for: once in the WAL, once in the main file, and as much again for what surrounds it."""

_TOGETHER: Final = 4_096
"""Events that are read before what DuckDB keeps of them is forgotten: some 50 MB."""


class DuckDBLog:
    """Implements `events.storage.log.Log` in three files of one folder: `log.duckdb`, `head` and `keys`."""

    def __init__(self, folder: Path, passphrase: str | None = None) -> None:
        """Open the log in `folder`, or begin one there; with a passphrase a new one keeps its keys behind it.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a log that has none.
            LogInUseError: it is open already, here or in another process.
            LogBehindError: events that were acknowledged are missing from its end.
            LogCorruptError: its last event, or the one acknowledged last, isn't what it was.
            LogError: one of the files can't be read.
        """
        self.folder: Final = folder
        self._closed = False
        self._failed = False
        self._writing = Lock()
        """Held while DuckDB may need all the memory that it is allowed."""
        with ExitStack() as opened:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not os.access(folder, os.W_OK):
                    raise LogError(f"{folder} can't be written to")
                _refuse_parts(folder)
                # Closed after the database: whoever closes any descriptor of a file gives up the process's locks on it.
                outlasting = opened.enter_context(ExitStack())
                self._database = opened.enter_context(closing(connect(folder / NAME)))
                (folder / NAME).chmod(0o600)  # DuckDB goes by the umask
                self.file: Final[FileIO] = outlasting.enter_context((folder / NAME).open("rb", buffering=0))
                """The main file, to read its bytes: nobody else in this process may open it while the log is open."""
                self._parse = parser(self._database)
                self._writer = self._database.cursor()
                self._head_file = opened.enter_context(closing(HeadFile(folder / "head")))
                clear_leftovers(folder / "keys")
                self._keys = opened.enter_context(closing(KeyRing(folder / "keys", passphrase)))
                self._head = self._recover()
            except OSError as error:
                raise LogError(f"the log can't be opened: {error}") from error
            self._resources = opened.pop_all()

    @property
    def head(self) -> Head:
        """Where the log ends."""
        return self._head

    @property
    def keys(self) -> KeyRing:
        """The keys of its sealed events."""
        return self._keys

    def head_at(self, seq: int) -> Head:
        """Where the log ended with event `seq`, or before the first for 0; `LogCorruptError` past its end."""
        if not seq:
            return GENESIS
        with self.cursor() as cursor:
            return _row(cursor, seq).head

    def until(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last`, whose `at` isn't after the moment; 0 if there is none."""
        end = self._head.seq if last is None else last
        with self.cursor() as cursor:
            found = cursor.execute(
                'SELECT coalesce(max(seq), 0) FROM log.main.log WHERE "at" <= ? AND seq <= ?', [in_utc(moment), end]
            ).fetchone()
        return found[0] if found else 0

    def reserve(self, ids: Collection[UUID]) -> None:
        """Make the keys of sealed events that may come, on disk before this returns: their append then needn't wait.

        Raises:
            LogError: they can't be written.
            ValueError: one of these events was erased.
        """
        self._check_open()
        try:
            self._keys.create(ids)
        except (OSError, KeyUnreadableError) as error:
            raise LogError(f"the keys can't be written: {error}") from error

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all or none, durably, in one transaction.

        Raises:
            LogFullError: the disk has too little room; nothing was written, and the log goes on.
            LogError: the log is closed, or the outcome is unknown; then it takes no more.
            ValueError, TypeError, OverflowError: a draft can't be written (`chain.prepare`); the log goes on.
        """
        self._check_open()
        if self._failed:
            raise LogError("an append failed and its outcome is unknown: open the log again")
        if not drafts:
            return ()
        prepared = prepare(drafts)
        self._check_room(prepared)
        try:
            rows = extend(self._head, prepared, self._keys)
            with self._writing:
                insert(self._writer, rows, self._parse)
            self._head_file.write(rows[-1].head)
        except (duckdb.Error, OSError, KeyUnreadableError) as error:
            self._failed = True
            raise LogError(f"an append failed and its outcome is unknown: {error}") from error
        self._head = rows[-1].head
        return tuple(envelope(row, draft.event) for row, draft in zip(rows, drafts, strict=True))

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the present end, checking the chain (`LogCorruptError`).

        What is appended meanwhile isn't read.
        """
        self._check_open()
        end = self._head if last is None else self.head_at(last)
        if after < end.seq:
            start = self.head_at(after)
            with self.cursor() as cursor:
                rows = pages(cursor, after + 1, end.seq)
                for count, envelope in enumerate(replay(start, end, rows, self._keys)):
                    if not count % _TOGETHER:
                        self._let_go()
                    yield envelope
                self._let_go()

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`.

        Any thread may call this.
        """
        wanted = sorted(set(seqs))
        if not wanted:
            return []
        with self.cursor() as cursor:
            rows = select(cursor, wanted, self._parse)
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
        """Fold what was appended into the main file, and forget it: for idle times, as it takes up to a second."""
        with self.cursor() as cursor, self._writing:
            cursor.execute("CHECKPOINT log")
            forget(cursor)

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
        with self.cursor() as cursor:
            last = last_row(cursor)
            head = _verified(last).head if last else GENESIS
            acknowledged = self._head_file.acknowledged
            if acknowledged is None and head.seq:
                raise LogError(f"the head file is missing: nothing says whether the log should go on after {head.seq}")
            if acknowledged is not None and acknowledged.seq > head.seq:
                raise LogBehindError(head.seq, acknowledged.seq)
            if acknowledged is not None and acknowledged.seq and _row(cursor, acknowledged.seq).head != acknowledged:
                raise LogCorruptError(acknowledged.seq, "it isn't the event that was acknowledged")
        # Events that a crash left committed but not acknowledged are read from now on, so they must not get lost.
        if head != acknowledged:
            self._head_file.write(head)
        return head

    @contextmanager
    def cursor(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        """Lend a cursor to one caller in one thread: two threads on one raise `ResourceInUseException`."""
        self._check_open()
        try:
            with closing(self._database.cursor()) as cursor:
                yield cursor
        except duckdb.Error as error:
            raise LogError(f"DuckDB can't work on the log: {error}") from error

    def _let_go(self) -> None:
        """Have DuckDB forget most of what was read, unless something is being written, which may need its room."""
        if self._writing.acquire(blocking=False):
            try:
                with self.cursor() as cursor:
                    forget(cursor)
            finally:
                self._writing.release()

    def _check_room(self, prepared: Sequence[Prepared]) -> None:
        """Refuse a batch that might fill the disk, as long as nothing is written (`LogFullError`)."""
        size = sum(len(each.plain) for each in prepared)
        wal = self.folder / f"{NAME}.wal"
        # What waits in the WAL will need its place in the main file while the WAL still has its own.
        needed = _RESERVE + _FOLDS * size + (wal.stat().st_size if wal.exists() else 0)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise LogFullError(f"the disk has {free:,} bytes left, and {needed:,} are needed to store {size:,} safely")

    def _check_open(self) -> None:
        if self._closed:
            raise LogError("the log is closed")


def _refuse_parts(folder: Path) -> None:
    """Raise `LogError` if a file is missing where events were acknowledged: a new one would take the others' place."""
    head = folder / "head"
    acknowledged = [slot for slot in slots_of(head.read_bytes()) if slot is not None] if head.exists() else []
    for name in (NAME, "keys"):
        if any(slot.seq for slot in acknowledged) and not (folder / name).exists():
            raise LogError(f"{folder / name} is missing, but events were acknowledged")


def _row(cursor: duckdb.DuckDBPyConnection, seq: int) -> Row:
    fields = row_at(cursor, seq)
    if fields is None:
        raise LogCorruptError(seq, "it is missing")
    return _verified(fields)


def _verified(fields: tuple[Any, ...]) -> Row:
    row = Row(*fields)
    verify(row)
    return row
