"""What each memory serves: its alignment with the North Star, space by space (facts 2.2 and 3.1)."""

from uuid import UUID

import numpy as np
import numpy.typing as npt

from projections.projection import digest_of
from projections.storage.arrays import Growing, Rows, Scores


class PurposeSpace:
    """Purpose vectors by row, each entry in [-1, 1]; all zero while there is no North Star, NaN in an empty row."""

    _goals: list[UUID | None]

    def __init__(self, width: int) -> None:
        self._matrix = Growing(np.float32, width)
        self._goals = []

    def __len__(self) -> int:
        return len(self._matrix)

    def append(self, purpose: npt.ArrayLike | None, goal: UUID | None = None) -> None:
        """Add the next row: a purpose vector, shape (width,), and the goal that it was measured against; or nothing."""
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
        """Return what a row was measured against."""
        return self._goals[row]

    def count(self) -> int:
        """Return how many rows aren't empty."""
        return int((~np.isnan(self._matrix.array[:, 0])).sum())

    def at(self, row: int) -> npt.NDArray[np.float32]:
        """Return the purpose vector of a row, shape (width,)."""
        return self._matrix.array[row]

    def alignments(self, rows: Rows) -> Scores:
        """Return the alignment of these rows with the North Star: the mean of their purpose vectors, shape (rows,).

        NaN where a vector is all zero: a memory that was never measured against a North Star isn't misaligned.
        """
        vectors = self._matrix.array[rows]
        return np.where(vectors.any(axis=1), vectors.mean(axis=1), np.nan).astype(np.float32)

    def cosine(self, purpose: npt.NDArray[np.floating], rows: Rows) -> Scores:
        """Return the cosine in [-1, 1] of a purpose vector to those of these rows, shape (rows,).

        NaN where either is all zero, as before there is a North Star: no purpose is like or unlike any other.
        """
        vectors = self._matrix.array[rows]
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(purpose)
        unlike = np.full(len(rows), np.nan, np.float32)
        cosines = np.divide(vectors @ purpose.astype(np.float32), lengths, out=unlike, where=lengths > 0)
        return np.clip(cosines, -1.0, 1.0).astype(np.float32)

    def digest(self) -> bytes:
        """Return the SHA-256 of all vectors, and of what they were measured against."""
        goals = b"".join(b"-" if goal is None else goal.bytes for goal in self._goals)
        return digest_of(self._matrix.array, goals)
