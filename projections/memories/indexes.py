"""The graphs of an atlas: their growth, what they hold, and how often they find what a scan finds."""

from typing import Final

import msgspec
import numpy as np

from projections.memories.atlas import Atlas
from projections.spaces.graph import due

NEAREST: Final = 10
"""Neighbours that a check compares."""
SAMPLES: Final = 32
"""Rows of each index that are checked."""


class IndexState(msgspec.Struct, frozen=True, kw_only=True):
    """One index: a graph, or a scan while its space is small."""

    rows: int
    """Vectors of the space."""
    graph: int
    """Of these covered by the graph."""
    lag: int
    """Vectors that the graph lacks, which each search scans; 0 without a graph."""
    megabytes: float
    """Allocated by the graph."""
    recall: float | None = None
    """Share of the ten nearest found, over a sample; None before the first check and without a graph."""


def grow(atlas: Atlas) -> bool:
    """Add some vectors to the graph that lacks most, which takes some 2 ms; tell whether any graph lacks more."""
    lags = {name: space.graph.due(len(space)) for name, space in atlas.indexed().items()}
    name = max(lags, key=lags.__getitem__)
    if lags[name]:
        atlas.indexed()[name].index_more()
    return sum(lags.values()) > 0
