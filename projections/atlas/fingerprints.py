"""Fingerprints by row: each of the thirteen spaces stores one part of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar, assert_never
from uuid import UUID

import numpy as np

from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Passage, Sparse, Tokens, of_kind
from events.quantization import Float32, Levels
from events.spaces import E1, E4, E6, E8, E11, E12, SPACES, Kind, Space
from events.vocabulary import SpacesDeclared
from events.vocabulary.values import Span
from projections.atlas.pairs import SpaceStore, pair_scores
from projections.atlas.passage_terms import PassageTerms
from projections.spaces.binary import BinarySpace
from projections.spaces.dense import DenseSpace
from projections.spaces.directed import DirectedSpace, Direction
from projections.spaces.sparse import SparseSpace
from projections.spaces.tokens import TokenSpace
from projections.spaces.windowed import WindowedSpace
from projections.storage.arrays import Rows, Scores

S = TypeVar("S", bound=SpaceStore)

NULLABLE: Final = frozenset({E4, E8})
"""The spaces that have nothing to say of some memories, whose score is then NaN."""


class Fingerprints:
    """One row for each memory in the order of arrival, never reused; a row may be empty."""

    _ids: list[UUID]

    def __init__(self, dimensions: Mapping[str, int], *, connected: bool = False, stems: bool = True) -> None:
        """Create empty spaces of these dimensions; a missing one is a KeyError.

        `connected` says whether E8 follows the connections of memories, or else stays as it was stored; `stems` whether
        E6 holds the stems of words, as the terms of passages do, or what a model makes of them.
        """
        self.dimensions: Final = {space.key: dimensions[space.key] for space in SPACES}
        self._semantic = WindowedSpace(self.dimensions[E1])
        self._connected = connected
        self._spaces = {space.key: _empty(space, self.dimensions[space.key]) for space in SPACES}
        self._spaces[E1] = self._semantic
        self.holds_stems = stems
        self._passage_terms = PassageTerms()
        self._ids = []
        self._rows: dict[UUID, int] = {}

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        self._rows = {memory: row for row, memory in enumerate(self._ids)}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, memory: UUID) -> bool:
        return memory in self._rows

    def row_of(self, memory: UUID) -> int:
        """Return the row of a memory; an unknown id is a KeyError."""
        return self._rows[memory]

    def ids(self, rows: Iterable[int]) -> list[UUID]:
        """Return the memories of these rows."""
        return [self._ids[row] for row in rows]

    def append(
        self, memory: UUID, fingerprint: Fingerprint | None, passages: Sequence[Passage] = (), content: str = ""
    ) -> None:
        """Add the next row, empty for None; an embedding of another kind than its space is a TypeError."""
        self._rows[memory] = len(self)
        self._ids.append(memory)
        self._semantic.append(*semantic_vectors(fingerprint, passages, self.dimensions[E1]))
        spans = passages if self.holds_stems else ()
        self._passage_terms.append([content[passage.start : passage.end] for passage in spans])
        for key, space in self._spaces.items():
            if not isinstance(space, WindowedSpace):
                _append(key, space, None if fingerprint is None else fingerprint[key])

    def embedding(self, key: str, row: int) -> Embedding:
        """Return the embedding of a row that isn't empty in one space."""
        return self._space(key).at(row)

    def as_stored(self, row: int) -> tuple[Fingerprint, tuple[Passage, ...]]:
        """Return the fingerprint of a row that isn't empty as it was appended, and its passages.

        E8 is null if it follows connections.
        """
        embeddings = {key: space.at(row) for key, space in self._spaces.items()}
        if self._connected:
            embeddings[E8] = Dense.null(self.dimensions[E8])
        return Fingerprint.of(embeddings), self._semantic.passages_at(row)

    def scores(
        self,
        key: str,
        embedding: Embedding,
        rows: Rows | None = None,
        *,
        direction: Direction | None = None,
    ) -> Scores:
        """Return the raw similarity in [0, 1] of an embedding to these rows (to all if None) in one space.

        NaN where the space has nothing to say of a row; undefined of an empty one. An embedding of another kind than
        the space's is a TypeError. `direction` says whether causes or effects of the query are searched in the causal
        space.
        """
        match self._space(key), embedding:
            case WindowedSpace() as space, Dense():
                return space.scores(embedding.levels, rows)
            case DenseSpace() as space, Dense():
                scores = space.scores(embedding.levels, rows)
                if key in NULLABLE:
                    scores[space.is_null(rows)] = np.nan
                return scores
            case DirectedSpace() as space, Directed():
                return space.scores(embedding, rows, direction)
            case SparseSpace() as space, Sparse():
                return space.cosine(embedding, rows)
            case BinarySpace() as space, Bits():
                return space.scores(embedding.array, rows)
            case TokenSpace() as space, Tokens():
                rows = np.arange(len(self)) if rows is None else rows
                return space.max_sim(embedding, rows)
            case _:
                raise TypeError(f"{key} can't take {type(embedding).__name__}")

    def symmetric_scores(self, key: str, embedding: Embedding, rows: Rows) -> Scores:
        """Return the `pair_scores` of one memory with each of these rows, shape (rows,)."""
        return self.pair_scores(key, [embedding], np.zeros(len(rows), np.int64), rows)

    def pair_scores(self, key: str, embeddings: Sequence[Embedding], owners: Rows, rows: Rows) -> Scores:
        """Return the raw similarity in [0, 1] of pairs of memories in one space, shape (pairs,).

        Two memories score the same from either side: passages and weights of tokens, which rank memories for a query,
        don't count. NaN where the space has nothing to say of either; undefined of an empty row.

        `owners` has the first memory of each pair, as its place among the embeddings (`TypeError`: of another kind),
        `rows` the row that it is compared with, both of shape (pairs,).
        """
        return pair_scores(key, self._space(key), embeddings, owners, rows, nullable=key in NULLABLE)

    def semantic_parts(self, query_e1: Embedding, rows: Rows) -> tuple[Scores, Scores, Scores]:
        """Return the E1 cosines of these rows' best vector, whole and first passage, each of shape (rows,)."""
        return self._semantic.parts(of_kind(query_e1, Dense, E1).levels, rows)

    def containment(self, one: Tokens, others: Sequence[Tokens]) -> Scores:
        """Return how much of a text each other one contains, or it of them, by rare wordpieces, shape (others,)."""
        return self._of_kind(E12, TokenSpace).containment(one, others)

    def token_scores(self, query_tokens: Embedding, rows: Rows) -> Float32:
        """Return the share of each query token in the E12 scores of these rows, shape (rows, query tokens)."""
        return self._of_kind(E12, TokenSpace).token_scores(of_kind(query_tokens, Tokens, E12), rows)

    def passage_cosines(self, query_e1: Embedding, rows: Rows) -> Scores:
        """Return the E1 cosine in [0, 1] of each passage of these rows, row by row."""
        return self._semantic.passage_scores(of_kind(query_e1, Dense, E1).levels, rows)

    def passage_coverage(self, query_terms: Embedding | None, rows: Rows) -> Scores:
        """Return the idf-weighted share of the query's terms in each passage of these rows, row by row, in [0, 1].

        NaN where it is unknown: for a query without terms, and where E6 holds no stems.
        """
        if not self.holds_stems or query_terms is None:
            return np.full(int(self.passage_counts(rows).sum()), np.nan, np.float32)
        shares = self._of_kind(E6, SparseSpace).shares(of_kind(query_terms, Sparse, E6))
        return self._passage_terms.coverage(shares, rows)

    def passage_span(self, row: int, passage: int) -> Span:
        """Return the characters [start, end) of a passage of a row, by its place among them."""
        return self._semantic.span(row, passage)

    def passage_counts(self, rows: Rows) -> Rows:
        """Return how many passages each of these rows has, shape (rows,); 0 for a memory of one window."""
        return self._semantic.passage_counts(rows)

    def term_counts(self, rows: Rows) -> Scores:
        """Return the number of terms of each of these rows, repeated ones included, shape (rows,)."""
        return self._of_kind(E6, SparseSpace).lengths.take(rows)

    def prepare(self) -> None:
        """Build the inverted indexes, which the next search would otherwise wait for."""
        for space in self._spaces.values():
            if isinstance(space, SparseSpace):
                space.build_index()

    def inverted_sizes(self) -> dict[str, int]:
        """Return the bytes of each inverted index."""
        spaces = ((key, space) for key, space in self._spaces.items() if isinstance(space, SparseSpace))
        return {f"{key} inverted": space.inverted_size() for key, space in spaces}

    def _space(self, key: str) -> SpaceStore:
        """Return a space, up to date."""
        return self._spaces[key]

    def _of_kind(self, key: str, kind: type[S]) -> S:
        """Return a space that stores this kind of embedding (`TypeError`)."""
        space = self._spaces[key]
        if not isinstance(space, kind):
            raise TypeError(f"{key} is no {kind.__name__}")
        return space


