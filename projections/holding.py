"""Which kind of space holds which kind of embedding."""

from typing import Final, TypeAlias, assert_never

from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, Tokens
from events.spaces import Kind, Space
from projections.binary import BinarySpace
from projections.dense import DenseSpace
from projections.directed import DirectedSpace
from projections.sparse import SparseSpace
from projections.tokens import TokenStore
from projections.windows import WindowedSpace

COUNTED: Final = "e6_sparse"
"""The sparse space whose weights are plain counts: BM25 ranks it, and its cosine saturates them."""

Held: TypeAlias = WindowedSpace | DenseSpace | DirectedSpace | SparseSpace | BinarySpace | TokenStore


def empty(space: Space, dimension: int) -> Held:
    """Return a space without rows, of the kind that the atlas holds."""
    match space.kind:
        case Kind.DENSE:
            return DenseSpace(dimension)
        case Kind.DIRECTED:
            return DirectedSpace(dimension)
        case Kind.SPARSE:
            return SparseSpace(dimension, counts=space.key == COUNTED)
        case Kind.BINARY:
            return BinarySpace(dimension)
        case Kind.TOKENS:
            return TokenStore(dimension)
        case _:
            assert_never(space.kind)


def append(
    key: str, space: DenseSpace | DirectedSpace | SparseSpace | BinarySpace | TokenStore, embedding: Embedding | None
) -> None:
    """Add the next row of a space, empty for None; an embedding of another kind is a TypeError."""
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
        case TokenStore(), Tokens():
            space.append(embedding)
        case _:
            raise mismatch(key, embedding)


def mismatch(key: str, embedding: Embedding) -> TypeError:
    """Return the error for an embedding of the wrong kind."""
    return TypeError(f"{key} can't take {type(embedding).__name__}")
