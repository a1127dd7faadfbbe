"""Operations that several spaces share: row means, unit length, feature hashing, and mixtures with E1 (E8, E10)."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b, shake_128
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from events.quantization import Float32
from events.vocabulary.values import Modality

TokenIds: TypeAlias = npt.NDArray[np.integer]
"""Wordpiece ids, shape (tokens,)."""

_COPIES: Final = 4


def means(matrices: Sequence[Float32]) -> Float32:
    """Return the mean of the rows of each matrix, shape (matrices, columns); none may be empty."""
    counts = np.array(list(map(len, matrices)), np.float32)
    sums: Float32 = np.stack(list(map(np.add.reduce, matrices)))
    return sums / counts[:, np.newaxis]


def unit(vectors: Float32) -> Float32:
    """Scale vectors to length 1, shape (..., dimension)."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def mean_direction(vectors: Float32) -> Float32:
    """Return the unit vector along the mean of the rows, shape (columns,)."""
    return unit(vectors.mean(axis=0))


@lru_cache(maxsize=65_536)
def _digest(feature: str) -> bytes:
    return blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=4 * _COPIES).digest()


def hash_features(weights: Mapping[str, float], dimension: int) -> Float32:
    """Hash weighted features into a unit vector of shape (dimension,): signed feature hashing (Weinberger et al. 2009).

    Each feature is added at four positions with independent signs, so that one collision does not make two features
    equal. Without a positive weight it is a ValueError.
    """
    if not any(weight > 0 for weight in weights.values()):
        raise ValueError("feature hashing needs at least one feature of positive weight")
    hashes = np.frombuffer(b"".join(map(_digest, weights)), dtype="<u4").astype(np.int64)
    signed = np.repeat(np.fromiter(weights.values(), dtype=np.float64, count=len(weights)), _COPIES)
    signed *= 1 - 2 * (hashes & 1)
    positions = (hashes >> 1) % dimension
    vector = np.bincount(positions, weights=signed, minlength=dimension)
    if not vector.any():  # opposite signs cancelled at every position: drop the signs
        vector = np.bincount(positions, weights=np.abs(signed), minlength=dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


MODALITY_SHARE = 0.1
"""Share of the modality in the squared length of E10: separates code from prose about it, below topic differences."""


def with_links(own: Float32, linked: Sequence[Float32]) -> Float32:
    """Return a text's own vector mixed with the mean of those of the memories that it links to, shape (dimension,)."""
    if not linked:
        return own
    mixed = 0.6 * own + 0.4 * np.mean(linked, axis=0)
    return (mixed / np.linalg.norm(mixed)).astype(np.float32)


@cache
def _signature(modality: Modality, dimension: int) -> Float32:
    """Return a fixed unit vector of a modality, nearly orthogonal to those of the others."""
    bits = np.unpackbits(np.frombuffer(shake_128(modality.encode()).digest(dimension // 8), dtype=np.uint8))
    return (bits.astype(np.float32) * 2 - 1) / np.float32(np.sqrt(dimension))


def with_modality(e1: Float32, modalities: Sequence[Modality]) -> Float32:
    """Return E10 of texts, unit vectors of shape (texts, 2 * dimension): E1 beside a signature of the modality."""
    signatures = np.stack([_signature(modality, e1.shape[1]) for modality in modalities])
    return np.concatenate(
        [np.sqrt(1 - MODALITY_SHARE) * e1, np.sqrt(MODALITY_SHARE) * signatures], axis=1, dtype=np.float32
    )
