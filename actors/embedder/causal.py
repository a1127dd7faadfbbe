"""E5: what a text is as a cause, and what it is as an effect.

Two linear heads on E1, trained by `scripts/train/causal.py` on pairs of causes and effects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from actors.embedder import weights
from events.fingerprint import Float32

FILE = "causal.safetensors"
DIMENSION = 768


@dataclass(frozen=True, slots=True)
class CausalHeads:
    """The trained heads, each of shape (384, 768)."""

    cause: Float32
    effect: Float32

    @classmethod
    def load(cls) -> CausalHeads:
        """Load the shipped heads; a damaged file is a `WeightsError`."""
        arrays = weights.load(FILE)
        return cls(arrays["cause"].astype(np.float32), arrays["effect"].astype(np.float32))


def causal_vectors(e1: Float32, heads: CausalHeads) -> tuple[Float32, Float32]:
    """Return a text's unit vectors as cause and as effect, shape (768,) each, from its rotated E1, shape (384,).

    The likelier one text causes another, the larger the inner product of its cause with the other's effect.
    """
    cause, effect = e1 @ heads.cause, e1 @ heads.effect
    return _unit(cause), _unit(effect)


def _unit(vector: Float32) -> Float32:
    return (vector / np.linalg.norm(vector)).astype(np.float32)
