"""E8 of profile `full`, with what a memory links to, and E10: what its text says beside its modality."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from events.quantization import Float32
from events.vocabulary.values import Modality

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
    bits = np.unpackbits(np.frombuffer(hashlib.shake_128(modality.encode()).digest(dimension // 8), dtype=np.uint8))
    return (bits.astype(np.float32) * 2 - 1) / np.float32(np.sqrt(dimension))


def with_modality(e1: Float32, modalities: Sequence[Modality]) -> Float32:
    """Return E10 of texts, unit vectors of shape (texts, 2 * dimension): E1 beside a signature of the modality."""
    signatures = np.stack([_signature(modality, e1.shape[1]) for modality in modalities])
    return np.concatenate(
        [np.sqrt(1 - MODALITY_SHARE) * e1, np.sqrt(MODALITY_SHARE) * signatures], axis=1, dtype=np.float32
    )
