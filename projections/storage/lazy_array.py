"""Arrays that come piece by piece, once somebody wants them: a start then waits for what it needs alone."""

from collections.abc import Callable
from threading import Lock

import numpy as np
import numpy.typing as npt


class LazyArray:
    """Bytes of which each piece is read when it is wanted first; any thread may want it.

    Args:
        room: Where they come, from its beginning on; it may be longer than they are.
        length: How many there are.
        piece: Bytes of each piece but the last.
        restore: Puts the piece with this number in its place; called once for each.
    """

    def __init__(self, room: npt.NDArray[np.uint8], length: int, piece: int, restore: Callable[[int], object]) -> None:
        self.room = room
        self._length = length
        self._piece = piece
        self._restore = restore
        self._pieces = -(-length // piece)
        self._left = set(range(self._pieces))
        self._lock = Lock()

    def fetch(self, start: int = 0, end: int | None = None) -> npt.NDArray[np.uint8]:
        """Return those from `start` to `end`; all of them unless it is said."""
        end = self._length if end is None else end
        for number in range(start // self._piece, min(-(-end // self._piece), self._pieces)):
            self._have(number)
        return self.room[start:end]

    def fetch_items(self, size: int, items: npt.NDArray[np.int64]) -> None:
        """Have these items of `size` bytes each, which is at most that of a piece, in the room."""
        if self._left:
            ends = np.concatenate([items * size, (items + 1) * size - 1])
            for number in np.unique(ends // self._piece).tolist():
                self._have(number)

    def _have(self, number: int) -> None:
        if number in self._left:
            with self._lock:
                if number in self._left:
                    self._restore(number)
                    self._left.discard(number)
