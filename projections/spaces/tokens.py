"""One vector per token of every memory: late interaction (ColBERT, Khattab and Zaharia 2020)."""

from collections.abc import Iterator, Sequence
from typing import Final

import numkong
import numpy as np
import numpy.typing as npt

from events.fingerprint import Tokens
from events.quantization import from_nibbles
from projections.projection import digest_of
from projections.spaces.document_frequency import DocumentFrequency
from projections.storage.arrays import GrowableArray, Rows, RowSlices, Scores, reduce_rows

_VOCABULARY: Final = 2**16
_BLOCK_PAIRS: Final = 2**16
"""Token pairs compared at once, which fit into the processor's cache; a single row may exceed it."""


class TokenSpace:
    """Directions of token vectors by row, in one matrix with two 4-bit entries to a byte."""

    def __init__(self, dimension: int) -> None:
        self._slices = RowSlices()
        self._pieces = GrowableArray(np.uint16)
        self._vectors = GrowableArray(np.int8, dimension // 2)
        self._inverse_norms = GrowableArray(np.float32)
        self._frequency = DocumentFrequency(_VOCABULARY)

    def __len__(self) -> int:
        return len(self._slices)

    @classmethod
    def of(cls, embeddings: Sequence[Tokens]) -> "TokenSpace":
        """Return a space for `symmetric` alone: its rows are not counted in document frequencies, which takes time."""
        vectors = np.concatenate([each.nibbles for each in embeddings])
        space = cls(2 * vectors.shape[1])
        for each in embeddings:
            space._slices.append(len(each.ids))
        space._pieces.extend(np.concatenate([each.ids for each in embeddings]))
        space._vectors.extend(vectors)
        space._inverse_norms.extend(_inverse_norms(from_nibbles(vectors)))
        return space

    def append(self, embedding: Tokens | None) -> None:
        """Add the next row, empty for None, and count it in the statistics."""
        self._slices.append(0 if embedding is None else len(embedding.ids))
        if embedding is not None:
            self._pieces.extend(embedding.ids)
            self._vectors.extend(embedding.nibbles)
            self._inverse_norms.extend(_inverse_norms(embedding.array))
            self.include(len(self) - 1)

    def at(self, row: int) -> Tokens:
        """Return the tokens of a row that isn't empty."""
        span = self._slices.slice_of(row)
        return Tokens(self._pieces.part(span).tobytes(), self._vectors.part(span).tobytes())

    def include(self, row: int) -> None:
        """Count an excluded row in the document frequencies again."""
        self._frequency.add(self._distinct(row))

    def exclude(self, row: int) -> None:
        """Stop counting a row in the document frequencies."""
        self._frequency.remove(self._distinct(row))

    def clear(self, row: int) -> None:
        """Delete the content of an excluded row."""
        span = self._slices.slice_of(row)
        for array in (self._pieces.array, self._vectors.array, self._inverse_norms.array):
            array[span] = 0
        self._slices.clear(row)

    def max_sim(self, query: Tokens, rows: Rows) -> Scores:
        """Return MaxSim of the query to these rows: the mean of the best cosine of its tokens by idf, in [0, 1]."""
        return max_sim_of(self.token_scores(query, rows))

    def token_scores(self, query: Tokens, rows: Rows) -> npt.NDArray[np.float32]:
        """Return the share of each query token in the MaxSim of these rows, shape (rows, query tokens)."""
        weights = self._frequency.idf(query.ids)
        scores = np.empty((len(rows), len(query.ids)), np.float32)
        for block, cosines, lengths in self._cosines(query, rows):
            scores[block] = _row_maxima(cosines, lengths)
        scores *= weights / weights.sum()
        return scores

    def symmetric(self, query: Tokens, rows: Rows) -> Scores:
        """Return the mean of unweighted MaxSim in both directions, in [0, 1]."""
        scores = np.empty(len(rows), np.float32)
        for block, cosines, lengths in self._cosines(query, rows):
            counts = np.full(len(lengths), len(query.ids))
            forth = reduce_rows(np.add, _row_maxima(cosines, lengths).ravel(), counts) / counts
            back = reduce_rows(np.add, cosines.max(axis=0), lengths) / np.maximum(lengths, 1)
            scores[block] = (forth + back) / 2.0
        return np.clip(scores, 0.0, 1.0)

    def containment(self, one: Tokens, others: Sequence[Tokens]) -> Scores:
        """Return how much of a text another one contains, in [0, 1], of the two directions the larger.

        That is MaxSim with the idf of this space, so that "the delay" is in "the fog delayed our flight to Oslo".

        The `others` needn't be rows of this space; the result has the shape (others,).
        """
        own, mine = self._frequency.idf(one.ids), _unit(one.array)
        scores = np.empty(len(others), np.float32)
        for index, other in enumerate(others):
            cosines, weights = mine @ _unit(other.array).T, self._frequency.idf(other.ids)
            forth = cosines.max(axis=1) @ own / own.sum()
            back = cosines.max(axis=0) @ weights / weights.sum()
            scores[index] = max(forth, back)
        return np.clip(scores, 0.0, 1.0)

    def digest(self) -> bytes:
        """Return the SHA-256 of the tokens of every row and of the document frequencies."""
        indices, lengths = self._slices.indices()
        pieces, vectors = self._pieces.array[indices], self._vectors.array[indices]
        return digest_of(lengths, pieces, vectors, self._frequency.digest())

    def _distinct(self, row: int) -> npt.NDArray[np.uint16]:
        return np.unique(self._pieces.array[self._slices.slice_of(row)])

    def _cosines(self, query: Tokens, rows: Rows) -> Iterator[tuple[slice, npt.NDArray[np.float32], Rows]]:
        """Yield blocks of these rows: their slice, cosines of their tokens to the query's, and each row's length.

        Cosines have the shape (query tokens, tokens), since numpy reduces along one long axis faster than along many
        short ones.
        """
        vectors = query.array
        norms = _inverse_norms(vectors)
        for block in self._blocks(len(query.ids), rows):
            indices, lengths = self._slices.indices(rows[block])
            # Multiply the norms first: a product of two floats is symmetric in the pair, one of three isn't.
            cosines = np.multiply.outer(norms, self._inverse_norms.take(indices))
            if len(indices):
                # Integer products of packed int8 are exact, and three times as fast as a float32 matmul.
                packed = numkong.dots_pack(from_nibbles(self._vectors.take(indices)))
                products = np.asarray(numkong.dots_packed(vectors, packed))
                np.multiply(products, cosines, out=cosines, dtype=np.float32)
            yield block, cosines, lengths

    def _blocks(self, tokens: int, rows: Rows) -> Iterator[slice]:
        """Yield slices of these rows that have at most `_BLOCK_PAIRS` pairs with `tokens` tokens, or one row."""
        pairs = np.cumsum(self._slices.lengths[rows]) * tokens
        start, before = 0, 0
        while start < len(rows):
            end = max(start + 1, int(np.searchsorted(pairs, before + _BLOCK_PAIRS, side="right")))
            yield slice(start, end)
            start, before = end, int(pairs[end - 1])


def max_sim_of(token_scores: npt.NDArray[np.float32]) -> Scores:
    """Return the MaxSim of rows, in [0, 1], shape (rows,), from the shares of the query tokens."""
    # Not a matmul, whose rounding of a row depends on how many rows there are.
    return np.clip(np.einsum("rq->r", token_scores), 0.0, 1.0)


def _row_maxima(cosines: npt.NDArray[np.float32], lengths: Rows) -> npt.NDArray[np.float32]:
    """Return the best cosine in each row for each query token, shape (rows, query tokens)."""
    return np.ascontiguousarray(reduce_rows(np.maximum, cosines, lengths).T)


def _inverse_norms(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    entries = vectors.astype(np.float32)
    norms = np.sqrt(np.vecdot(entries, entries))  # exact sums of integers, in a tenth of the time of `np.linalg.norm`
    return np.divide(np.float32(1.0), norms, out=np.zeros_like(norms), where=norms > 0)


def _unit(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    return vectors * _inverse_norms(vectors)[:, np.newaxis]
