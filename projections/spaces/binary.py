"""Hypervectors, eight bits to a byte, in one matrix."""

import numkong
import numpy as np
import numpy.typing as npt

from events.fingerprint import Bits
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, Rows, Scores


class BinarySpace:
    """Bits by row, compared by the share of equal bits."""

    def __init__(self, bits: int) -> None:
        if bits % 8:
            raise ValueError(f"{bits} bits don't fill whole bytes")
        self._bits = bits
        self._matrix = GrowableArray(np.uint8, bits // 8)

    def __len__(self) -> int:
        return len(self._matrix)

    def append(self, packed: npt.NDArray[np.uint8] | None) -> None:
        """Add the next row: packed bits, shape (bits / 8,), or an empty row."""
        self._matrix.append(np.zeros(self._bits // 8, np.uint8) if packed is None else packed)

    def at(self, row: int) -> Bits:
        """Return the bits of a row."""
        return Bits(self._matrix.part(slice(row, row + 1)).tobytes())

    def clear(self, row: int) -> None:
        """Overwrite a row with zeros, which are a valid hypervector: the caller keeps track of empty rows."""
        self._matrix.array[row] = 0

    def scores(self, query: npt.NDArray[np.uint8], rows: Rows | None = None) -> Scores:
        """Return 1 - Hamming / bits of packed bits to these rows (to all if None), shape (rows,)."""
        matrix = self._matrix.array if rows is None else self._matrix.take(rows)
        if not len(matrix):
            return np.zeros(0, np.float32)
        differing = np.asarray(numkong.cdist(query[None], matrix, "hamming", dtype="uint1"))[0]
        return (1.0 - differing / self._bits).astype(np.float32)

    def digest(self) -> bytes:
        """Return the SHA-256 of all bits."""
        return digest_of(self._matrix.array)
