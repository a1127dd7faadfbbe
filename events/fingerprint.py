"""The value types of a fingerprint: thirteen embeddings that exist together or not at all (ARCH-01).

Vectors are bytes, so an event encodes, hashes and replays to the same bytes on every machine.
"""

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from events.quantization import (
    Float16,
    Float32,
    Levels,
    check_levels,
    directions,
    from_nibbles,
    levels,
    pack,
    pack_each,
    to_nibbles,
)
from events.spaces import INDEX, SPACES, Kind


class Dense(msgspec.Struct, frozen=True, tag="dense"):
    """The direction of one vector: int8, shape (dimension,); zeros where the space has nothing to say."""

    kind: ClassVar[Kind] = Kind.DENSE
    vector: bytes

    def __post_init__(self) -> None:
        """Refuse anything but levels."""
        if not (self.vector and self.is_null):
            check_levels(self.vector, "a dense embedding")

    @classmethod
    def null(cls, dimension: int) -> "Dense":
        """Return the embedding of a text of which the space has nothing to say."""
        return cls(bytes(dimension))

    @property
    def is_null(self) -> bool:
        """Whether the space has nothing to say: such an embedding has no score with any other."""
        return not self.vector.strip(b"\0")

    @classmethod
    def of(cls, vector: npt.ArrayLike) -> "Dense":
        """Quantize a unit vector of any float type."""
        return cls(pack(vector))

    @classmethod
    def of_each(cls, vectors: npt.ArrayLike) -> "list[Dense]":
        """Quantize many unit vectors of any float type, shape (vectors, dimension)."""
        return list(map(cls, pack_each(vectors)))

    @property
    def levels(self) -> Levels:
        """The stored vector, shape (dimension,)."""
        return _view(self.vector)

    @property
    def array(self) -> Float32:
        """The unit vector, shape (dimension,)."""
        return directions(self.levels)


class Directed(msgspec.Struct, frozen=True, tag="directed"):
    """The directions of two vectors, int8, each of shape (dimension,): the memory as a cause and as an effect."""

    kind: ClassVar[Kind] = Kind.DIRECTED
    cause: bytes
    effect: bytes

    def __post_init__(self) -> None:
        """Refuse anything but two vectors of levels of one length."""
        check_levels(self.cause, "the cause vector")
        check_levels(self.effect, "the effect vector")
        if len(self.cause) != len(self.effect):
            raise ValueError("cause and effect must have one dimension")

    @classmethod
    def of(cls, cause: npt.ArrayLike, effect: npt.ArrayLike) -> "Directed":
        """Quantize two unit vectors of any float type."""
        return cls(pack(cause), pack(effect))

    @classmethod
    def of_each(cls, causes: npt.ArrayLike, effects: npt.ArrayLike) -> "list[Directed]":
        """Quantize many pairs of unit vectors, causes and effects of shape (pairs, dimension) each."""
        return list(map(cls, pack_each(causes), pack_each(effects)))

    @property
    def cause_levels(self) -> Levels:
        """The stored cause vector, shape (dimension,)."""
        return _view(self.cause)

    @property
    def effect_levels(self) -> Levels:
        """The stored effect vector, shape (dimension,)."""
        return _view(self.effect)

    @property
    def as_cause(self) -> Float32:
        """The memory as a cause: a unit vector, shape (dimension,)."""
        return directions(self.cause_levels)

    @property
    def as_effect(self) -> Float32:
        """The memory as an effect: a unit vector, shape (dimension,)."""
        return directions(self.effect_levels)


class Sparse(msgspec.Struct, frozen=True, tag="sparse"):
    """Positive weights (float16) of distinct term ids (uint16, ascending), equally many of both."""

    kind: ClassVar[Kind] = Kind.SPARSE
    terms: bytes
    weights: bytes

    def __post_init__(self) -> None:
        """Refuse an empty, unsorted or non-positive embedding."""
        terms, weights = self.ids, self.values
        if not len(terms) or len(terms) != len(weights):
            raise ValueError("a sparse embedding needs at least one term and one weight for each")
        if (terms[1:] <= terms[:-1]).any() or not ((weights > 0) & (weights < np.inf)).all():
            raise ValueError("a sparse embedding needs ascending terms and finite positive weights")

    @classmethod
    def of(cls, weights: dict[int, float]) -> "Sparse":
        """Build from positive weights by term id."""
        terms = sorted(weights)
        return cls(
            np.array(terms, dtype="<u2").tobytes(),
            np.array([weights[term] for term in terms], dtype="<f2").tobytes(),
        )

    @property
    def ids(self) -> npt.NDArray[np.uint16]:
        """The term ids, ascending, shape (count,)."""
        return np.frombuffer(self.terms, dtype="<u2")

    @property
    def values(self) -> Float16:
        """The weights of `ids`, shape (count,)."""
        return np.frombuffer(self.weights, dtype="<f2")


class Bits(msgspec.Struct, frozen=True, tag="bits"):
    """A hypervector, eight bits to a byte, most significant first."""

    kind: ClassVar[Kind] = Kind.BINARY
    data: bytes

    def __post_init__(self) -> None:
        """Refuse an empty hypervector."""
        if not self.data:
            raise ValueError("a hypervector needs bits")

    @property
    def array(self) -> npt.NDArray[np.uint8]:
        """The packed bits, shape (bits / 8,)."""
        return np.frombuffer(self.data, dtype=np.uint8)


