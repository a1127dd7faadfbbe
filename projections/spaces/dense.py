"""Directions in one int8 matrix, searched exactly.

A graph (HNSW) answers sooner among 100,000 rows, 1.3 ms for 2.2, but has to be built after each start, which tens of
thousands of searches pay back; and where topics come up one after another it finds .86 of the ten nearest of 500,000
(`scripts/bench index --graph`).
"""

from math import sqrt
from typing import Final, cast

import numkong
import numpy as np

from events.fingerprint import Dense, Levels
from projections.projection import digest_of
from projections.storage.arrays import Growing, Mask, Rows, Scores, best

_MOST: Final = 0.5
"""Part of the rows that must be eligible for all rows to be scored at once: a gather costs more than it saves."""


class DenseSpace:
    """Vectors by row as their levels (`events.fingerprint`); a row without a vector is zero and scores 0.

    Products of int8 are exact, so a score depends neither on how many rows are scored with it nor on the side from
    which a pair is seen; numkong multiplies them in half the time of float16, and a matrix of 10,000 x 384 in .1 ms.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._matrix = Growing(np.int8, dimension)
        self._inverse_norms = Growing(np.float32)

    def __len__(self) -> int:
        return len(self._matrix)

    @property
    def array(self) -> Levels:
        """A view on the vectors, shape (rows, dimension); it holds until the next append."""
        return self._matrix.array

    def append(self, vector: Levels | None) -> None:
        """Add the next row: a vector, shape (dimension,), or nothing."""
        row = np.zeros(self._dimension, np.int8) if vector is None else vector
        self._matrix.append(row)
        self._inverse_norms.append(_inverse_norm(row))

    def extend(self, vectors: Levels) -> None:
        """Add vectors, shape (any, dimension)."""
        self._matrix.extend(vectors)
        self._inverse_norms.extend(np.array([_inverse_norm(vector) for vector in vectors], np.float32))

    def replace(self, rows: Rows, vectors: Levels) -> None:
        """Put other vectors, shape (rows, dimension), in rows that aren't empty."""
        self._matrix.array[rows] = vectors
        self._inverse_norms.array[rows] = [_inverse_norm(vector) for vector in vectors]

    def at(self, row: int) -> Dense:
        """Return the vector of a row that isn't empty."""
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
        # Both norms first: a product of two is the same from either side, one of three is not.
        cosines = products.astype(np.float32) * (norms * _inverse_norm(query))
        return np.clip(cosines, 0.0, 1.0, out=cosines)

    def nearest(self, query: Levels, count: int, eligible: Mask | None = None) -> tuple[Rows, Scores]:
        """Return the `count` best eligible rows, best first, with their scores; fewer only if fewer are eligible."""
        rows, scores = self.among(query, eligible)
        places = best_eligible(scores, count)
        return rows[places], scores[places]

    def among(self, query: Levels, eligible: Mask | None = None) -> tuple[Rows, Scores]:
        """Return rows, ascending, all eligible ones among them, and their scores; -1 is that of others."""
        if eligible is not None and np.count_nonzero(eligible) < _MOST * len(self):
            rows = np.flatnonzero(eligible)
            return rows, self.scores(query, rows)
        scores = self.scores(query)
        if eligible is not None:
            scores[~eligible] = -1.0
        return np.arange(len(self)), scores

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors."""
        return digest_of(self._matrix.array)


def best_eligible(scores: Scores, count: int) -> Rows:
    """Return the places of the `count` best scores, best first, of what `DenseSpace.among` found."""
    places = best(scores, count)
    return places[scores[places] >= 0]


def _inverse_norm(vector: Levels) -> np.float32:
    """Return 1 / length of a vector; 0 for zeros."""
    square = cast("float", numkong.dot(vector, vector))
    return np.float32(1.0 / sqrt(square) if square else 0.0)
