"""Key wrapping: a passphrase unlocks a master key, and the master key wraps all others.

scrypt (RFC 7914) derives the key that wraps the master key (RFC 3394), so a new passphrase needs one new header. The
header of a key file stands there twice, since every memory depends on it.
"""

import os
import struct
from typing import Final
from zlib import crc32

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from events.storage.log import LogError, PassphraseError

_MAGIC: Final = b"context-graph\0k1"
"""The first bytes of a file behind a passphrase; other key files begin with the random id of an event."""
_BODY: Final = struct.Struct("<16s3I16s40s")
"""Magic and version, scrypt's n, r, p and salt, the wrapped master key."""
_CRC: Final = struct.Struct("<I")
_COPY: Final = 128
HEADER: Final = 2 * _COPY
"""Bytes of both copies of the header."""

_N, _R, _P = 2**15, 8, 1
"""scrypt's cost: 32 MB and some .08 s for a guess."""
_MAX_N: Final = 2**20
"""A damaged or forged header must not allocate more than a gigabyte."""


class KeyWrapping:
    """A master key, and the header that stores it behind a passphrase."""

    def __init__(self, master: bytes, header: bytes) -> None:
        self._master = master
        self.header = header
        """The first `HEADER` bytes of the key file."""

    @classmethod
    def create(cls, passphrase: str) -> "KeyWrapping":
        """Generate a master key; an empty passphrase is a `PassphraseError`."""
        if not passphrase:
            raise PassphraseError("the passphrase is empty")
        master, salt = os.urandom(32), os.urandom(16)
        wrapped = aes_key_wrap(_derive(passphrase, salt, _N, _R, _P), master)
        body = _BODY.pack(_MAGIC, _N, _R, _P, salt, wrapped)
        return cls(master, 2 * (body + _CRC.pack(crc32(body))).ljust(_COPY, b"\0"))

    @classmethod
    def open(cls, content: bytes, passphrase: str | None) -> "KeyWrapping | None":
        """Unlock the header of a key file, by a copy of it that is sound; None for a file without a header.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a file without a header.
            LogError: both copies of the header are damaged.
        """
        copies = [content[:_COPY], content[_COPY:HEADER]]
        sound = next((copy for copy in copies if _is_sound(copy)), None)
        if sound is None:
            if any(copy.startswith(_MAGIC) for copy in copies):
                raise LogError("the header of the keys is damaged: nothing can tell what wraps them")
            if passphrase is not None:
                raise PassphraseError("a passphrase was given, but these keys have none")
            return None
        if passphrase is None:
            raise PassphraseError("the keys are behind a passphrase, and none was given")
        _, n, r, p, salt, wrapped = _BODY.unpack(sound[: _BODY.size])
        try:
            return cls(aes_key_unwrap(_derive(passphrase, salt, n, r, p), wrapped), content[:HEADER])
        except InvalidUnwrap:
            raise PassphraseError("the passphrase is wrong") from None

    def damaged(self) -> list[int]:
        """Return which copies of the header, 0 or 1, are damaged."""
        copies = (self.header[:_COPY], self.header[_COPY:])
        return [index for index, copy in enumerate(copies) if not _is_sound(copy)]

    def wrap(self, key: bytes) -> bytes:
        """Return a key of 32 bytes as 40 wrapped ones."""
        return aes_key_wrap(self._master, key)

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the key that `wrap` wrapped; anything else is an `InvalidUnwrap`."""
        return aes_key_unwrap(self._master, wrapped)


def _is_sound(copy: bytes) -> bool:
    body, rest = copy[: _BODY.size], copy[_BODY.size :]
    if len(copy) < _COPY or not body.startswith(_MAGIC) or rest != _CRC.pack(crc32(body)).ljust(len(rest), b"\0"):
        return False
    _, n, r, p, *_ = _BODY.unpack(body)
    return n <= _MAX_N and n & (n - 1) == 0 and (r, p) == (_R, _P)


def _derive(passphrase: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return Scrypt(salt=salt, length=32, n=n, r=r, p=p).derive(passphrase.encode())
