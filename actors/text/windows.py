"""How the model, which sees some 250 tokens, reads a text of any length: in overlapping windows, nothing left out."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from events.fingerprint import Float32

Range: TypeAlias = tuple[int, int]
"""From the first, up to but without the second."""

SIZE = 254
"""Tokens of a window: the model was trained on 256, two of which are [CLS] and [SEP]."""

OVERLAP = 32
"""Tokens that neighbouring windows share at least, so that a sentence cut by one is whole in the other."""


def windows(count: int, size: int = SIZE, overlap: int = OVERLAP) -> list[Range]:
    """Cut `count` tokens into as few windows as possible, all of one length, so that none is a mere rest.

    The result covers every token in order; an empty text has one empty window. `overlap` must be less than `size`.
    """
    if not 0 <= overlap < size:
        raise ValueError("windows must overlap by less than their size")
    if count <= size:
        return [(0, count)]
    number = -(-(count - overlap) // (size - overlap))
    length = -(-(count + (number - 1) * overlap) // number)
    starts = [index * (count - length) // (number - 1) for index in range(number)]
    return [(start, start + length) for start in starts]


def owned(ranges: Sequence[Range]) -> list[Range]:
    """Give each token to one window: overlaps are halved, since a token is understood best far from an edge."""
    cuts = [(end + start) // 2 for (_, end), (start, _) in pairwise(ranges)]
    return list(zip([ranges[0][0], *cuts], [*cuts, ranges[-1][1]], strict=True))


def pick(ranges: Sequence[Range], states: Sequence[Float32], places: npt.NDArray[np.integer]) -> Float32:
    """Return the states of some tokens of the whole text, each from the window that owns it.

    Args:
        ranges: The windows, from `windows`.
        states: For each window its states with [CLS] and [SEP], shape (tokens + 2, dimension).
        places: Ascending; 0 is the first window's [CLS], 1 the first token, the last place the last window's [SEP].

    Returns:
        Shape (places, dimension).
    """
    last = len(ranges) - 1
    parts: list[Float32] = []
    for index, ((start, _), (first, end), window) in enumerate(zip(ranges, owned(ranges), states, strict=True)):
        low, high = first + 1 - (index == 0), end + 1 + (index == last)
        parts.append(window[places[(places >= low) & (places < high)] - start])
    return np.concatenate(parts)


def weighted_mean(ranges: Sequence[Range], vectors: Sequence[npt.ArrayLike] | Float32) -> Float32:
    """Return the unit mean of the windows' vectors, each weighing as much as the tokens that it owns."""
    if len(ranges) == 1:
        return np.asarray(vectors[0], dtype=np.float32)
    weights = [last - first for first, last in owned(ranges)]
    mean = np.average(np.asarray(vectors, dtype=np.float32), axis=0, weights=weights)
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def characters(ranges: Sequence[Range], offsets: npt.NDArray[np.integer]) -> list[Range]:
    """Return the characters that each window covers, from the offsets of the tokens, shape (count, 2)."""
    return [(int(offsets[start, 0]), int(offsets[end - 1, 1])) if end > start else (0, 0) for start, end in ranges]
