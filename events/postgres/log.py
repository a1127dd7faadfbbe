"""The log in a PostgreSQL database: one order and one chain, to which several processes append in turn.

Each append locks the row of the head until it is committed. A process takes notice of the events of others before its
own (`follow`, `begin`), so its projections fold all events in their order. Keys stay in their table and are read
together with their rows, so a key that any process destroyed is gone for all of them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Final, NoReturn
from uuid import UUID

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.postgres import rows as table
from events.postgres import schema
from events.postgres.address import MAX_LAG, without_password
from events.postgres.connection import Connection, ReaderPool, translated
from events.postgres.listener import LagClock, PostgresListener
from events.postgres.snapshot_keys import Known, OfflineKeys, SnapshotKeys
from events.postgres.writer import Writer
from events.storage.chain import GENESIS, Row, build_rows, decode_rows, encode_drafts, envelope_of, read_row, to_utc
from events.storage.durable import HeadFile, check_private
from events.storage.log import Draft, Envelope, Head, Lag, LogAwayError, LogCorruptError, LogError
from events.wording import reason


class PostgresLog:
    """Implements `events.storage.log.SharedLog` in the schema `context_graph` of a database.

    The folder holds `head`, the last event that this process acknowledged or took notice of: a server that was restored
    from an old copy, or failed over to a replica that lagged, is found behind it.
    """

    read_only = None
    images = None

    def __init__(
        self,
        url: str,
        folder: Path,
        passphrase: str | None = None,
        max_lag: float = MAX_LAG,
        known: Callable[[], Known | None] = lambda: None,
    ) -> None:
        """Open the log, or create one; a passphrase for a new log protects its keys.

        The folder of this process holds its head file. From `max_lag` seconds on, `lag` is exceeded. `known` returns
        what is known of the log while the server is away; the log ends there until it is back.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a log without one.
            LogAwayError: the server can't be reached, or refuses the connection, and nothing is known of the log.
            LogBehindError, LogCorruptError: events that this process has seen are missing, or the last one was changed.
            LogError: the database holds something else, or the role may not append.
        """
        self._url = url
        self.name: Final = without_password(url)
        self._clock = LagClock(max_lag)
        self._closed = False
        self._offline = OfflineKeys(folder)
        with ExitStack() as stack:
            self._writer = stack.enter_context(closing(Writer(url)))
            offline: Known | None = None
            try:
                self._ring = schema.open_store(self._writer.open(), passphrase, creates=not (folder / "head").exists())
            except LogAwayError as error:
                if (offline := known()) is None:
                    raise
                self._ring = offline.keys
                self._clock.start_behind(offline.age, str(error))
            self._compared = offline is None  # whether the server is known to hold what this process knows
            self._readers = ReaderPool(url)
            stack.callback(self._readers.close)
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                check_private(folder)
                self._head_file = stack.enter_context(closing(HeadFile(folder / "head", self._ring.chain)))
                self.head = offline.head if offline else self._end(self._writer.connection)
                """The last event that this process has taken notice of."""
                if offline is None:
                    self._head_file.write(self.head)
            except OSError as error:
                raise LogError(f"the log can't be opened: {reason(error)}") from error
            self._last = self.head.seq
            self._resources = stack.pop_all()

    @property
    def lag(self) -> Lag:
        """How far this process is behind."""
        return self._clock.lag(self._last - self.head.seq)

    @property
    def in_turn(self) -> bool:
        """Whether this process holds the turn to append."""
        return self._writer.in_turn

    @property
    def keys(self) -> KeyRing:
        """All keys as they are now, in memory alone."""
        with self._readers.borrow() as connection:
            return self._ring.holding(table.select_records(connection))

    @property
    def snapshot_keys(self) -> SnapshotKeys:
        """The keys of the snapshots of all hubs."""
        return SnapshotKeys(self._readers, self._ring, self._offline)

    def head_at(self, seq: int) -> Head:
        """Return the head after event `seq`, 0 for the empty log; `LogCorruptError` beyond its end."""
        self._check_open()
        if seq in {0, self.head.seq}:
            return self.head if seq else GENESIS
        with self._readers.borrow() as connection:
            return table.select_verified(connection, seq, self._ring).head

    def seq_at(self, moment: datetime, last: int | None = None) -> int:
        """Return the last seq, up to `last`, whose `at` isn't after the moment; 0 if there is none."""
        self._check_open()
        with self._readers.borrow() as connection:
            return table.select_seq_at(connection, to_utc(moment), self.head.seq if last is None else last)

    def seqs_of(self, names: Collection[str], first: int, last: int) -> Sequence[int]:
        """Return the seqs from `first` to `last` of events with these names, ascending."""
        self._check_open()
        with self._readers.borrow() as connection:
            return table.select_seqs(connection, names, first, last)

    def reserve(self, ids: Collection[UUID]) -> None:
        """Do nothing: a key is written by the transaction that appends its event."""

    def rows(self, first: int, last: int) -> Iterator[Row]:
        """Yield the rows from `first` to `last`, unverified; missing ones are left out."""
        for start in range(first, last + 1, table.PAGE):
            with self._readers.borrow() as connection:
                page = table.select_range(connection, start, min(start + table.PAGE - 1, last))
            yield from page.rows

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the present end, and verify the chain (`LogCorruptError`)."""
        self._check_open()
        end = self.head if last is None else self.head_at(last)
        head = self.head_at(after) if after < end.seq else end
        while head.seq < end.seq:
            with self._readers.borrow() as connection:
                page = table.select_range(connection, head.seq + 1, min(head.seq + table.PAGE, end.seq))
            stop = end if not page.rows or page.rows[-1].seq == end.seq else page.rows[-1].head
            yield from decode_rows(head, stop, page.rows, self._ring.holding(page.records))
            head = stop

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending; a missing one is a `LogCorruptError`."""
        self._check_open()
        wanted = sorted(set(seqs))
        if not wanted:
            return []
        with self._readers.borrow() as connection:
            page = table.select(connection, wanted)
        ring = self._ring.holding(page.records)
        return [read_row(row, ring) for row in page.rows]

    def listen(self) -> PostgresListener:
        """Open a connection that tells of events (`LogAwayError`)."""
        return PostgresListener(self._url)

    def follow(self) -> tuple[Envelope, ...]:
        """Return the next events of others, and move `head` behind them (`LogAwayError`, `LogDamagedError`)."""
        self._check_open()
        with self._clock.noting_absence(), self._readers.borrow() as connection:
            self._compare(connection)
            self._last = table.check_end(table.select_head(connection), self.head)
            found = self._next_page(connection) if self.head.seq < self._last else ()
        if not found:
            self._clock.reset()
        return found

    def begin(self) -> tuple[Envelope, ...]:
        """Take the turn to append, and return all events that others appended.

        Raises:
            LogAwayError: the server can't be reached, or another process keeps the turn for ten seconds.
            LogDamagedError: the log doesn't hold what this process has seen.
        """
        self._check_open()
        if self._writer.in_turn:
            return ()
        found: list[Envelope] = []
        known = self.head
        try:
            with self._clock.noting_absence(), translated():
                end = self._writer.lock()
                self._compare(self._writer.connection)
                self._last = table.check_end(end, self.head)
                while self.head.seq < self._last:
                    found += self._next_page(self._writer.connection)
        except BaseException:
            self.head = known  # the caller doesn't get what was found
            self.give_back()
            raise
        self._clock.reset()
        return tuple(found)

    def give_back(self) -> None:
        """End the turn without an append; without a turn nothing happens."""
        self._writer.give_back()

    def append(self, drafts: Sequence[Draft]) -> tuple[Envelope, ...]:
        """Append all drafts or none, durably, in one transaction; without a turn, one is taken for it.

        Raises:
            LogAwayError: the server refused; nothing was written.
            LogUncertainError: the connection was lost during the commit; `begin` then returns what was committed.
            LogFullError: the server's disk is full; nothing was written.
            LogError: the log is closed, or without a turn, others have appended.
            ValueError, TypeError, OverflowError: a draft can't be encoded (`encode_drafts`); nothing was written.
        """
        self._check_open()
        if not drafts:
            return ()
        try:
            encoded = encode_drafts(drafts)
            self._begin_alone()
            with translated():
                sealed = [draft.id for draft in drafts if draft.event.sealed]
                ring = self._ring.holding(table.select_records(self._writer.connection, sealed) if sealed else b"")
                rows = build_rows(self.head, encoded, ring)
                table.insert(self._writer.connection, rows, list(ring.records()))
        except KeyUnreadableError as error:
            self.give_back()
            raise LogError(f"a key can't be read: {error}") from error
        except BaseException:
            self.give_back()
            raise
        self._writer.commit()
        self._advance(rows[-1].head)
        return tuple(envelope_of(row, draft.event) for row, draft in zip(rows, drafts, strict=True))

    def shred(self, ids: Collection[UUID]) -> None:
        """Destroy the keys of these events and of all hubs' snapshots; unknown ids and repeats are no error."""
        self._check_open()
        with self._readers.borrow() as connection:
            table.shred(connection, self._ring, ids)

    def salvage(self, damage: str) -> NoReturn:
        """Refuse: restore the database, or a backup (`LogError`)."""
        raise LogError(damage)

    def checkpoint(self, least: int = 0) -> None:
        """Do nothing: the server does it by itself."""

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._closed = True
        self._resources.close()

    def _next_page(self, connection: Connection) -> tuple[Envelope, ...]:
        """Return up to a page of the events after the head, of which there are some, verified, and move the head."""
        page = table.select_range(connection, self.head.seq + 1, self.head.seq + table.PAGE)
        if not page.rows:
            raise LogCorruptError(self.head.seq + 1, "it is missing")
        found = table.decode_known(self.head, page, self._ring)
        self._advance(page.rows[len(found) - 1].head)
        return found

    def _advance(self, head: Head) -> None:
        self.head = head
        self._last = max(self._last, head.seq)
        try:
            self._head_file.write(head)
        except OSError as error:
            raise LogError(f"the head can't be written: {reason(error)}") from error

    def _compare(self, connection: Connection) -> None:
        """After a start without the server, check that it holds the log that this process knows (`LogError`)."""
        if not self._compared:
            with translated():
                schema.check_header(connection, self._ring.header)
            self._last = self._end(connection, self.head).seq
            self._compared = True

    def _end(self, connection: Connection, *known: Head) -> Head:
        """Return the end of the log, which contains what this process has seen (`LogDamagedError`)."""
        seen = self._head_file.acknowledged
        with translated():
            return table.select_end(connection, self._ring, [*known, *([seen] if seen else [])])

    def _begin_alone(self) -> None:
        known = self.head
        if self.begin():  # events that the caller doesn't know
            self.head = known
            raise LogError("other processes have appended events: take the turn first")

    def _check_open(self) -> None:
        if self._closed:
            raise LogError("the log is closed")
