"""Splits a byte stream into lines of bounded length."""

from __future__ import annotations

from collections.abc import Iterator


class LineTooLongError(Exception):
    """A line exceeds its maximum length."""


class LineReader:
    """Takes bytes as they arrive and yields complete lines of at most `max_length` bytes, without their newline."""

    def __init__(self, max_length: int) -> None:
        self._max_length = max_length
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines completed by `data`.

        Raises:
            LineTooLongError: A line exceeds `max_length`.
        """
        *complete, tail = data.split(b"\n")
        for part in complete:
            self._append(part)
            yield self.rest()
        self._append(tail)

    def rest(self) -> bytes:
        """Return the incomplete last line, and clear the buffer."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line

    def _append(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_length:
            raise LineTooLongError(f"a line is longer than {self._max_length} bytes")
        self._parts.append(part)
