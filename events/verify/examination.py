"""The check of all rows of a log."""

import hashlib
from collections.abc import Callable
from uuid import UUID

import duckdb

from events.crypto.images import IMAGES, ImageFiles
from events.crypto.keys import KeyRing
from events.storage.chain import GENESIS, Row, read_row
from events.storage.database import (
    DATABASE,
    PAGE,
    QUERY_ERRORS,
    last_numbers,
    schema_faults,
    select_pages,
    select_range,
)
from events.storage.durable import latest_head
from events.storage.log import Head, LogCorruptError, LogError
from events.verify.erasures import UNEXPLAINED, ErasureCheck
from events.verify.report import BadRange, Problem, Report, name_losses
from events.vocabulary import ChainKeyed, MemoryStored, Shredded
from events.vocabulary.codec import BlockError, UnknownKindError, decompress, is_memory, is_sealed
from events.vocabulary.values import Image

Progress = Callable[[int, int], None]
"""Receives how many events are checked, and how many there are."""


class Examination:
    """Checks the schema and all rows once, in pages; keys and a cursor on the log are None if they can't be read.

    `problems` are those that were found so far, `last` the last event to check, all by default, `images` those of its
    memories, if they are checked, `witness` where the log ended when its snapshot was taken.
    """

    def __init__(
        self,
        cursor: duckdb.DuckDBPyConnection | None,
        keys: KeyRing | None,
        acknowledged: Head | None,
        problems: list[Problem],
        *,
        last: int | None = None,
        images: ImageFiles | None = None,
        witness: Head | None = None,
    ) -> None:
        self._images = images
        self._known = latest_head((witness, acknowledged))
        """The last event that was in the log at some time; None if nothing tells."""
        self._cursor = cursor
        self._keys = keys
        self._acknowledged = acknowledged
        self._problems = problems
        self._last = last
        self._head: Head | None = GENESIS
        """Of the row before; None after one that can't be trusted."""
        self._end = GENESIS
        self._bad: list[BadRange] = []
        self._good = self._sealed = self._shredded = 0
        self._erasures = ErasureCheck(derived=keys is not None and keys.chain is not None)

    def run(self, progress: Progress | None) -> Report:
        """Check everything, and return the report."""
        found = 0
        if self._cursor is not None:
            self._check_schema(self._cursor)
            found = self._count_rows(self._cursor) if self._last is None else self._last
            for start in range(1, found + 1, PAGE):
                stop = min(start + PAGE - 1, found)
                self._check_range(self._cursor, start, stop)
                if progress is not None:
                    progress(stop, found)
        self._check_end(found)
        self._check_erasures(found)
        bad = tuple(sorted(self._bad))
        return Report(
            events=self._good,
            head=self._end,
            acknowledged=self._acknowledged,
            sealed=self._sealed,
            shredded=self._shredded,
            problems=name_losses(self._problems, bad),
            bad=bad,
        )

    def _check_schema(self, cursor: duckdb.DuckDBPyConnection) -> None:
        try:
            self._problems += [Problem(DATABASE, None, fault, "no event") for fault in schema_faults(cursor)]
        except QUERY_ERRORS as error:
            self._problems.append(Problem(DATABASE, None, f"its schema can't be read ({error})", ""))

    def _count_rows(self, cursor: duckdb.DuckDBPyConnection) -> int:
        last, stray = last_numbers(cursor, self._known.seq if self._known else 0)
        if stray is not None:
            self._problems.append(Problem(DATABASE, None, f"a row has the number {stray}", "one event"))
        return last

    def _check_range(self, cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> None:
        """Check some rows; where DuckDB can't read them together, halve the range until the unreadable ones remain."""
        try:
            rows = {row.seq: row for row in select_range(cursor, first, last)}
        except QUERY_ERRORS as error:
            kinds = _kinds(cursor, first, last)
            if first == last or kinds is None:
                why = f"DuckDB can't read it ({str(error).splitlines()[0]})"
                self._mark(first, last, why, None if kinds is None else sum(map(is_memory, kinds)))
                return
            middle = (first + last) // 2
            self._check_range(cursor, first, middle)
            self._check_range(cursor, middle + 1, last)
            return
        for seq in range(first, last + 1):
            if seq in rows:
                self._check_row(rows[seq])
            else:
                self._mark(seq, seq, "missing", None)

    def _check_row(self, row: Row) -> None:
        why = None
        if self._head is not None and row.prev_hash != self._head.hash:
            why = "it doesn't continue the event before it"
        try:
            shredded = self._check_body(row)
        except (LogCorruptError, UnknownKindError, ValueError, BlockError) as error:
            why = why or str(error).removeprefix(f"the log is damaged at event {row.seq}: ")
        else:
            if why is None:
                self._good += 1
                self._shredded += shredded
                self._sealed += is_sealed(row.kind) and not shredded
        if why is not None:
            self._mark(row.seq, row.seq, why, int(is_memory(row.kind)))
        # The next row continues what a changed row was before, so it can't be compared with what that is now.
        self._head = row.head if why is None else None
        self._end = row.head

    def _check_body(self, row: Row) -> bool:
        """Decrypt and decode a row, and tell whether it was shredded."""
        if self._keys is None and is_sealed(row.kind):
            raise LogCorruptError(row.seq, "the keys can't be read")
        envelope = read_row(row, self._keys or KeyRing())
        event = envelope.event
        self._erasures.observe(envelope)
        chain = self._keys.chain if self._keys else None
        if isinstance(event, ChainKeyed) and (chain is None or chain.first != row.seq):
            raise LogCorruptError(row.seq, "the key file has no chain key from here on")
        if isinstance(event, MemoryStored):
            if hashlib.sha256(decompress(event.content).encode()).digest() != event.sha256:
                raise LogCorruptError(row.seq, "its content isn't what its SHA-256 says")
            if event.image is not None and self._images is not None:
                self._check_image(envelope.id, event.image, self._images)
        return isinstance(event, Shredded)

    def _check_image(self, memory: UUID, image: Image, images: ImageFiles) -> None:
        why = ""
        try:
            content = images.read(memory)
            if content is not None and hashlib.sha256(content).digest() != image.sha256:
                why = "the image isn't what its SHA-256 says"
        except LogError as error:
            why = str(error)
        if why:
            self._problems.append(Problem(f"{IMAGES}/{memory}", None, why, f"the image of memory {memory}"))

    def _check_end(self, found: int) -> None:
        if not self._acknowledged and found and not any(problem.file == "head" for problem in self._problems):
            self._problems.append(Problem("head", None, "the file is empty", "where the log should end"))
        known = self._known
        if known is None:
            return
        if known.seq > found:
            self._mark(found + 1, known.seq, "acknowledged, and missing", None)
        elif known.seq and self._cursor is not None and not self._contains(self._cursor, known):
            self._mark(known.seq, known.seq, "not what was acknowledged", None)

    def _check_erasures(self, found: int) -> None:
        if self._bad or self._keys is None or self._cursor is None:
            return  # the event that tells of an erasure may be among those that can't be trusted
        if self._last is not None:  # a memory may have been erased since; nothing else erases a key
            for row in select_pages(self._cursor, found + 1, self._count_rows(self._cursor)):
                self._erasures.observe_row(row, self._keys)
        for seq in self._erasures.unexplained():
            self._mark(seq, seq, UNEXPLAINED, None)

    def _contains(self, cursor: duckdb.DuckDBPyConnection, head: Head) -> bool:
        try:
            return all(row.head == head for row in select_range(cursor, head.seq, head.seq))
        except QUERY_ERRORS as error:
            if not self._bad:  # all rows were read in their order: what looks up a single one is damaged
                self._problems.append(Problem(DATABASE, None, f"DuckDB can't look up an event ({error})", ""))
            return True

    def _mark(self, first: int, last: int, why: str, memories: int | None) -> None:
        """Record events that can't be trusted, together with those just before them if the reason is the same."""
        self._head = None
        before = self._bad[-1] if self._bad else None
        if before is not None and before.last == first - 1 and before.why == why:
            both = None if before.memories is None or memories is None else before.memories + memories
            self._bad[-1] = BadRange(before.first, last, why, both)
        else:
            self._bad.append(BadRange(first, last, why, memories))


def _kinds(cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> list[str] | None:
    """Return the kinds of the events in a range, or None if DuckDB can't read all their metadata."""
    query = "SELECT * EXCLUDE (data) FROM log.main.log WHERE seq BETWEEN ? AND ? ORDER BY seq"
    try:
        return [row[3] for row in cursor.execute(query, [first, last]).fetchall()]
    except QUERY_ERRORS:
        return None
