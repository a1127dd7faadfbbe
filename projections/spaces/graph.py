"""Approximate nearest neighbours: an HNSW graph (usearch) beside the matrix of a space that is searched as a whole.

The graph names candidates, the space scores them exactly. Of the ten nearest among 300,000 vectors that are distributed
like the leading 128 dimensions of E1, topics in order, one graph finds .992 with 32 links a vector and an expansion of
512, .985 with an expansion of 256; of those among a million .959. So each `SHARD` of rows has a graph of its own, and a
search asks all of them. Graphs are built in slices and may lag behind; a search scans the rows that they lack. Digests
leave them out: they follow from the vectors, the order of their arrival and the library.
"""

import ctypes
import sys
from contextlib import suppress
from math import ceil
from typing import Any, Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from projections.storage.arrays import Mask, Rows, Scores, best
from projections.storage.lazy_array import LazyArray

SCANNED: Final = 12 << 20
"""Bytes of vectors up to which a scan is as quick as the graph; a smaller space has none."""
SHARD: Final = 200_000
"""Rows of one graph. A larger one misses whole topics, which it reaches through too few links."""
_OVERSAMPLING: Final = 2
"""Candidates for each wanted neighbour, where one graph is searched."""
_EXPANSION: Final = 512
"""Of a search in one graph. Each of several is searched half as widely, for as many candidates as are wanted."""
_MIN_CANDIDATES: Final = 64
_MAX_CANDIDATES: Final = 4_096
"""Of all graphs. Where a filter admits so few rows that more would be needed, the space is scanned."""
_SLICE: Final = 2_048
"""Bytes of vectors that are added between two messages of an actor, which takes some 2 ms."""
_SIZE: Final = np.dtype("<i8")
_CHECKED: Final = 10

_Vectors = npt.NDArray[Any]
"""Levels, or bits packed to bytes."""


class Searchable(Protocol):
    """Vectors by row."""

    def __len__(self) -> int: ...

    def part(self, rows: slice) -> _Vectors:
        """Return the vectors of some rows, shape (rows, width); zeros are an empty row."""
        ...

    def scores(self, query: _Vectors, rows: Rows | slice | None = None) -> Scores:
        """Return the similarity of a vector to these rows (to all if None), shape (rows,)."""
        ...


