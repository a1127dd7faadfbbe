"""Directions in one int8 matrix: exact search, and a graph for global searches in large spaces."""

from math import sqrt
from typing import Any, Final, cast

import numkong
import numpy as np
import numpy.typing as npt
from usearch.index import Index

from events.fingerprint import Dense, Levels, directions
from projections.arrays import Growing, Mask, Rows, Scores, best
from projections.projection import digest_of, state_of

_MOST: Final = 0.5
"""Part of the rows that must be eligible for the graph to be asked, or for all rows to be scored at once."""
_SPARE: Final = 16
"""Neighbours fetched beyond the expected need, for the chance that more than average are not eligible."""


class DenseSpace:
    """Vectors by row as their levels (`events.fingerprint`); a row without a vector is zero and scores 0.

    Products of int8 are exact, so a score depends neither on how many rows are scored with it nor on the side from
    which a pair is seen; numkong multiplies them in half the time of float16, and a matrix of 10,000 x 384 in .1 ms.
    """

    def __init__(self, dimension: int, graph_from: int = 20_000) -> None:
        self._dimension = dimension
        self._graph_from = graph_from
        self._matrix = Growing(np.int8, dimension)
        self._inverse_norms = Growing(np.float32)
        self._graph: Index | None = None
        self._graphed = 0

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
        if self._graph is not None:
            for row in rows[rows < self._graphed].tolist():
                self._graph.remove(row)
                self._graph.add(row, directions(self._matrix.array[row]), threads=1)

    def at(self, row: int) -> Dense:
        """Return the vector of a row that isn't empty."""
        return Dense(self._matrix.array[row].tobytes())

    def clear(self, row: int) -> None:
        """Overwrite a vector with zeros and take it out of the graph."""
        self._matrix.array[row] = 0
        self._inverse_norms.array[row] = 0
        if self._graph is not None and row in self._graph:
            self._graph.remove(row)

    def scores(self, query: Levels, rows: Rows | None = None) -> Scores:
        """Return the cosine, clamped to [0, 1], of a query to these rows (to all if None), shape (rows,)."""
        matrix, norms = self._matrix.array, self._inverse_norms.array
        if rows is not None:
            matrix, norms = matrix.take(rows, axis=0), norms.take(rows)
        if not len(matrix):
            return np.zeros(0, np.float32)
        products = np.asarray(numkong.cdist(query[None], matrix, "dot"))[0]
        # Both norms first: a product of two is the same from either side, one of three is not.
        cosines = products.astype(np.float32) * (norms * _inverse_norm(query))
        return np.clip(cosines, 0.0, 1.0, out=cosines)

    def nearest(self, query: Levels, count: int, eligible: Mask | None = None) -> tuple[Rows, Scores]:
        """Return the `count` best eligible rows, best first, with their scores; fewer only if fewer are eligible.

        Exact below `graph_from` rows and wherever the mask leaves less than half of them, since a graph can't
        filter while it searches; approximate above (HNSW, recall@10 .98 at 100,000 rows).
        """
        allowed = len(self) if eligible is None else int(np.count_nonzero(eligible))
        mostly = allowed >= _MOST * len(self)
        if len(self) >= self._graph_from and mostly:
            rows = self._explore(query, count, allowed, eligible)
            if len(rows) >= min(count, allowed):
                scores = self.scores(query, rows)
                order = best(scores, count)
                return rows[order], scores[order]
        rows = np.arange(len(self)) if eligible is None else np.flatnonzero(eligible)
        scores = self.scores(query)[rows] if mostly else self.scores(query, rows)
        order = best(scores, count)
        return rows[order], scores[order]

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors; the graph follows from them."""
        return digest_of(self._matrix.array)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the graph, which follows from the vectors."""
        return state_of(self, _graph=None, _graphed=0)

    def _explore(self, query: Levels, count: int, allowed: int, eligible: Mask | None) -> Rows:
        """Ask the graph for enough neighbours that about `count` of them are eligible; return those by row."""
        wanted = count if eligible is None else int(count * len(self) / allowed) + _SPARE
        matches = self._grown().search(directions(query), wanted, threads=1)
        rows = np.sort(matches.keys.astype(np.int64))
        return rows if eligible is None else rows[eligible[rows]]

    def _grown(self) -> Index:
        """Bring the graph up to date, row by row in one thread: only then is it the same in every process."""
        if self._graph is None:
            self._graph = Index(
                ndim=self._dimension,
                metric="ip",
                dtype="f16",
                connectivity=16,
                expansion_add=128,
                expansion_search=256,  # 64, the default, loses a tenth of the ten nearest of 50,000
            )
        if self._graphed < len(self):
            fresh = self._matrix.array[self._graphed :]
            filled = np.flatnonzero(fresh.any(axis=1))
            vectors = directions(fresh[filled])
            self._graph.add(cast("npt.NDArray[np.uint64]", filled + self._graphed), vectors, threads=1)
            self._graphed = len(self)
        return self._graph


def _inverse_norm(vector: Levels) -> np.float32:
    """Return 1 / length of a vector; 0 for zeros."""
    square = cast("float", numkong.dot(vector, vector))
    return np.float32(1.0 / sqrt(square) if square else 0.0)
