"""Cutting what is read from a stream into lines, none of them endless."""

from __future__ import annotations

from collections.abc import Iterator


class LineTooLongError(Exception):
    """There is no end to a line."""


class LineReader:
    """Bytes go in as they come, whole lines come out without their ends.

    Args:
        longest: Bytes that a line may have.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that these bytes end.

        Raises:
            LineTooLongError: one is longer than it may be.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            yield self.rest()
            start = end + 1
        self._keep(data[start:])

    def rest(self) -> bytes:
        """Return what has no end yet, and forget it."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            raise LineTooLongError(f"a line is longer than {self._longest} bytes")
        self._parts.append(part)
