"""Purpose vectors: the alignment of each memory with the North Star, one value for each space."""

from uuid import UUID

import numpy as np
import numpy.typing as npt

from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, Rows, Scores


class PurposeSpace:
    """Purpose vectors by row, values in [-1, 1]; zero before there is a North Star, NaN in an empty row."""

    _goals: list[UUID | None]

    def __init__(self, width: int) -> None:
        self._matrix = GrowableArray(np.float32, width)
        self._goals = []

    def __len__(self) -> int:
        return len(self._matrix)

    def append(self, purpose: npt.ArrayLike | None, goal: UUID | None = None) -> None:
        """Add the next row: a purpose vector, shape (width,), with the goal it was measured against; empty for None."""
        self._matrix.append(np.full(self._matrix.array.shape[1], np.nan) if purpose is None else purpose)
        self._goals.append(goal)

    def realign(self, row: int, purpose: npt.ArrayLike, goal: UUID) -> None:
        """Replace the purpose vector of a row that isn't empty."""
        self._matrix.array[row] = purpose
        self._goals[row] = goal

    def clear(self, row: int) -> None:
        """Leave a row empty."""
        self._matrix.array[row] = np.nan
        self._goals[row] = None

    def goal(self, row: int) -> UUID | None:
        """Return the goal that a row was measured against."""
        return self._goals[row]

    def count(self) -> int:
        """Return the number of rows that aren't empty."""
        return int((~np.isnan(self._matrix.array[:, 0])).sum())

    def at(self, row: int) -> npt.NDArray[np.float32]:
        """Return the purpose vector of a row, shape (width,)."""
        return self._matrix.array[row]

    def alignments(self, rows: Rows) -> Scores:
        """Return the mean of each row's purpose vector, shape (rows,); NaN where it is zero, that is unmeasured."""
        vectors = self._matrix.array[rows]
        return np.where(vectors.any(axis=1), vectors.mean(axis=1), np.nan).astype(np.float32)

    def cosine(self, purpose: npt.NDArray[np.floating], rows: Rows) -> Scores:
        """Return the cosine in [-1, 1] of a purpose vector to these rows, shape (rows,); NaN where either is zero."""
        vectors = self._matrix.array[rows]
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(purpose)
        undefined = np.full(len(rows), np.nan, np.float32)
        cosines = np.divide(vectors @ purpose.astype(np.float32), lengths, out=undefined, where=lengths > 0)
        return np.clip(cosines, -1.0, 1.0).astype(np.float32)

    def digest(self) -> bytes:
        """Return the SHA-256 of all vectors, and of the goals they were measured against."""
        goals = b"".join(b"-" if goal is None else goal.bytes for goal in self._goals)
        return digest_of(self._matrix.array, goals)
