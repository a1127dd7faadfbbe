"""One vector per token of every memory: late interaction (ColBERT, Khattab and Zaharia 2020)."""

from collections.abc import Iterator

import numkong
import numpy as np
import numpy.typing as npt

from events.fingerprint import Tokens, from_nibbles
from projections.projection import digest_of
from projections.spaces.document_frequency import DocumentFrequency
from projections.storage.arrays import Growing, Rows, Scores, Stretches, reduce_rows

_PIECES = 2**16
"""As many wordpieces as their ids can tell apart."""
_PAIRS = 2**18
"""Pairs of tokens compared at once, or those of one row: as many as stay near the processor."""


class TokenStore:
    """Token vectors by row, in one matrix, two entries to a byte; only their directions count."""

    def __init__(self, dimension: int) -> None:
        self._stretches = Stretches()
        self._pieces = Growing(np.uint16)
        self._vectors = Growing(np.int8, dimension // 2)
        self._inverse_norms = Growing(np.float32)
        self._frequency = DocumentFrequency(_PIECES)

    def __len__(self) -> int:
        return len(self._stretches)

    def append(self, embedding: Tokens | None) -> None:
        """Add the next row; without an embedding it stays empty."""
        self._stretches.append(0 if embedding is None else len(embedding.ids))
        if embedding is not None:
            self._pieces.extend(embedding.ids)
            self._vectors.extend(embedding.nibbles)
            self._inverse_norms.extend(_inverse_norms(embedding.array))
            self.show(len(self) - 1)

    def at(self, row: int) -> Tokens:
        """Return the tokens of a row that isn't empty."""
        stretch = self._stretches.stretch(row)
        return Tokens(self._pieces.part(stretch).tobytes(), self._vectors.part(stretch).tobytes())

    def show(self, row: int) -> None:
        """Let a row count in the rarity of wordpieces, as every row does from its append on."""
        self._frequency.add(self._distinct(row))

    def hide(self, row: int) -> None:
        """Take a counted row out of the rarity of wordpieces."""
        self._frequency.remove(self._distinct(row))

    def clear(self, row: int) -> None:
        """Drop the content of a hidden row."""
        stretch = self._stretches.stretch(row)
        self._pieces.array[stretch] = 0
        self._vectors.array[stretch] = 0
        self._inverse_norms.array[stretch] = 0
        self._stretches.clear(row)

    def max_sim(self, query: Tokens, rows: Rows, *, weighted: bool) -> Scores:
        """Return MaxSim of the query to these rows: how well each of its tokens is met, on average, in [0, 1].

        A token is met by the row's token of highest cosine. `weighted`: tokens count by the rarity (idf) of their
        wordpieces; else all the same.
        """
        weights = self._frequency.idf(query.ids) if weighted else np.ones(len(query.ids), np.float32)
        scores = np.empty(len(rows), np.float32)
        for block, cosines, lengths in self._cosines(query, rows):
            # Not a matmul, whose rounding of a row depends on how many rows there are.
            scores[block] = np.einsum("rq,q->r", _met(cosines, lengths), weights / weights.sum())
        return np.clip(scores, 0.0, 1.0)

    def symmetric(self, query: Tokens, rows: Rows) -> Scores:
        """Return the mean of unweighted MaxSim in both directions, in [0, 1]."""
        scores = np.empty(len(rows), np.float32)
        for block, cosines, lengths in self._cosines(query, rows):
            asked = np.full(len(lengths), len(query.ids))
            forth = reduce_rows(np.add, _met(cosines, lengths).ravel(), asked) / asked
            back = reduce_rows(np.add, cosines.max(axis=0), lengths) / np.maximum(lengths, 1)
            scores[block] = (forth + back) / 2.0
        return np.clip(scores, 0.0, 1.0)

    def digest(self) -> bytes:
        """Return the SHA-256 of the tokens of every row and of the counts of wordpieces."""
        places, lengths = self._stretches.gather()
        pieces, vectors = self._pieces.array[places], self._vectors.array[places]
        return digest_of(lengths, pieces, vectors, self._frequency.digest())

    def _distinct(self, row: int) -> npt.NDArray[np.uint16]:
        return np.unique(self._pieces.array[self._stretches.stretch(row)])

    def _cosines(self, query: Tokens, rows: Rows) -> Iterator[tuple[slice, npt.NDArray[np.float32], Rows]]:
        """Yield, for places of these rows, the cosines of their tokens to the query's, and how many each row has.

        Cosines have the shape (query tokens, tokens): numpy goes along a long axis sooner than along many short ones.
        """
        asked = query.array
        norms = _inverse_norms(asked)
        for block in self._blocks(len(query.ids), rows):
            places, lengths = self._stretches.gather(rows[block])
            # Both norms first: a product of two is the same from either side, one of three is not.
            both = np.multiply.outer(norms, self._inverse_norms.take(places))
            if len(places):
                # Integer products of packed int8 are exact, and three times as fast as a float32 matmul.
                packed = numkong.dots_pack(from_nibbles(self._vectors.take(places)))
                np.multiply(np.asarray(numkong.dots_packed(asked, packed)), both, out=both, dtype=np.float32)
            yield block, both, lengths

    def _blocks(self, tokens: int, rows: Rows) -> Iterator[slice]:
        """Yield the places of these rows, as many at a time as have `_PAIRS` pairs with so many tokens, or one."""
        pairs = np.cumsum(self._stretches.lengths[rows]) * tokens
        start, before = 0, 0
        while start < len(rows):
            end = max(start + 1, int(np.searchsorted(pairs, before + _PAIRS, side="right")))
            yield slice(start, end)
            start, before = end, int(pairs[end - 1])


def _met(cosines: npt.NDArray[np.float32], lengths: Rows) -> npt.NDArray[np.float32]:
    """Return how well each row meets each token of a query, shape (rows, query tokens)."""
    return np.ascontiguousarray(reduce_rows(np.maximum, cosines, lengths).T)


def _inverse_norms(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return np.divide(np.float32(1.0), norms, out=np.zeros_like(norms), where=norms > 0)
