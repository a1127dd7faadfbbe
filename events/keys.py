"""One key for each sealed event, kept beside the log, so that destroying a key erases what it sealed.

The log itself never changes: it goes on verifying with a body that nobody can read. What this
can't reach are copies of the key file made before, and old blocks that a copy-on-write file system or an SSD
keeps for itself.
"""

import os
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Final
from uuid import UUID
from zlib import crc32

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from events.durable import DurableFile

_RECORD: Final = struct.Struct("<16s32sI12x")
"""Event id, AES-256 key, CRC-32 of both; padded to 64 bytes, so that no record crosses a disk's sector."""
_BODY: Final = 48
"""Bytes of a record that its CRC covers."""
_DESTROYED: Final = bytes(32)
_NONCE: Final = 12


class KeyUnreadableError(Exception):
    """The key isn't there, or damaged, or not the one that sealed: this is never an erasure."""


class KeyRing:
    """The keys of a log: in a file of 64-byte records that only its owner may read, or in memory alone.

    A record whose key is all zeros says that the key was destroyed; its id stays, so that an
    erasure can be told from a loss.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Load the keys at `path`, which is created if need be; without a path nothing is written.

        A torn record at the end is dropped: the crash that tore it came before its event was committed.
        """
        self._file = None if path is None else DurableFile(path)
        content = b"" if self._file is None else self._file.read()
        whole = len(content) - len(content) % _RECORD.size
        self._records = bytearray(content[:whole])
        self._offsets: dict[bytes, int] = {
            content[offset : offset + 16]: offset for offset in range(0, whole, _RECORD.size)
        }

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
        records = b"".join(_record(id_.bytes, AESGCM.generate_key(256)) for id_ in new)
        if self._file is not None:
            self._file.write({start: records})
        self._records += records
        self._offsets |= {id_.bytes: start + index * _RECORD.size for index, id_ in enumerate(new)}

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
            self._offsets[id_.bytes]: _record(id_.bytes, _DESTROYED) for id_ in ids if id_.bytes in self._offsets
        }
        if not records:
            return
        if self._file is not None:
            self._file.write(records)
        for offset, record in records.items():
            self._records[offset : offset + _RECORD.size] = record

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        if self._file is not None:
            self._file.close()

    def _key(self, id_: UUID) -> bytes | None:
        """Return a key, or None if it was destroyed."""
        offset = self._offsets.get(id_.bytes)
        if offset is None:
            raise KeyUnreadableError(f"the key of event {id_} is missing")
        record = bytes(self._records[offset : offset + _RECORD.size])
        _, key, check = _RECORD.unpack(record)
        if check != crc32(record[:_BODY]):
            raise KeyUnreadableError(f"the key of event {id_} is damaged")
        return None if key == _DESTROYED else key


def _record(id_: bytes, key: bytes) -> bytes:
    return _RECORD.pack(id_, key, crc32(id_ + key))
