"""The space of memories in their context: in their sleep, those of a cluster move towards its middle."""

from typing import Final

import numpy as np
import numpy.typing as npt

from events.fingerprint import directions, levels
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import Rows

SHARE: Final = np.float32(0.25)
"""How much of the vector at the middle of a cluster enters that of a member as central as can be."""


class ContextSpace(DenseSpace):
    """Vectors that may lean towards others, and are back bit by bit once they don't any more."""

    _upright: dict[int, bytes]
    """What was stored in each row that leans."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self._upright = {}

    def clear(self, row: int) -> None:
        """Overwrite a vector with zeros, and forget what was stored."""
        self._upright.pop(row, None)
        super().clear(row)

    def straighten(self, rows: Rows) -> None:
        """Give these rows back what was stored in them."""
        leaning = [row for row in rows.tolist() if row in self._upright]
        if leaning:
            stored = np.frombuffer(b"".join(map(self._upright.pop, leaning)), np.int8)
            self.replace(np.array(leaning), stored.reshape(len(leaning), -1))

    def lean(self, rows: Rows, towards: npt.NDArray[np.float32], shares: npt.NDArray[np.float32]) -> None:
        """Let upright rows that aren't empty lean, each of them towards a unit vector by its share of `SHARE`.

        Args:
            rows: Shape (rows,).
            towards: Shape (rows, dimension).
            shares: In [0, 1], shape (rows,).
        """
        stored = self.array[rows]
        mixed = (SHARE * shares)[:, None] * towards
        mixed += directions(stored)
        self._upright.update(zip(rows.tolist(), map(bytes, stored), strict=True))
        self.replace(rows, levels(mixed))

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors, and of those that were stored in rows that lean."""
        upright = b"".join(self._upright[row] for row in sorted(self._upright))
        return digest_of(super().digest(), upright)
