"""Byte strings by row, in one flat array."""

import numpy as np

from projections.storage.arrays import GrowableArray, Rows, RowSlices


class Blobs:
    """Rows of any length."""

    def __init__(self) -> None:
        self._bytes = GrowableArray(np.uint8)
        self._slices = RowSlices()

    def __len__(self) -> int:
        return len(self._slices)

    def append(self, blob: bytes) -> None:
        """Add the next row."""
        self._bytes.extend(np.frombuffer(blob, np.uint8))
        self._slices.append(len(blob))

    def at(self, row: int) -> bytes:
        """Return a row; empty once it is cleared."""
        return self._bytes.part(self._slices.slice_of(row)).tobytes()

    def clear(self, row: int) -> None:
        """Overwrite a row with zeros and leave it empty."""
        self._bytes.array[self._slices.slice_of(row)] = 0
        self._slices.clear(row)

    @property
    def lengths(self) -> Rows:
        """A view on the length of each row, valid until the next append."""
        return self._slices.lengths

    def concatenated(self) -> bytes:
        """Return all rows, one after the other."""
        return b"".join(map(self.at, range(len(self))))
