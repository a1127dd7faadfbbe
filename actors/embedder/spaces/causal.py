"""E5: what a text is as a cause, and what it is as an effect.

Two linear heads, trained by `scripts/train/causal.py` on pairs of causes and effects. They read E1 and, beside it, the
mean of what the text's pieces mean by themselves. What follows from an event hangs on the very words, such as verbs
and who does what, which E1 gives up for the topic: trained alike, E1 alone
reaches a held-out Recall@10 of .575, both .599.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actors.embedder import weights
from actors.embedder.models.backbone import DIMENSION as MEANING
from actors.embedder.spaces.vectors import means, unit
from events.fingerprint import Float32

FILE = "causal.safetensors"
DIMENSION = 768
EVIDENCE = 2 * MEANING
"""What the heads read of a text."""


@dataclass(frozen=True, slots=True)
class CausalHeads:
    """The trained heads, each of shape (768, 768)."""

    cause: Float32
    effect: Float32

    @classmethod
    def load(cls) -> CausalHeads:
        """Load the shipped heads; a damaged file is a `WeightsError`."""
        arrays = weights.load(FILE)
        return cls(arrays["cause"].astype(np.float32), arrays["effect"].astype(np.float32))


def evidence(e1: Float32, pieces: Sequence[Float32]) -> Float32:
    """Return what the heads read of texts: E1 beside the mean of the pieces, each of length 1, shape (texts, 768).

    Args:
        e1: The texts' rotated E1, shape (texts, 384).
        pieces: The model's input embeddings of the wordpieces of each, [CLS] and [SEP] included, shape (pieces, 384).
    """
    return np.concatenate([e1, unit(means(pieces))], axis=1)


def causal_vectors(read: Float32, heads: CausalHeads) -> tuple[Float32, Float32]:
    """Return texts' unit vectors as causes and as effects, shape (texts, 768) each, from their `evidence`.

    The likelier one text causes another, the larger the inner product of its cause with the other's effect.
    """
    return unit(read @ heads.cause), unit(read @ heads.effect)
