"""One vector per token of every memory: late interaction (ColBERT, Khattab and Zaharia 2020)."""

import numkong
import numpy as np
import numpy.typing as npt

from events.fingerprint import Tokens, from_nibbles
from projections.arrays import Growing, Rows, Scores, Stretches, reduce_rows
from projections.frequency import DocumentFrequency
from projections.projection import digest_of

_PIECES = 2**16
"""As many wordpieces as their ids can tell apart."""
_BLOCK = 4_096
"""Rows scored at once: bounds what a search of the whole space needs besides, to some 100 MB."""


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
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            met = reduce_rows(np.maximum, *self._cosines(query, rows[block]))
            # Not a matmul, whose rounding of a row depends on how many rows there are.
            scores[block] = np.einsum("rq,q->r", met, weights / weights.sum())
        return np.clip(scores, 0.0, 1.0)

    def symmetric(self, query: Tokens, rows: Rows) -> Scores:
        """Return the mean of unweighted MaxSim in both directions, in [0, 1]."""
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            cosines, lengths = self._cosines(query, rows[block])
            met = reduce_rows(np.maximum, cosines, lengths)
            asked = np.full(len(lengths), len(query.ids))
            forth = reduce_rows(np.add, met.ravel(), asked) / asked
            best = np.ascontiguousarray(cosines.T).max(axis=0)  # numpy is slow along a short last axis
            back = reduce_rows(np.add, best, lengths) / np.maximum(lengths, 1)
            scores[block] = (forth + back) / 2.0
        return np.clip(scores, 0.0, 1.0)

    def digest(self) -> bytes:
        """Return the SHA-256 of the tokens of every row and of the counts of wordpieces."""
        places, lengths = self._stretches.gather()
        pieces, vectors = self._pieces.array[places], self._vectors.array[places]
        return digest_of(lengths, pieces, vectors, self._frequency.digest())

    def _distinct(self, row: int) -> npt.NDArray[np.uint16]:
        return np.unique(self._pieces.array[self._stretches.stretch(row)])

    def _cosines(self, query: Tokens, rows: Rows) -> tuple[npt.NDArray[np.float32], Rows]:
        """Cosines of all tokens of these rows to the query's, shape (tokens, query tokens), and tokens per row."""
        places, lengths = self._stretches.gather(rows)
        if not len(places):
            return np.zeros((0, len(query.ids)), np.float32), lengths
        # Integer products of packed int8 are exact, and three times as fast as a float32 matmul.
        packed = numkong.dots_pack(query.array)
        products = np.asarray(numkong.dots_packed(from_nibbles(self._vectors.take(places)), packed))
        # Both norms first: a product of two is the same from either side, one of three is not.
        norms = np.multiply.outer(self._inverse_norms.array[places], _inverse_norms(query.array))
        return np.multiply(products, norms, out=norms, dtype=np.float32), lengths


def _inverse_norms(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return np.divide(np.float32(1.0), norms, out=np.zeros_like(norms), where=norms > 0)
