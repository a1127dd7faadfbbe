"""Sparse embeddings: an inverted index to rank all rows, a forward index to score a few."""

from collections.abc import Callable
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from events.fingerprint import Sparse
from projections.projection import digest_of
from projections.spaces.document_frequency import DocumentFrequency
from projections.storage.arrays import (
    GrowableArray,
    Mask,
    Rows,
    RowSlices,
    Scores,
    concatenated_ranges,
    reduce_rows,
)

K1: Final = np.float32(1.2)
"""BM25's saturation of term frequencies."""
B: Final = np.float32(0.75)
"""BM25's normalisation by length."""

_MAX_PENDING: Final = 128
"""Rows that the inverted index may lack; a ranking scans them in .08 ms."""
_GATHER_BELOW: Final = 1 << 14
"""Number of postings from which copying them term by term is faster than one gather."""
_MAX_BLOCK: Final = 1 << 14
"""Rows of a block; building one of E13 takes .06 s, which a search may have to wait for."""

_Terms = npt.NDArray[np.uint16]
_Weights = npt.NDArray[np.float32]


class _Block(NamedTuple):
    """Inverted index of consecutive rows: for each term the rows that contain it, ascending, and its weights."""

    first: int
    starts: Rows
    """Where each term begins in the other arrays, shape (width + 1,)."""
    rows: npt.NDArray[np.int32]
    weights: _Weights

    def clear(self, row: int) -> None:
        self.weights[self.rows == row] = 0

    def postings(self, terms: _Terms) -> tuple[list[npt.NDArray[np.int32]], list[_Weights], Rows]:
        """Return rows and weights in pieces, term by term, and the number of postings of each term."""
        starts = self.starts[terms]
        lengths = self.starts[1:][terms] - starts
        if lengths.sum() < _GATHER_BELOW:
            indices = concatenated_ranges(starts, lengths)
            return [self.rows.take(indices)], [self.weights.take(indices)], lengths
        spans = [slice(*span) for span in zip(starts.tolist(), (starts + lengths).tolist(), strict=True)]
        return [self.rows[span] for span in spans], [self.weights[span] for span in spans], lengths


