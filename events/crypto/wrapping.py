"""The header of a key file: the chain key, and how a passphrase unlocks the other keys.

scrypt (RFC 7914) derives the key that wraps a master key and the chain key (RFC 3394), and the master key wraps all
others, so a new passphrase needs one new header. Without a passphrase the header holds the chain key alone, as it is.
The header stands twice, in two pages of a disk, since every event depends on it. Files of earlier versions have no
chain key, and without a passphrase no header.
"""

import os
import struct
from typing import Final, NamedTuple
from zlib import crc32

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from events.crypto.chain_key import SECRET, ChainKey
from events.storage.log import LogError, PassphraseError

MIN_PASSPHRASE: Final = 12
"""Characters of a passphrase that isn't called weak: twelve random letters are beyond 2^56 guesses of .08 s."""

_KEY: Final = 32
_CRC: Final = struct.Struct("<I")
_N, _R, _P = 2**15, 8, 1
"""scrypt's cost: 32 MB and some .08 s for a guess."""
_MAX_N: Final = 2**20
"""A damaged or forged header must not allocate more than a gigabyte."""


class _Layout(NamedTuple):
    """One version of the header."""

    magic: bytes
    """The first bytes of the file; other files begin with the random id of an event."""
    body: struct.Struct
    """Magic, scrypt's n, r, p and salt, the wrapped keys; then the first event under the chain key."""
    copy: int
    """Bytes of a copy, padded with zeros."""
    has_chain: bool


_PLAIN: Final = _Layout(b"context-graph\0k1", struct.Struct("<16s3I16s40s"), 128, has_chain=False)
_KEYED: Final = _Layout(b"context-graph\0k2", struct.Struct("<16s3I16s72sq"), 4_096, has_chain=True)


class _Lock(NamedTuple):
    """What a passphrase stands for."""

    n: int
    salt: bytes
    kek: bytes
    """The key that scrypt derives."""
    master: bytes


class KeyHeader:
    """The header of a key file, as bytes and by its meaning."""

    def __init__(self, content: bytes, lock: _Lock | None, chain: ChainKey | None) -> None:
        self.content: Final = content
        """The first bytes of the file."""
        self._lock = lock
        self.chain: Final = chain
        """None in a file of an earlier version."""

    @classmethod
    def create(cls, passphrase: str | None, chain: ChainKey | None) -> "KeyHeader":
        """Return a new header; an empty passphrase is a `PassphraseError`."""
        if passphrase is None:
            return _build(None, chain)
        if not passphrase:
            raise PassphraseError("the passphrase is empty")
        salt = os.urandom(16)
        return _build(_Lock(_N, salt, _derive(passphrase, salt, _N), os.urandom(_KEY)), chain)

    @classmethod
    def open(cls, content: bytes, passphrase: str | None) -> "KeyHeader":
        """Unlock the header of a key file, by a copy of it that is sound.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a file without one.
            LogError: both copies of the header are damaged.
        """
        for layout in (_PLAIN, _KEYED):
            copies = _copies(content, layout)
            sound = next((copy for copy in copies if _is_sound(copy, layout)), None)
            if sound is not None:
                return _open(layout, content[: 2 * layout.copy], sound, passphrase)
            if any(copy.startswith(layout.magic) for copy in copies):
                raise LogError("the header of the keys is damaged: nothing can tell what wraps them")
        if passphrase is not None:
            raise PassphraseError("a passphrase was given, but these keys have none")
        return cls(b"", None, None)

    @property
    def locked(self) -> bool:
        """Whether there is a passphrase."""
        return self._lock is not None

    @property
    def width(self) -> int:
        """Bytes of a stored key."""
        return _KEY + 8 * self.locked

    def with_chain(self, chain: ChainKey) -> "KeyHeader":
        """Return a header with a chain key, behind the same passphrase and master key."""
        return _build(self._lock, chain)

    def renewed(self) -> "KeyHeader":
        """Return the same header with both copies whole."""
        return _build(self._lock, self.chain)

    def damaged(self) -> list[int]:
        """Return which copies of the header, 0 or 1, are damaged."""
        layout = _KEYED if self.chain else _PLAIN
        copies = _copies(self.content, layout) if self.content else ()
        return [index for index, copy in enumerate(copies) if not _is_sound(copy, layout)]

    def wrap(self, key: bytes) -> bytes:
        """Return a key of 32 bytes as it is stored."""
        return key if self._lock is None else aes_key_wrap(self._lock.master, key)

    def unwrap(self, stored: bytes) -> bytes:
        """Return the key that is stored so; behind a passphrase, what `wrap` didn't make is an `InvalidUnwrap`."""
        return stored if self._lock is None else aes_key_unwrap(self._lock.master, stored)


