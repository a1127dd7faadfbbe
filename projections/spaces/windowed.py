"""Dense vectors of whole memories and of their passages, so that a long memory is found by any of its parts."""

from typing import Final

import numpy as np

from events.fingerprint import Dense, Passage
from events.quantization import Levels
from events.vocabulary.values import Span
from projections.projection import digest_of
from projections.spaces.dense import DenseSpace
from projections.storage.arrays import GrowableArray, Mask, Rows, RowSlices, Scores, best, reduce_rows, top_k

_LIKELY: Final = 256
"""Rows by prefix that all dimensions then rank: they contain .998 of the ten nearest among 300,000 (`bench index`)."""


class WindowedSpace:
    """For each row the vector of the whole memory, then those of its passages; a row scores as its best vector."""

    def __init__(self, dimension: int, *, indexed: bool = False) -> None:
        self.vectors = DenseSpace(dimension, indexed=indexed)
        self._owners = GrowableArray(np.int64)
        """The row of each vector."""
        self._spans = GrowableArray(np.int32, 2)
        self._slices = RowSlices()

    def __len__(self) -> int:
        return len(self._slices)

    def append(self, vectors: Levels, spans: list[Span]) -> None:
        """Add the next row: vectors, shape (1 + passages, dimension), and the span of each passage.

        An empty row has no vectors, shape (0, dimension), and no spans.
        """
        if len(vectors) not in {0, 1 + len(spans)}:
            raise ValueError(f"{len(vectors)} vectors don't fit one memory and {len(spans)} passages")
        self.vectors.extend(vectors)
        self._owners.extend(np.full(len(vectors), len(self)))
        self._spans.extend(np.array([(0, 0), *spans][: len(vectors)]).reshape(-1, 2))
        self._slices.append(len(vectors))

    def clear(self, row: int) -> None:
        """Overwrite the vectors and spans of a row with zeros, and leave it empty."""
        vectors = self._slices.slice_of(row)
        for index in range(vectors.start, vectors.stop):
            self.vectors.clear(index)
        self._spans.array[vectors] = 0
        self._slices.clear(row)

    def count(self) -> int:
        """Return the number of rows that aren't empty."""
        return int((self._slices.lengths > 0).sum())

    def at(self, row: int) -> Dense:
        """Return the vector of the whole memory of a row that isn't empty."""
        return self.vectors.at(self._slices.slice_of(row).start)

    def passages_at(self, row: int) -> tuple[Passage, ...]:
        """Return the passages of a row that isn't empty, in order; none for a memory of one window."""
        vectors = self._slices.slice_of(row)
        indices = range(vectors.start + 1, vectors.stop)
        return tuple(
            Passage(start, end, self.vectors.at(index).vector)
            for index, (start, end) in zip(indices, self._spans.array[vectors].tolist()[1:], strict=True)
        )

    def scores(self, query: Levels, rows: Rows | None = None) -> Scores:
        """Return the cosine in [0, 1] of a query to the best vector of each row (of all if None), shape (rows,)."""
        indices, lengths = self._slices.indices(rows)
        return reduce_rows(np.maximum, self.vectors.scores(query, indices), lengths)

    def pair_scores(self, queries: Levels, owners: Rows, rows: Rows) -> Scores:
        """Return what `DenseSpace.pair_scores` returns of the vectors of whole memories; 0 for an empty row."""
        filled = self._slices.lengths[rows] > 0
        scores = np.zeros(len(rows), np.float32)
        scores[filled] = self.vectors.pair_scores(queries, owners[filled], self._slices.starts(rows[filled]))
        return scores

    def parts(self, query: Levels, rows: Rows) -> tuple[Scores, Scores, Scores]:
        """Return the cosines in [0, 1] of a query to the best vector, the whole and the first passage of each row.

        Each of shape (rows,). A row without passages is its own first passage; an empty row scores 0.
        """
        indices, lengths = self._slices.indices(rows)
        scores = self.vectors.scores(query, indices)
        if (lengths == 1).all():
            return scores, scores, scores
        filled = lengths > 0
        firsts = (np.cumsum(lengths) - lengths)[filled]
        whole, opening = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.float32)
        whole[filled] = scores[firsts]
        opening[filled] = scores[firsts + (lengths[filled] > 1)]
        return reduce_rows(np.maximum, scores, lengths), whole, opening

    def passage_counts(self, rows: Rows) -> Rows:
        """Return how many passages each of these rows has, shape (rows,); 0 for a memory of one window."""
        return np.maximum(self._slices.lengths[rows] - 1, 0)

    def wholes(self, rows: Rows) -> Levels:
        """Return the vectors of the whole memories of rows that aren't empty, shape (rows, dimension)."""
        return self.vectors.take(self._slices.starts(rows))

    def passage_scores(self, query: Levels, rows: Rows) -> Scores:
        """Return the cosine in [0, 1] of a query to each passage of these rows, row by row."""
        indices, lengths = self._slices.indices(rows)
        wholes = (np.cumsum(lengths) - lengths)[lengths > 0]
        return self.vectors.scores(query, np.delete(indices, wholes))

    def span(self, row: int, passage: int) -> Span:
        """Return the characters of a passage of a row, by its place among them."""
        start, end = self._spans.array[self._slices.slice_of(row).start + 1 + passage].tolist()
        return start, end

    def nearest(self, query: Levels, count: int, eligible: Mask) -> tuple[Rows, Scores]:
        """Return the best `count` eligible rows, best first, with their scores; fewer only if fewer are eligible."""
        near = self.near(query, count, eligible)
        if near is not None:
            return near
        indices = np.flatnonzero(eligible[self._owners.array])
        return self._best_rows(indices, self.vectors.scores(query, indices), count)

    def nearest_by_prefix(
        self, prefix: "WindowedSpace", query: Levels, count: int, eligible: Mask
    ) -> tuple[Rows, Scores]:
        """Return what `nearest` returns; where the graph of the leading dimensions names the candidates, likely so.

        `prefix` holds the same rows by their leading dimensions, with a graph.
        """
        near = prefix.near(query[: prefix.vectors.dimension], max(_LIKELY, 4 * count), eligible)
        if near is None:
            return self.nearest(query, count, eligible)
        return best(near[0], self.scores(query, near[0]), count)

    def near(self, query: Levels, count: int, eligible: Mask) -> tuple[Rows, Scores] | None:
        """Return the likely best `count` eligible rows, best first, with their scores; None where a scan must do."""
        graph = self.vectors.graph
        near = graph and graph.near(query, count, np.count_nonzero(eligible) / max(1, len(self)))
        if near is None:
            return None
        admitted = eligible[self._owners.take(near[0])]
        rows, scores = self._best_rows(near[0][admitted], near[1][admitted], count)
        return (rows, scores) if len(rows) == count else None

    def _best_rows(self, indices: Rows, scores: Scores, count: int) -> tuple[Rows, Scores]:
        """Return the best `count` rows that own these vectors, best first, with their scores."""
        wanted = count
        while True:
            top = top_k(scores, wanted)
            rows, first = np.unique(self._owners.take(indices[top]), return_index=True)
            if len(rows) >= count or len(top) < wanted:
                order = first.argsort()[:count]
                return rows[order], scores[top[first[order]]]
            wanted *= 2  # several of the best vectors belong to one row

    def digest(self) -> bytes:
        """Return the SHA-256 of the vectors and spans of every row."""
        indices, lengths = self._slices.indices()
        return digest_of(lengths, self.vectors.array[indices], self._spans.array[indices])
