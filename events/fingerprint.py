"""The value types of a fingerprint: thirteen embeddings that exist together or not at all (ARCH-01).

Vectors are kept as bytes, so that an event encodes, hashes and replays to the same bytes everywhere. Those of unit
length are kept in int8, each scaled to its own largest entry. That changes the cosine of two texts by .0004 to .003
(standard deviation over 20,000 pairs: most in E10, .0007 in E1).
"""

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from events.spaces import INDEX, SPACES, Kind

Float16: TypeAlias = npt.NDArray[np.float16]
Float32: TypeAlias = npt.NDArray[np.float32]
Levels: TypeAlias = npt.NDArray[np.int8]
"""The direction of vectors, shape (..., dimension): the largest entry of each is 127 or -127."""

PEAK = 127
"""The largest level."""
_STEPS = 7
"""Above and below 0, of an entry of four bits."""
_SPREAD = 2.5
"""Root mean squares at which the last step stands. What lies beyond is cut off; to reach all would make steps wider."""
_HIGHEST, _LOWEST, _BEYOND = (level.to_bytes(1, "little", signed=True) for level in (PEAK, -PEAK, -PEAK - 1))
_UNIT_TOLERANCE = 0.04
"""Of the squared length, which rounding to float16 changes by .001 at most (two half units in the last of 11 bits)."""


def levels(vectors: npt.ArrayLike) -> Levels:
    """Return the directions of vectors, shape (..., dimension); those of `directions` come back as they were."""
    matrix = np.asarray(vectors, dtype=np.float32)
    peak = np.abs(matrix).max(axis=-1, keepdims=True)
    return np.rint(matrix * (PEAK / np.maximum(peak, np.float32(1e-12)))).astype(np.int8)


def directions(levels: Levels) -> Float32:
    """Return unit vectors, shape (..., dimension); zeros stay zero."""
    vectors = levels.astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32(1e-12))


def pack(vector: npt.ArrayLike) -> bytes:
    """Return the levels of a unit vector of any float type as bytes; another vector is a ValueError."""
    return pack_each(np.asarray(vector)[np.newaxis])[0]


def pack_each(vectors: npt.ArrayLike) -> list[bytes]:
    """Return the levels of each of many unit vectors, shape (vectors, dimension), as `pack` does."""
    matrix = np.asarray(vectors, dtype=np.float32)
    if not (np.abs(np.square(matrix).sum(axis=1) - 1) <= _UNIT_TOLERANCE).all():
        message = "a dense embedding must be a finite unit vector"
        raise ValueError(message)
    return [row.tobytes() for row in levels(matrix)]


def _unpack(data: bytes) -> Levels:
    return np.frombuffer(data, dtype=np.int8)


def _check_levels(data: bytes, what: str) -> None:
    # Bytes are searched for a byte thirty times as fast as numpy finds their largest.
    if _BEYOND in data or not (_HIGHEST in data or _LOWEST in data):
        message = f"{what} needs a largest entry of {PEAK}"
        raise ValueError(message)


