"""Hypervectors, eight bits to a byte, in one matrix; where they are many, a graph names the candidates of a search."""

from collections.abc import Sequence

import numkong
import numpy as np
import numpy.typing as npt

from events.fingerprint import Bits
from projections.projection import digest_of
from projections.spaces.graph import Graph
from projections.storage.arrays import GrowableArray, Mask, Rows, Scores, are_most, best


class BinarySpace:
    """Bits by row, compared by the share of equal bits."""

    def __init__(self, bits: int, *, indexed: bool = False) -> None:
        if bits % 8:
            raise ValueError(f"{bits} bits don't fill whole bytes")
        self._bits = bits
        self.graph = Graph(self, bits // 8, "hamming") if indexed else None
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
        if self.graph is not None:
            self.graph.replace(row, None)

    def part(self, rows: slice) -> npt.NDArray[np.uint8]:
        """A view on the packed bits of some rows, shape (rows, bits / 8)."""
        return self._matrix.part(rows)

    def nearest(self, query: npt.NDArray[np.uint8], count: int, eligible: Mask) -> tuple[Rows, Scores]:
        """Return the best `count` eligible rows, best first, with their scores; fewer only if fewer are eligible."""
        near = None if self.graph is None else self.graph.nearest(query, count, eligible)
        if near is not None:
            return near
        rows = np.flatnonzero(eligible)
        return best(rows, self.scores(query, rows), count)

    def scores(self, query: npt.NDArray[np.uint8], rows: Rows | slice | None = None) -> Scores:
        """Return 1 - Hamming / bits of packed bits to these rows (to all if None), shape (rows,)."""
        if are_most(rows, len(self)):
            return self.scores(query)[rows]
        matrix = self._matrix.select(rows)
        if not len(matrix):
            return np.zeros(0, np.float32)
        differing = np.asarray(numkong.cdist(query[None], matrix, "hamming", dtype="uint1"))[0]
        return (1.0 - differing / self._bits).astype(np.float32)

    def pair_scores(self, queries: Sequence[Bits], owners: Rows, rows: Rows) -> Scores:
        """Return 1 - Hamming / bits of each row to its owner among some hypervectors, shape (rows,)."""
        if not len(rows):
            return np.zeros(0, np.float32)
        bits = np.stack([one.array for one in queries])
        differing = np.asarray(numkong.cdist(bits, self._matrix.take(rows), "hamming", dtype="uint1"))
        return (1.0 - differing[owners, np.arange(len(rows))] / self._bits).astype(np.float32)

    def digest(self) -> bytes:
        """Return the SHA-256 of all bits."""
        return digest_of(self._matrix.array)
