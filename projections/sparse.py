"""Sparse embeddings: an inverted file for ranking all memories, a forward index for scoring a few."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from events.fingerprint import Sparse
from projections.arrays import Growing, Rows, Scores, Stretches, reduce_rows
from projections.frequency import DocumentFrequency
from projections.projection import digest_of, state_of

K1: Final = np.float32(1.2)
"""How soon a repeated term stops counting (BM25)."""
B: Final = np.float32(0.75)
"""How much a long memory is held against itself (BM25)."""


class _Posting:
    """The rows that hold one term, ascending, and its weight in each."""

    def __init__(self) -> None:
        self.rows = Growing(np.int64)
        self.weights = Growing(np.float32)

    def extend(self, rows: Rows, weights: npt.NDArray[np.float32]) -> None:
        self.rows.extend(rows)
        self.weights.extend(weights)

    def remove(self, row: int) -> None:
        index = int(np.searchsorted(self.rows.array, row))
        self.rows.remove(index)
        self.weights.remove(index)


class SparseSpace:
    """Terms and weights by row. BM25 takes a weight for the term's frequency in the memory.

    With `counts`, cosine saturates a term's frequency, as suits plain counts; without, it takes the weights as they
    stand, as suits an expansion that has weighed its terms. Rarity is BM25's business alone: how alike two memories
    are must not depend on what else is stored.
    """

    def __init__(self, width: int, *, counts: bool = False) -> None:
        self._width = width
        self._counts = counts
        self._stretches = Stretches()
        self._terms = Growing(np.uint16)
        self._weights = Growing(np.float32)
        self._postings: dict[int, _Posting] = {}
        self._posted = 0
        self._frequency = DocumentFrequency(width)
        self._lengths = Growing(np.float32)
        self._norms = Growing(np.float32)
        self._total = 0.0
        """Sum of all counted weights: exact, since float64 holds any sum of float16, so a removal leaves no trace."""

    def __len__(self) -> int:
        return len(self._stretches)

    def count(self) -> int:
        """Return how many rows have terms."""
        return int((self._stretches.lengths > 0).sum())

    def at(self, row: int) -> Sparse:
        """Return the terms and weights of a row that isn't empty."""
        stretch = self._stretches.stretch(row)
        return Sparse(self._terms.array[stretch].tobytes(), self._weights.array[stretch].astype("<f2").tobytes())

    def append(self, embedding: Sparse | None) -> None:
        """Add the next row; without an embedding it stays empty."""
        row = len(self)
        terms = np.empty(0, np.uint16) if embedding is None else embedding.ids
        weights = np.empty(0, np.float32) if embedding is None else embedding.values.astype(np.float32)
        self._stretches.append(len(terms))
        self._terms.extend(terms)
        self._weights.extend(weights)
        self._lengths.append(weights.sum())
        self._norms.append(np.linalg.norm(self._saturate(weights)))
        if embedding is not None:
            self.show(row)

    def show(self, row: int) -> None:
        """Let a row count in the statistics of the space, as every row does from its append on."""
        stretch = self._stretches.stretch(row)
        self._frequency.add(self._terms.array[stretch])
        self._total += float(self._weights.array[stretch].sum(dtype=np.float64))

    def hide(self, row: int) -> None:
        """Take a counted row out of the statistics; whoever ranks leaves it out by its mask."""
        stretch = self._stretches.stretch(row)
        self._frequency.remove(self._terms.array[stretch])
        self._total -= float(self._weights.array[stretch].sum(dtype=np.float64))

    def clear(self, row: int) -> None:
        """Drop the content of a hidden row."""
        stretch = self._stretches.stretch(row)
        if row < self._posted:
            for term in self._terms.array[stretch].tolist():
                self._postings[term].remove(row)
        self._terms.array[stretch] = 0
        self._weights.array[stretch] = 0
        self._lengths.array[row] = 0
        self._norms.array[row] = 0
        self._stretches.clear(row)

    def bm25(self, query: Sparse) -> Scores:
        """Return the BM25 score of every row (k1 1.2, b .75), each query term times its weight; 0 without a match."""
        scores = np.zeros(len(self), np.float32)
        if not self._total:
            return scores
        mean = np.float32(self._total / self._frequency.count)
        penalty = K1 * (1 - B + B / mean * self._lengths.array)
        factors = self._frequency.idf(query.ids) * query.values.astype(np.float32) * (K1 + 1)
        for posting, factor in self._matching(query.ids, factors):
            rows, weights = posting.rows.array, posting.weights.array
            scores[rows] += factor * weights / (weights + penalty[rows])
        return scores

    def cosine(self, query: Sparse, rows: Rows | None = None) -> Scores:
        """Return the cosine in [0, 1] of the query to these rows (to all if None), shape (rows,)."""
        wanted = self._saturate(query.values.astype(np.float32))
        if rows is None:
            products, norms = self._products(query.ids, wanted), self._norms.array
        else:
            products, norms = self._row_products(query.ids, wanted, rows), self._norms.array[rows]
        length = np.linalg.norm(wanted) * norms
        cosines = np.divide(products, length, out=np.zeros_like(products), where=length > 0)
        return np.clip(cosines, 0.0, 1.0).astype(np.float32)

    def digest(self) -> bytes:
        """Return the SHA-256 of the content of every row and of the statistics."""
        places, lengths = self._stretches.gather()
        total = repr(self._total).encode()
        counts = self._frequency.digest()
        return digest_of(lengths, self._terms.array[places], self._weights.array[places], counts, total)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the inverted file, which the next ranking makes anew."""
        return state_of(self, _postings={}, _posted=0)

    def _saturate(self, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.divide(weights, weights + K1) if self._counts else weights

    def _matching(
        self, terms: npt.NDArray[np.uint16], factors: npt.NDArray[np.float32]
    ) -> Iterator[tuple[_Posting, np.float32]]:
        """Yield the postings of those terms that some row holds, each with the factor of its term."""
        self._post()
        for term, factor in zip(terms.tolist(), factors, strict=True):
            posting = self._postings.get(term)
            if posting is not None:
                yield posting, factor

    def _post(self) -> None:
        """Enter all rows that came since the last ranking: at once, which makes a replay several times as fast."""
        fresh = np.arange(self._posted, len(self))
        places, lengths = self._stretches.gather(fresh)
        rows, terms, weights = np.repeat(fresh, lengths), self._terms.array[places], self._weights.array[places]
        by_term = np.argsort(terms, kind="stable")
        for group in np.split(by_term, np.flatnonzero(np.diff(terms[by_term])) + 1):
            if len(group):
                posting = self._postings.setdefault(int(terms[group[0]]), _Posting())
                posting.extend(rows[group], weights[group])
        self._posted = len(self)

    def _products(self, terms: npt.NDArray[np.uint16], wanted: npt.NDArray[np.float32]) -> Scores:
        """Inner products with every row, through the inverted file."""
        products = np.zeros(len(self), np.float32)
        for posting, factor in self._matching(terms, wanted):
            products[posting.rows.array] += factor * self._saturate(posting.weights.array)
        return products

    def _row_products(self, terms: npt.NDArray[np.uint16], wanted: npt.NDArray[np.float32], rows: Rows) -> Scores:
        """Inner products with some rows, through the forward index."""
        query = np.zeros(self._width, np.float32)
        query[terms] = wanted
        places, lengths = self._stretches.gather(rows)
        shared = query[self._terms.array[places]] > 0
        # Of the shared terms alone, so that a pair is summed, and rounded, alike from either side.
        lengths = reduce_rows(np.add, shared.astype(np.int64), lengths)
        places = places[shared]
        return reduce_rows(
            np.add, query[self._terms.array[places]] * self._saturate(self._weights.array[places]), lengths
        )