class Dense(msgspec.Struct, frozen=True, tag="dense"):
    """The direction of one vector: int8, shape (dimension,)."""

    kind: ClassVar[Kind] = Kind.DENSE
    vector: bytes

    def __post_init__(self) -> None:
        """Refuse anything but levels."""
        _check_levels(self.vector, "a dense embedding")

    @classmethod
    def of(cls, vector: npt.ArrayLike) -> "Dense":
        """Pack a unit vector of any float type."""
        return cls(pack(vector))

    @classmethod
    def of_each(cls, vectors: npt.ArrayLike) -> "list[Dense]":
        """Pack many unit vectors of any float type, shape (vectors, dimension)."""
        return list(map(cls, pack_each(vectors)))

    @property
    def levels(self) -> Levels:
        """The vector as it is kept, shape (dimension,)."""
        return _unpack(self.vector)

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
        _check_levels(self.cause, "the cause vector")
        _check_levels(self.effect, "the effect vector")
        if len(self.cause) != len(self.effect):
            message = "cause and effect must have one dimension"
            raise ValueError(message)

    @classmethod
    def of(cls, cause: npt.ArrayLike, effect: npt.ArrayLike) -> "Directed":
        """Pack two unit vectors of any float type."""
        return cls(pack(cause), pack(effect))

    @classmethod
    def of_each(cls, causes: npt.ArrayLike, effects: npt.ArrayLike) -> "list[Directed]":
        """Pack many pairs of unit vectors, causes and effects of shape (pairs, dimension) each."""
        return list(map(cls, pack_each(causes), pack_each(effects)))

    @property
    def cause_levels(self) -> Levels:
        """The memory as a cause as it is kept, shape (dimension,)."""
        return _unpack(self.cause)

    @property
    def effect_levels(self) -> Levels:
        """The memory as an effect as it is kept, shape (dimension,)."""
        return _unpack(self.effect)

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
            message = "a sparse embedding needs at least one term and one weight for each"
            raise ValueError(message)
        if (terms[1:] <= terms[:-1]).any() or not ((weights > 0) & (weights < np.inf)).all():
            message = "a sparse embedding needs ascending terms and finite positive weights"
            raise ValueError(message)

    @classmethod
    def of(cls, weights: dict[int, float]) -> "Sparse":
        """Pack a mapping of term id to positive weight."""
        terms = sorted(weights)
        return cls(
            np.array(terms, dtype="<u2").tobytes(),
            np.array([weights[term] for term in terms], dtype="<f2").tobytes(),
        )

    @property
    def ids(self) -> npt.NDArray[np.uint16]:
        """The terms, ascending, shape (count,)."""
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
            message = "a hypervector needs bits"
            raise ValueError(message)

    @property
    def array(self) -> npt.NDArray[np.uint8]:
        """The packed bits, shape (bits / 8,)."""
        return np.frombuffer(self.data, dtype=np.uint8)