def semantic_vectors(
    fingerprint: Fingerprint | None, passages: Sequence[Passage], dimension: int
) -> tuple[Levels, list[Span]]:
    """Return the E1 vectors of a whole memory and of its passages, and the passages' spans."""
    if fingerprint is None:
        return np.empty((0, dimension), np.int8), []
    vectors = np.stack([fingerprint.take(E1, Dense).levels, *(passage.levels for passage in passages)])
    return vectors, [(passage.start, passage.end) for passage in passages]


def holds_stems(declared: SpacesDeclared) -> bool:
    """Tell whether E6 of a store holds the stems of words; in profile `full` it is what a model makes of them."""
    return next(space.model for space in declared.spaces if space.key == E6).startswith("stems/")


def _empty(space: Space, dimension: int) -> SpaceStore:
    match space.kind:
        case Kind.DENSE:
            return DenseSpace(dimension, indexed=space.key == E11)
        case Kind.DIRECTED:
            return DirectedSpace(dimension)
        case Kind.SPARSE:
            return SparseSpace(dimension, counts=space.key == E6)
        case Kind.BINARY:
            return BinarySpace(dimension)
        case Kind.TOKENS:
            return TokenSpace(dimension)
        case _:
            assert_never(space.kind)


def _append(
    key: str, space: DenseSpace | DirectedSpace | SparseSpace | BinarySpace | TokenSpace, embedding: Embedding | None
) -> None:
    match space, embedding:
        case _, None:
            space.append(None)
        case DenseSpace(), Dense():
            space.append(embedding.levels)
        case DirectedSpace(), Directed():
            space.append(embedding)
        case SparseSpace(), Sparse():
            space.append(embedding)
        case BinarySpace(), Bits():
            space.append(embedding.array)
        case TokenSpace(), Tokens():
            space.append(embedding)
        case _:
            raise TypeError(f"{key} can't take {type(embedding).__name__}")
