"""Arrays of a snapshot that are read piece by piece, on first use, so that a start reads only what it needs."""

from collections.abc import Callable
from math import prod
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt


class LazyArray:
    """An array in memory whose pieces are read on first use. Safe to use from any thread.

    `room` are the bytes that receive the array, uint8, more of them where it is to grow in place; `piece` are the bytes
    of each piece but the last. `read` puts the piece with this number in its place in `room`; it is called once for
    each.
    """

    def __init__(
        self,
        room: npt.NDArray[np.uint8],
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        piece: int,
        read: Callable[[int], object],
    ) -> None:
        self.room = room
        self.dtype = dtype
        self.shape = shape
        self._length = dtype.itemsize * prod(shape)
        self._piece = piece
        self._read = read
        self._pieces = -(-self._length // piece)
        self._unread = set(range(self._pieces))
        self._lock = Lock()

    @property
    def array(self) -> npt.NDArray[Any]:
        """The whole array."""
        self.fetch()
        return self.room[: self._length].view(self.dtype).reshape(self.shape)

    def fetch(self, start: int = 0, end: int | None = None) -> None:
        """Read the bytes from `start` to `end` into the room; all of them by default."""
        end = self._length if end is None else end
        for number in range(start // self._piece, min(-(-end // self._piece), self._pieces)):
            self._ensure(number)

    def fetch_items(self, size: int, items: npt.NDArray[np.int64]) -> None:
        """Read these items of `size` bytes each, at most the size of a piece, into the room."""
        if self._unread:
            ends = np.concatenate([items * size, (items + 1) * size - 1])
            for number in np.unique(ends // self._piece).tolist():
                self._ensure(number)

    def _ensure(self, number: int) -> None:
        if number in self._unread:
            with self._lock:
                if number in self._unread:
                    self._read(number)
                    self._unread.discard(number)
