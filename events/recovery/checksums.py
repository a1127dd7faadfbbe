"""DuckDB's checksum of a block or of an entry of its write-ahead log, and the single changed byte that it tells.

Of words w of 64 bits, little-endian, and the bytes that are left over (DuckDB, `src/common/checksum.cpp`), modulo 2⁶⁴:

    checksum = 5381 ⊕ w₀·F ⊕ w₁·F ⊕ … ⊕ MurmurHash64A(rest)

F is odd, so the multiplication can be inverted. Had the word wᵢ alone changed, it was (wᵢ·F ⊕ computed ⊕ stored)·F⁻¹.
For the word that did change, that differs from wᵢ in one byte; for any other word, in one byte only by chance.

The multiplication carries a change only upwards. A change in the lowest byte of a word changes all 64 bits of the
checksum, and hardly any other word fits; one in the highest byte changes the highest 8 bits, and every word fits. What
can be put back are nearly all changes in the lower three or four bytes of a word, depending on how many words there
are, and some above: three of five of the bytes of an entry with one memory, nearly half of those of a block.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

WORD: Final = np.dtype("<u8")

_FACTOR: Final = 0xBF58476D1CE4E5B9
_INVERSE: Final = np.uint64(pow(_FACTOR, -1, 2**64))
_SEED: Final = 5381
_REST_FACTOR: Final = 0xC6A4A7935BD1E995
_REST_SEED: Final = 0xE17A1465
_MASK: Final = 2**64 - 1
_BYTE: Final = 0xFF

_CHANCE: Final = 0.1
"""Most words that may be expected to fit by chance. If one byte has changed, its word is among those that fit, so that
a single one that fits is right. Several changed bytes may be taken for one with this probability at most, and that only
if all of them lie in the upper parts of words."""


def checksum(data: bytes | npt.NDArray[np.uint64]) -> int:
    """Return the checksum of a buffer, or of an array of words."""
    words, rest = _divided(data) if isinstance(data, bytes) else (data, b"")
    result = _SEED ^ int(np.bitwise_xor.reduce(words * np.uint64(_FACTOR)))
    return result ^ _hashed(rest) if rest else result


def restored(data: bytes, stored: int) -> bytes | None:
    """Return a buffer without the one change that its checksum tells.

    Returns:
        The buffer as it was; None if no change of one byte explains the checksum, or more than one.
    """
    difference = checksum(data) ^ stored
    if not difference:
        return data
    # Another word fits if the bytes above the changed one agree, or if each changed bit of the product goes the same
    # way: up or down. The direction of the highest bit makes no difference.
    directions = (difference & _MASK >> 1).bit_count()
    if (len(data) // WORD.itemsize + 1) * (2.0 ** (_shift(difference) - 56) + 2.0**-directions) > _CHANCE:
        return None
    found = list(islice(explanations(data, stored), 2))
    return found[0] if len(found) == 1 else None


def explanations(data: bytes, stored: int) -> Iterator[bytes]:
    """Yield what a buffer may have been, if one byte of it, or of its checksum, has changed."""
    difference = checksum(data) ^ stored
    other_bytes = _MASK ^ _BYTE << _shift(difference)
    words, rest = _divided(data)
    before = (words * np.uint64(_FACTOR) ^ np.uint64(difference)) * _INVERSE
    for at in np.flatnonzero(((before ^ words) & np.uint64(other_bytes)) == 0).tolist():
        yield data[: 8 * at] + before[at].tobytes() + data[8 * at + 8 :]
    hash_before = _hashed(rest) ^ difference
    yield from (data[: words.nbytes] + one for one in _variants(rest) if _hashed(one) == hash_before)
    if not difference & other_bytes:  # the checksum itself has changed
        yield data


def _shift(difference: int) -> int:
    """Return at which bit the lowest byte begins that differs between two checksums: that of the word that changed."""
    return ((difference & -difference).bit_length() - 1) // 8 * 8


def _divided(data: bytes) -> tuple[npt.NDArray[np.uint64], bytes]:
    """Return the words of a buffer, and the bytes that are left over, fewer than a word."""
    words = np.frombuffer(data, WORD, len(data) // WORD.itemsize)
    return words, data[words.nbytes :]


def _variants(rest: bytes) -> list[bytes]:
    changes = ((at, change) for at in range(len(rest)) for change in range(1, 256))
    return [rest[:at] + bytes([rest[at] ^ change]) + rest[at + 1 :] for at, change in changes]


def _hashed(rest: bytes) -> int:
    """Return the hash of fewer bytes than a word, by MurmurHash64A."""
    mixed = (_REST_SEED ^ (len(rest) * _REST_FACTOR)) & _MASK
    mixed = ((mixed ^ int.from_bytes(rest, "little")) * _REST_FACTOR) & _MASK
    mixed = ((mixed ^ (mixed >> 47)) * _REST_FACTOR) & _MASK
    return mixed ^ (mixed >> 47)
