"""Sparse embeddings: an inverted index to rank all rows, a forward index to score a few."""

from collections.abc import Callable
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
    are_most,
    best,
    reduce_rows,
    sum_by_row,
)

K1: Final = np.float32(1.2)
"""BM25's saturation of term frequencies."""
B: Final = np.float32(0.75)
"""BM25's normalisation by length."""

_MAX_PENDING: Final = 128
"""Rows that the inverted index may lack; a ranking scans them in .08 ms."""
_MIN_POSTINGS: Final = 1 << 17
_POSTINGS_A_ROW: Final = 1.25
"""Postings that a recall reads for each row, and at least; those of the heaviest terms, if the query's terms have more
(6 a row in E13). Of 1,500 texts of three kinds, recalls of 24 and 128 find .97 and .99 of what all postings would."""
_OVERSAMPLING: Final = 4
"""Rows that such a recall scores by all terms, for each wanted one."""
_MAX_BLOCK: Final = 1 << 14
"""Rows of a block; building one of E13 takes .06 s, which a search may have to wait for."""

_Terms = npt.NDArray[np.uint16]
_Weights = npt.NDArray[np.float32]
_Score = Callable[[Sparse, Rows | None], Scores]


class _Block(NamedTuple):
    """Inverted index of consecutive rows: for each term the rows that contain it, ascending, and its weights.

    Four bytes a posting: rows count from the first of the block, and weights are stored in float16 anyway.
    """

    first: int
    starts: npt.NDArray[np.int32]
    """Where each term begins in the other arrays, shape (width + 1,)."""
    rows: npt.NDArray[np.uint16]
    weights: npt.NDArray[np.float16]

    def clear(self, row: int) -> None:
        self.weights[self.rows == row - self.first] = 0

    def postings(self, terms: _Terms) -> tuple[Rows, _Weights, Rows]:
        """Return rows and weights, term by term, and the number of postings of each term."""
        starts, ends = self.starts[terms], self.starts[1:][terms]
        spans = [slice(0), *map(slice, starts.tolist(), ends.tolist())]  # there may be no terms
        rows = np.concatenate([self.rows[span] for span in spans], dtype=np.int64) + self.first
        weights = np.concatenate([self.weights[span] for span in spans], dtype=np.float32)
        return rows, weights, ends - starts


