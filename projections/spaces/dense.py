"""Exact search over int8 vectors in one matrix.

A graph index (HNSW) takes 1.3 ms instead of 2.2 ms for 100,000 rows, but its build after each start only pays off after
tens of thousands of searches. With topics that arrive in sequence it finds .86 of the ten nearest of 500,000 rows
(`scripts/bench index --graph`).
"""

from math import sqrt
from typing import Final, cast

import numkong
import numpy as np

from events.fingerprint import Dense
from events.quantization import Levels
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, Mask, Rows, Scores, top_k

_GATHER_BELOW: Final = 0.5
"""Share of eligible rows below which these are gathered; above, scoring all rows is faster than the copy."""


class DenseSpace:
    """Vectors by row as int8 levels (`events.fingerprint`); a row without a vector is zero and scores 0.

    Int8 products are exact, so that a score is independent of the other rows and symmetric in the pair.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._matrix = GrowableArray(np.int8, dimension)
        self._inverse_norms = GrowableArray(np.float32)

    def __len__(self) -> int:
        return len(self._matrix)

    @property
    def array(self) -> Levels:
        """A view on the vectors, shape (rows, dimension), valid until the next append."""
        return self._matrix.array

    def append(self, vector: Levels | None) -> None:
        """Add the next row: a vector, shape (dimension,), or an empty row."""
        row = np.zeros(self._dimension, np.int8) if vector is None else vector
        self._matrix.append(row)
        self._inverse_norms.append(_inverse_norm(row))

    def extend(self, vectors: Levels) -> None:
        """Add vectors, shape (any, dimension)."""
        self._matrix.extend(vectors)
        self._inverse_norms.extend(np.array([_inverse_norm(vector) for vector in vectors], np.float32))

    def replace(self, rows: Rows, vectors: Levels) -> None:
        """Replace the vectors of rows that aren't empty, shape (rows, dimension)."""
        self._matrix.array[rows] = vectors
        self._inverse_norms.array[rows] = [_inverse_norm(vector) for vector in vectors]

    def at(self, row: int) -> Dense:
        """Return the vector of a row."""
        return Dense(self._matrix.part(slice(row, row + 1)).tobytes())

    def clear(self, row: int) -> None:
        """Overwrite a vector with zeros."""
        self._matrix.array[row] = 0
        self._inverse_norms.array[row] = 0

    def scores(self, query: Levels, rows: Rows | None = None) -> Scores:
        """Return the cosine, clamped to [0, 1], of a query to these rows (to all if None), shape (rows,)."""
        if rows is None:
            matrix, norms = self._matrix.array, self._inverse_norms.array
        else:
            matrix, norms = self._matrix.take(rows), self._inverse_norms.take(rows)
        if not len(matrix):
            return np.zeros(0, np.float32)
        products = np.asarray(numkong.cdist(query[None], matrix, "dot"))[0]
        # Multiply the norms first: a product of two floats is symmetric in the pair, one of three isn't.
        cosines = products.astype(np.float32) * (norms * _inverse_norm(query))
        return np.clip(cosines, 0.0, 1.0, out=cosines)

    def nearest(self, query: Levels, count: int, eligible: Mask | None = None) -> tuple[Rows, Scores]:
        """Return the best `count` eligible rows, best first, with their scores; fewer only if fewer are eligible."""
        rows, scores = self.eligible_scores(query, eligible)
        top = top_k_eligible(scores, count)
        return rows[top], scores[top]

    def is_null(self, rows: Rows | None = None) -> Mask:
        """Return which of these rows (of all if None) have no vector, shape (rows,)."""
        return (self._inverse_norms.array if rows is None else self._inverse_norms.take(rows)) == 0

    def eligible_scores(self, query: Levels, eligible: Mask | None = None) -> tuple[Rows, Scores]:
        """Return a superset of the eligible rows, ascending, and their scores; -1 for rows that aren't eligible."""
        if eligible is not None and np.count_nonzero(eligible) < _GATHER_BELOW * len(self):
            rows = np.flatnonzero(eligible)
            return rows, self.scores(query, rows)
        scores = self.scores(query)
        if eligible is not None:
            scores[~eligible] = -1.0
        return np.arange(len(self)), scores

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors."""
        return digest_of(self._matrix.array)


def top_k_eligible(scores: Scores, count: int) -> Rows:
    """Return the indices of the best `count` scores of `DenseSpace.eligible_scores`, best first."""
    top = top_k(scores, count)
    return top[scores[top] >= 0]


def _inverse_norm(vector: Levels) -> np.float32:
    """Return 1 / length of a vector; 0 for zeros."""
    square = cast("float", numkong.dot(vector, vector))
    return np.float32(1.0 / sqrt(square) if square else 0.0)
