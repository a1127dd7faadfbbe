"""Int8 vectors in one matrix, scored exactly; where they are many, a graph names the candidates of a search."""

from math import sqrt
from typing import Any, Final, cast

import numkong
import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense
from events.quantization import Levels
from projections.projection import digest_of
from projections.spaces.graph import Graph
from projections.storage.arrays import GrowableArray, Mask, Rows, Scores, are_most, best

_CACHED: Final = 12 << 20
"""Bytes of a matrix whose product with a packed query takes a half to three quarters of the time of `cdist`. Once the
processor's cache is too small for the matrix, it takes twice as long. Either is exact."""


class DenseSpace:
    """Vectors by row as int8 levels (`events.fingerprint`); a row without a vector is zero and scores 0.

    Int8 products are exact, so that a score is independent of the other rows and symmetric in the pair.
    An `indexed` space is searched as a whole, for which a large one has a graph.
    """

    def __init__(self, dimension: int, *, indexed: bool = False) -> None:
        self.dimension: Final = dimension
        self.graph = Graph(self, dimension, "cos") if indexed else None
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
        row = np.zeros(self.dimension, np.int8) if vector is None else vector
        self._matrix.append(row)
        self._inverse_norms.append(_inverse_norm(row))

    def extend(self, vectors: Levels) -> None:
        """Add vectors, shape (any, dimension)."""
        self._matrix.extend(vectors)
        self._inverse_norms.extend(np.array([_inverse_norm(vector) for vector in vectors], np.float32))

    def replace(self, rows: Rows, vectors: Levels) -> None:
        """Replace the vectors of rows that aren't empty, shape (rows, dimension)."""
        for row, vector in zip(rows.tolist(), vectors, strict=True):  # by row, which loads no more of a snapshot
            self._matrix.part(slice(row, row + 1))[0] = vector
            self._inverse_norms.part(slice(row, row + 1))[0] = _inverse_norm(vector)
        if self.graph is not None:
            for row, vector in zip(rows.tolist(), vectors, strict=True):
                self.graph.replace(row, vector)

    def at(self, row: int) -> Dense:
        """Return the vector of a row."""
        return Dense(self._matrix.part(slice(row, row + 1)).tobytes())

    def clear(self, row: int) -> None:
        """Overwrite a vector with zeros."""
        self._matrix.array[row] = 0
        self._inverse_norms.array[row] = 0
        if self.graph is not None:
            self.graph.replace(row, None)

    def take(self, rows: Rows) -> Levels:
        """Return a copy of the vectors of some rows, shape (rows, dimension)."""
        return self._matrix.take(rows)

    def part(self, rows: slice) -> Levels:
        """A view on the vectors of some rows, shape (rows, dimension)."""
        return self._matrix.part(rows)

    def scores(self, query: Levels, rows: Rows | slice | None = None) -> Scores:
        """Return the cosine, clamped to [0, 1], of a query to these rows (to all if None), shape (rows,)."""
        if are_most(rows, len(self)):
            return self.scores(query)[rows]
        matrix, norms = self._matrix.select(rows), self._inverse_norms.select(rows)
        if not len(matrix):
            return np.zeros(0, np.float32)
        return _cosines(_products(matrix, query[None])[:, 0], norms, _inverse_norm(query))

    def pair_scores(self, queries: Levels, owners: Rows, rows: Rows) -> Scores:
        """Return the cosine, clamped to [0, 1], of each row to its owner among some queries, shape (rows,).

        `queries` have the shape (queries, dimension), `owners`, the query of each row, (rows,).
        """
        if not len(rows):
            return np.zeros(0, np.float32)
        # All products of which one in each row is needed take less time than a call for each query.
        products = _products(self._matrix.take(rows), queries)
        norms = np.array([_inverse_norm(query) for query in queries])
        return _cosines(products[np.arange(len(rows)), owners], self._inverse_norms.take(rows), norms[owners])

    def nearest(self, query: Levels, count: int, eligible: Mask | None = None) -> tuple[Rows, Scores]:
        """Return the best `count` eligible rows, best first, with their scores; fewer only if fewer are eligible."""
        near = None if self.graph is None else self.graph.nearest(query, count, eligible)
        if near is not None:
            return near
        rows = np.arange(len(self)) if eligible is None else np.flatnonzero(eligible)
        return best(rows, self.scores(query, rows), count)

    def is_null(self, rows: Rows | None = None) -> Mask:
        """Return which of these rows (of all if None) have no vector, shape (rows,)."""
        return (self._inverse_norms.array if rows is None else self._inverse_norms.take(rows)) == 0

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors."""
        return digest_of(self._matrix.array)


def _products(matrix: Levels, queries: Levels) -> npt.NDArray[Any]:
    """Return the exact inner products of rows with queries, shape (rows, queries)."""
    if matrix.nbytes <= _CACHED:
        return np.asarray(numkong.dots_packed(matrix, numkong.dots_pack(queries)))
    return np.asarray(numkong.cdist(queries, matrix, "dot")).T


def _cosines(products: npt.NDArray[Any], norms: Scores, others: Scores | np.float32) -> Scores:
    # Multiply the norms first: a product of two floats is symmetric in the pair, one of three isn't.
    cosines = np.asarray(products.astype(np.float32) * (norms * others), np.float32)
    return np.clip(cosines, 0.0, 1.0, out=cosines)


def _inverse_norm(vector: Levels) -> np.float32:
    """Return 1 / length of a vector; 0 for zeros."""
    square = cast("float", numkong.dot(vector, vector))
    return np.float32(1.0 / sqrt(square) if square else 0.0)
