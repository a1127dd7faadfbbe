"""What actors answer with: a future that tells whoever waits for it, so that nobody needs a thread to wait in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import pykka

if TYPE_CHECKING:
    from pykka._types import OptExcInfo

T = TypeVar("T")
R = TypeVar("R")


class Reply(pykka.ThreadingFuture[T]):
    """An answer that is still to come. Where it turns out to be a second reply, what that one says is the answer."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._waiting: list[Callable[[], object]] | None = []
        """Who wants to be told; None once they were."""

    @property
    def given(self) -> bool:
        """Whether the answer is there, so that `get` returns at once."""
        return self._waiting is None

    def set(self, value: Any | None = None) -> None:
        """Give the answer."""
        if isinstance(value, Reply):
            value.when_given(lambda: self._follow(value))
            return
        super().set(value)
        self._tell()

    def set_exception(self, exc_info: OptExcInfo | None = None) -> None:
        """Answer with an exception, the one that is being handled if none is named."""
        super().set_exception(exc_info)
        self._tell()

    def when_given(self, tell: Callable[[], object]) -> None:
        """Have something called once the answer is there: now, or in the thread that gives it."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(tell)
                return
        tell()

    def _follow(self, other: Reply[Any]) -> None:
        try:
            self.set(other.get(timeout=0))
        except BaseException:  # noqa: BLE001 -- whatever it is, it is for whoever waits
            self.set_exception(sys.exc_info())

    def _tell(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, None
        for tell in waiting or ():
            tell()


def gather(replies: Sequence[Reply[T]], make: Callable[[list[T]], R]) -> Reply[R]:
    """Return a reply that says what is made of all these once they are given; an exception of one of them is its own.

    Args:
        replies: At least one.
        make: Is called in the thread that gives the last of them.
    """
    whole: Reply[R] = Reply()
    lock = Lock()
    left = len(replies)

    def one_more() -> None:
        nonlocal left
        with lock:
            left -= 1
            if left:
                return
        try:
            whole.set(make([reply.get(timeout=0) for reply in replies]))
        except BaseException:  # noqa: BLE001 -- as above
            whole.set_exception(sys.exc_info())

    for reply in replies:
        reply.when_given(one_more)
    return whole