class SparseSpace:
    """Terms and weights by row. BM25 reads weights as term frequencies.

    With `counts`, for weights that are plain counts, cosine saturates them as BM25 does; without, for expansion models,
    it takes them as they are. Only `bm25` and `coverage` use idf: the similarity of two memories must not depend on
    what else is stored.
    """

    _total: float
    """Sum of all counted weights. Float64 holds any sum of float16 exactly, so removals leave no rounding error."""

    def __init__(self, width: int, *, counts: bool = False) -> None:
        self.width = width
        self._counts = counts
        self._slices = RowSlices()
        self._terms = GrowableArray(np.uint16)
        self._weights = GrowableArray(np.float16)
        self._blocks: list[_Block] = []
        """The inverted index in row order; each block is larger than the next one, or of the maximum size."""
        self._posted = 0
        """Number of rows in the inverted index."""
        self._frequency = DocumentFrequency(width)
        self.lengths = GrowableArray(np.float32)
        self._norms = GrowableArray(np.float32)
        self._total = 0.0
        self._ranked: dict[str, tuple[Sparse, Scores]] = {}
        """Cache: the last query that scored all rows by each measure; a search scores them several times."""

    def __len__(self) -> int:
        return len(self._slices)

    def count(self) -> int:
        """Return the number of rows that have terms."""
        return int((self._slices.lengths > 0).sum())

    def at(self, row: int) -> Sparse:
        """Return the terms and weights of a row that isn't empty."""
        span = self._slices.slice_of(row)
        return Sparse(self._terms.part(span).tobytes(), self._weights.part(span).tobytes())

    def append(self, embedding: Sparse | None) -> None:
        """Add the next row, empty for None, and count it in the statistics."""
        self._ranked.clear()
        terms = np.empty(0, np.uint16) if embedding is None else embedding.ids
        weights = np.empty(0, np.float32) if embedding is None else embedding.values.astype(np.float32)
        self._slices.append(len(terms))
        self._terms.extend(terms)
        self._weights.extend(weights)
        self.lengths.append(weights.sum())
        self._norms.append(np.linalg.norm(self._saturate(weights)))
        if embedding is not None:
            self.include(len(self) - 1)

    def include(self, row: int) -> None:
        """Count an excluded row in the statistics again."""
        self._ranked.clear()
        span = self._slices.slice_of(row)
        self._frequency.add(self._terms.part(span))
        self._total += float(self._weights.part(span).sum(dtype=np.float64))

    def exclude(self, row: int) -> None:
        """Stop counting a row in the statistics; it is still scored, so rankings must mask it."""
        self._ranked.clear()
        span = self._slices.slice_of(row)
        self._frequency.remove(self._terms.part(span))
        self._total -= float(self._weights.part(span).sum(dtype=np.float64))

    def clear(self, row: int) -> None:
        """Delete the content of an excluded row."""
        self._ranked.clear()
        span = self._slices.slice_of(row)
        if row < self._posted:
            next(block for block in reversed(self._blocks) if block.first <= row).clear(row)
        self._terms.array[span] = 0
        self._weights.array[span] = 0
        self.lengths.array[row] = self._norms.array[row] = 0
        self._slices.clear(row)

    def bm25(self, query: Sparse, rows: Rows | None = None) -> Scores:
        """Return the BM25 scores of these rows (of all if None), 0 without a match, shape (rows,).

        The array for all rows is read-only and cached until a row changes.
        """
        return self._score("bm25", self._bm25, query, rows)

    def recall(self, query: Sparse, count: int, eligible: Mask) -> Rows:
        """Return up to `count` eligible rows that share a term with the query, best first; BM25 ranks plain counts.

        In a large space they are the best among those by the query's heaviest terms.
        """
        score, weights = self.cosine, query.values.astype(np.float32) ** 2
        if self._counts:
            score, weights = self.bm25, query.values
        order = np.argsort(-self._frequency.idf(query.ids) * weights, kind="stable")
        most = max(_MIN_POSTINGS, _POSTINGS_A_ROW * len(self))
        heavy = order[np.cumsum(self._frequency.holders(query.ids[order])) <= most]
        if 0 < len(heavy) < len(order):
            heavy.sort()
            scores = score(Sparse(query.ids[heavy].tobytes(), query.values[heavy].tobytes()))
            rows = np.flatnonzero((scores > 0) & eligible)
            if len(rows) >= count:
                rows = np.sort(best(rows, scores[rows], _OVERSAMPLING * count)[0])
                return best(rows, score(query, rows), count)[0]
        scores = score(query)
        rows = np.flatnonzero((scores > 0) & eligible)
        return best(rows, scores[rows], count)[0]

    def shares(self, query: Sparse) -> Scores:
        """Return the idf-weighted share of each term in a query, shape (width,)."""
        return self._frequency.shares(query)

    def coverage(self, shares: Scores, rows: Rows) -> Scores:
        """Return the summed shares, each of one term in a query, of what each row contains, in [0, 1], shape (rows,).

        Neither term frequency nor length of a row counts: a name that occurs once in a long text is named.
        """
        indices, lengths = self._slices.indices(rows)
        return np.minimum(reduce_rows(np.add, shares[self._terms.array[indices]], lengths), np.float32(1.0))

    def known_share(self, query: Sparse, eligible: Mask) -> float:
        """Return the share of a query's terms that occur in some eligible row; all eligible rows are counted ones."""
        if np.count_nonzero(eligible) == self._frequency.count:
            return float((self._frequency.holders(query.ids) > 0).mean())
        return float((self.holders(query.ids, eligible) > 0).mean())

    def holders(self, terms: _Terms, eligible: Mask) -> npt.NDArray[np.intp]:
        """Return the number of eligible rows that contain each of these terms, shape (terms,)."""
        rows, weights, places = self._matches(terms, np.arange(1, len(terms) + 1, dtype=np.float32), None)
        return np.bincount(places[eligible[rows] & (weights > 0)].astype(np.intp), minlength=len(terms) + 1)[1:]

    def cosine(self, query: Sparse, rows: Rows | None = None) -> Scores:
        """Return the cosine in [0, 1] of the query to these rows (to all if None), shape (rows,), cached as `bm25`."""
        return self._score("cosine", self._cosine, query, rows)

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

    def inverted_size(self) -> int:
        """Return the bytes of the inverted index."""
        return sum(array.nbytes for block in self._blocks for array in (block.starts, block.rows, block.weights))

    def digest(self) -> bytes:
        """Return the SHA-256 of the content of every row and of the statistics."""
        indices, lengths = self._slices.indices()
        statistics = self._frequency.digest(), repr(self._total).encode()
        return digest_of(lengths, self._terms.array[indices], self._weights.array[indices], *statistics)

    def _score(self, measure: str, score: _Score, query: Sparse, rows: Rows | None) -> Scores:
        if (cached := self._ranked.get(measure)) is not None and cached[0] is query:
            return cached[1] if rows is None else cached[1][rows]
        if are_most(rows, len(self)):
            return self._score(measure, score, query, None)[rows]
        scores = score(query, rows)
        if rows is None:
            scores.flags.writeable = False
            self._ranked[measure] = query, scores
        return scores

    def _bm25(self, query: Sparse, rows: Rows | None) -> Scores:
        factors = self._frequency.idf(query.ids) * query.values.astype(np.float32) * (K1 + 1)
        places, weights, factors = self._matches(query.ids, factors, rows)
        mean = np.float32(self._total / max(1, self._frequency.count))
        lengths = self.lengths.array if rows is None else self.lengths.take(rows)
        penalty = K1 * (1 - B + B / max(mean, np.float32(1e-12)) * lengths[places])
        return sum_by_row(places, np.asarray(factors * weights / (weights + penalty), np.float32), len(lengths))

    def _cosine(self, query: Sparse, rows: Rows | None) -> Scores:
        factors = self._saturate(query.values.astype(np.float32))
        norms = self._norms.array if rows is None else self._norms.take(rows)
        length = np.linalg.norm(factors) * norms
        places, weights, factors = self._matches(query.ids, factors, rows)
        products = sum_by_row(places, factors * self._saturate(weights), len(norms))
        cosines = np.divide(products, length, out=np.zeros_like(products), where=length > 0)
        return np.clip(cosines, 0.0, 1.0).astype(np.float32)

    def _saturate(self, weights: _Weights) -> _Weights:
        return np.divide(weights, weights + K1) if self._counts else weights

    def _block(self, first: int, end: int) -> _Block:
        rows = np.arange(first, end)
        indices, lengths = self._slices.indices(rows)
        terms = self._terms.array[indices]
        by_term = np.argsort(terms, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=self.width))]).astype(np.int32)
        owners = np.repeat((rows - first).astype(np.uint16), lengths)[by_term]
        return _Block(first, starts, owners, self._weights.array[indices[by_term]])

    def _matches(self, terms: _Terms, factors: _Weights, rows: Rows | None) -> tuple[Rows, _Weights, _Weights]:
        """Return where rows (all if None) contain these terms: the place among them, weight, and the term's factor.

        Matches of one row are in the order of the terms, so that their sum is rounded alike wherever they are found.
        """
        if rows is not None:
            return self._forward_matches(terms, factors, rows)
        if len(self) - self._posted > _MAX_PENDING:
            self.build_index()
        indexed = [block.postings(terms) for block in self._blocks]
        pending = np.arange(self._posted, len(self))
        found, weights, pending_factors = self._forward_matches(terms, factors, pending)
        return (
            np.concatenate([*(rows for rows, _, _ in indexed), pending[found]]),
            np.concatenate([*(weights for _, weights, _ in indexed), weights]),
            np.concatenate([*(np.repeat(factors, counts) for _, _, counts in indexed), pending_factors]),
        )

    def _forward_matches(self, terms: _Terms, factors: _Weights, rows: Rows) -> tuple[Rows, _Weights, _Weights]:
        """Return the matches of some rows, row by row in ascending order of terms."""
        indices, lengths = self._slices.indices(rows)
        by_term = np.zeros(self.width, np.float32)
        by_term[terms] = factors
        found = by_term.take(self._terms.take(indices))
        shared = np.flatnonzero(found)
        places = np.repeat(np.arange(len(rows)), lengths)[shared]
        return places, self._weights.take(indices[shared]).astype(np.float32), found[shared]
