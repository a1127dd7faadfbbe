"""The header of a key file: the chain key, and how a passphrase unlocks the other keys.

Argon2id (RFC 9106) derives the key that wraps a master key and the chain key (RFC 3394), and the master key wraps all
others, so a new passphrase needs one new header. Without a passphrase the header holds the chain key alone, as it is.
The header stands twice, in two pages of a disk, since every event depends on it. In files of earlier versions scrypt
(RFC 7914) derives the key, until the passphrase is set again; the first of them have no chain key, and without a
passphrase no header.
"""

import os
import struct
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from events.crypto.chain_key import SECRET, ChainKey
from events.storage.log import LogError, PassphraseError

MIN_PASSPHRASE: Final = 12
"""Characters of a passphrase that isn't called weak: twelve random letters are beyond 2^56 guesses of .08 s."""

_GIVE_IT: Final = "set CONTEXT_GRAPH_PASSPHRASE or CONTEXT_GRAPH_PASSPHRASE_FILE"
_NOT_LOCKED: Final = (
    "a passphrase was given, but these keys have none: leave it out, or add it to them by: context-graph passphrase"
)

_KEY: Final = 32
_CRC: Final = struct.Struct("<I")

_Cost: TypeAlias = tuple[int, int, int]
"""Of Argon2id: KiB of memory, passes, lanes. Of scrypt: n, r, p. Zeros without a passphrase."""
_NO_COST: Final = (0, 0, 0)

_MEMORY = 2**16
"""KiB that Argon2id takes: 64 MB and some .09 s for a guess, beyond the 46 MB and one pass that OWASP advises."""
_MAX_MEMORY: Final = 2**20
_MAX_PASSES: Final = 16
"""A damaged or forged header must not take more than a gigabyte, or minutes."""
_N, _R, _P = 2**15, 8, 1
"""scrypt's cost in earlier versions."""
_MAX_N: Final = 2**20


class _Layout(NamedTuple):
    """One version of the header."""

    magic: bytes
    """The first bytes of the file; other files begin with the random id of an event."""
    body: struct.Struct
    """Magic, the three numbers of the cost, salt, the wrapped keys; then the first event under the chain key, or 0."""
    copy: int
    """Bytes of a copy, padded with zeros."""
    has_chain: bool
    """Whether there is room for a chain key."""


_PLAIN: Final = _Layout(b"context-graph\0k1", struct.Struct("<16s3I16s40s"), 128, has_chain=False)
_KEYED: Final = _Layout(b"context-graph\0k2", struct.Struct("<16s3I16s72sq"), 4_096, has_chain=True)
_ARGON: Final = _Layout(b"context-graph\0k3", _KEYED.body, _KEYED.copy, has_chain=True)


class _Lock(NamedTuple):
    """What a passphrase stands for."""

    cost: _Cost
    salt: bytes
    kek: bytes
    """The key that is derived from the passphrase."""
    master: bytes
    by_scrypt: bool


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
        salt, cost = os.urandom(16), (_MEMORY, 1, 1)
        kek = _derive(_ARGON, passphrase, salt, cost)
        return _build(_Lock(cost, salt, kek, os.urandom(_KEY), by_scrypt=False), chain)

    @classmethod
    def open(cls, content: bytes, passphrase: str | None) -> "KeyHeader":
        """Unlock the header of a key file, by a copy of it that is sound.

        Raises:
            PassphraseError: the passphrase is wrong, or missing, or given for a file without one.
            LogError: both copies of the header are damaged.
        """
        for layout in (_PLAIN, _KEYED, _ARGON):
            copies = _copies(content, layout)
            sound = next((copy for copy in copies if _is_sound(copy, layout)), None)
            if sound is not None:
                return _open(layout, content[: 2 * layout.copy], sound, passphrase)
            if any(copy.startswith(layout.magic) for copy in copies):
                raise LogError("the header of the keys is damaged: nothing can tell what wraps them")
        if passphrase is not None:
            raise PassphraseError(_NOT_LOCKED)
        return cls(b"", None, None)

    @property
    def locked(self) -> bool:
        """Whether there is a passphrase."""
        return self._lock is not None

    @property
    def by_scrypt(self) -> bool:
        """Whether an earlier version derived the key from the passphrase."""
        return self._lock is not None and self._lock.by_scrypt

    @property
    def width(self) -> int:
        """Bytes of a stored key."""
        return _KEY + 8 * self.locked

    def renewed(self, chain: ChainKey | None) -> "KeyHeader":
        """Return a header with both copies whole and this chain key, behind the same passphrase and master key."""
        return _build(self._lock, chain)

    def damaged(self) -> list[int]:
        """Return which copies of the header, 0 or 1, are damaged."""
        layout = _layout_of(self._lock, self.chain)
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


