"""Rows of a log on PostgreSQL, read together with the records of their keys, and written in arrays."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from events.crypto.keys import KeyRing
from events.postgres.connection import Connection
from events.postgres.schema import CHANNEL
from events.storage.chain import Row, verify_row
from events.storage.log import Head, LogCorruptError

PAGE: Final = 256
"""Rows of one query: some 4 MB of memories."""

_ROW: Final = ", ".join(f"l.{name}" for name in Row._fields)
_SELECT: Final = f"SELECT {_ROW}, k.record FROM context_graph.log l LEFT JOIN context_graph.keys k ON k.id = l.id"  # noqa: S608 (constant names)
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


def select_range(connection: Connection, first: int, last: int) -> Page:
    """Return the rows from `first` to `last`, both included."""
    return _page(connection.execute(_SELECT_RANGE, [first, last], binary=True))


def select(connection: Connection, seqs: Sequence[int]) -> Page:
    """Return the rows with these sequence numbers; missing ones are left out."""
    return _page(connection.execute(_SELECT_SEQS, [list(seqs)], binary=True))


def select_verified(connection: Connection, seq: int, keys: KeyRing) -> Row:
    """Return one row that matches its hash; any other, and a missing one, is a `LogCorruptError`."""
    rows = select(connection, [seq]).rows
    if not rows:
        raise LogCorruptError(seq, "it is missing")
    verify_row(rows[0], keys)
    return rows[0]


def select_head(connection: Connection, *, lock: bool = False) -> Head:
    """Return the head of the log; locked, no other transaction can append until this one ends."""
    (fields,) = connection.execute(_LOCK_HEAD if lock else _HEAD, binary=True).fetchall()
    return Head(*fields)


def select_records(connection: Connection, ids: Sequence[UUID]) -> bytes:
    """Return the key records of these events, those that exist, one after the other."""
    query = "SELECT record FROM context_graph.keys WHERE id = ANY(%s)"
    return b"".join(record for (record,) in connection.execute(query, [list(ids)], binary=True))


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
    connection.execute(_INSERT_KEYS, [[UUID(bytes=record[:16]) for record in records], list(records)])


def destroy_keys(connection: Connection, records: Sequence[bytes]) -> bool:
    """Replace key records by those of destroyed keys; return whether one was changed."""
    ids = [UUID(bytes=record[:16]) for record in records]
    return bool(connection.execute(_DESTROY, [ids, list(records)]).rowcount)
