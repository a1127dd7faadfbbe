"""The context space: vectors that consolidation blends with the hub of their cluster."""

from typing import Final

import numpy as np
import numpy.typing as npt

from events.fingerprint import directions, levels
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import Rows

HUB_SHARE: Final = np.float32(0.25)
"""Weight of the hub's vector in that of a member with centrality 1."""


class ContextSpace(DenseSpace):
    """Dense vectors that can be blended with others and restored bit by bit."""

    _upright: dict[int, bytes]
    """What was stored in each row that leans."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self._upright: dict[int, Levels] = {}
        """The original vectors of blended rows."""

    def clear(self, row: int) -> None:
        """Overwrite a vector with zeros, and delete its original."""
        self._upright.pop(row, None)
        super().clear(row)

    def restore(self, rows: Rows) -> None:
        """Put the original vectors back into those of these rows that are blended."""
        blended = [row for row in rows.tolist() if row in self._upright]
        if blended:
            self.replace(np.array(blended), np.stack([self._upright.pop(row) for row in blended]))

    def blend(self, rows: Rows, hubs: npt.NDArray[np.float32], centralities: npt.NDArray[np.float32]) -> None:
        """Blend original vectors with those of their hubs.

        Args:
            rows: Neither empty nor blended, shape (rows,).
            hubs: Unit vectors, shape (rows, dimension).
            centralities: Factors of `HUB_SHARE` in [0, 1], shape (rows,).
        """
        originals = self.array[rows]
        blended = (HUB_SHARE * centralities)[:, None] * hubs
        blended += directions(originals)
        self._upright.update(zip(rows.tolist(), originals, strict=True))
        self.replace(rows, levels(blended))

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors and of the originals."""
        originals = b"".join(self._upright[row].tobytes() for row in sorted(self._upright))
        return digest_of(super().digest(), originals)

    def __getstate__(self) -> dict[str, Any]:
        """Give what was stored in rows that lean as one array."""
        rows = sorted(self._upright)
        stored = np.stack([self._upright[row] for row in rows]) if rows else np.empty(0, np.int8)
        return state_of(self, _upright=(np.array(rows, np.int64), stored))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take in what `__getstate__` returned."""
        rows, stored = state.pop("_upright")
        self.__dict__ |= state
        self._upright = {row: vector.copy() for row, vector in zip(rows.tolist(), stored, strict=True)}
