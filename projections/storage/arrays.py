"""Arrays that grow: the storage of every space."""

from math import prod
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from projections.storage.lazy_array import LazyArray

S = TypeVar("S", bound=np.generic)
Rows = npt.NDArray[np.int64]
"""Row numbers, shape (count,)."""
Mask = npt.NDArray[np.bool_]
"""One truth value for each row."""
Scores = npt.NDArray[np.float32]
"""One score for each row."""


class Growing(Generic[S]):
    """An array that grows along its first axis; its room doubles, so that an append costs the same on average."""

    def __init__(self, dtype: type[S], *width: int) -> None:
        self._room: npt.NDArray[S] = np.zeros((8, *width), dtype)
        self._count = 0
        self._later: LazyArray | None = None
        """What is still to come of a snapshot."""

    def __len__(self) -> int:
        return self._count

    @property
    def array(self) -> npt.NDArray[S]:
        """A view on what was appended, shape (count, *width); it holds until the next append."""
        if self._later is not None:
            self._later.fetch()
            self._later = None
        return self._room[: self._count]

    def part(self, stretch: slice) -> npt.NDArray[S]:
        """A view on items in a row, from a start to a stop; of a snapshot no others are read for it."""
        if self._later is not None:
            size = self._room.strides[0]
            self._later.fetch(stretch.start * size, stretch.stop * size)
        return self._room[stretch]

    def take(self, items: Rows) -> npt.NDArray[S]:
        """Return a copy of some items, shape (items, *width); of a snapshot no others are read for it."""
        if self._later is not None:
            self._later.fetch_items(self._room.strides[0], items)
        return self._room.take(items, axis=0)

    def append(self, item: npt.ArrayLike) -> None:
        """Add one item of shape (*width,)."""
        self._reserve(1)
        self._room[self._count] = item
        self._count += 1

    def extend(self, items: npt.NDArray[Any]) -> None:
        """Add items of shape (any, *width)."""
        self._reserve(len(items))
        self._room[self._count : self._count + len(items)] = items
        self._count += len(items)

    def remove(self, index: int) -> None:
        """Take out one item and close the gap."""
        array = self.array
        array[index:-1] = array[index + 1 :]
        self._count -= 1
        self._room[self._count] = 0

    def restore(self, saved: LazyArray) -> None:
        """Take the place of what `array` was once; an array of other items is a ValueError."""
        dtype, width = self._room.dtype, self._room.shape[1:]
        if saved.dtype != dtype or (saved.shape[1:] != width and 0 not in width):
            raise ValueError(f"an array of {saved.dtype}{saved.shape} isn't one of {dtype}{width}")
        if not saved.shape[0]:
            return
        size = dtype.itemsize * prod(saved.shape[1:])
        self._count, self._later = saved.shape[0], saved
        self._room = saved.room[: len(saved.room) // size * size].view(dtype).reshape(-1, *saved.shape[1:])

    def _reserve(self, more: int) -> None:
        needed = self._count + more
        if needed > len(self._room):
            room = np.zeros((max(2 * len(self._room), needed), *self._room.shape[1:]), self._room.dtype)
            room[: self._count] = self.array
            self._room = room


class Stretches:
    """Which stretch of a flat array belongs to each row; a stretch may be empty."""

    _end: int

    def __init__(self) -> None:
        self._starts = Growing(np.int64)
        self._lengths = Growing(np.int64)
        self._end = 0

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def lengths(self) -> Rows:
        """A view on the number of items of each row; it holds until the next append."""
        return self._lengths.array

    def append(self, length: int) -> None:
        """Give the next row the next `length` items."""
        self._starts.append(self._end)
        self._lengths.append(length)
        self._end += length

    def stretch(self, row: int) -> slice:
        """Return where the items of this row lie."""
        start = int(self._starts.array[row])
        return slice(start, start + int(self._lengths.array[row]))

    def clear(self, row: int) -> None:
        """Leave this row without items; their places stay unused."""
        self._lengths.array[row] = 0

    def gather(self, rows: Rows | None = None) -> tuple[Rows, Rows]:
        """Return the places of the items of these rows (of all if None), row after row, and how many each row has."""
        starts, lengths = self._starts.array, self._lengths.array
        if rows is not None:
            starts, lengths = starts[rows], lengths[rows]
        return places_of(starts, lengths), lengths


def places_of(starts: Rows, lengths: Rows) -> Rows:
    """Return the places of stretches, one after the other, shape (sum of lengths,)."""
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(starts - before, lengths)


def reduce_rows(ufunc: np.ufunc, values: npt.NDArray[S], lengths: Rows) -> npt.NDArray[S]:
    """Reduce consecutive groups of values along the last axis; an empty group gives 0.

    `ufunc.reduceat` alone would give an empty group the first value of the next one.
    """
    reduced = np.zeros((*values.shape[:-1], len(lengths)), values.dtype)
    filled = lengths > 0
    if filled.any():
        starts = (np.cumsum(lengths) - lengths)[filled]
        reduced[..., filled] = ufunc.reduceat(values, starts, axis=-1)
    return reduced


def best(scores: Scores, count: int) -> Rows:
    """Return the places of the `count` highest scores, best first; of equal scores the earlier place comes first."""
    if count <= 0:
        return np.empty(0, np.int64)
    if count >= len(scores):
        return np.argsort(-scores, kind="stable")
    likely = np.flatnonzero(scores >= _bound(scores, count))
    found = scores[likely]
    places = likely[found >= np.partition(found, len(found) - count)[len(found) - count]]
    return places[np.argsort(-scores[places], kind="stable")[:count]]


def _bound(scores: Scores, count: int) -> np.float32:
    """Return what the `count` highest scores reach at least, as the best of so many stretches do.

    That takes one pass: among 100,000 scores, to find 128 takes a fifth of the time of a partition.
    """
    width = max(1, len(scores) // (8 * count))
    tops = scores[: len(scores) // width * width].reshape(-1, width).max(axis=1)
    return np.partition(tops, len(tops) - count)[len(tops) - count]
