"""The future in which an actor answers: it runs callbacks when done, so that waiting needs no thread."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import pykka

if TYPE_CHECKING:
    from pykka._types import OptExcInfo

T = TypeVar("T")
R = TypeVar("R")


class Reply(pykka.ThreadingFuture[T]):
    """A pending answer. Set to another reply, it takes over that one's result."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._callbacks: list[Callable[[], object]] | None = []
        """None once the reply is done."""

    @property
    def done(self) -> bool:
        """Whether the result is available, so that `get` returns at once."""
        return self._callbacks is None

    def set(self, value: object = None) -> None:
        """Set the result."""
        if isinstance(value, Reply):
            value.add_done_callback(lambda: self._copy(value))
            return
        super().set(value)
        self._run_callbacks()

    def set_exception(self, exc_info: OptExcInfo | None = None) -> None:
        """Set an exception as the result, by default the one being handled."""
        super().set_exception(exc_info)
        self._run_callbacks()

    def add_done_callback(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the reply is done: now, or in the thread that sets the result."""
        with self._lock:
            if self._callbacks is not None:
                self._callbacks.append(callback)
                return
        callback()

    def _copy(self, other: Reply[object]) -> None:
        try:
            self.set(other.get(timeout=0))
        except BaseException:
            self.set_exception(sys.exc_info())

    def _run_callbacks(self) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback()


def answered(result: T) -> Reply[T]:
    """Return a reply that is resolved already."""
    reply: Reply[T] = Reply()
    reply.set(result)
    return reply


def gather(replies: Sequence[Reply[T]], combine: Callable[[list[T]], R]) -> Reply[R]:
    """Return a reply that is done when all `replies` are; the exception of any of them becomes its own.

    `combine` is called in the thread that completes the last reply.
    """
    combined: Reply[R] = Reply()
    lock = Lock()
    pending = len(replies)

    def count_down() -> None:
        nonlocal pending
        with lock:
            pending -= 1
            if pending:
                return
        try:
            combined.set(combine([reply.get(timeout=0) for reply in replies]))
        except BaseException:
            combined.set_exception(sys.exc_info())

    for reply in replies:
        reply.add_done_callback(count_down)
    return combined