class SparseSpace:
    """Terms and weights by row. BM25 reads weights as term frequencies.

    With `counts`, for weights that are plain counts, cosine saturates them as BM25 does; without, for expansion models,
    it takes them as they are. Only `bm25` and `coverage` use idf: the similarity of two memories must not depend on
    what else is stored.
    """

    _total: float
    """Sum of all counted weights. Float64 holds any sum of float16 exactly, so removals leave no rounding error."""

    def __init__(self, width: int, *, counts: bool = False) -> None:
        self._width = width
        self._counts = counts
        self._slices = RowSlices()
        self._terms = GrowableArray(np.uint16)
        self._weights = GrowableArray(np.float32)
        self._blocks: list[_Block] = []
        """The inverted index in row order; each block is larger than the next one, or of the maximum size."""
        self._posted = 0
        """Number of rows in the inverted index."""
        self._frequency = DocumentFrequency(width)
        self._lengths = GrowableArray(np.float32)
        self._norms = GrowableArray(np.float32)
        self._total = 0.0
        self._ranked: dict[str, tuple[Sparse, Scores]] = {}
        """Cache: the last query that scored all rows by each measure, since one search scores them several times."""

    def __len__(self) -> int:
        return len(self._slices)

    def count(self) -> int:
        """Return the number of rows that have terms."""
        return int((self._slices.lengths > 0).sum())

    def at(self, row: int) -> Sparse:
        """Return the terms and weights of a row that isn't empty."""
        span = self._slices.slice_of(row)
        return Sparse(self._terms.array[span].tobytes(), self._weights.array[span].astype("<f2").tobytes())

    def append(self, embedding: Sparse | None) -> None:
        """Add the next row, empty for None, and count it in the statistics."""
        self._ranked.clear()
        terms = np.empty(0, np.uint16) if embedding is None else embedding.ids
        weights = np.empty(0, np.float32) if embedding is None else embedding.values.astype(np.float32)
        self._slices.append(len(terms))
        self._terms.extend(terms)
        self._weights.extend(weights)
        self._lengths.append(weights.sum())
        self._norms.append(np.linalg.norm(self._saturate(weights)))
        if embedding is not None:
            self.include(len(self) - 1)

    def include(self, row: int) -> None:
        """Count an excluded row in the statistics again."""
        self._ranked.clear()
        span = self._slices.slice_of(row)
        self._frequency.add(self._terms.array[span])
        self._total += float(self._weights.array[span].sum(dtype=np.float64))

    def exclude(self, row: int) -> None:
        """Stop counting a row in the statistics; it is still scored, so rankings must mask it."""
        self._ranked.clear()
        span = self._slices.slice_of(row)
        self._frequency.remove(self._terms.array[span])
        self._total -= float(self._weights.array[span].sum(dtype=np.float64))

    def clear(self, row: int) -> None:
        """Delete the content of an excluded row."""
        self._ranked.clear()
        span = self._slices.slice_of(row)
        if row < self._posted:
            next(block for block in reversed(self._blocks) if block.first <= row).clear(row)
        self._terms.array[span] = 0
        self._weights.array[span] = 0
        self._lengths.array[row] = 0
        self._norms.array[row] = 0
        self._slices.clear(row)

    def bm25(self, query: Sparse) -> Scores:
        """Return the BM25 score of every row, 0 without a match; read-only, and cached until a row changes."""
        return self._cached("bm25", query, self._bm25)

    def coverage(self, query: Sparse, rows: Rows) -> Scores:
        """Return the share of a query's idf-weighted terms that each of these rows contains, in [0, 1], shape (rows,).

        Neither term frequency nor length of a row counts: a name that occurs once in a long text is named.
        """
        shares = self._frequency.idf(query.ids) * query.values.astype(np.float32)
        by_term = np.zeros(self._width, np.float32)
        by_term[query.ids] = shares / shares.sum()
        indices, lengths = self._slices.indices(rows)
        return np.minimum(reduce_rows(np.add, by_term[self._terms.array[indices]], lengths), np.float32(1.0))

    def contains_terms(self, query: Sparse, eligible: Mask) -> bool:
        """Tell whether every term of a query occurs in some eligible row."""
        numbers = np.arange(1, len(query.ids) + 1, dtype=np.float32)
        rows, _, found = self._postings(query.ids, numbers)
        return bool(np.isin(numbers, found[eligible[rows]]).all())

    def cosine(self, query: Sparse, rows: Rows | None = None) -> Scores:
        """Return the cosine in [0, 1] of the query to these rows (to all if None), shape (rows,).

        The array for all rows is read-only and cached until a row changes.
        """
        if rows is None:
            return self._cached("cosine", query, self._cosine)
        cached = self._ranked.get("cosine")
        return cached[1][rows] if cached is not None and cached[0] is query else self._cosine(query, rows)

    def build_index(self) -> None:
        """Add all pending rows to the inverted index, merged with preceding blocks that aren't larger."""
        first = self._posted
        while self._blocks:
            before = self._blocks[-1].first
            if first - before > len(self) - first or len(self) - before > _MAX_BLOCK:
                break
            first = self._blocks.pop().first
        self._posted = len(self)
        starts = range(first, len(self), _MAX_BLOCK)
        self._blocks += [self._block(start, min(start + _MAX_BLOCK, len(self))) for start in starts]

    def digest(self) -> bytes:
        """Return the SHA-256 of the content of every row and of the statistics."""
        indices, lengths = self._slices.indices()
        total = repr(self._total).encode()
        counts = self._frequency.digest()
        return digest_of(lengths, self._terms.array[indices], self._weights.array[indices], counts, total)

    def _cached(self, measure: str, query: Sparse, score: Callable[[Sparse], Scores]) -> Scores:
        cached = self._ranked.get(measure)
        if cached is None or cached[0] is not query:
            scores = score(query)
            scores.flags.writeable = False
            cached = self._ranked[measure] = query, scores
        return cached[1]

    def _bm25(self, query: Sparse) -> Scores:
        scores = np.zeros(len(self), np.float32)
        if self._total:
            mean = np.float32(self._total / self._frequency.count)
            factors = self._frequency.idf(query.ids) * query.values.astype(np.float32) * (K1 + 1)
            rows, weights, factors = self._postings(query.ids, factors)
            penalty = K1 * (1 - B + B / mean * self._lengths.array[rows])
            np.add.at(scores, rows, factors * weights / (weights + penalty))
        return scores

    def _cosine(self, query: Sparse, rows: Rows | None = None) -> Scores:
        weights = self._saturate(query.values.astype(np.float32))
        if rows is None:
            products, norms = self._products(query.ids, weights), self._norms.array
        else:
            products, norms = self._row_products(query.ids, weights, rows), self._norms.array[rows]
        length = np.linalg.norm(weights) * norms
        cosines = np.divide(products, length, out=np.zeros_like(products), where=length > 0)
        return np.clip(cosines, 0.0, 1.0).astype(np.float32)

    def _saturate(self, weights: _Weights) -> _Weights:
        return np.divide(weights, weights + K1) if self._counts else weights

    def _block(self, first: int, end: int) -> _Block:
        rows = np.arange(first, end)
        indices, lengths = self._slices.indices(rows)
        terms = self._terms.array[indices]
        by_term = np.argsort(terms, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=self._width))])
        owners = np.repeat(rows.astype(np.int32), lengths)[by_term]
        return _Block(first, starts, owners, self._weights.array[indices[by_term]])

    def _postings(self, terms: _Terms, factors: _Weights) -> tuple[Rows, _Weights, _Weights]:
        """Return the postings of these terms: row, weight, and the term's factor.

        Postings of one row are in the order of the terms, so that their sum is rounded alike wherever they are found.
        """
        if len(self) - self._posted > _MAX_PENDING:
            self.build_index()
        indexed = [block.postings(terms) for block in self._blocks]
        rows, weights, pending = self._pending_postings(terms, factors)
        return (
            np.concatenate([*chain.from_iterable(rows for rows, _, _ in indexed), rows], dtype=np.int64),
            np.concatenate([*chain.from_iterable(weights for _, weights, _ in indexed), weights]),
            np.concatenate([*(np.repeat(factors, counts) for _, _, counts in indexed), pending]),
        )

    def _pending_postings(self, terms: _Terms, factors: _Weights) -> tuple[Rows, _Weights, _Weights]:
        """Return the postings of rows that aren't in the inverted index, row by row in ascending order of terms."""
        pending = np.arange(self._posted, len(self))
        indices, lengths = self._slices.indices(pending)
        by_term = np.zeros(self._width, np.float32)
        by_term[terms] = factors
        found = by_term[self._terms.array[indices]]
        shared = np.flatnonzero(found)
        return np.repeat(pending, lengths)[shared], self._weights.array[indices[shared]], found[shared]

    def _products(self, terms: _Terms, weights: _Weights) -> Scores:
        """Return inner products with every row, through the inverted index."""
        rows, row_weights, factors = self._postings(terms, weights)
        return _sum_by_row(rows, factors * self._saturate(row_weights), len(self))

    def _row_products(self, terms: _Terms, weights: _Weights, rows: Rows) -> Scores:
        """Return inner products with some rows, through the forward index."""
        by_term = np.zeros(self._width, np.float32)
        by_term[terms] = weights
        indices, lengths = self._slices.indices(rows)
        products = by_term.take(self._terms.take(indices)) * self._saturate(self._weights.take(indices))
        return _sum_by_row(np.repeat(np.arange(len(rows)), lengths), products, len(rows))


def _sum_by_row(rows: Rows, products: _Weights, count: int) -> Scores:
    """Add up the products of each row sequentially, so that rounding depends on the order of terms alone.

    A pair then scores the same from either side, and a row the same alone or among all.
    """
    sums = np.zeros(count, np.float32)
    np.add.at(sums, rows, products)
    return sums
