"""Scores of pairs of memories in one space, for several memories in one pass where that takes less time."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, Tokens, of_kind
from projections.spaces.binary import BinarySpace
from projections.spaces.dense import DenseSpace
from projections.spaces.directed import DirectedSpace
from projections.spaces.sparse import SparseSpace
from projections.spaces.tokens import TokenSpace
from projections.spaces.windowed import WindowedSpace
from projections.storage.arrays import Rows, Scores

SpaceStore: TypeAlias = WindowedSpace | DenseSpace | DirectedSpace | SparseSpace | BinarySpace | TokenSpace


def pair_scores(
    key: str, space: SpaceStore, embeddings: Sequence[Embedding], owners: Rows, rows: Rows, *, nullable: bool
) -> Scores:
    """Return what `Fingerprints.pair_scores` returns; rows of a `nullable` space may be null."""
    match space:
        case WindowedSpace() | DenseSpace():
            scores = _dense_scores(space, [of_kind(one, Dense, key) for one in embeddings], owners, rows)
            if nullable and isinstance(space, DenseSpace):
                scores[space.is_null(rows)] = np.nan
            return scores
        case DirectedSpace():
            return space.pair_scores([of_kind(one, Directed, key) for one in embeddings], owners, rows)
        case BinarySpace():
            return space.pair_scores([of_kind(one, Bits, key) for one in embeddings], owners, rows)
        case SparseSpace():
            return _by_owner([partial(space.cosine, of_kind(one, Sparse, key)) for one in embeddings], owners, rows)
        case TokenSpace():
            return _by_owner([partial(space.symmetric, of_kind(one, Tokens, key)) for one in embeddings], owners, rows)


def _dense_scores(space: WindowedSpace | DenseSpace, embeddings: Sequence[Dense], owners: Rows, rows: Rows) -> Scores:
    null = np.array([embedding.is_null for embedding in embeddings])
    if null.all():
        return np.full(len(rows), np.nan, np.float32)
    scores = space.pair_scores(np.stack([embedding.levels for embedding in embeddings]), owners, rows)
    scores[null[owners]] = np.nan
    return scores


def _by_owner(scores: Sequence[Callable[[Rows], Scores]], owners: Rows, rows: Rows) -> Scores:
    found = np.empty(len(rows), np.float32)
    for place, score in enumerate(scores):
        own = np.flatnonzero(owners == place)
        found[own] = score(rows[own])
    return found
