"""The key ring: one key for each sealed event, beside the log, so that destroying it erases the event.

The log itself never changes, and its chain still verifies (crypto-shredding). Earlier copies of the key file, and old
blocks that a copy-on-write file system or an SSD retains, are out of reach.

A header precedes the records (`events.crypto.wrapping`). With a passphrase, each key is wrapped; it is unwrapped for
each use, and never stored otherwise.
"""

import os
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from threading import Lock
from typing import Final, Protocol
from uuid import UUID
from zlib import crc32

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap

from events.crypto.chain_key import ChainKey
from events.crypto.key_file import replace_keys
from events.crypto.wrapping import KeyHeader
from events.storage.durable import DurableFile

_RECORD: Final = 64
"""Bytes of a record, so that none crosses a sector: event id, AES-256 key (32 bytes, 40 if wrapped), CRC-32, zeros."""
_CRC: Final = struct.Struct("<I")
_ID: Final = 16
_NONCE: Final = 12


class KeyUnreadableError(Exception):
    """A key is missing, or damaged, or another one than that which encrypted; never the result of an erasure."""


class Keys(Protocol):
    """Keys by the id of what they encrypt, which is erased with its key."""

    def create(self, ids: Collection[UUID]) -> None:
        """Generate a key for each id that has none; they are on the disk when this returns.

        An id whose key was destroyed is a ValueError, one whose key is damaged a `KeyUnreadableError`.
        """
        ...

    def seal(self, id_: UUID, aad: bytes, plain: bytes) -> bytes:
        """Encrypt with the key of this id (`KeyUnreadableError`, `OSError`)."""
        ...

    def open(self, id_: UUID, aad: bytes, sealed: bytes) -> bytes | None:
        """Decrypt the result of `seal`; None when the key was destroyed (`KeyUnreadableError`, `OSError`)."""
        ...

    def destroy(self, ids: Collection[UUID]) -> None:
        """Destroy these keys, durably (`OSError`)."""
        ...


def record_id(record: bytes) -> UUID:
    """Return the id of the event whose key a record holds."""
    return UUID(bytes=record[:_ID])