def is_locked(content: bytes) -> bool:
    """Tell whether a key file is behind a passphrase; errors as in `KeyHeader.open`."""
    try:
        KeyHeader.open(content, None)
    except PassphraseError:
        return True
    return False


def check_strength(passphrase: str) -> None:
    """Raise `PassphraseError` if a new passphrase is short."""
    if len(passphrase) < MIN_PASSPHRASE:
        raise PassphraseError(f"the passphrase has fewer than {MIN_PASSPHRASE} characters; --weak allows it")


def _build(lock: _Lock | None, chain: ChainKey | None) -> KeyHeader:
    if lock is None and chain is None:
        return KeyHeader(b"", None, None)
    n, r, p, salt = (lock.n, _R, _P, lock.salt) if lock else (0, 0, 0, bytes(16))
    keys = (lock.master if lock else bytes(_KEY)) + (chain.secret if chain else b"")
    stored = aes_key_wrap(lock.kek, keys) if lock else keys
    layout, first = (_PLAIN, ()) if chain is None else (_KEYED, (chain.first,))
    body = layout.body.pack(layout.magic, n, r, p, salt, stored, *first)
    return KeyHeader(2 * (body + _CRC.pack(crc32(body))).ljust(layout.copy, b"\0"), lock, chain)


def _open(layout: _Layout, content: bytes, sound: bytes, passphrase: str | None) -> KeyHeader:
    _, n, _, _, salt, stored, *first = layout.body.unpack(sound[: layout.body.size])
    lock = None
    if n:
        if passphrase is None:
            raise PassphraseError("the keys are behind a passphrase, and none was given")
        kek = _derive(passphrase, salt, n)
        try:
            stored = aes_key_unwrap(kek, stored)
        except InvalidUnwrap:
            raise PassphraseError("the passphrase is wrong") from None
        lock = _Lock(n, salt, kek, stored[:_KEY])
    elif passphrase is not None:
        raise PassphraseError("a passphrase was given, but these keys have none")
    return KeyHeader(content, lock, ChainKey(stored[_KEY : _KEY + SECRET], first[0]) if layout.has_chain else None)


def _copies(content: bytes, layout: _Layout) -> tuple[bytes, bytes]:
    return content[: layout.copy], content[layout.copy : 2 * layout.copy]


def _is_sound(copy: bytes, layout: _Layout) -> bool:
    body, rest = copy[: layout.body.size], copy[layout.body.size :]
    if len(copy) < layout.copy or not body.startswith(layout.magic):
        return False
    if rest != _CRC.pack(crc32(body)).ljust(len(rest), b"\0"):
        return False
    _, n, r, p, *_ = layout.body.unpack(body)
    if n == 0:
        return layout.has_chain and (r, p) == (0, 0)
    return _N <= n <= _MAX_N and n & (n - 1) == 0 and (r, p) == (_R, _P)


def _derive(passphrase: str, salt: bytes, n: int) -> bytes:
    return Scrypt(salt=salt, length=_KEY, n=n, r=_R, p=_P).derive(passphrase.encode())
