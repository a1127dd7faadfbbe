"""E8 and E10: the meaning of a memory seen in its surroundings, and seen with its modality."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from events.fingerprint import Float32
from events.vocabulary.values import Modality

OWN_SHARE = 0.6
"""Of E8: what the memory itself says; the rest is shared by its surroundings."""

FADING = 0.5
"""Each step back in a session counts half of the one after it."""

MODALITY_SHARE = 0.1
"""Of the squared length of E10: enough to part a snippet of code from prose about it, not to outweigh what they say."""


def in_context(own: Float32, turns: Sequence[Float32], linked: Sequence[Float32]) -> Float32:
    """Return E8, shape (dimension,): a memory's E1 mixed with that of its surroundings, a unit vector.

    Args:
        own: E1 of the memory.
        turns: E1 of the turns before it in its session, oldest first.
        linked: E1 of the memories that it links to, which all count as much as the turn just before.
    """
    weights = [FADING**age for age in range(len(turns), 0, -1)] + [FADING] * len(linked)
    if not weights:
        return own
    around = np.average(np.stack([*turns, *linked]), axis=0, weights=weights)
    mixed = OWN_SHARE * own + (1 - OWN_SHARE) * around
    return (mixed / np.linalg.norm(mixed)).astype(np.float32)


@cache
def _signature(modality: Modality, dimension: int) -> Float32:
    """A fixed unit vector that tells a modality, nearly orthogonal to that of every other."""
    bits = np.unpackbits(np.frombuffer(hashlib.shake_128(modality.encode()).digest(dimension // 8), dtype=np.uint8))
    return (bits.astype(np.float32) * 2 - 1) / np.float32(np.sqrt(dimension))


def with_modality(own: Float32, modalities: Sequence[Modality]) -> Float32:
    """Return E10 of texts: the text tower beside the modality's signature, unit vectors, shape (texts, 2 · dimension).

    Args:
        own: What the text tower makes of each, shape (texts, dimension).
        modalities: Of each text.
    """
    signatures = np.stack([_signature(modality, own.shape[1]) for modality in modalities])
    return np.concatenate(
        [np.sqrt(1 - MODALITY_SHARE) * own, np.sqrt(MODALITY_SHARE) * signatures], axis=1, dtype=np.float32
    )
