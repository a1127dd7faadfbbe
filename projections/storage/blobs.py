"""Bytes by row, one after the other in one array, and so written down as they lie."""

import numpy as np

from projections.storage.arrays import Growing, Rows, Stretches


class Blobs:
    """Rows of any length."""

    def __init__(self) -> None:
        self._bytes = Growing(np.uint8)
        self._stretches = Stretches()

    def __len__(self) -> int:
        return len(self._stretches)

    def append(self, blob: bytes) -> None:
        """Add the next row."""
        self._bytes.extend(np.frombuffer(blob, np.uint8))
        self._stretches.append(len(blob))

    def at(self, row: int) -> bytes:
        """Return a row; nothing of one that was cleared."""
        return self._bytes.part(self._stretches.stretch(row)).tobytes()

    def clear(self, row: int) -> None:
        """Overwrite a row with zeros and leave it empty."""
        self._bytes.array[self._stretches.stretch(row)] = 0
        self._stretches.clear(row)

    @property
    def lengths(self) -> Rows:
        """A view on the length of each row; it holds until the next append."""
        return self._stretches.lengths

    def all(self) -> bytes:
        """Return all rows, one after the other."""
        return b"".join(map(self.at, range(len(self))))
