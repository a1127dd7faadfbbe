"""The hash chain: drafts as rows, and rows as events, for every backend.

Each row stores the hash of the row before it, and a hash over that and all of its other columns: HMAC-SHA256 under the
chain key of the store (`events.crypto.chain_key`), so that only its holder can make a chain that verifies. Rows of a
log that earlier versions began have a plain SHA-256, up to the event `ChainKeyed`. Any changed byte breaks the chain at
its row. Sealed events are hashed in their encrypted form, so the chain still verifies when a key is destroyed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Final, NamedTuple, Protocol
from uuid import UUID, uuid4

import msgspec

from events.crypto.chain_key import ChainKey
from events.crypto.images import ImageFiles
from events.crypto.keys import KeyRing, Keys, KeyUnreadableError
from events.storage.durable import HeadFile
from events.storage.log import Draft, Envelope, Head, Log, LogCorruptError
from events.vocabulary import ChainKeyed, Event, Shredded
from events.vocabulary.codec import decode, encode, is_sealed, kind_of

GENESIS: Final = Head(0, bytes(32))

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")


class Row(NamedTuple):
    """One stored event, in the order of the columns."""

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
        """The head of a log that ends with this row."""
        return Head(self.seq, self.hash)


class StoredLog(Log, Protocol):
    """What backups, checks and moves read of a log on a disk. Any thread may call these."""

    @property
    def images(self) -> ImageFiles | None:
        """The images of its memories; None where it keeps none."""
        ...

    @property
    def keys(self) -> KeyRing:
        """The keys of its sealed events as they are now."""
        ...

    @property
    def snapshot_keys(self) -> Keys:
        """The keys of the snapshots of its projections."""
        ...

    def rows(self, first: int, last: int) -> Iterator[Row]:
        """Yield the rows from `first` to `last`, unverified and in pages; missing ones are left out."""
        ...


class EncodedDraft(NamedTuple):
    """A draft as the columns of its row, before encryption."""

    draft: Draft
    kind: str
    at: datetime
    """In UTC, without a zone."""
    plain: bytes
    """The event in msgpack."""


def encode_drafts(drafts: Sequence[Draft]) -> list[EncodedDraft]:
    """Encode all drafts or none.

    Raises:
        UnknownKindError, TypeError, OverflowError: an event can't be encoded (`encode`).
        ValueError: a time has no zone.
    """
    return [EncodedDraft(draft, kind_of(draft.event), to_utc(draft.at), encode(draft.event)) for draft in drafts]


def build_rows(head: Head, drafts: Sequence[EncodedDraft], keys: KeyRing) -> list[Row]:
    """Return the rows that continue a log after `head`; the keys of sealed events are on the disk when this returns.

    Raises:
        ValueError: the id of a sealed event is that of an erased one.
    """
    keys.create([draft.id for draft, *_ in drafts if draft.event.sealed])
    rows: list[Row] = []
    for draft, kind, at, plain in drafts:
        data = keys.seal(draft.id, _context(draft.id, kind), plain) if draft.event.sealed else plain
        causes = draft.correlation_id, draft.causation_id
        row = Row(head.seq + 1, draft.id, at, kind, draft.actor, *causes, data, head.hash, b"")
        rows.append(row._replace(hash=_digest(row, keys)))
        head = rows[-1].head
    return rows


def relink(rows: Iterable[Row | Envelope], keys: KeyRing) -> Iterator[Row]:
    """Yield verified rows with a new chain from the first event on; an event is encoded as a row.

    The key of a sealed event is created if it has none.
    """
    head = GENESIS
    for found in rows:
        row = found if isinstance(found, Row) else build_rows(head, encode_drafts([found]), keys)[0]
        row = row._replace(seq=head.seq + 1, prev_hash=head.hash)
        row = row._replace(hash=_digest(row, keys))
        yield row
        head = row.head


def verify_chain(start: Head, end: Head, rows: Iterable[Row], keys: KeyRing) -> Iterator[Row]:
    """Yield the rows after one head up to another, each once it is verified (`LogCorruptError`)."""
    head = start
    for row in rows:
        if row.seq != head.seq + 1:
            raise LogCorruptError(head.seq + 1, "it is missing")
        if row.prev_hash != head.hash:
            raise LogCorruptError(row.seq, "it doesn't continue the event before it")
        verify_row(row, keys)
        yield row
        head = row.head
    if head != end:
        raise LogCorruptError(head.seq + 1, "it is missing")


def decode_rows(start: Head, end: Head, rows: Iterable[Row], keys: KeyRing) -> Iterator[Envelope]:
    """Yield the events after one head up to another.

    Raises:
        LogCorruptError: the chain is broken, or an event can't be read.
        UnknownKindError: this version doesn't define the kind of an event.
    """
    return (_decoded(row, keys) for row in verify_chain(start, end, rows, keys))


def check_key(row: Row, keys: KeyRing) -> None:
    """Check that the key of a sealed row can be read or was destroyed (`LogCorruptError`)."""
    try:
        keys.has(row.id)
    except KeyUnreadableError as error:
        raise LogCorruptError(row.seq, str(error)) from error


def verify_row(row: Row, keys: KeyRing) -> None:
    """Compare a row with its own hash (`LogCorruptError`)."""
    if not compare_digest(row.hash, _digest(row, keys)):
        missing = "" if keys.chain else ", or the keys have lost the chain key that made it"
        raise LogCorruptError(row.seq, f"its content doesn't match its hash{missing}")


def read_row(row: Row, keys: KeyRing) -> Envelope:
    """Return the event of one row, `Shredded` if its key was destroyed.

    Raises:
        LogCorruptError: the row doesn't match its hash, or can't be decrypted or decoded.
        UnknownKindError: this version doesn't define the kind of the event.
    """
    verify_row(row, keys)
    return _decoded(row, keys)


def envelope_of(row: Row, event: Event) -> Envelope:
    """Return an event with the metadata of its row."""
    return Envelope(
        seq=row.seq,
        id=row.id,
        at=row.at.replace(tzinfo=UTC),
        actor=row.actor,
        correlation_id=row.correlation_id,
        causation_id=row.causation_id,
        event=event,
    )


def to_utc(at: datetime) -> datetime:
    """Return a time as the columns store it, in UTC without a zone; a time without a zone is a ValueError."""
    if at.tzinfo is None:
        raise ValueError("the time of an event needs a zone")
    return at.astimezone(UTC).replace(tzinfo=None)


def _decoded(row: Row, keys: KeyRing) -> Envelope:
    try:
        return envelope_of(row, _event(row, keys))
    except (KeyUnreadableError, msgspec.DecodeError) as error:
        raise LogCorruptError(row.seq, str(error)) from error


def _event(row: Row, keys: KeyRing) -> Event:
    if not is_sealed(row.kind):
        return decode(row.kind, row.data)
    plain = keys.open(row.id, _context(row.id, row.kind), row.data)
    return Shredded(kind=row.kind) if plain is None else decode(row.kind, plain)


def _digest(row: Row, keys: KeyRing) -> bytes:
    encoded, chain = _encoder.encode(row[:-1]), keys.chain
    if chain is not None and row.seq >= chain.first:
        return chain.row_hash(encoded)
    return hashlib.sha256(encoded).digest()


def _context(id_: UUID, kind: str) -> bytes:
    """Return the associated data of a sealed body, so that it can't be moved to another event."""
    return id_.bytes + kind.encode()


def key_chain(head: Head, keys: KeyRing, head_file: HeadFile) -> list[Draft]:
    """Give a log that ends with `head` its chain key, if it has none, and its head file the tags (`OSError`).

    Return the event that the log must append now if it has events with plain hashes, also after a crash in between.
    """
    if keys.chain is None:
        chain = ChainKey.create(head.seq + 1)
        # Heads stay readable without their tags, so a crash between the two files leaves the store as it was.
        head_file.authenticate(chain)
        keys.key_chain(chain)
    if keys.chain is None or not 0 < head.seq == keys.chain.first - 1:
        return []
    event = ChainKeyed(plain=head.seq)
    return [Draft(id=uuid4(), at=datetime.now(UTC), actor="log", correlation_id=uuid4(), event=event)]