def _layout_of(lock: _Lock | None, chain: ChainKey | None) -> _Layout:
    if lock is not None and not lock.by_scrypt:
        return _ARGON
    return _KEYED if chain else _PLAIN


def _build(lock: _Lock | None, chain: ChainKey | None) -> KeyHeader:
    if lock is None and chain is None:
        return KeyHeader(b"", None, None)
    layout = _layout_of(lock, chain)
    cost, salt = (lock.cost, lock.salt) if lock else (_NO_COST, bytes(16))
    keys = lock.master if lock else bytes(_KEY)
    if layout.has_chain:
        keys += chain.secret if chain else bytes(SECRET)
    stored = aes_key_wrap(lock.kek, keys) if lock else keys
    first = (chain.first if chain else 0,) if layout.has_chain else ()
    body = layout.body.pack(layout.magic, *cost, salt, stored, *first)
    return KeyHeader(2 * (body + _CRC.pack(crc32(body))).ljust(layout.copy, b"\0"), lock, chain)


def _open(layout: _Layout, content: bytes, sound: bytes, passphrase: str | None) -> KeyHeader:
    _, memory, passes, lanes, salt, stored, *first = layout.body.unpack(sound[: layout.body.size])
    cost = (memory, passes, lanes)
    lock = None
    if cost != _NO_COST:
        if passphrase is None:
            raise PassphraseError(f"the keys are behind a passphrase, and none was given: {_GIVE_IT}")
        kek = _derive(layout, passphrase, salt, cost)
        try:
            stored = aes_key_unwrap(kek, stored)
        except InvalidUnwrap:
            raise PassphraseError("the passphrase is wrong") from None
        lock = _Lock(cost, salt, kek, stored[:_KEY], by_scrypt=layout is not _ARGON)
    elif passphrase is not None:
        raise PassphraseError(_NOT_LOCKED)
    chain = ChainKey(stored[_KEY : _KEY + SECRET], first[0]) if any(first) else None
    return KeyHeader(content, lock, chain)


def _copies(content: bytes, layout: _Layout) -> tuple[bytes, bytes]:
    return content[: layout.copy], content[layout.copy : 2 * layout.copy]


def _is_sound(copy: bytes, layout: _Layout) -> bool:
    body, rest = copy[: layout.body.size], copy[layout.body.size :]
    if len(copy) < layout.copy or not body.startswith(layout.magic):
        return False
    if rest != _CRC.pack(crc32(body)).ljust(len(rest), b"\0"):
        return False
    _, *cost, _, _ = layout.body.unpack(body)[:6]
    return _is_bounded(layout, *cost)


def _is_bounded(layout: _Layout, *cost: int) -> bool:
    """Tell whether a cost is one that this program or an earlier one may have written."""
    if layout is _ARGON:
        memory, passes, lanes = cost
        return _MEMORY <= memory <= _MAX_MEMORY and 1 <= passes <= _MAX_PASSES and lanes == 1
    if cost == _NO_COST:
        return layout.has_chain
    n, r, p = cost
    return _N <= n <= _MAX_N and n & (n - 1) == 0 and (r, p) == (_R, _P)


def _derive(layout: _Layout, passphrase: str, salt: bytes, cost: _Cost) -> bytes:
    if layout is _ARGON:
        memory, passes, lanes = cost
        kdf = Argon2id(salt=salt, length=_KEY, iterations=passes, lanes=lanes, memory_cost=memory)
    else:
        n, r, p = cost
        kdf = Scrypt(salt=salt, length=_KEY, n=n, r=r, p=p)
    return kdf.derive(passphrase.encode(errors="surrogateescape"))  # the bytes of the environment, whatever its locale
