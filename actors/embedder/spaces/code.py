"""E7: code by its identifiers, its syntax and its topic, 1,536 dimensions in three blocks.

| block | dimensions | squared length for code | for plain text |
|---|---|---|---|
| identifiers, whole and split, hashed | 576 | .07 | .2 / .9 |
| shapes of the syntax tree, hashed | 576 | .7 | 0 |
| topic | 384 | .23 | .7 / .9 |

A question in words matches code by identifiers and topic; the syntax that it lacks takes the same share from every
score, and so changes no ranking among code. Code matches code by its syntax first. The topic of plain text is its E1,
that of code is predicted by a linear head (`scripts/train/code.py`) from E1 of the source and E1 of its words, close to
E1 of what people write about that code. Held-out Recall@10 of functions by the first sentence of their docstring:
head .763, E1 of the words .720, E1 of the source .743, mean of both .746.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from actors.embedder import weights
from actors.embedder.spaces.vectors import hash_features, unit
from actors.text.code import count_identifiers, count_syntax
from events.quantization import Float32

FILE: Final = "code.safetensors"
TOPIC_DIMENSION: Final = 384
BLOCK: Final = 576
DIMENSION: Final = 2 * BLOCK + TOPIC_DIMENSION
_IDENTIFIER_SHARE, _TOPIC_SHARE = 0.2, 0.7
"""Relative to each other; they are scaled to the rest of the squared length."""
_SYNTAX_SHARE: Final = 0.7
"""Share of the syntax in the squared length of code: more than half, so that a shape outweighs equal words."""


def load_topic_head() -> Float32:
    """Load the trained head, shape (768, 384); a damaged file is a `WeightsError`."""
    return weights.load(FILE)["head"]


def topic(in_words: Float32, as_written: Float32, head: Float32) -> Float32:
    """Return the topic of code, a unit vector of shape (384,).

    Args:
        in_words: E1 of its `code_words`, shape (384,).
        as_written: E1 of the source, shape (384,).
        head: From `load_topic_head`.
    """
    return unit(np.concatenate([in_words, as_written]) @ head)


def code_features(content: str, *, is_code: bool) -> Float32:
    """Return the two blocks of E7 that need no model, shape (1152,); a block without features is zero."""
    features = np.zeros(2 * BLOCK, dtype=np.float32)
    features[:BLOCK] = _block(count_identifiers(content), _IDENTIFIER_SHARE)
    if is_code:
        rest = _TOPIC_SHARE + _IDENTIFIER_SHARE
        features[BLOCK:] = _block(count_syntax(content), rest * _SYNTAX_SHARE / (1 - _SYNTAX_SHARE))
    return features


def _block(counts: Counter[str], share: float) -> Float32 | float:
    """Return the features weighted by the square root of their count, hashed, at the length of the block's share."""
    roots = {feature: count**0.5 for feature, count in counts.items()}
    return hash_features(roots, BLOCK) * share**0.5 if roots else 0.0


def code_vectors(features: Sequence[Float32], topics: Sequence[Float32]) -> Float32:
    """Return E7 of texts, unit vectors of shape (texts, 1536); blocks that are zero leave their share to the others.

    `topics` have a unit vector of each, shape (384,): the `topic` of code, E1 of plain text.
    """
    if any(each.shape != (TOPIC_DIMENSION,) for each in topics):
        raise ValueError(f"a topic needs {TOPIC_DIMENSION} dimensions")
    return unit(np.concatenate([features, np.multiply(topics, np.float32(_TOPIC_SHARE**0.5))], axis=1))
