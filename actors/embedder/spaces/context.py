"""E8 and E10: what a memory is connected with, and what its text says beside its modality."""

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from events.quantization import Float32
from events.vocabulary.values import Modality

DECAY = 0.5
"""Factor of a connection's weight for each step away: turns of a session, what a linked memory is linked to."""

MODALITY_SHARE = 0.1
"""Share of the modality in the squared length of E10: separates code from prose about it, below topic differences."""


def graph_vector(
    turns: Sequence[Float32], linked: Sequence[tuple[Float32, Float32]], named: Sequence[tuple[Float32, float]]
) -> Float32 | None:
    """Return E8, a unit vector of shape (dimension,): what a memory is connected with; None if with nothing.

    The memory itself is no part of it.

    Args:
        turns: E1 of the previous turns of its session, oldest first; the last one weighs `DECAY`.
        linked: E1 and E8 of the memories that it links to: one step away, and two. E8 is zeros where there is none.
        named: E1 of the memories that name what it names, with a weight in [0, 1].
    """
    near = [(vector, DECAY**age) for age, vector in enumerate(reversed(turns), start=1)]
    near += [(vector, DECAY**step) for both in linked for step, vector in enumerate(both, start=1)]
    near += [(vector, DECAY * weight) for vector, weight in named]
    if not near:
        return None
    total = np.sum([np.float32(weight) * vector for vector, weight in near], axis=0, dtype=np.float32)
    length = np.linalg.norm(total)
    return np.asarray(total / length, np.float32) if length > 1e-6 else None


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
    """Return E10 of texts, unit vectors of shape (texts, 2 * dimension): E1 beside a signature of the modality.

    Args:
        e1: E1 of each text, shape (texts, dimension).
        modalities: The modality of each text.
    """
    signatures = np.stack([_signature(modality, e1.shape[1]) for modality in modalities])
    return np.concatenate(
        [np.sqrt(1 - MODALITY_SHARE) * e1, np.sqrt(MODALITY_SHARE) * signatures], axis=1, dtype=np.float32
    )
