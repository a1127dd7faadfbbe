"""The terms (E6) of each passage of a long memory, so that its words are found together and not all over it."""

from collections.abc import Sequence

import numpy as np

from projections.projection import digest_of
from projections.spaces.lexical import distinct_terms
from projections.storage.arrays import GrowableArray, Rows, RowSlices, Scores, reduce_rows


class PassageTerms:
    """For each row the distinct terms of its passages, in their order; none for a memory of one window."""

    def __init__(self) -> None:
        self._passages = RowSlices()
        """The passages of each row."""
        self._slices = RowSlices()
        """The terms of each passage."""
        self._terms = GrowableArray(np.uint16)

    def append(self, passages: Sequence[str]) -> None:
        """Add the next row: the texts of its passages."""
        self._passages.append(len(passages))
        for passage in passages:
            terms = distinct_terms(passage)
            self._slices.append(len(terms))
            self._terms.extend(terms)

    def clear(self, row: int) -> None:
        """Overwrite the terms of a row with zeros, and leave it empty."""
        passages = self._passages.slice_of(row)
        for passage in range(passages.start, passages.stop):
            self._terms.array[self._slices.slice_of(passage)] = 0
            self._slices.clear(passage)
        self._passages.clear(row)

    def coverage(self, shares: Scores, rows: Rows) -> Scores:
        """Return the share of a query's terms that each passage of these rows contains, row by row, in [0, 1]."""
        passages, _ = self._passages.indices(rows)
        indices, lengths = self._slices.indices(passages)
        return np.minimum(reduce_rows(np.add, shares[self._terms.take(indices)], lengths), np.float32(1.0))

    def digest(self) -> bytes:
        """Return the SHA-256 of the terms of every passage."""
        passages, counts = self._passages.indices()
        indices, lengths = self._slices.indices(passages)
        return digest_of(counts, lengths, self._terms.array[indices])
