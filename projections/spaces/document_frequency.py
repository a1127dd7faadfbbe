"""Document frequencies of terms over the live memories, and the inverse document frequency (idf)."""

import numpy as np
import numpy.typing as npt

from events.fingerprint import Sparse
from projections.projection import digest_of


class DocumentFrequency:
    """Number of counted memories that contain each term."""

    count: int

    def __init__(self, width: int) -> None:
        self._holders = np.zeros(width, np.int32)
        self.count = 0

    def add(self, terms: npt.NDArray[np.uint16]) -> None:
        """Count a memory with these distinct terms."""
        self._holders[terms] += 1
        self.count += 1

    def remove(self, terms: npt.NDArray[np.uint16]) -> None:
        """Stop counting a memory with these distinct terms."""
        self._holders[terms] -= 1
        self.count -= 1

    def digest(self) -> bytes:
        """Return the SHA-256 of all counts."""
        return digest_of(self._holders, self.count.to_bytes(8, "little"))

    def shares(self, query: Sparse) -> npt.NDArray[np.float32]:
        """Return the idf-weighted share of each term in a query, shape (width,); they sum to 1."""
        weights = self.idf(query.ids) * query.values.astype(np.float32)
        shares = np.zeros(len(self._holders), np.float32)
        shares[query.ids] = weights / weights.sum()
        return shares

    def holders(self, terms: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        """Return the number of counted memories that contain each term."""
        return self._holders[terms]

    def idf(self, terms: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
        """Return ln((N - df + .5) / (df + .5) + 1) of each term, which is positive."""
        holders = self._holders[terms].astype(np.float32)
        return np.log((self.count - holders + np.float32(0.5)) / (holders + np.float32(0.5)) + np.float32(1.0))
