"""The store as it was: a second set of actors on the log up to an event, which write nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import msgspec
import pykka

from actors.comparator.actor import Comparator
from actors.consolidator.actor import Consolidator
from actors.runtime.metrics import Latencies
from actors.scheduler.actor import Scheduler
from actors.store.actor import Store
from actors.store.messages import Replay
from actors.workspace.actor import Workspace
from events.storage.log import Envelope, LogError
from events.storage.log_prefix import LogPrefix

if TYPE_CHECKING:
    from actors.hub.composition import Hub
    from events.storage.log import Log

IDLE = 180.0
"""Seconds after which a moment is closed that nobody asked for: it takes as much memory as the present."""

LOOK = 0.25
"""Seconds between two looks at how far a replay is."""


class LogUntil(LogPrefix):
    """The log up to an event, followed by the erasure of each memory in it that was erased since.

    Nobody can read what was erased, as of whatever time; so it is known as erased throughout, with its time and reason.
    """

    def __init__(self, log: Log, seq: int, erased: tuple[Envelope, ...]) -> None:
        super().__init__(log, seq)
        self._erased_since = erased
        self.reached = 0
        """The event that a reader has come to."""
        self.given_up = False
        """Set to let a reader end in a `LogError`."""

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the end, then what was erased since."""
        for envelope in super().read(after, last):
            if self.given_up:
                raise LogError("nobody asks about this moment any more")
            self.reached = envelope.seq
            yield envelope
        yield from self._erased_since


class HistoricalView(msgspec.Struct, frozen=True):
    """An open moment: the actors of the store as it was, beside the present embedder."""

    hub: Hub
    log: LogUntil
    at: datetime
    """When its last event happened: its clock stands still there."""
    erased: tuple[int, ...]
    """The erasures since that it knows of, by sequence number."""

    def wait(self) -> bool:
        """Wait a moment for the replay; return whether it is over, well or not."""
        try:
            self.hub.replayed.get(timeout=LOOK)
        except pykka.Timeout:
            return False
        except LogError:  # told to whoever asks the store next
            return True
        return True

    def close(self) -> None:
        """Stop its actors, and the replay if that is still under way."""
        self.log.given_up = True
        hub = self.hub
        for ref in (hub.store, hub.scheduler, hub.consolidator, hub.workspace, hub.comparator):
            ref.stop()


def open_view(present: Hub, seq: int, erased: tuple[Envelope, ...]) -> HistoricalView:
    """Start the actors of a moment and begin its replay; reads one event.

    Raises:
        LogError: it can't be read.
    """
    (last,) = present.log.get([seq])
    log = LogUntil(present.log, seq, erased)
    latencies = Latencies()

    def clock() -> datetime:
        return last.at

    store = Store.start(log, latencies, clock, frozen=True)
    comparator = Comparator.start(latencies, priming=present.priming)
    workspace = Workspace.start(comparator, store, latencies)
    consolidator = Consolidator.start(comparator, store, workspace, latencies, clock)
    scheduler = Scheduler.start(consolidator, store, clock, armed=False)
    hub = msgspec.structs.replace(
        present,
        log=log,
        store=store,
        comparator=comparator,
        workspace=workspace,
        consolidator=consolidator,
        scheduler=scheduler,
        replayed=store.ask(Replay(owners=(comparator, workspace, consolidator, scheduler)), block=False),
        latencies=latencies,
    )
    return HistoricalView(hub, log, last.at, tuple(envelope.seq for envelope in erased))


class HistoryCache:
    """The moment that is open: one at a time, for all who ask about it at once, and kept for whoever asks next."""

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self._then: HistoricalView | None = None
        self._askers = 0
        self._unused = anyio.Event()
        self._expiry: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def lent(self, present: Hub, seq: int, erased: tuple[Envelope, ...]) -> AsyncIterator[HistoricalView]:
        """Open the store as it was after an event, which takes seconds to replay; wait while another moment is in use.

        Args:
            present: The store.
            seq: Of the event.
            erased: The erasures since of memories stored until then. One that isn't known yet closes what is open.
        """
        async with self._turn:
            then = self._then
            if then is None or (then.log.head.seq, then.erased) != (seq, tuple(one.seq for one in erased)):
                then = await self._opened(present, seq, erased)
            self._askers += 1
            self._stay()
        try:
            yield then
        finally:
            self._askers -= 1
            if not self._askers:
                self._unused.set()
                self._expiry = asyncio.get_running_loop().call_later(IDLE, self.close)

    async def _opened(self, present: Hub, seq: int, erased: tuple[Envelope, ...]) -> HistoricalView:
        if self._askers:
            self._unused = anyio.Event()
            await self._unused.wait()
        self._stay()
        await anyio.to_thread.run_sync(self.close)
        self._then = await anyio.to_thread.run_sync(open_view, present, seq, erased)
        return self._then

    def _stay(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def close(self) -> None:
        """Close what is open."""
        then, self._then = self._then, None
        if then is not None:
            then.close()
