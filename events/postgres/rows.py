"""Rows of a log on PostgreSQL, read together with the records of their keys, and written in arrays."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from events.crypto.keys import KeyRing, record_id
from events.postgres.connection import Connection
from events.postgres.schema import CHANNEL
from events.storage.chain import Row, decode_rows, verify_row
from events.storage.log import Envelope, Head, LogBehindError, LogCorruptError, LogDamagedError, LogNewerError
from events.vocabulary.codec import UnknownKindError

PAGE: Final = 256
"""Rows of one query: some 4 MB of memories."""

_ROW: Final = ", ".join(f"l.{name}" for name in Row._fields)
_SELECT: Final = f"SELECT {_ROW}, k.record FROM context_graph.log l LEFT JOIN context_graph.keys k ON k.id = l.id"
_SELECT_RANGE: Final = f"{_SELECT} WHERE l.seq BETWEEN %s AND %s ORDER BY l.seq".encode()
_SELECT_SEQS: Final = f"{_SELECT} WHERE l.seq = ANY(%s) ORDER BY l.seq".encode()
_HEAD: Final = "SELECT seq, hash FROM context_graph.head"
_LOCK_HEAD: Final = "SELECT seq, hash FROM context_graph.head FOR UPDATE"
_INSERT: Final = """
INSERT INTO context_graph.log SELECT * FROM unnest(
    %b::bigint[], %b::uuid[], %b::timestamp[], %b::text[], %b::text[], %b::uuid[], %b::uuid[],
    %b::bytea[], %b::bytea[], %b::bytea[])
"""
_INSERT_KEYS: Final = """
INSERT INTO context_graph.keys SELECT * FROM unnest(%b::uuid[], %b::bytea[]) ON CONFLICT (id) DO NOTHING
"""
_DESTROY: Final = """
UPDATE context_graph.keys k SET record = d.record FROM unnest(%b::uuid[], %b::bytea[]) AS d (id, record)
WHERE k.id = d.id AND k.record <> d.record
"""


class Page(NamedTuple):
    """Some rows, ascending, and the key records that belong to them."""

    rows: list[Row]
    records: bytes


def _page(found: Iterable[tuple[Any, ...]]) -> Page:
    rows: list[Row] = []
    records: list[bytes] = []
    for *fields, record in found:
        rows.append(Row(*fields))
        if record is not None:
            records.append(record)
    return Page(rows, b"".join(records))


def decode_known(head: Head, page: Page, keys: KeyRing) -> tuple[Envelope, ...]:
    """Return the events of a page that isn't empty, up to one that only a newer version knows.

    Raises:
        LogCorruptError: the chain from the head on is broken, or an event can't be read.
        LogNewerError: the first event is of a kind that this version doesn't know.
    """
    found: list[Envelope] = []
    try:
        for envelope in decode_rows(head, page.rows[-1].head, page.rows, keys.holding(page.records)):
            found.append(envelope)  # noqa: PERF402 -- what came before an error is returned
    except UnknownKindError as error:
        if not found:
            raise LogNewerError(page.rows[0].seq, error.kind) from error
    return tuple(found)


def select_range(connection: Connection, first: int, last: int) -> Page:
    """Return the rows from `first` to `last`, both included."""
    return _page(connection.execute(_SELECT_RANGE, [first, last], binary=True))


def select(connection: Connection, seqs: Sequence[int]) -> Page:
    """Return the rows with these sequence numbers; a missing one is a `LogCorruptError`."""
    page = _page(connection.execute(_SELECT_SEQS, [list(seqs)], binary=True))
    if missing := set(seqs) - {row.seq for row in page.rows}:
        raise LogCorruptError(min(missing), "it is missing")
    return page


def select_verified(connection: Connection, seq: int, keys: KeyRing) -> Row:
    """Return one row that matches its hash; any other, and a missing one, is a `LogCorruptError`."""
    (row,) = select(connection, [seq]).rows
    verify_row(row, keys)
    return row


def select_head(connection: Connection, *, lock: bool = False) -> Head:
    """Return the head of the log (`LogDamagedError`); locked, no other transaction can append until this one ends."""
    fields = connection.execute(_LOCK_HEAD if lock else _HEAD, binary=True).fetchone()
    if fields is None:
        raise LogDamagedError("the log has lost the row that says where it ends")
    return Head(*fields)


def select_end(connection: Connection, keys: KeyRing, known: Iterable[Head]) -> Head:
    """Return the head of a log that contains these heads.

    Raises:
        LogBehindError: it ends before one of them.
        LogCorruptError: it contains another event in the place of one, or ends with another than its head says.
    """
    head = select_head(connection)
    for one in (head, *known):
        check_end(head, one)
        if one.seq:
            check_end(select_verified(connection, one.seq, keys).head, one)
    return head


def check_end(end: Head, seen: Head) -> int:
    """Return where a log ends, as far as that shows that it contains what this process has seen.

    Raises:
        LogBehindError: it ends before: its server was restored from an older copy, or a replica took over.
        LogCorruptError: it ends there, with another event.
    """
    if end.seq < seen.seq:
        raise LogBehindError(end.seq, seen.seq)
    if end.seq == seen.seq and end != seen:
        raise LogCorruptError(end.seq, "it isn't the event that this hub has seen")
    return end.seq


def select_seq_at(connection: Connection, at: datetime, last: int) -> int:
    """Return the last seq, up to `last`, whose `at` isn't after a time in UTC without a zone; 0 if there is none."""
    query = "SELECT coalesce(max(seq), 0) FROM context_graph.log WHERE at <= %s AND seq <= %s"
    ((seq,),) = connection.execute(query, [at, last]).fetchall()
    return seq


