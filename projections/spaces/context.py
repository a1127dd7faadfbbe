"""The context space: vectors that consolidation blends with the hub of their cluster, or that follow connections."""

from typing import Final

import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense
from events.quantization import directions, levels
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import Rows

HUB_SHARE: Final = np.float32(0.25)
"""Weight of the hub's vector in that of a member with centrality 1."""


class ContextSpace(DenseSpace):
    """Dense vectors that can be blended with others and restored bit by bit."""

    _originals: dict[int, bytes]
    """The original vectors of blended rows."""

    def __init__(self, dimension: int, *, derived: bool) -> None:
        """Create an empty space; its vectors are `derived` from others, or stored."""
        super().__init__(dimension)
        self._derived = derived
        self._originals = {}

    def clear(self, row: int) -> None:
        """Overwrite a vector with zeros, and delete its original."""
        self._originals.pop(row, None)
        super().clear(row)

    def original(self, row: int) -> Dense:
        """Return the vector of a row that isn't empty as it was stored: null if it is derived."""
        if self._derived:
            return Dense.null(self.dimension)
        original = self._originals.get(row)
        return self.at(row) if original is None else Dense(original)

    def restore(self, rows: Rows) -> None:
        """Put the original vectors back into those of these rows that are blended."""
        blended = [row for row in rows.tolist() if row in self._originals]
        if blended:
            stored = np.frombuffer(b"".join(map(self._originals.pop, blended)), np.int8)
            self.replace(np.array(blended), stored.reshape(len(blended), -1))

    def blend(self, rows: Rows, hubs: npt.NDArray[np.float32], centralities: npt.NDArray[np.float32]) -> None:
        """Blend original vectors with those of their hubs.

        `rows` are neither empty nor blended, shape (rows,); `hubs` are unit vectors, `centralities` factors of
        `HUB_SHARE` in [0, 1], one for each row.
        """
        originals = self.array[rows]
        blended = (HUB_SHARE * centralities)[:, None] * hubs
        blended += directions(originals)
        self._originals.update(zip(rows.tolist(), map(bytes, originals), strict=True))
        self.replace(rows, levels(blended))

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors and of the originals."""
        originals = b"".join(self._originals[row] for row in sorted(self._originals))
        return digest_of(super().digest(), originals)
