"""The log in a DuckDB file, with its head file and its keys beside it."""

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Final
from uuid import UUID

import duckdb

from events.crypto.images import ImageFiles
from events.crypto.key_file import remove_leftovers
from events.crypto.keys import KeyRing, KeyUnreadableError
from events.recovery.salvage import Salvage, Spare, describe_damage, readable_keys
from events.storage import chain, database, replacement
from events.storage.durable import HeadFile, check_files, check_private, is_in_place, latest_head
from events.storage.format import check_format, write_format
from events.storage.log import Draft, Envelope, Head, LogBehindError, LogCorruptError, LogDamagedError, LogError
from events.storage.room import Room
from events.wording import reason

_RELEASE_EVERY: Final = 4_096  # events of a long read between two releases of DuckDB's memory: some 50 MB


class DuckDBLog:
    """Implements `events.storage.log.Log` in three files of one folder: `log.duckdb`, `head` and `keys`."""

    def __init__(
        self, folder: Path, passphrase: str | None = None, *, read_only: str | None = None, spare: Spare | None = None
    ) -> None:
        """Open the log in `folder`, or create one, whose keys the passphrase protects.

        `read_only` is why nothing may be written, in words; then a copy is read (`Salvage`). `spare` reads the
        snapshot, which shows a missing end and holds what takes the place of lost events.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a log without one.
            LogInUseError: the log is open already.
            LogBehindError, LogCorruptError: acknowledged events are missing from its end, or the last one was changed.
            LogError: one of the files can't be read, or a later version wrote the store.
        """
        self.folder: Final = folder
        self._closed = self._failed = False
        self.read_only = read_only
        """Why nothing may be written, in words; None if it may."""
        self._spare, self._room = spare, Room(folder)
        self._salvage: Salvage | None = None
        self._unfolded = 0
        """Bytes of events since the last checkpoint."""
        self._writing = Lock()
        """Held while DuckDB may need all the memory that its limit allows."""
        self.images: Final = ImageFiles(folder, lambda: self._keys)
        check_format(folder)
        if read_only is not None:
            self._keys = readable_keys(folder, passphrase)
            self._read_copy(read_only)
            return
        with ExitStack() as stack:
            try:
                replacement.finish(folder)
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                check_private(folder)
                check_files(folder, (database.DATABASE, "keys"))
                path = folder / database.DATABASE
                # To create what a damaged write-ahead log hides would cut off the rest of it.
                self._database = stack.enter_context(closing(database.connect(path, creates=False)))
                path.chmod(0o600)  # DuckDB applies the umask
                self._opened = path.stat()
                self._parse = database.caching_parser(self._database)
                self._writer = self._database.cursor()
                remove_leftovers(folder / "keys")
                self._keys = stack.enter_context(closing(KeyRing(folder / "keys", passphrase)))
                self._head_file = stack.enter_context(closing(HeadFile(folder / "head", self._keys.chain)))
                self.head = self._recover()
                write_format(folder)
                rekeyed = chain.key_chain(self.head, self._keys, self._head_file)
            except OSError as error:
                raise LogError(f"the log can't be opened: {reason(error)}") from error
            self.append(rekeyed)
            self._resources = stack.pop_all()

    @property
    def keys(self) -> KeyRing:
        """The keys of its sealed events, and of its snapshots."""
        return self._keys

    snapshot_keys = keys

    def rows(self, first: int, last: int) -> Iterator[chain.Row]:
        """Yield the rows from `first` to `last`, unverified and in pages; missing ones are left out."""
        with self.cursor() as cursor:
            yield from database.select_pages(cursor, first, last)

    def salvage(self, damage: str) -> str:
        """Close the damaged files, and go on read-only with all events that can be proved; return why, in words.

        Raises:
            LogError: DuckDB can't read the file at all.
        """
        self._resources.close()
        self._keys = self._keys.undamaged()
        why = describe_damage(damage)
        self._read_copy(why)
        return why

    def head_at(self, seq: int) -> Head:
        """Return the head after event `seq`, 0 for the empty log; `LogCorruptError` beyond its end."""
        if not seq:
            return chain.GENESIS
        if self._salvage is not None and seq in self._salvage.lost:
            return Head(seq, bytes(32))
        with self.cursor() as cursor:
            return self._row(cursor, seq).head

    def seq_at(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last`, whose `at` isn't after the moment; 0 if there is none."""
        with self.cursor() as cursor:
            return database.select_seq(cursor, chain.to_utc(moment), self.head.seq if last is None else last)

    def seqs_of(self, names: Collection[str], first: int, last: int) -> Sequence[int]:
        """Return the seqs from `first` to `last` of events with these names, ascending; all of them if salvaged."""
        if self._salvage is not None:
            return range(first, last + 1)
        with self.cursor() as cursor:
            return database.select_seqs(cursor, names, first, last)

    def reserve(self, ids: Collection[UUID]) -> None:
        """Store keys for events to come (`LogError`); the id of an erased event is a ValueError."""
        self._check_writable()
        try:
            self._keys.create(ids)
        except (OSError, KeyUnreadableError) as error:
            raise LogError(f"the keys can't be written: {reason(error)}") from error

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all drafts or none, durably, in one transaction.

        Raises:
            LogFullError: the disk has too little room; nothing was written, and the log stays usable.
            LogError: the log is closed, or the outcome is unknown; then every later append fails.
            ValueError, TypeError, OverflowError: a draft can't be encoded (`encode_drafts`); the log stays usable.
        """
        self._check_writable()
        if self._failed:
            raise LogError("an append failed and its outcome is unknown: open the log again")
        if not drafts:
            return ()
        encoded = chain.encode_drafts(drafts)
        self._room.take(sum(len(each.plain) for each in encoded))
        try:
            rows = chain.build_rows(self.head, encoded, self._keys)
            with self._writing:
                database.insert(self._writer, rows, self._parse)
            self._head_file.write(rows[-1].head)
        except (duckdb.Error, OSError, KeyUnreadableError) as error:
            self._failed = True
            raise LogError(f"an append failed and its outcome is unknown: {reason(error)}") from error
        self.head = rows[-1].head
        self._unfolded += sum(len(row.data) for row in rows)
        return tuple(chain.envelope_of(row, draft.event) for row, draft in zip(rows, drafts, strict=True))

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the present end, and verify the chain (`LogCorruptError`)."""
        self._check_open()
        end = self.head if last is None else self.head_at(last)
        if self._salvage is not None:
            with self.cursor() as cursor:
                yield from self._salvage.read(cursor, after, end.seq)
            return
        if after < end.seq:
            rows = self.rows(after + 1, end.seq)
            for count, envelope in enumerate(chain.decode_rows(self.head_at(after), end, rows, self._keys)):
                if not count % _RELEASE_EVERY:
                    self._release_memory()
                yield envelope
            self._release_memory()

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`."""
        if not (wanted := sorted(set(seqs))):
            return []
        with self.cursor() as cursor:
            if self._salvage is not None:
                return [one for seq in wanted for one in self._salvage.read(cursor, seq - 1, seq)]
            rows = database.select(cursor, wanted, self._parse)
        if missing := set(wanted) - {row.seq for row in rows}:
            raise LogCorruptError(min(missing), "it is missing")
        return [chain.read_row(row, self._keys) for row in rows]

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these events (crypto-shredding); unknown ids and repeats are no error."""
        self._check_writable()
        try:
            self._keys.destroy(ids)
            self.images.erase(ids)
        except OSError as error:
            raise LogError(f"the keys can't be written: {reason(error)}") from error

    def checkpoint(self, least: int = 0) -> None:
        """Fold the write-ahead log into the main file, and release memory; takes up to a second."""
        if self._salvage is None and self._unfolded >= least and self._is_in_place():
            with self.cursor() as cursor, self._writing:
                cursor.execute("CHECKPOINT log")
                database.release_memory(cursor)
                self._unfolded = 0

    def close(self) -> None:
        """Checkpoint and close the files; a second call does nothing."""
        if self._closed:
            return
        with self._resources:
            try:
                if not self._failed:
                    self.checkpoint()
            finally:
                self._closed = True

    @contextmanager
    def cursor(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        """Provide a cursor for one thread: two threads on one cursor raise `ResourceInUseException`."""
        self._check_open()
        try:
            with closing(self._database.cursor()) as cursor:
                yield cursor
        except database.QUERY_ERRORS as error:
            raise LogDamagedError(f"DuckDB can't work on the log: {error}") from error

    def _read_copy(self, why: str) -> None:
        self._salvage = salvage = Salvage(self.folder, self._keys, self._spare)
        self._resources = ExitStack()
        self._resources.callback(salvage.close)
        self._database, self.head, self.read_only = salvage.database, salvage.head, why

    def _recover(self) -> Head:
        """Compare the end of the log with the acknowledged head, and return it."""
        with self.cursor() as cursor:
            row = database.select_last(cursor)
            if row is not None:
                chain.verify_row(row, self._keys)
            head = row.head if row else chain.GENESIS
            # The head file is on the disk before the keys have a chain key, and a chain key before a first record.
            if self._head_file.acknowledged is None and (head.seq or self._keys.chain or any(self._keys.ids())):
                raise LogDamagedError(f"the head file is missing: nothing says if the log goes on after {head.seq}")
            witness = None if self._spare is None else self._spare.head(self.folder, self._keys)
            acknowledged = latest_head((witness, self._head_file.acknowledged))
            last = acknowledged.seq if acknowledged else 0
            if last > head.seq:
                raise LogBehindError(head.seq, last)
            if last and self._row(cursor, last).head != acknowledged:
                raise LogCorruptError(last, "it isn't the event that was acknowledged")
            database.create_schema(cursor)
        # A crash may leave committed events that weren't acknowledged. They are visible from now on, so they must stay.
        if head != self._head_file.acknowledged:
            self._head_file.write(head)
        return head

    def _row(self, cursor: duckdb.DuckDBPyConnection, seq: int) -> chain.Row:
        if self._salvage is None:
            rows = database.select(cursor, [seq], self._parse)
        else:
            rows = database.select_range(cursor, seq, seq)
        if not rows:
            raise LogCorruptError(seq, "it is missing")
        chain.verify_row(rows[0], self._keys)
        return rows[0]

    def _release_memory(self) -> None:
        """Empty DuckDB's cache, unless an append may need its memory."""
        if self._writing.acquire(blocking=False):
            try:
                with self.cursor() as cursor:
                    database.release_memory(cursor)
            finally:
                self._writing.release()

    def _is_in_place(self) -> bool:
        """Return whether DuckDB, which finds its write-ahead log by name, finds the one of this file."""
        return is_in_place(self.folder / database.DATABASE, self._opened)

    def _check_open(self) -> None:
        if self._closed:
            raise LogError("the log is closed")

    def _check_writable(self) -> None:
        self._check_open()
        if self.read_only is not None:
            raise LogError(self.read_only)
        if not self._is_in_place():
            raise LogError(f"{self.folder} was moved, replaced or deleted while it was in use: open it again")
