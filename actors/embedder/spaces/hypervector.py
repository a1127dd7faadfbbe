"""E9: a 10,000-bit hypervector of a text's characters, robust against typing errors (Kanerva 2009).

A text is the bag of its character trigrams. Each character has a fixed random vector. Within a trigram the vectors are
rotated by their position and bound by XOR; the trigrams are bundled by majority. The position of a trigram in the text
is ignored: otherwise one inserted letter would shift everything after it.
"""

from collections import Counter
from collections.abc import Generator, Sequence
from functools import lru_cache
from hashlib import shake_128
from typing import Final

import numpy as np
import numpy.typing as npt

from events.fingerprint import Bits

Bytes = npt.NDArray[np.uint8]

BITS: Final = 10_000
_SIZE = BITS // 8
_TIE_BREAK: Final = np.unpackbits(np.frombuffer(shake_128(b"tie").digest(_SIZE), dtype=np.uint8))
_ROWS = 24
"""Vectors unpacked at once: they fit into a core's cache, and a uint8 can count them."""
_STEP = 1_000
"""Distinct trigrams between two pauses, about 10 ms. English has 8,000 in all, a long Chinese text 60,000."""


@lru_cache(maxsize=4096)
def _character(character: str, position: int) -> bytes:
    """Return the packed vector of a character at a position in its trigram, 1,250 bytes."""
    # A lone surrogate is a legal Python character that strict UTF-8 rejects.
    seed = shake_128(character.encode("utf-8", "surrogatepass")).digest(_SIZE)
    bits = np.unpackbits(np.frombuffer(seed, dtype=np.uint8))
    return np.packbits(np.roll(bits, position)).tobytes()


def _bound(trigrams: Sequence[str]) -> Bytes:
    """Return the packed vectors of trigrams, shape (trigrams, 1250)."""
    first, second, third = (
        np.frombuffer(b"".join(_character(trigram[place], place) for trigram in trigrams), np.uint8)
        for place in range(3)
    )
    return (first ^ second ^ third).reshape(-1, _SIZE)


def _trigrams(text: str) -> Counter[str]:
    """Count the trigrams of the casefolded text between two spaces, so that one character makes one trigram."""
    folded = f" {' '.join(text.casefold().split())} "
    return Counter(map("".join, zip(folded, folded[1:], folded[2:], strict=False)))


def _count_ones(rows: Bytes) -> npt.NDArray[np.int32]:
    """Count the set bits of packed rows in each of the columns, shape (10000,)."""
    ones = np.zeros(BITS, dtype=np.int32)
    for start in range(0, len(rows), _ROWS):
        chunk = np.unpackbits(rows[start : start + _ROWS], axis=1)
        # Adding bytes is about ten times faster than adding wider integers.
        ones += np.add.reduce(chunk, axis=0, dtype=np.uint8)
    return ones


def hypervector(text: str) -> Generator[None, None, Bits]:
    """Compute the hypervector of a text, 10,000 bits packed into 1,250 bytes. Yields after every 1,000 trigrams.

    Unrelated texts agree in about half of the bits.

    Raises:
        ValueError: The text is blank.
    """
    trigrams = list(_trigrams(text).items())
    if not trigrams:
        raise ValueError("a blank text has no hypervector")
    balance = np.zeros(BITS, dtype=np.int32)
    for start in range(0, len(trigrams), _STEP):
        if start:
            yield
        names, numbers = zip(*trigrams[start : start + _STEP], strict=True)
        rows = _bound(names)
        counts = np.array(numbers)
        # A count is a sum of powers of two: each row is added once per binary digit of its count.
        for digit in range(int(counts.max()).bit_length()):
            balance += _count_ones(rows[(counts >> digit) & 1 == 1]) << (digit + 1)
        balance -= counts.sum()
    return Bits(np.packbits(np.where(balance == 0, _TIE_BREAK, balance > 0).astype(np.uint8)).tobytes())
