"""Sparse embeddings: an inverted file for ranking all memories, a forward index for scoring a few."""

from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from events.fingerprint import Sparse
from projections.projection import digest_of
from projections.spaces.document_frequency import DocumentFrequency
from projections.storage.arrays import Growing, Mask, Rows, Scores, Stretches, places_of, reduce_rows

K1: Final = np.float32(1.2)
"""How soon a repeated term stops counting (BM25)."""
B: Final = np.float32(0.75)
"""How much a long memory is held against itself (BM25)."""

_FRESH: Final = 128
"""Rows that the inverted file may lag behind: a ranking goes through so many item by item in .08 ms."""
_MANY: Final = 1 << 14
"""Postings from which on it takes less to copy them term by term than to gather them all."""
_LARGEST: Final = 1 << 14
"""Rows of a block at most: to make one of E13 takes .06 s, for which somebody may wait."""


class _Block(NamedTuple):
    """Consecutive rows by term: those that hold it, ascending, and its weight in each."""

    first: int
    starts: Rows
    """Where in the other arrays each term begins, shape (width + 1,)."""
    rows: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    def clear(self, row: int) -> None:
        self.weights[self.rows == row] = 0

    def postings(
        self, terms: npt.NDArray[np.uint16]
    ) -> tuple[list[npt.NDArray[np.int32]], list[npt.NDArray[np.float32]], Rows]:
        """Return rows and weights in pieces, one term after the other, and how many belong to each term."""
        starts = self.starts[terms]
        lengths = self.starts[1:][terms] - starts
        if lengths.sum() < _MANY:
            gathered = places_of(starts, lengths)
            return [self.rows.take(gathered)], [self.weights.take(gathered)], lengths
        stretches = [slice(*stretch) for stretch in zip(starts.tolist(), (starts + lengths).tolist(), strict=True)]
        return [self.rows[one] for one in stretches], [self.weights[one] for one in stretches], lengths