def select_seqs(connection: Connection, names: Collection[str], first: int, last: int) -> list[int]:
    """Return the seqs from `first` to `last` of kinds with these names, ascending."""
    query = "SELECT seq FROM context_graph.log WHERE seq BETWEEN %s AND %s AND split_part(kind, '.', 1) = ANY(%s)"
    return sorted(seq for (seq,) in connection.execute(query, [first, last, [*names]]))


def select_records(connection: Connection, ids: Sequence[UUID] | None = None) -> bytes:
    """Return the key records of these events, or of all, those that exist, one after the other."""
    query = "SELECT record FROM context_graph.keys WHERE %(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s)"
    return b"".join(record for (record,) in connection.execute(query, {"ids": ids and list(ids)}, binary=True))


def insert(connection: Connection, rows: Sequence[Row], records: Sequence[bytes]) -> None:
    """Write rows and the key records of their sealed events, move the head, and notify the followers."""
    with connection.pipeline():
        if records:
            insert_keys(connection, records)
        connection.execute(_INSERT, list(map(list, zip(*rows, strict=True))))
        head = rows[-1].head
        connection.execute("UPDATE context_graph.head SET seq = %s, hash = %s", [head.seq, head.hash])
        connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(head.seq)])


def insert_keys(connection: Connection, records: Sequence[bytes]) -> None:
    """Write key records; those that exist stay as they are."""
    connection.execute(_INSERT_KEYS, [list(map(record_id, records)), list(records)])


def shred(connection: Connection, keys: KeyRing, ids: Collection[UUID]) -> None:
    """Destroy the keys of events and of all snapshots, and free what the former versions of their rows hold."""
    with connection.transaction():
        ring = keys.holding(select_records(connection, list(ids)))
        ring.destroy(ids)
        records = list(ring.records())
        destroyed = connection.execute(_DESTROY, [list(map(record_id, records)), records]).rowcount
        if destroyed:
            connection.execute("DELETE FROM context_graph.snapshot_keys")
    if destroyed:
        connection.execute("VACUUM context_graph.keys, context_graph.snapshot_keys")
