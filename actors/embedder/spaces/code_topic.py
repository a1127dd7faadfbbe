"""What code is about, by which E7 meets a question in words: near E1 of what people say of that code.

A linear head, trained by `scripts/train/code.py`, tells it from E1 of the code as it is written and from E1 of its
`words`. Asked for functions of packages that it hadn't seen by the first sentences of their docstrings, it reaches a
held-out Recall@10 of .763; E1 of the words reaches .720, E1 of the code as it is written .743, the mean of both .746.
"""

from typing import Final

import numpy as np

from actors.embedder import weights
from actors.embedder.spaces.vectors import unit
from events.fingerprint import Float32

FILE: Final = "code.safetensors"


def load_head() -> Float32:
    """Load the shipped head, shape (768, 384); a damaged file is a `WeightsError`."""
    return weights.load(FILE)["head"].astype(np.float32)


def about(in_words: Float32, as_written: Float32, head: Float32) -> Float32:
    """Return what code is about, a unit vector of shape (384,).

    Args:
        in_words: E1 of its `words` (`actors.embedder.spaces.code`), shape (384,).
        as_written: E1 of the code as it stands, shape (384,).
        head: From `load_head`.
    """
    return unit(np.concatenate([in_words, as_written]) @ head)
