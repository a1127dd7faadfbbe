"""Overlapping windows, through which a model with a context of 256 tokens reads a text of any length."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from events.quantization import Float32

Range: TypeAlias = tuple[int, int]
"""Half-open interval [start, end) of tokens or characters."""

WINDOW_TOKENS = 254
"""Tokens per window: the model was trained on 256, two of which are [CLS] and [SEP]."""

OVERLAP_TOKENS = 32
"""Minimum number of tokens that neighbouring windows share, so that one of them contains a whole short sentence."""


def split_windows(count: int, size: int = WINDOW_TOKENS, overlap: int = OVERLAP_TOKENS) -> list[Range]:
    """Split `count` tokens into the fewest windows of equal length, in order, that cover every token.

    An empty text has one empty window. `overlap` must be less than `size`.
    """
    if not 0 <= overlap < size:
        raise ValueError("windows must overlap by less than their size")
    if count <= size:
        return [(0, count)]
    number = -(-(count - overlap) // (size - overlap))
    length = -(-(count + (number - 1) * overlap) // number)
    starts = [index * (count - length) // (number - 1) for index in range(number)]
    return [(start, start + length) for start in starts]


def owned_ranges(ranges: Sequence[Range]) -> list[Range]:
    """Assign each token to one window. Overlaps are halved, since states near a window's edge lack context."""
    cuts = [(end + start) // 2 for (_, end), (start, _) in pairwise(ranges)]
    return list(zip([ranges[0][0], *cuts], [*cuts, ranges[-1][1]], strict=True))


def select_states(ranges: Sequence[Range], states: Sequence[Float32], positions: npt.NDArray[np.integer]) -> Float32:
    """Return the states of selected tokens, each from the window that owns it, shape (positions, dimension).

    `states` are those of each window, [CLS] and [SEP] included, shape (tokens + 2, dimension). `positions` are
    ascending: 0 is the first window's [CLS], 1 the first token, the last one the last window's [SEP].
    """
    last = len(ranges) - 1
    parts: list[Float32] = []
    for index, ((start, _), (first, end), window) in enumerate(zip(ranges, owned_ranges(ranges), states, strict=True)):
        low, high = first + 1 - (index == 0), end + 1 + (index == last)
        parts.append(window[positions[(positions >= low) & (positions < high)] - start])
    return np.concatenate(parts)


def weighted_mean(ranges: Sequence[Range], vectors: Sequence[npt.ArrayLike] | Float32) -> Float32:
    """Return the mean of the windows' vectors at length 1, weighted by the number of tokens that each owns."""
    if len(ranges) == 1:
        return np.asarray(vectors[0], dtype=np.float32)
    weights = [last - first for first, last in owned_ranges(ranges)]
    mean = np.average(np.asarray(vectors, dtype=np.float32), axis=0, weights=weights)
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def character_ranges(ranges: Sequence[Range], offsets: npt.NDArray[np.integer]) -> list[Range]:
    """Return the characters that each window covers, from the tokens' character offsets, shape (tokens, 2)."""
    return [(int(offsets[start, 0]), int(offsets[end - 1, 1])) if end > start else (0, 0) for start, end in ranges]
