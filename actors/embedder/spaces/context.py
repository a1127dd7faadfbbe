"""E8 and E10: E1 of a memory combined with its context, and with its modality."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from events.quantization import Float32
from events.vocabulary.values import Modality

OWN_SHARE = 0.6
"""Share of the memory itself in E8; turns and links share the rest."""

DECAY = 0.5
"""Factor of a turn's weight for each step back in its session."""

MODALITY_SHARE = 0.1
"""Share of the modality in the squared length of E10: separates code from prose about it, below topic differences."""


def in_context(own: Float32, turns: Sequence[Float32], linked: Sequence[Float32]) -> Float32:
    """Return E8, a unit vector of shape (dimension,): E1 of a memory mixed with E1 of its context.

    Args:
        own: E1 of the memory.
        turns: E1 of the previous turns of its session, oldest first.
        linked: E1 of the memories that it links to; each weighs as much as the previous turn.
    """
    weights = [DECAY**age for age in range(len(turns), 0, -1)] + [DECAY] * len(linked)
    if not weights:
        return own
    context = np.average(np.stack([*turns, *linked]), axis=0, weights=weights)
    mixed = OWN_SHARE * own + (1 - OWN_SHARE) * context
    return (mixed / np.linalg.norm(mixed)).astype(np.float32)


@cache
def _signature(modality: Modality, dimension: int) -> Float32:
    """Return a fixed unit vector of a modality, nearly orthogonal to those of the others."""
    bits = np.unpackbits(np.frombuffer(hashlib.shake_128(modality.encode()).digest(dimension // 8), dtype=np.uint8))
    return (bits.astype(np.float32) * 2 - 1) / np.float32(np.sqrt(dimension))


def with_modality(e1: Float32, modalities: Sequence[Modality]) -> Float32:
    """Return E10 of texts, unit vectors of shape (texts, 2 * dimension): E1 beside a signature of the modality.

    Args:
        e1: E1 of each text, shape (texts, dimension).
        modalities: The modality of each text.
    """
    signatures = np.stack([_signature(modality, e1.shape[1]) for modality in modalities])
    return np.concatenate(
        [np.sqrt(1 - MODALITY_SHARE) * e1, np.sqrt(MODALITY_SHARE) * signatures], axis=1, dtype=np.float32
    )
