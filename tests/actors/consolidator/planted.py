"""Similarities with topics planted in them."""

import numpy as np

from actors.consolidator.goals.discovery import Similarities
from events.spaces import INDEX, SPACES, TEMPORAL


def planted(*sizes: int, within: float = 0.75, across: float = 0.2, strangers: int = 0, seed: int = 0) -> Similarities:
    """Return similarities of blocks of memories, followed by some that are like nothing else; time is noise."""
    count = sum(sizes) + strangers
    mean = np.full((count, count), across)
    mean[count - strangers :] = mean[:, count - strangers :] = 0.05
    start = 0
    for size in sizes:
        mean[start : start + size, start : start + size] = within
        start += size
    random = np.random.default_rng(seed)
    scores = mean[:, :, None] + random.normal(0, 0.03, (count, count, len(SPACES)))
    for key in TEMPORAL:
        scores[:, :, INDEX[key]] = random.uniform(0, 1, (count, count))
    scores = (scores + scores.swapaxes(0, 1)) / 2
    scores[np.arange(count), np.arange(count)] = 1
    return scores.clip(0, 1).astype(np.float32)
