"""The hash chain: how drafts become rows, and rows events again, whatever keeps them.

Each row holds the hash of the row before it, and the SHA-256 over that and all of its other
columns; one byte changed anywhere breaks the chain at its row. Sealed events are hashed as
they are kept, encrypted, so that the chain still verifies when a key is destroyed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.storage.log import Draft, Envelope, Head, LogCorruptError
from events.vocabulary import Event, Shredded
from events.vocabulary.codec import decode, encode, is_sealed, kind_of

GENESIS: Final = Head(0, bytes(32))
"""The head of an empty log."""

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")


class Row(NamedTuple):
    """What a log keeps of one event, in the order of its columns."""

    seq: int
    id: UUID
    at: datetime
    """In UTC, without a zone."""
    kind: str
    actor: str
    correlation_id: UUID
    causation_id: UUID | None
    data: bytes
    """The event in msgpack, encrypted if its kind is sealed."""
    prev_hash: bytes
    hash: bytes

    @property
    def head(self) -> Head:
        """The end of a log that ends with this row."""
        return Head(self.seq, self.hash)


class Prepared(NamedTuple):
    """A draft that can be written."""

    draft: Draft
    kind: str
    at: datetime
    """In UTC, without a zone."""
    plain: bytes
    """The event in msgpack."""


def prepare(drafts: Sequence[Draft]) -> list[Prepared]:
    """Encode drafts, all or none.

    Raises:
        UnknownKindError: an event isn't one that may be written.
        ValueError: a time has no zone.
        TypeError, OverflowError: an event holds what msgpack can't say.
    """
    return [Prepared(draft, kind_of(draft.event), in_utc(draft.at), encode(draft.event)) for draft in drafts]


def extend(head: Head, prepared: Sequence[Prepared], keys: KeyRing) -> list[Row]:
    """Return the rows that continue a log after `head`; sealed events have a key on disk by then.

    Raises:
        ValueError: the id of a sealed event is that of an erased one.
    """
    keys.create([draft.id for draft, *_ in prepared if draft.event.sealed])
    rows: list[Row] = []
    for draft, kind, at, plain in prepared:
        data = keys.seal(draft.id, _context(draft.id, kind), plain) if draft.event.sealed else plain
        row = Row(
            head.seq + 1,
            draft.id,
            at,
            kind,
            draft.actor,
            draft.correlation_id,
            draft.causation_id,
            data,
            head.hash,
            b"",
        )
        rows.append(row._replace(hash=_digest(row)))
        head = rows[-1].head
    return rows


def linked(start: Head, end: Head, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield `rows`, which lead from one head to the other without a gap; otherwise `LogCorruptError`."""
    head = start
    for row in rows:
        if row.seq != head.seq + 1:
            raise LogCorruptError(head.seq + 1, "it is missing")
        if row.prev_hash != head.hash:
            raise LogCorruptError(row.seq, "it doesn't continue the event before it")
        verify(row)
        yield row
        head = row.head
    if head != end:
        raise LogCorruptError(head.seq + 1, "it is missing")


def replay(start: Head, end: Head, rows: Iterable[Row], keys: KeyRing) -> Iterator[Envelope]:
    """Yield the events of `rows`, which lead from one head to the other without a gap.

    Raises:
        LogCorruptError: they don't, or one of them can't be read.
        UnknownKindError: an event is of a kind that this version doesn't know.
    """
    return (_opened(row, keys) for row in linked(start, end, rows))


def verify(row: Row) -> None:
    """Check a row against its own hash (`LogCorruptError`)."""
    if row.hash != _digest(row):
        raise LogCorruptError(row.seq, "its content doesn't match its hash")


def read_row(row: Row, keys: KeyRing) -> Envelope:
    """Return the event of one row, `Shredded` if its key was destroyed.

    Raises:
        LogCorruptError: the row doesn't match its own hash, or can't be decrypted or decoded.
        UnknownKindError: the event is of a kind that this version doesn't know.
    """
    verify(row)
    return _opened(row, keys)


def _opened(row: Row, keys: KeyRing) -> Envelope:
    try:
        return envelope(row, _event(row, keys))
    except (KeyUnreadableError, msgspec.DecodeError) as error:
        raise LogCorruptError(row.seq, str(error)) from error


def envelope(row: Row, event: Event) -> Envelope:
    """Put an event in the envelope that its row describes."""
    return Envelope(
        seq=row.seq,
        id=row.id,
        at=row.at.replace(tzinfo=UTC),
        actor=row.actor,
        correlation_id=row.correlation_id,
        causation_id=row.causation_id,
        event=event,
    )


def in_utc(at: datetime) -> datetime:
    """Return a time as columns keep it, in UTC without a zone; one that has no zone is a ValueError."""
    if at.tzinfo is None:
        raise ValueError("the time of an event needs a zone")
    return at.astimezone(UTC).replace(tzinfo=None)


def _event(row: Row, keys: KeyRing) -> Event:
    if not is_sealed(row.kind):
        return decode(row.kind, row.data)
    plain = keys.open(row.id, _context(row.id, row.kind), row.data)
    return Shredded(kind=row.kind) if plain is None else decode(row.kind, plain)


def _digest(row: Row) -> bytes:
    return hashlib.sha256(_encoder.encode(row[:-1])).digest()


def _context(id_: UUID, kind: str) -> bytes:
    """Bind a sealed body to its event, so that it can't be moved to another."""
    return id_.bytes + kind.encode()