class SparseSpace:
    """Terms and weights by row. BM25 takes a weight for the term's frequency in the memory.

    With `counts`, cosine saturates a term's frequency, as suits plain counts; without, it takes the weights as they
    stand, as suits an expansion that has weighed its terms. Rarity is the business of `bm25` and `coverage` alone: how
    alike two memories are must not depend on what else is stored.
    """

    _total: float
    """Sum of all counted weights: exact, since float64 holds any sum of float16, so a removal leaves no trace."""

    def __init__(self, width: int, *, counts: bool = False) -> None:
        self._width = width
        self._counts = counts
        self._stretches = Stretches()
        self._terms = Growing(np.uint16)
        self._weights = Growing(np.float32)
        self._blocks: list[_Block] = []
        """The inverted file, by rows; a later block is a shorter one, but for the longest."""
        self._posted = 0
        self._frequency = DocumentFrequency(width)
        self._lengths = Growing(np.float32)
        self._norms = Growing(np.float32)
        self._total = 0.0
        self._ranked: dict[str, tuple[Sparse, Scores]] = {}
        """By measure the last query that ranked all rows as they are, and their scores: whoever ranked asks again."""

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
        self._ranked.clear()
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
        self._ranked.clear()
        stretch = self._stretches.stretch(row)
        self._frequency.add(self._terms.array[stretch])
        self._total += float(self._weights.array[stretch].sum(dtype=np.float64))

    def hide(self, row: int) -> None:
        """Take a counted row out of the statistics; whoever ranks leaves it out by its mask."""
        self._ranked.clear()
        stretch = self._stretches.stretch(row)
        self._frequency.remove(self._terms.array[stretch])
        self._total -= float(self._weights.array[stretch].sum(dtype=np.float64))

    def clear(self, row: int) -> None:
        """Drop the content of a hidden row."""
        self._ranked.clear()
        stretch = self._stretches.stretch(row)
        if row < self._posted:
            next(block for block in reversed(self._blocks) if block.first <= row).clear(row)
        self._terms.array[stretch] = 0
        self._weights.array[stretch] = 0
        self._lengths.array[row] = 0
        self._norms.array[row] = 0
        self._stretches.clear(row)

    def bm25(self, query: Sparse) -> Scores:
        """Return the BM25 score of every row (k1 1.2, b .75), each query term times its weight; 0 without a match.

        The array can't be written to: the same query gets it again while no row comes, goes, or changes.
        """
        if (known := self._known("bm25", query)) is not None:
            return known
        scores = np.zeros(len(self), np.float32)
        if self._total:
            lengths = self._lengths.array
            mean = np.float32(self._total / self._frequency.count)
            factors = self._frequency.idf(query.ids) * query.values.astype(np.float32) * (K1 + 1)
            rows, weights, factors = self._matching(query.ids, factors)
            penalty = K1 * (1 - B + B / mean * lengths[rows])
            np.add.at(scores, rows, factors * weights / (weights + penalty))
        return self._keep("bm25", query, scores)

    def coverage(self, query: Sparse, rows: Rows) -> Scores:
        """Return how much of a query each of these rows holds, in [0, 1], shape (rows,).

        Of each term its weight times its idf, so that a rare name is more than a common word. How often a row holds a
        term, and how long it is, count for nothing: who is named once in a long text is named.
        """
        shares = self._frequency.idf(query.ids) * query.values.astype(np.float32)
        wanted = np.zeros(self._width, np.float32)
        wanted[query.ids] = shares / shares.sum()
        places, lengths = self._stretches.gather(rows)
        return np.minimum(reduce_rows(np.add, wanted[self._terms.array[places]], lengths), np.float32(1.0))

    def knows(self, query: Sparse, eligible: Mask) -> bool:
        """Tell whether every term of a question stands in some eligible row."""
        numbers = np.arange(1, len(query.ids) + 1, dtype=np.float32)
        rows, _, held = self._matching(query.ids, numbers)
        return bool(np.isin(numbers, held[eligible[rows]]).all())

    def cosine(self, query: Sparse, rows: Rows | None = None) -> Scores:
        """Return the cosine in [0, 1] of the query to these rows (to all if None), shape (rows,).

        That to all rows can't be written to: the same query gets it again while no row comes, goes, or changes.
        """
        if (known := self._known("cosine", query)) is not None:
            return known if rows is None else known[rows]
        wanted = self._saturate(query.values.astype(np.float32))
        if rows is None:
            products, norms = self._products(query.ids, wanted), self._norms.array
        else:
            products, norms = self._row_products(query.ids, wanted, rows), self._norms.array[rows]
        length = np.linalg.norm(wanted) * norms
        cosines = np.divide(products, length, out=np.zeros_like(products), where=length > 0)
        cosines = np.clip(cosines, 0.0, 1.0).astype(np.float32)
        return self._keep("cosine", query, cosines) if rows is None else cosines

    def post(self) -> None:
        """Enter all rows that came since into the inverted file, together with blocks before that are no larger."""
        first = self._posted
        while self._blocks:
            before = self._blocks[-1].first
            if first - before > len(self) - first or len(self) - before > _LARGEST:
                break
            first = self._blocks.pop().first
        self._posted = len(self)
        self._blocks += [
            self._block(start, min(start + _LARGEST, len(self))) for start in range(first, len(self), _LARGEST)
        ]

    def digest(self) -> bytes:
        """Return the SHA-256 of the content of every row and of the statistics."""
        places, lengths = self._stretches.gather()
        total = repr(self._total).encode()
        counts = self._frequency.digest()
        return digest_of(lengths, self._terms.array[places], self._weights.array[places], counts, total)

    def _known(self, measure: str, query: Sparse) -> Scores | None:
        last = self._ranked.get(measure)
        return None if last is None or last[0] is not query else last[1]

    def _keep(self, measure: str, query: Sparse, scores: Scores) -> Scores:
        scores.flags.writeable = False
        self._ranked[measure] = query, scores
        return scores

    def _saturate(self, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.divide(weights, weights + K1) if self._counts else weights

    def _block(self, first: int, end: int) -> _Block:
        entered = np.arange(first, end)
        places, lengths = self._stretches.gather(entered)
        terms = self._terms.array[places]
        by_term = np.argsort(terms, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=self._width))])
        rows = np.repeat(entered.astype(np.int32), lengths)[by_term]
        return _Block(first, starts, rows, self._weights.array[places[by_term]])

    def _matching(
        self, terms: npt.NDArray[np.uint16], factors: npt.NDArray[np.float32]
    ) -> tuple[Rows, npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return where rows hold one of these terms: the row, its weight, and the term's factor.

        Those of one row stand in the order of the terms, so that their sum is rounded alike wherever they are found.
        """
        if len(self) - self._posted > _FRESH:
            self.post()
        held = [block.postings(terms) for block in self._blocks]
        rows, weights, fresh = self._fresh(terms, factors)
        return (
            np.concatenate([*chain.from_iterable(rows for rows, _, _ in held), rows], dtype=np.int64),
            np.concatenate([*chain.from_iterable(weights for _, weights, _ in held), weights]),
            np.concatenate([*(np.repeat(factors, counts) for _, _, counts in held), fresh]),
        )

    def _fresh(
        self, terms: npt.NDArray[np.uint16], factors: npt.NDArray[np.float32]
    ) -> tuple[Rows, npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return where rows that aren't entered hold one of these terms: the row, its weight, and the term's factor.

        Row after row by ascending term, so that whoever adds them up rounds as if the rows were entered.
        """
        fresh = np.arange(self._posted, len(self))
        places, lengths = self._stretches.gather(fresh)
        by_term = np.zeros(self._width, np.float32)
        by_term[terms] = factors
        found = by_term[self._terms.array[places]]
        shared = np.flatnonzero(found)
        return np.repeat(fresh, lengths)[shared], self._weights.array[places[shared]], found[shared]

    def _products(self, terms: npt.NDArray[np.uint16], wanted: npt.NDArray[np.float32]) -> Scores:
        """Inner products with every row, through the inverted file."""
        rows, weights, factors = self._matching(terms, wanted)
        return _summed(rows, factors * self._saturate(weights), len(self))

    def _row_products(self, terms: npt.NDArray[np.uint16], wanted: npt.NDArray[np.float32], rows: Rows) -> Scores:
        """Inner products with some rows, through the forward index."""
        query = np.zeros(self._width, np.float32)
        query[terms] = wanted
        places, lengths = self._stretches.gather(rows)
        products = query.take(self._terms.take(places)) * self._saturate(self._weights.take(places))
        return _summed(np.repeat(np.arange(len(rows)), lengths), products, len(rows))


def _summed(owners: Rows, products: npt.NDArray[np.float32], count: int) -> Scores:
    """Add up the products of each owner.

    One after the other in the order of terms, so that a pair is summed, and rounded, alike from either side and whether
    its row is looked at alone or with all.
    """
    sums = np.zeros(count, np.float32)
    np.add.at(sums, owners, products)
    return sums