class Tokens(msgspec.Struct, frozen=True, tag="tokens"):
    """The direction of one vector per token, and the wordpiece id of each (uint16).

    Memories store four bits an entry, two entries to a byte, since tokens are a fifth of a memory even so. Those of a
    query, which isn't stored, are `fine`: int8.
    """

    kind: ClassVar[Kind] = Kind.TOKENS
    pieces: bytes
    vectors: bytes
    fine: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty matrix, and one whose rows don't match its tokens."""
        count = len(self.pieces) // 2
        if not count or not self.vectors or len(self.vectors) % count:
            raise ValueError("a token embedding needs at least one token and one vector for each")

    @classmethod
    def of(cls, pieces: Sequence[int] | npt.NDArray[np.integer], vectors: npt.ArrayLike) -> "Tokens":
        """Quantize float vectors, shape (tokens, even dimension), as a memory stores them."""
        return cls(np.asarray(pieces, dtype="<u2").tobytes(), to_nibbles(vectors).tobytes())

    @classmethod
    def of_query(cls, pieces: Sequence[int] | npt.NDArray[np.integer], vectors: npt.ArrayLike) -> "Tokens":
        """Quantize float vectors, shape (tokens, dimension), as a query needs them."""
        return cls(np.asarray(pieces, dtype="<u2").tobytes(), levels(vectors).tobytes(), fine=True)

    @classmethod
    def of_queries(cls, pieces: Sequence[npt.NDArray[np.integer]], vectors: npt.ArrayLike) -> "list[Tokens]":
        """Quantize the vectors of many texts, which follow each other, as queries need them."""
        return cls._split(pieces, levels(vectors), fine=True)

    @classmethod
    def of_memories(cls, fine: "Sequence[Tokens]") -> "list[Tokens]":
        """Quantize fine tokens of many texts as memories store them."""
        vectors = np.concatenate([tokens.array for tokens in fine])
        return cls._split([tokens.ids for tokens in fine], to_nibbles(vectors), fine=False)

    @classmethod
    def _split(cls, pieces: Sequence[npt.NDArray[np.integer]], rows: Levels, *, fine: bool) -> "list[Tokens]":
        ends = np.cumsum(list(map(len, pieces)))[:-1]
        return [
            cls(np.asarray(own, dtype="<u2").tobytes(), part.tobytes(), fine)
            for own, part in zip(pieces, np.split(rows, ends), strict=True)
        ]

    @property
    def ids(self) -> npt.NDArray[np.uint16]:
        """The wordpiece of each token, shape (tokens,)."""
        return np.frombuffer(self.pieces, dtype="<u2")

    @property
    def nibbles(self) -> Levels:
        """The vectors of a memory, two entries to a byte, shape (tokens, dimension / 2)."""
        if self.fine:
            raise ValueError("the tokens of a query aren't stored")
        return self._rows

    @property
    def array(self) -> Levels:
        """The vectors, shape (tokens, dimension), each of a length of its own."""
        return self._rows if self.fine else from_nibbles(self._rows)

    @property
    def _rows(self) -> Levels:
        return _view(self.vectors).reshape(len(self.pieces) // 2, -1)


Embedding: TypeAlias = Dense | Directed | Sparse | Bits | Tokens
E = TypeVar("E", Dense, Directed, Sparse, Bits, Tokens)


def of_kind(embedding: Embedding, kind: type[E], key: str) -> E:
    """Return the embedding of a space, which must be of this kind (`TypeError`)."""
    if not isinstance(embedding, kind):
        raise TypeError(f"{key} holds {type(embedding).__name__}, not {kind.__name__}")
    return embedding


class Fingerprint(msgspec.Struct, frozen=True):
    """All thirteen embeddings of one memory, in the order of `SPACES`."""

    embeddings: tuple[Embedding, ...]

    def __post_init__(self) -> None:
        """Refuse a fingerprint that lacks a space or has another kind in its place (ARCH-01, ARCH-02)."""
        kinds = [embedding.kind for embedding in self.embeddings]
        if kinds != [space.kind for space in SPACES]:
            raise ValueError(f"a fingerprint needs all {len(SPACES)} embeddings, each of its own kind")
        if any(isinstance(embedding, Tokens) and embedding.fine for embedding in self.embeddings):
            raise ValueError("the tokens of a query can't be those of a memory")

    @classmethod
    def of(cls, embeddings: dict[str, Embedding]) -> "Fingerprint":
        """Build from embeddings by space key; a missing space is a KeyError."""
        return cls(tuple(embeddings[space.key] for space in SPACES))

    def __getitem__(self, key: str) -> Embedding:
        """Return the embedding of the space with this key."""
        return self.embeddings[INDEX[key]]

    def take(self, key: str, kind: type[E]) -> E:
        """Return the embedding of a space, which must be of this kind (`TypeError`)."""
        return of_kind(self[key], kind, key)


class Passage(msgspec.Struct, frozen=True):
    """The E1 vector of one window of a long memory, and the characters [start, end) that it covers."""

    start: int
    end: int
    vector: bytes

    def __post_init__(self) -> None:
        """Refuse anything but levels."""
        check_levels(self.vector, "a passage")

    @property
    def levels(self) -> Levels:
        """The stored vector, shape (dimension,)."""
        return _view(self.vector)


def _view(data: bytes) -> Levels:
    return np.frombuffer(data, dtype=np.int8)
