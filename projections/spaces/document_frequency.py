"""In how many memories each term occurs, and how much that makes it tell."""

import numpy as np
import numpy.typing as npt

from projections.projection import digest_of


class DocumentFrequency:
    """Counts of memories by term, over the memories that can be found at present."""

    count: int
    """How many memories are counted."""

    def __init__(self, width: int) -> None:
        self._holders = np.zeros(width, np.int32)
        self.count = 0

    def add(self, terms: npt.NDArray[np.uint16]) -> None:
        """Count one more memory with these distinct terms."""
        self._holders[terms] += 1
        self.count += 1

    def remove(self, terms: npt.NDArray[np.uint16]) -> None:
        """Count one memory with these distinct terms less."""
        self._holders[terms] -= 1
        self.count -= 1

    def digest(self) -> bytes:
        """Return the SHA-256 of all counts."""
        return digest_of(self._holders, self.count.to_bytes(8, "little"))

    def idf(self, terms: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
        """Return ln((N - df + .5) / (df + .5) + 1) of each term: above 0 always, most for a term that none holds."""
        holders = self._holders[terms].astype(np.float32)
        return np.log((self.count - holders + np.float32(0.5)) / (holders + np.float32(0.5)) + np.float32(1.0))