class KeyRing:
    """The keys of a log, in a private file of 64-byte records or in memory alone.

    The record of a destroyed key keeps its id, with zeros for the key, which tells an erasure from a loss.
    """

    def __init__(self, path: Path | None = None, passphrase: str | None = None) -> None:
        """Load the keys at `path`, or create the file; without a path they are in memory alone.

        A torn record at the end is dropped: the crash came before its event was committed.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for keys without one.
            LogError: the header is damaged.
        """
        self._lock = Lock()
        """Held while file and memory differ, and while the file is read."""
        self._path = path
        self._file = None if path is None else DurableFile(path)
        try:
            content = b"" if self._file is None else self._file.read()
            if passphrase is not None and not content:
                self._load(KeyHeader.create(passphrase, None).content, passphrase)
                if self._file is not None:
                    self._file.write({0: self.content()})
            else:
                self._load(content, passphrase)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, content: bytes, passphrase: str | None = None) -> "KeyRing":
        """Load the bytes of a key file into memory alone; raises what the constructor raises."""
        ring = cls()
        ring._load(content, passphrase)
        return ring

    @property
    def chain(self) -> ChainKey | None:
        """The chain key; None in the keys of an earlier version, and in new ones before `key_chain`."""
        return self.header.chain

    def key_chain(self, chain: ChainKey) -> None:
        """Store a chain key; the file is replaced (`OSError`)."""
        with self._lock:
            header = self.header.renewed(chain)
            if self._path is not None and self._file is not None:
                replace_keys(self._path, header.content + bytes(self._records))
                self._file.close()
                self._file = DurableFile(self._path)
            self.header = header

    def content(self) -> bytes:
        """Return the bytes of a file with the same keys behind the same passphrase."""
        return self.header.content + bytes(self._records)

    def rewrapped(self, header: KeyHeader) -> bytes:
        """Return the bytes of a file with the same keys behind another header (`KeyUnreadableError`)."""
        return header.content + b"".join(_record(id_.bytes, self._key(id_), header) for id_ in self.ids())

    def matches_file(self) -> bool:
        """Tell whether the file still begins with these bytes; any thread may call this."""
        with self._lock:
            return self._file is None or self._file.read().startswith(self.content())

    def has(self, id_: UUID) -> bool:
        """Tell whether the key exists; False when it was destroyed (`KeyUnreadableError`: it is damaged or missing)."""
        return self._key(id_) is not None

    def is_destroyed(self, id_: UUID) -> bool:
        """Tell whether the key was overwritten with zeros; a missing one wasn't."""
        offset = self._offsets.get(id_.bytes)
        return offset is not None and not any(self._records[offset + _ID : offset + _ID + self.header.width])

    def damaged(self) -> Iterator[tuple[int, UUID]]:
        """Yield the number and the id of each damaged record."""
        for number, record in enumerate(self.records()):
            if record != _completed(record[: _ID + self.header.width]):
                yield number, record_id(record)

    def ids(self) -> Iterator[UUID]:
        """Yield the ids of all records, destroyed ones too, in the order of their creation."""
        return (UUID(bytes=id_) for id_ in self._offsets)

    def undamaged(self) -> "KeyRing":
        """Return a copy in memory alone, without the damaged records and with a whole header."""
        bad = {number for number, _ in self.damaged()}
        return self.holding(b"".join(record for number, record in enumerate(self.records()) if number not in bad))

    def holding(self, records: bytes) -> "KeyRing":
        """Return a ring in memory alone that holds other records behind the same header."""
        ring = KeyRing()
        ring.header = self.header.renewed(self.chain)
        ring._index(records)
        return ring

    def records(self) -> Iterator[bytes]:
        """Yield all records, which begin with the id of their event, in the order of their creation."""
        return (bytes(self._records[offset : offset + _RECORD]) for offset in range(0, len(self._records), _RECORD))

    def create(self, ids: Collection[UUID]) -> None:
        """Generate a key for each id that has none; they are on the disk when this returns.

        Raises:
            ValueError: the key of one of these ids was destroyed.
            KeyUnreadableError: the key of one of these ids is damaged.
        """
        new = [id_ for id_ in dict.fromkeys(ids) if id_.bytes not in self._offsets]
        for id_ in ids:
            if id_.bytes in self._offsets and self._key(id_) is None:
                raise ValueError(f"event {id_} was erased; its id can't be used again")
        if not new:
            return
        start = len(self._records)
        records = b"".join(_record(id_.bytes, AESGCM.generate_key(256), self.header) for id_ in new)
        with self._lock:
            if self._file is not None:
                self._file.write({len(self.header.content) + start: records})
            self._records += records
        self._offsets |= {id_.bytes: start + index * _RECORD for index, id_ in enumerate(new)}

    def seal(self, id_: UUID, aad: bytes, plain: bytes) -> bytes:
        """Encrypt with the key of this id (AES-256-GCM), after a random nonce (`KeyUnreadableError`)."""
        key = self._key(id_)
        if key is None:
            raise KeyUnreadableError(f"the key of event {id_} was destroyed")
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(key).encrypt(nonce, plain, aad)

    def open(self, id_: UUID, aad: bytes, sealed: bytes) -> bytes | None:
        """Decrypt the result of `seal`; None when the key was destroyed.

        Raises:
            KeyUnreadableError: the key is damaged or missing, or another one encrypted this.
        """
        key = self._key(id_)
        if key is None:
            return None
        try:
            return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], aad)
        except InvalidTag:
            raise KeyUnreadableError(f"the key of event {id_} doesn't open it") from None

    def destroy(self, ids: Collection[UUID]) -> None:
        """Overwrite these keys with zeros, on the disk when this returns; ids without a key are ignored."""
        records = {
            self._offsets[id_.bytes]: _record(id_.bytes, None, self.header) for id_ in ids if id_.bytes in self._offsets
        }
        if not records:
            return
        with self._lock:
            if self._file is not None:
                self._file.write({len(self.header.content) + offset: record for offset, record in records.items()})
            for offset, record in records.items():
                self._records[offset : offset + _RECORD] = record

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._file is not None:
            self._file.close()

    def _load(self, content: bytes, passphrase: str | None) -> None:
        self.header = KeyHeader.open(content, passphrase)
        """Its damage, and whether there is a passphrase."""
        self._index(content[len(self.header.content) :])

    def _index(self, records: bytes) -> None:
        self._records = bytearray(records[: len(records) - len(records) % _RECORD])
        self._offsets = {records[offset : offset + _ID]: offset for offset in range(0, len(self._records), _RECORD)}

    def _key(self, id_: UUID) -> bytes | None:
        offset = self._offsets.get(id_.bytes)
        if offset is None:
            raise KeyUnreadableError(f"the key of event {id_} is missing")
        record = bytes(self._records[offset : offset + _RECORD])
        width = self.header.width
        stored = record[_ID : _ID + width]
        if record[_ID + width :][: _CRC.size] != _CRC.pack(crc32(record[: _ID + width])):
            raise KeyUnreadableError(f"the key of event {id_} is damaged")
        if not any(stored):
            return None
        try:
            return self.header.unwrap(stored)
        except InvalidUnwrap:
            raise KeyUnreadableError(f"the key of event {id_} is damaged") from None


def _record(id_: bytes, key: bytes | None, header: KeyHeader) -> bytes:
    return _completed(id_ + (bytes(header.width) if key is None else header.wrap(key)))


def _completed(body: bytes) -> bytes:
    """Return the record that begins with an id and its stored key."""
    return (body + _CRC.pack(crc32(body))).ljust(_RECORD, b"\0")
