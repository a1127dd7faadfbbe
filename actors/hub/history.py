"""The log up to an event, and the cache that keeps the store's state at one event open between queries."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

import anyio
import anyio.to_thread

from events.storage.log import Envelope, Log, LogError
from events.storage.log_prefix import LogPrefix

IDLE = 180.0
"""Seconds after which an unused view is closed: it takes as much memory as the present."""


class LogUntil(LogPrefix):
    """The log up to an event, followed by later erasures, and for some callers moves, of memories stored in it.

    An erased memory can't be read as of any time, so the view shows it as erased, with the time and the reason. A
    caller of some namespaces sees each memory in its present one.
    """

    def __init__(self, log: Log, seq: int, later: tuple[Envelope, ...]) -> None:
        super().__init__(log, seq)
        self._later = later
        self.position = 0
        """Sequence number of the event read last."""
        self.cancelled = False
        """Set to end a read under way with a `LogError`."""

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the end, then the later events."""
        for envelope in super().read(after, last):
            if self.cancelled:
                raise LogError("the view of this moment was closed")
            self.position = envelope.seq
            yield envelope
        yield from self._later

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending, without the later ones that `read` adds."""
        later = {one.seq for one in self._later}
        return super().get([seq for seq in seqs if seq not in later])


class Closeable(Protocol):
    """Something that holds resources until it is closed."""

    def close(self) -> None:
        """Release the resources."""
        ...


V = TypeVar("V", bound=Closeable)


class HistoryCache(Generic[V]):
    """Holds one view open at a time, shared by concurrent queries of the same moment, until it was idle for `IDLE`."""

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self._key: Hashable = None
        self._view: V | None = None
        self._users = 0
        self._unused = anyio.Event()
        self._expiry: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def acquire(self, key: Hashable, open_view: Callable[[], V]) -> AsyncIterator[V]:
        """Yield the view of a moment, which a worker thread opens. Waits while the view of another moment is in use."""
        async with self._turn:
            view = self._view
            if view is None or self._key != key:
                if self._users:
                    self._unused = anyio.Event()
                    await self._unused.wait()
                self._cancel_expiry()
                await anyio.to_thread.run_sync(self.close)
                view = self._view = await anyio.to_thread.run_sync(open_view)
                self._key = key
            self._users += 1
            self._cancel_expiry()
        try:
            yield view
        finally:
            self._users -= 1
            if not self._users:
                self._unused.set()
                self._expiry = asyncio.get_running_loop().call_later(IDLE, self.close)

    def is_open(self, key: Hashable) -> bool:
        """Return whether the view of a moment is open, or about to be."""
        return self._view is not None and self._key == key

    def _cancel_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def close(self) -> None:
        """Close the view, if one is open."""
        view, self._view = self._view, None
        if view is not None:
            view.close()
