"""One key for each sealed event, kept beside the log, so that destroying a key erases what it sealed.

The log itself never changes: it goes on verifying with a body that nobody can read. What this
can't reach are copies of the key file made before, and old blocks that a copy-on-write file system or an SSD
keeps for itself.

With a passphrase a header precedes the records (`events.crypto.wrapping`), and each key is wrapped: it is
unwrapped whenever it is used, and lies open nowhere else.
"""

import os
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from threading import Lock
from typing import Final
from uuid import UUID
from zlib import crc32

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap

from events.crypto.wrapping import Wrapping
from events.storage.durable import DurableFile

_SIZE: Final = 64
"""Bytes of a record: event id, AES-256 key (32 bytes, 40 if wrapped), CRC-32 of both, zeros; none crosses a sector."""
_CRC: Final = struct.Struct("<I")
_ID: Final = 16
_NONCE: Final = 12


class KeyUnreadableError(Exception):
    """The key isn't there, or damaged, or not the one that sealed: this is never an erasure."""


class KeyRing:
    """The keys of a log: in a file of 64-byte records that only its owner may read, or in memory alone.

    A record whose key is all zeros says that the key was destroyed; its id stays, so that an
    erasure can be told from a loss.
    """

    def __init__(self, path: Path | None = None, passphrase: str | None = None) -> None:
        """Load the keys at `path`, which is created if need be; without a path nothing is written.

        A torn record at the end is dropped: the crash that tore it came before its event was committed.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for keys that have none.
            LogError: the header that the passphrase opens is damaged.
        """
        self._lock = Lock()
        """Held while file and memory differ, and while the file is read."""
        self._file = None if path is None else DurableFile(path)
        try:
            content = b"" if self._file is None else self._file.read()
            if passphrase is not None and not content:
                self._load(Wrapping.create(passphrase).header, passphrase)
                if self._file is not None:
                    self._file.write({0: self.content()})
            else:
                self._load(content, passphrase)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, content: bytes, passphrase: str | None = None) -> "KeyRing":
        """Load the bytes of a key file, and never write; raises what the constructor does."""
        ring = cls()
        ring._load(content, passphrase)
        return ring

    @property
    def wrapping(self) -> Wrapping | None:
        """What the passphrase opened, if there is one."""
        return self._wrapping

    def content(self) -> bytes:
        """Return the bytes of a file that holds the same keys behind the same passphrase."""
        return self._header + bytes(self._records)

    def rewrapped(self, wrapping: Wrapping | None) -> bytes:
        """Return the bytes of a file that holds the same keys, wrapped differently or not at all.

        Raises:
            KeyUnreadableError: one of them is damaged.
        """
        ids = (UUID(bytes=id_) for id_ in self._offsets)
        records = (_record(id_.bytes, self._key(id_), wrapping) for id_ in ids)
        return (wrapping.header if wrapping else b"") + b"".join(records)

    def is_as_written(self) -> bool:
        """Tell whether the file still begins with these bytes; any thread may ask."""
        with self._lock:
            return self._file is None or self._file.read().startswith(self.content())

    def has(self, id_: UUID) -> bool:
        """Tell whether the key is there; False when it was destroyed.

        Raises:
            KeyUnreadableError: it is damaged or missing.
        """
        return self._key(id_) is not None

    def damaged(self) -> Iterator[tuple[int, UUID]]:
        """Yield the number of each record that isn't as it was written, and the id that it bears."""
        body = _ID + _width(self._wrapping)
        for offset in range(0, len(self._records), _SIZE):
            record = bytes(self._records[offset : offset + _SIZE])
            if record != (record[:body] + _CRC.pack(crc32(record[:body]))).ljust(_SIZE, b"\0"):
                yield offset // _SIZE, UUID(bytes=record[:_ID])

    def create(self, ids: Collection[UUID]) -> None:
        """Make a key for each id, on disk before this returns; an id that has one keeps it.

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
        records = b"".join(_record(id_.bytes, AESGCM.generate_key(256), self._wrapping) for id_ in new)
        with self._lock:
            if self._file is not None:
                self._file.write({len(self._header) + start: records})
            self._records += records
        self._offsets |= {id_.bytes: start + index * _SIZE for index, id_ in enumerate(new)}

    def seal(self, id_: UUID, aad: bytes, plain: bytes) -> bytes:
        """Encrypt with the key of this id (AES-256-GCM); the nonce, random, stands in front.

        Raises:
            KeyUnreadableError: there is no such key.
        """
        key = self._key(id_)
        if key is None:
            raise KeyUnreadableError(f"the key of event {id_} was destroyed")
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(key).encrypt(nonce, plain, aad)

    def open(self, id_: UUID, aad: bytes, sealed: bytes) -> bytes | None:
        """Decrypt what `seal` returned; None when the key was destroyed.

        Raises:
            KeyUnreadableError: the key is damaged or missing, or didn't seal this.
        """
        key = self._key(id_)
        if key is None:
            return None
        try:
            return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], aad)
        except InvalidTag:
            raise KeyUnreadableError(f"the key of event {id_} doesn't open it") from None

    def destroy(self, ids: Collection[UUID]) -> None:
        """Overwrite these keys with zeros, on disk before this returns; ids without a key are passed over."""
        records = {
            self._offsets[id_.bytes]: _record(id_.bytes, None, self._wrapping)
            for id_ in ids
            if id_.bytes in self._offsets
        }
        if not records:
            return
        with self._lock:
            if self._file is not None:
                self._file.write({len(self._header) + offset: record for offset, record in records.items()})
            for offset, record in records.items():
                self._records[offset : offset + _SIZE] = record

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        if self._file is not None:
            self._file.close()

    def _load(self, content: bytes, passphrase: str | None) -> None:
        self._wrapping = Wrapping.find(content, passphrase)
        self._header = self._wrapping.header if self._wrapping else b""
        records = content[len(self._header) :]
        self._records = bytearray(records[: len(records) - len(records) % _SIZE])
        self._offsets = {records[offset : offset + _ID]: offset for offset in range(0, len(self._records), _SIZE)}

    def _key(self, id_: UUID) -> bytes | None:
        """Return a key, or None if it was destroyed."""
        offset = self._offsets.get(id_.bytes)
        if offset is None:
            raise KeyUnreadableError(f"the key of event {id_} is missing")
        record = bytes(self._records[offset : offset + _SIZE])
        width = _width(self._wrapping)
        stored = record[_ID : _ID + width]
        if record[_ID + width :][: _CRC.size] != _CRC.pack(crc32(record[: _ID + width])):
            raise KeyUnreadableError(f"the key of event {id_} is damaged")
        if not any(stored):
            return None
        try:
            return self._wrapping.unwrap(stored) if self._wrapping else stored
        except InvalidUnwrap:
            raise KeyUnreadableError(f"the key of event {id_} is damaged") from None


def _width(wrapping: Wrapping | None) -> int:
    return 40 if wrapping else 32


def _record(id_: bytes, key: bytes | None, wrapping: Wrapping | None) -> bytes:
    """Return the record of a key, or of one that was destroyed."""
    stored = bytes(_width(wrapping)) if key is None else wrapping.wrap(key) if wrapping else key
    return (id_ + stored + _CRC.pack(crc32(id_ + stored))).ljust(_SIZE, b"\0")
