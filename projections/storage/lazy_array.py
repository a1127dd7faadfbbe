"""Arrays of a snapshot that are read on first use, or on every use where they take too much memory."""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt


class Span(NamedTuple):
    """Bytes [start, end) of an array, all in one piece of it."""

    piece: int
    start: int
    end: int


Peek: TypeAlias = Callable[[Sequence[Span]], npt.NDArray[np.uint8]]
"""Returns the bytes of spans, one after the other, without keeping them."""


class LazyArray:
    """An array whose pieces are read into memory on first use. Safe to use from any thread.

    Args:
        room: Bytes that receive the array, uint8; longer than the array where it is to grow in place.
        dtype: Of the items.
        shape: Of the array.
        piece: Bytes of each piece but the last.
        read: Puts the piece with this number in its place in `room`; called once for each piece.
        peek: Reads spans of a file, for an array that may stay there.
        peeked: The pieces that can be peeked into; the others are read into the room.
    """

    def __init__(
        self,
        room: npt.NDArray[np.uint8],
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        piece: int,
        read: Callable[[int], object],
        peek: Peek | None = None,
        peeked: frozenset[int] = frozenset(),
    ) -> None:
        self.room = room
        self.dtype = dtype
        self.shape = shape
        self._length = dtype.itemsize * prod(shape)
        self._piece = piece
        self._read = read
        self._peek = peek
        self._peeked = peeked
        self._pieces = -(-self._length // piece)
        self._unread = set(range(self._pieces))
        self._lock = Lock()

    @property
    def array(self) -> npt.NDArray[Any]:
        """The whole array."""
        self.fetch()
        return self.room[: self._length].view(self.dtype).reshape(self.shape)

    @property
    def stays(self) -> bool:
        """Whether copies of items are read from the file each time, so that they take no memory."""
        return self._peek is not None

    def keep(self) -> None:
        """Keep in memory what is used from here on."""
        self._peek = None

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

    def copy_items(self, size: int, items: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return a copy of these items of `size` bytes each, one after the other, also of those behind the array."""
        starts = np.flatnonzero(np.diff(items, prepend=-2) != 1)
        ends = np.append(starts, len(items))[1:]
        stretches = zip((items[starts] * size).tolist(), ((items[ends - 1] + 1) * size).tolist(), strict=True)
        return self._copied([span for start, end in stretches for span in self._spans(start, end)])

    def copy(self, start: int, end: int) -> npt.NDArray[np.uint8]:
        """Return a copy of the bytes from `start` to `end` of the room, in which all of them need not be."""
        return self._copied(list(self._spans(start, end)))

    def _spans(self, start: int, end: int) -> Iterator[Span]:
        """Yield the parts of a stretch of bytes, piece by piece; what is behind the array counts as one more piece."""
        while start < min(end, self._length):
            piece = start // self._piece
            stop = min(end, (piece + 1) * self._piece, self._length)
            yield Span(piece, start, stop)
            start = stop
        if start < end:
            yield Span(self._pieces, start, end)

    def _copied(self, spans: list[Span]) -> npt.NDArray[np.uint8]:
        pieces = {span.piece for span in spans}
        peeked = pieces & self._unread & self._peeked if self._peek is not None else set[int]()
        for number in pieces - peeked:
            self._ensure(number)
        found = np.empty(0, np.uint8)
        if self._peek is not None and peeked:
            found = self._peek([span for span in spans if span.piece in peeked])
            if peeked == pieces:
                return found
        parts: list[npt.NDArray[np.uint8]] = []
        at = 0
        for span in spans:
            if span.piece in peeked:
                parts.append(found[at : at + span.end - span.start])
                at += span.end - span.start
            else:
                parts.append(self.room[span.start : span.end])
        return np.concatenate([found[:0], *parts])

    def _ensure(self, number: int) -> None:
        if number in self._unread:
            with self._lock:
                if number in self._unread:
                    self._read(number)
                    self._unread.discard(number)
