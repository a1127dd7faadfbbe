"""The graphs of an atlas: their growth, what they hold, and how often they find what a scan finds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
import numpy as np

from events.spaces import E1
from projections.atlas.atlas import Atlas
from projections.registry import ComparatorProjections
from projections.storage.snapshot import sizes

SAMPLES: Final = 32
"""Rows of each index whose neighbours are checked."""
_KEYS: Final = {"_semantic": E1, "_prefix": "e1_prefix", "_sketch": "e9_hdc sketch"}
"""Names of parts by the attributes of the atlas that hold them."""


class IndexState(msgspec.Struct, frozen=True, kw_only=True):
    """The index of one space. Without a graph, searches scan it."""

    vectors: int
    """Rows of the space, or passages."""
    graph: int
    """Of these in the graph."""
    lag: int
    """Of these not in the graph yet; 0 while the space is so small that it needs none."""
    megabytes: float
    """Of the graph, with its copy of the vectors."""
    recall: float | None
    """Share of the ten nearest that the graph finds, at the last check; None before, and without a graph."""


def grow(atlas: Atlas) -> bool:
    """Add vectors to the graph that lacks most, for some 2 ms; tell whether any graph lacks more."""
    graphs = atlas.graphs().values()
    behind = max(graphs, key=lambda graph: graph.lag)
    if behind.lag:
        behind.grow()
    return any(graph.lag for graph in graphs)


def states(atlas: Atlas, recalls: Mapping[str, float]) -> dict[str, IndexState]:
    """Return the state of each index by name, with the recalls of its last check."""
    return {
        name: IndexState(
            vectors=graph.rows,
            graph=graph.covered,
            lag=graph.lag,
            megabytes=round(graph.memory() / 2**20, 1),
            recall=recalls.get(name),
        )
        for name, graph in atlas.graphs().items()
    }


def check(atlas: Atlas) -> Iterator[tuple[str, float | None]]:
    """Yield the name of each index and its recall of the neighbours of one row, index by index and row by row."""
    for name, graph in atlas.graphs().items():
        if graph.rows:
            for row in np.linspace(0, graph.rows - 1, SAMPLES, dtype=np.int64).tolist():
                yield name, graph.recall(row)


def megabytes(projections: ComparatorProjections) -> dict[str, float]:
    """Return the memory that the arrays of each part take, largest first, without graphs and parts below .1 MB."""
    parts: Counter[str] = Counter()
    for path, size in sizes(projections).items():
        parts[_part(path)] += size
    if projections.atlas.atlas is not None:
        parts.update(projections.atlas.atlas.inverted_sizes())
    return {part: megabytes for part, size in parts.most_common() if (megabytes := round(size / 2**20, 1))}


def _part(path: str) -> str:
    """Return the space or other part that a path belongs to, such as `atlas.atlas._spaces.e7_code._matrix`."""
    name = next(name for name in path.split(".") if name not in {"atlas", "_spaces"})
    return _KEYS.get(name, name.lstrip("_"))
