"""How a passphrase guards a key file: a header in front of the records holds the master key that wraps all others.

scrypt (RFC 7914) turns the passphrase into the key that wraps the master key, so that a new
passphrase asks for one new header. The header stands there twice, since all memories hang on it.
"""

import os
import struct
from typing import Final
from zlib import crc32

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from events.storage.log import LogError, PassphraseError

_MAGIC: Final = b"context-graph\0k1"
"""What a file with a passphrase begins with; a record begins with an event's random id."""
_BODY: Final = struct.Struct("<16s3I16s40s")
"""Magic and version, scrypt's n, r and p, its salt, the master key wrapped (RFC 3394)."""
_CRC: Final = struct.Struct("<I")
_COPY: Final = 128
HEADER: Final = 2 * _COPY
"""Bytes before the first record."""

_N, _R, _P = 2**15, 8, 1
"""32 MB and some .08 s for one guess; the header says what it was made with."""
_MOST: Final = 2**20
"""Of n: a damaged or forged header mustn't ask for more than a gigabyte."""


class Wrapping:
    """A master key, and the header that holds it for whoever knows the passphrase."""

    def __init__(self, master: bytes, header: bytes) -> None:
        self._master = master
        self.header = header
        """As it stands in the file, `HEADER` bytes."""

    @classmethod
    def create(cls, passphrase: str) -> "Wrapping":
        """Draw a master key; an empty passphrase is a `PassphraseError`."""
        if not passphrase:
            raise PassphraseError("the passphrase is empty")
        master, salt = os.urandom(32), os.urandom(16)
        wrapped = aes_key_wrap(_derive(passphrase, salt, _N, _R, _P), master)
        body = _BODY.pack(_MAGIC, _N, _R, _P, salt, wrapped)
        return cls(master, 2 * (body + _CRC.pack(crc32(body))).ljust(_COPY, b"\0"))

    @classmethod
    def find(cls, content: bytes, passphrase: str | None) -> "Wrapping | None":
        """Open the header that a key file starts with, by whichever copy is whole; None if it has none.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a file that has none.
            LogError: there was a header, and neither copy is whole.
        """
        copies = [content[:_COPY], content[_COPY:HEADER]]
        whole = next((copy for copy in copies if is_whole(copy)), None)
        if whole is None:
            if any(copy.startswith(_MAGIC) for copy in copies):
                raise LogError("the header of the keys is damaged: nothing can tell what wraps them")
            if passphrase is not None:
                raise PassphraseError("a passphrase was given, but these keys have none")
            return None
        if passphrase is None:
            raise PassphraseError("the keys are behind a passphrase, and none was given")
        _, n, r, p, salt, wrapped = _BODY.unpack(whole[: _BODY.size])
        try:
            return cls(aes_key_unwrap(_derive(passphrase, salt, n, r, p), wrapped), content[:HEADER])
        except InvalidUnwrap:
            raise PassphraseError("the passphrase is wrong") from None

    def damaged(self) -> list[int]:
        """Return which copies of the header, 0 or 1, aren't whole."""
        copies = (self.header[:_COPY], self.header[_COPY:])
        return [index for index, copy in enumerate(copies) if not is_whole(copy)]

    def wrap(self, key: bytes) -> bytes:
        """Return a key of 32 bytes as 40, which nothing but this master key opens."""
        return aes_key_wrap(self._master, key)

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return what `wrap` was given; anything else is an `InvalidUnwrap`."""
        return aes_key_unwrap(self._master, wrapped)


def is_whole(copy: bytes) -> bool:
    """Tell whether these bytes are a header that nothing has changed, and one that can be worked with."""
    body, rest = copy[: _BODY.size], copy[_BODY.size :]
    if len(copy) < _COPY or not body.startswith(_MAGIC) or rest != _CRC.pack(crc32(body)).ljust(len(rest), b"\0"):
        return False
    _, n, r, p, *_ = _BODY.unpack(body)
    return n <= _MOST and n & (n - 1) == 0 and (r, p) == (_R, _P)


def _derive(passphrase: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return Scrypt(salt=salt, length=32, n=n, r=r, p=p).derive(passphrase.encode())
