"""A running store and its historical views: the actors behind both, started in one place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TypedDict

import anyio
import anyio.to_thread
import msgspec
import pykka

from actors.comparator.actor import Comparator
from actors.consolidator.actor import Consolidator
from actors.hub.anchors import Anchors
from actors.hub.backups import Backups
from actors.linker.actor import Linker
from actors.runtime.actor import ActorRef
from actors.runtime.messages import QueryReceived
from actors.runtime.metrics import Latencies
from actors.runtime.types import JsonObject
from actors.scheduler.actor import Scheduler
from actors.store.actor import Store
from actors.store.messages import Replay
from actors.store.snapshot_files import Snapshots
from actors.workspace.actor import Workspace
from events.storage.log import Envelope, Head, Log, LogError, SharedLog
from events.storage.log_prefix import LogPrefix

IDLE = 180.0
"""Seconds after which an unused view is closed: it takes as much memory as the present."""

REPLAY_POLL = 0.25
"""Seconds between two progress reports of a replay."""


class Actors(msgspec.Struct, frozen=True):
    """The actors on one log. The embedder, which owns the models, is not among them: views share it."""

    log: Log
    """Read from any thread; only the store actor writes to it."""
    store: ActorRef
    comparator: ActorRef
    workspace: ActorRef
    consolidator: ActorRef
    scheduler: ActorRef
    linker: ActorRef | None
    """None in a historical view."""
    replayed: pykka.Future[Head]
    """Resolved when the log is replayed; raises `LogError` if the log is invalid."""
    latencies: Latencies

    def announce_query(self) -> None:
        """Tell the actors that work in the background that a client sent a query."""
        received = QueryReceived(at=perf_counter())
        self.consolidator.tell(received)
        if self.linker is not None:
            self.linker.tell(received)

    def stop(self) -> None:
        """Stop the actors: the writer first, the others before those that they ask."""
        linker = (self.linker,) if self.linker else ()
        for ref in (self.store, self.scheduler, self.consolidator, *linker, self.workspace, self.comparator):
            ref.stop()


class ActorOptions(TypedDict, total=False):
    """Arguments of `start_actors` that are chosen where a store is opened."""

    priming: bool
    scheduled: bool
    exits_on_damage: bool


def start_actors(
    log: Log,
    latencies: Latencies,
    clock: Callable[[], datetime],
    embedder: ActorRef | None = None,
    *,
    priming: bool = False,
    scheduled: bool = False,
    snapshots: Snapshots | None = None,
    exits_on_damage: bool = True,
) -> Actors:
    """Start the actors on a log and begin its replay.

    Without an embedder they serve a historical view, which appends nothing.
    """
    read_only = "the past can't be changed" if embedder is None else log.read_only
    store = Store.start(
        log, latencies, clock, snapshots=snapshots, read_only=read_only, exits_on_damage=exits_on_damage
    )
    comparator = Comparator.start(latencies, priming=priming, graphs=embedder is not None)
    workspace = Workspace.start(comparator, store, latencies)
    linker = Linker.start(comparator, store, embedder, latencies) if embedder else None
    consolidator = Consolidator.start(comparator, store, workspace, latencies, clock, linker)
    scheduler = Scheduler.start(consolidator, store, clock, scheduled=scheduled)
    owners = (comparator, workspace, *([embedder] if embedder else []), consolidator, scheduler)
    replayed = store.ask(Replay(owners=owners), block=False)
    return Actors(log, store, comparator, workspace, consolidator, scheduler, linker, replayed, latencies)


class Hub(Actors, frozen=True, kw_only=True):
    """A running store."""

    folder: Path
    profile: str
    """A `ModelProfile`, or the name of the model that fills the spaces of meaning."""
    embedder: ActorRef
    priming: bool
    """Whether memories in the workspace rank slightly higher in searches."""
    history: HistoryCache
    snapshots: Snapshots | None
    """Snapshots on disk, for a fast start; None without."""
    backups: Backups
    anchors: Anchors
    namespaces: frozenset[str] | None = None
    """The namespaces that the hub serves; None for all."""
    shared: SharedLog | None = None
    """The log, where other hubs append to it too; None in a historical view, which is never behind."""

    @property
    def latency_file(self) -> Path:
        """Latencies measured by the last process; may be deleted at any time."""
        return self.folder / "latencies.json"

    @property
    def runtime(self) -> JsonObject:
        """What computes the model of the embedded profile: runtime, precision, and how it was chosen."""
        from actors.embedder.models.precision import describe

        return describe()

    def as_of(self, seq: int, later: tuple[Envelope, ...]) -> AbstractAsyncContextManager[HistoricalView]:
        """Acquire the store as it was after an event, which takes seconds to replay.

        `later` are all later erasures of memories stored until then; for a caller of some namespaces, moves of such
        too.
        """
        return self.history.acquire(_moment(seq, later), partial(open_view, self, seq, later))

    def is_open_as_of(self, seq: int, later: tuple[Envelope, ...]) -> bool:
        """Return whether `as_of` needs no replay now; arguments as there."""
        return self.history.key == _moment(seq, later)


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


class HistoricalView(msgspec.Struct, frozen=True):
    """The store as it was after an event: its own actors, which append nothing, and the present embedder."""

    hub: Hub
    log: LogUntil
    at: datetime
    """The time of the event, at which the clock of the view stands still."""

    def wait(self) -> bool:
        """Wait up to `REPLAY_POLL` for the end of the replay; return whether it ended, successfully or not."""
        try:
            self.hub.replayed.get(timeout=REPLAY_POLL)
        except pykka.Timeout:
            return False
        except LogError:  # raised again by the next ask of the store
            pass
        return True

    def close(self) -> None:
        """Stop the actors, and the replay if it is under way."""
        self.log.cancelled = True
        self.hub.stop()


class HistoryCache:
    """Holds one view open at a time, shared by concurrent queries of the same moment, until it was idle for `IDLE`."""

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self.key: Hashable = None
        """The moment of the view that is open; None without one."""
        self._view: HistoricalView | None = None
        self._users = 0
        self._unused = anyio.Event()
        self._expiry: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def acquire(self, key: Hashable, open_view: Callable[[], HistoricalView]) -> AsyncIterator[HistoricalView]:
        """Yield the view of a moment, which a worker thread opens. Waits while the view of another moment is in use."""
        async with self._turn:
            view = self._view
            if view is None or self.key != key:
                if self._users:
                    self._unused = anyio.Event()
                    await self._unused.wait()
                self._cancel_expiry()
                await anyio.to_thread.run_sync(self.close)
                view = self._view = await anyio.to_thread.run_sync(open_view)
                self.key = key
            self._users += 1
            self._cancel_expiry()
        try:
            yield view
        finally:
            self._users -= 1
            if not self._users:
                self._unused.set()
                self._expiry = asyncio.get_running_loop().call_later(IDLE, self.close)

    def _cancel_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def close(self) -> None:
        """Close the view, if one is open."""
        view, self._view, self.key = self._view, None, None
        if view is not None:
            view.close()


def _moment(seq: int, later: tuple[Envelope, ...]) -> tuple[int, tuple[int, ...]]:
    return seq, tuple(envelope.seq for envelope in later)


def open_view(present: Hub, seq: int, later: tuple[Envelope, ...]) -> HistoricalView:
    """Start the actors of a historical view; arguments as in `Hub.as_of` (`LogError`: the event can't be read)."""
    (last,) = present.log.get([seq])
    log = LogUntil(present.log, seq, later)
    actors = start_actors(log, Latencies(), lambda: last.at, priming=present.priming)
    return HistoricalView(msgspec.structs.replace(present, shared=None, **msgspec.structs.asdict(actors)), log, last.at)