class Graph:
    """The graphs of the first rows of a space, one for each `SHARD` of them.

    `width` is that of a vector in bytes; the metric is "cos" for levels, "hamming" for bits packed to bytes.
    """

    covered: int
    """Rows, from the first on, that a search needs not scan."""

    def __init__(self, space: Searchable, width: int, metric: Literal["cos", "hamming"]) -> None:
        self.covered = 0
        self._space = space
        self._width = width
        self._metric: Final = metric
        self._shards: list[Any] = []
        self._saved: LazyArray | None = None
        """The graphs of a snapshot, until their first use."""

    def open(self) -> list[Any]:
        """Return the usearch index of each shard. The first call loads those of a snapshot, or sets `covered` to 0."""
        if self._saved is not None:
            self._load(self._saved.array.data)
            self._saved = None
        return self._shards

    @property
    def rows(self) -> int:
        """Rows of the space."""
        return len(self._space)

    @property
    def lag(self) -> int:
        """Rows that the graph lacks; 0 while the space is so small that it needs none."""
        return self.rows - self.covered if self.rows * self._width > SCANNED else 0

    def grow(self, rows: int | None = None) -> None:
        """Add the next rows; by default as many as take some 2 ms."""
        shards = self.open()
        end = min(self.covered + (max(1, _SLICE // self._width) if rows is None else rows), len(self._space))
        while self.covered < end:
            number = self.covered // SHARD
            if number == len(shards):
                self._add(self._empty())
            vectors = self._space.part(slice(self.covered, min(end, (number + 1) * SHARD)))
            filled = np.flatnonzero(vectors.any(axis=1))
            if len(filled):
                # One thread: the graph is then the same in every process.
                shards[number].add((self.covered + filled).astype(np.uint64), vectors[filled], threads=1)
            self.covered += len(vectors)

    def replace(self, row: int, vector: _Vectors | None) -> None:
        """Replace the vector of a row, shape (width,), by another or, for None, by a meaningless one."""
        if vector is None:
            vector = np.ones(self._width, np.int8 if self._metric == "cos" else np.uint8)
        # Removal only marks the entry. Its bytes remain, also when saved, until the next vector takes its place.
        shards = self.open()
        if row < self.covered and shards[row // SHARD].remove(row):
            shards[row // SHARD].add(row, vector, threads=1)

    def near(self, query: _Vectors, count: int, share: float) -> tuple[Rows, Scores] | None:
        """Return rows that likely contain the `count` nearest ones that a filter admits, ascending, with their scores.

        `share` is that of the rows that the filter admits; the result has others too. None where scoring all that are
        admitted takes no longer.
        """
        rows = self.rows
        graphs = ceil(self.covered / SHARD)
        oversampled = count if graphs > 1 else _OVERSAMPLING * count
        wanted = max(_MIN_CANDIDATES, oversampled) / max(share, 1e-9)
        saved = share * rows - (rows - self.covered)
        if saved * self._width <= SCANNED or graphs * wanted > _MAX_CANDIDATES:
            return None
        shards = self.open()
        if not shards:  # those of the snapshot don't fit
            return None
        # Topics begin in order, so that one shard may hold all that are wanted.
        keys = [index.search(query, ceil(wanted), threads=1).keys for index in shards]
        found: Rows = np.concatenate(keys).astype(np.int64)
        found.sort()  # of equal scores the earlier row comes first
        lacking = slice(self.covered, rows)
        scores = np.concatenate([self._space.scores(query, found), self._space.scores(query, lacking)])
        return np.concatenate([found, np.arange(self.covered, rows)]), scores

    def nearest(self, query: _Vectors, count: int, eligible: Mask | None = None) -> tuple[Rows, Scores] | None:
        """Return the likely best `count` eligible rows, best first, with their scores; None where a scan must do."""
        share = 1.0 if eligible is None else np.count_nonzero(eligible) / max(1, len(eligible))
        near = self.near(query, count, share)
        if near is not None and eligible is not None:
            admitted = eligible[near[0]]
            near = near[0][admitted], near[1][admitted]
        return None if near is None or len(near[0]) < count else best(*near, count)

    def recall(self, row: int) -> float | None:
        """Return the share of the ten nearest rows of a row that the graph finds; None without a graph."""
        (query,) = self._space.part(slice(row, row + 1))
        found = self.nearest(query, _CHECKED)
        if found is None:
            return None
        tenth = np.partition(self._space.scores(query), -_CHECKED)[-_CHECKED]
        return int(np.count_nonzero(found[1] >= tenth)) / _CHECKED

    def memory(self) -> int:
        """Return the allocated bytes."""
        return sum(index.memory_usage for index in self._shards)

    def saved_size(self) -> int:
        """Return the number of bytes that `save` returns; 0 for none."""
        return sum(_SIZE.itemsize + index.serialized_length for index in self.open())

    def save(self) -> memoryview:
        """Return the bytes of each graph, then the graphs with their vectors."""
        saved = bytearray(np.array([index.serialized_length for index in self.open()], _SIZE))
        for index in self._shards:
            saved += index.save()
        return memoryview(saved)

    def restore(self, saved: LazyArray | None) -> None:
        """Take over what `save` returned; None for no graph."""
        self._saved = saved
        if saved is None:
            self.covered = 0

    def _load(self, saved: memoryview) -> None:
        """Load the graphs. Those of other rows, or that another version of usearch wrote, are built again."""
        try:
            for part in _split(saved, ceil(self.covered / SHARD)):
                self._add(self._loaded(part))
        except ValueError:
            self._shards.clear()
            self.covered = 0

    def _loaded(self, saved: memoryview) -> Any:
        """Return a graph; one of another shape, which `load` would adopt, is a ValueError."""
        index = self._empty()
        found: dict[str, Any] = index.metadata(saved) or {}
        kinds = [found.get(name) for name in ("dimensions", "kind_metric", "kind_scalar")]
        if kinds != [index.ndim, index.metric_kind, index.dtype]:
            raise ValueError(f"a graph of {kinds}")
        index.load(saved)
        return index

    def _empty(self) -> Any:
        if sys.platform == "linux":
            # usearch contains a libstdc++ of its own. Loaded before the system's, it would take over the ids of locale
            # facets, and torch would then throw `bad_cast` wherever it prints a number.
            with suppress(OSError):
                ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
        from usearch.index import Index  # noqa: PLC0415 -- takes .1 s or more, and only large stores need it

        return Index(
            ndim=self._width if self._metric == "cos" else 8 * self._width,
            metric=self._metric,
            dtype="i8" if self._metric == "cos" else "b1",
            connectivity=32,
            expansion_add=128,
        )

    def _add(self, index: Any) -> None:
        self._shards.append(index)
        for one in self._shards:
            one.expansion_search = _EXPANSION // min(2, len(self._shards))


def _split(saved: memoryview, count: int) -> list[memoryview]:
    """Return the `count` graphs that `Graph.save` joined; a ValueError if they are not as many or not whole."""
    sizes = np.frombuffer(saved, _SIZE, count)
    ends = sizes.nbytes + np.cumsum(sizes)
    if not count or sizes.min() <= 0 or ends[-1] != len(saved):
        raise ValueError(f"{len(saved)} bytes are not {count} graphs")
    return [saved[end - size : end] for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
