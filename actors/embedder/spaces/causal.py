"""E5: two vectors of a text, one for its role as a cause, one for its role as an effect.

Two linear heads, trained by `scripts/train/causal.py` on pairs of causes and effects. Their input is E1 and the mean
input embedding of the wordpieces, since causality depends on verbs and roles, which E1 trades for the topic. Held-out
Recall@10: .599, with E1 alone .575.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from actors.embedder import weights
from actors.embedder.models.backbone import DIMENSION as MODEL_DIMENSION
from actors.embedder.spaces.vectors import means, unit
from events.quantization import Float32

FILE = "causal.safetensors"
DIMENSION = 768
INPUT_DIMENSION = 2 * MODEL_DIMENSION


@dataclass(frozen=True, slots=True)
class CausalHeads:
    """The trained heads, each of shape (768, 768)."""

    cause: Float32
    effect: Float32

    @classmethod
    def load(cls) -> Self:
        """Load the shipped heads; a damaged file is a `WeightsError`."""
        return cls(**weights.load(FILE))


def causal_inputs(e1: Float32, pieces: Sequence[Float32]) -> Float32:
    """Return the heads' input: E1 and the mean of the input embeddings, each of length 1, shape (texts, 768).

    `e1` is rotated, shape (texts, 384); `pieces` are the model's input embeddings of each text, [CLS] and [SEP]
    included, shape (pieces, 384).
    """
    return np.concatenate([e1, unit(means(pieces))], axis=1)


def causal_vectors(inputs: Float32, heads: CausalHeads) -> tuple[Float32, Float32]:
    """Return the unit vectors of texts as causes and as effects, shape (texts, 768) each, from `causal_inputs`.

    The inner product of one text's cause with another's effect grows with the likelihood that one causes the other.
    """
    return unit(inputs @ heads.cause), unit(inputs @ heads.effect)