class Tokens(msgspec.Struct, frozen=True, tag="tokens"):
    """One vector per token, each scaled by itself: only its direction counts.

    `ids` are the wordpieces (uint16), by which a reader can weigh the tokens. In a memory entries take four bits, and
    are a fifth of it even so: one of the first half shares its byte with one of the second. Those of a question, which
    isn't kept, are `fine`: int8.
    """

    kind: ClassVar[Kind] = Kind.TOKENS
    pieces: bytes
    vectors: bytes
    fine: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty matrix, and one whose rows don't match its tokens."""
        count = len(self.pieces) // 2
        if not count or not self.vectors or len(self.vectors) % count:
            message = "a token embedding needs at least one token and one vector for each"
            raise ValueError(message)

    @classmethod
    def of(cls, pieces: Sequence[int] | npt.NDArray[np.integer], vectors: npt.ArrayLike) -> "Tokens":
        """Quantise vectors, shape (tokens, dimension), of an even dimension, as a memory keeps them."""
        return cls(np.asarray(pieces, dtype="<u2").tobytes(), to_nibbles(vectors).tobytes())

    @classmethod
    def asked(cls, pieces: Sequence[int] | npt.NDArray[np.integer], vectors: npt.ArrayLike) -> "Tokens":
        """Quantise float vectors, shape (tokens, dimension), as finely as a question needs them."""
        return cls(np.asarray(pieces, dtype="<u2").tobytes(), levels(vectors).tobytes(), fine=True)

    @classmethod
    def asked_each(cls, pieces: Sequence[npt.NDArray[np.integer]], vectors: npt.ArrayLike) -> "list[Tokens]":
        """Do so for many texts at once, whose vectors follow each other."""
        return cls._each(pieces, levels(vectors), fine=True)

    @classmethod
    def kept_each(cls, asked: "Sequence[Tokens]") -> "list[Tokens]":
        """Return what memories keep of tokens that are as fine as a question's."""
        vectors = np.concatenate([tokens.array for tokens in asked])
        return cls._each([tokens.ids for tokens in asked], to_nibbles(vectors), fine=False)

    @classmethod
    def _each(
        cls, pieces: Sequence[npt.NDArray[np.integer]], rows: npt.NDArray[np.integer], *, fine: bool
    ) -> "list[Tokens]":
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
    def nibbles(self) -> npt.NDArray[np.int8]:
        """The vectors as a memory keeps them, two entries to a byte, shape (tokens, dimension / 2)."""
        if self.fine:
            message = "the tokens of a question aren't kept"
            raise ValueError(message)
        return self._rows

    @property
    def array(self) -> npt.NDArray[np.int8]:
        """The vectors, shape (tokens, dimension), each of a length of its own."""
        return self._rows if self.fine else from_nibbles(self._rows)

    @property
    def _rows(self) -> npt.NDArray[np.int8]:
        return np.frombuffer(self.vectors, dtype=np.int8).reshape(len(self.pieces) // 2, -1)


def to_nibbles(vectors: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Quantise vectors, shape (tokens, dimension), to four bits an entry, two in a byte: (tokens, dimension / 2)."""
    matrix = np.asarray(vectors, dtype=np.float32)
    spread = np.sqrt(np.square(matrix).mean(axis=-1, keepdims=True))
    steps = np.rint(matrix * (_STEPS / (_SPREAD * np.maximum(spread, np.float32(1e-12))))).clip(-_STEPS, _STEPS)
    first, second = np.split(steps.astype(np.int8), 2, axis=-1)
    return (first & 0x0F) | (second << 4)


def from_nibbles(nibbles: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return vectors of tokens, shape (..., dimension), of which two entries stand in a byte; 16 times as long each.

    Only their directions count, and to leave each entry in the upper half of its byte saves two steps of five.
    """
    # Eight bytes at once, where rows have so many, take half the time.
    word = np.uint64 if nibbles.shape[-1] % 8 == 0 else np.uint8
    packed = nibbles.view(word)
    entries = np.concatenate([packed << word(4), packed], axis=-1)
    entries &= np.frombuffer(b"\xf0" * 8, word)[0]
    return entries.view(np.int8)


Embedding: TypeAlias = Dense | Directed | Sparse | Bits | Tokens
E = TypeVar("E", Dense, Directed, Sparse, Bits, Tokens)


class Fingerprint(msgspec.Struct, frozen=True):
    """All thirteen embeddings of one memory, in the order of `SPACES`."""

    embeddings: tuple[Embedding, ...]

    def __post_init__(self) -> None:
        """Refuse a fingerprint that lacks a space or puts another kind in its place (ARCH-01, ARCH-02)."""
        kinds = [embedding.kind for embedding in self.embeddings]
        if kinds != [space.kind for space in SPACES]:
            message = f"a fingerprint needs all {len(SPACES)} embeddings, each of its own kind"
            raise ValueError(message)
        if any(isinstance(embedding, Tokens) and embedding.fine for embedding in self.embeddings):
            message = "the tokens of a question are no memory's"
            raise ValueError(message)

    @classmethod
    def of(cls, embeddings: dict[str, Embedding]) -> "Fingerprint":
        """Put embeddings by space key in order; a missing space is a KeyError."""
        return cls(tuple(embeddings[space.key] for space in SPACES))

    def __getitem__(self, key: str) -> Embedding:
        """Return the embedding of the space with this key."""
        return self.embeddings[INDEX[key]]

    def take(self, key: str, kind: type[E]) -> E:
        """Return the embedding of a space whose kind the caller knows; another kind is a TypeError."""
        embedding = self[key]
        if not isinstance(embedding, kind):
            message = f"{key} holds {type(embedding).__name__}, not {kind.__name__}"
            raise TypeError(message)
        return embedding


class Passage(msgspec.Struct, frozen=True):
    """The E1 vector of one window of a long memory, and the characters [start, end) that it covers."""

    start: int
    end: int
    vector: bytes

    def __post_init__(self) -> None:
        """Refuse anything but levels."""
        _check_levels(self.vector, "a passage")

    @property
    def levels(self) -> Levels:
        """The window's E1 as it is kept, shape (dimension,)."""
        return _unpack(self.vector)
