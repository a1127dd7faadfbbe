"""The composition root: the one place that opens a data folder and starts the actors on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import msgspec
import pykka
from threadpoolctl import threadpool_limits

from actors.comparator.actor import Comparator
from actors.consolidator.actor import Consolidator
from actors.consolidator.messages import StopRuns
from actors.embedder.actor import Embedder
from actors.hub.history import HistoryCache
from actors.runtime.actor import LOGGER
from actors.runtime.ask import TIMEOUT
from actors.runtime.metrics import Latencies
from actors.runtime.settings import ModelProfile, passphrase
from actors.scheduler.actor import Scheduler
from actors.store.actor import Store
from actors.store.messages import Replay, TakeSnapshot
from actors.store.snapshot_files import Snapshots
from actors.workspace.actor import Workspace
from actors.workspace.messages import ReadAttention

if TYPE_CHECKING:
    from actors.embedder.actor import Profile
    from events.storage.log import Head, Log

SWITCH_INTERVAL = 5e-4
"""Seconds after which Python lets another thread run: an ask beside busy Python code takes 14 µs at the 95th percentile
instead of 10 ms."""


THREADS = 1
"""Threads of one product of matrices, since the actors keep the cores busy: of two that wait for each other on a busy
machine each product takes up to forty times as long, and storing a batch twice the processor time."""


def in_utc() -> datetime:
    """Return the time of the machine's clock."""
    return datetime.now(UTC)


WORTH_AT_CLOSE = 500
"""Events that must have come since the last snapshot to take one before the store is closed."""

SNAPSHOT_PATIENCE = 600.0
"""Seconds that this may take: some 2 GB of 100,000 memories on a slow disk."""

AGAIN = 0.1
"""Seconds until it is tried again whether a store is free."""


class Hub(msgspec.Struct, frozen=True):
    """A running store: its actors, and what it measures."""

    folder: Path
    profile: ModelProfile
    log: Log
    """Read from any thread; the store alone writes to it."""
    store: pykka.ActorRef[Any]
    comparator: pykka.ActorRef[Any]
    workspace: pykka.ActorRef[Any]
    consolidator: pykka.ActorRef[Any]
    scheduler: pykka.ActorRef[Any]
    embedder: pykka.ActorRef[Any]
    priming: bool
    """Whether what is in the workspace counts a little more in searches."""
    pasts: HistoryCache
    """The store as it was, for whoever asks about that."""
    replayed: pykka.Future[Head]
    """Set once the log is replayed; raises `LogError` if it can't be trusted."""
    latencies: Latencies

    @property
    def latency_file(self) -> Path:
        """What the last process measured; may be deleted at will."""
        return self.folder / "latencies.json"


def load_profile(latencies: Latencies, profile: ModelProfile, models: Path | None = None) -> Profile:
    """Load a profile. Imported here, since torch takes a second to import and `initialize` hasn't one.

    Args:
        latencies: Where it records what it measures.
        profile: Which one.
        models: A folder with one folder for each space, where `full` finds its models; None for the hub's. The
            embedded profile carries its own.

    Raises:
        EmbeddingFault: a model can't be had.
    """
    if profile is ModelProfile.EMBEDDED:
        from actors.embedder.profiles.embedded import EmbeddedProfile  # noqa: PLC0415 -- see above

        return EmbeddedProfile(latencies)
    from actors.embedder.models.full_models import FullModels, local_sources  # noqa: PLC0415 -- see above
    from actors.embedder.profiles.full import FullProfile  # noqa: PLC0415 -- see above

    return FullProfile(FullModels(local_sources(models) if models else None), latencies)


@contextmanager
def running(
    log: Log,
    folder: Path,
    load: Callable[[Latencies], Profile],
    profile: ModelProfile = ModelProfile.EMBEDDED,
    *,
    priming: bool = True,
    scheduled: bool = False,
    clock: Callable[[], datetime] = in_utc,
    snapshots: Snapshots | None = None,
) -> Iterator[Hub]:
    """Start the actors on a log and begin its replay; stop them in reverse order on the way out.

    Args:
        log: Where events are.
        folder: Where latencies are kept.
        load: What loads the profile, once the first model is needed.
        profile: Whose models these are; a store made with others refuses them.
        priming: Whether what is in the workspace counts a little more in searches.
        scheduled: Whether sleep comes by itself.
        clock: What tells the time, in UTC.
        snapshots: Where what is known is written down for a fast start; None for never.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    threadpool_limits(THREADS, user_api="blas")
    latencies = Latencies()
    store = Store.start(log, latencies, clock, snapshots=snapshots)
    comparator = Comparator.start(latencies, priming=priming)
    workspace = Workspace.start(comparator, store, latencies)
    consolidator = Consolidator.start(comparator, store, workspace, latencies, clock)
    scheduler = Scheduler.start(consolidator, store, clock, armed=scheduled)
    embedder = Embedder.start(lambda: load(latencies), latencies)
    pasts = HistoryCache()
    hub = Hub(
        folder=folder,
        profile=profile,
        log=log,
        store=store,
        comparator=comparator,
        workspace=workspace,
        consolidator=consolidator,
        scheduler=scheduler,
        embedder=embedder,
        priming=priming,
        pasts=pasts,
        replayed=store.ask(Replay(owners=(comparator, workspace, embedder, consolidator, scheduler)), block=False),
        latencies=latencies,
    )
    try:
        yield hub
    finally:
        pasts.close()
        # What was asked last is still attended to: the command line asks once and ends.
        workspace.ask(ReadAttention(), timeout=TIMEOUT)
        consolidator.ask(StopRuns(), timeout=TIMEOUT)
        store.ask(TakeSnapshot(after=WORTH_AT_CLOSE), timeout=SNAPSHOT_PATIENCE)
        for ref in (store, scheduler, consolidator, embedder, workspace, comparator):
            ref.stop()
        try:
            latencies.save(hub.latency_file)
        except OSError as error:  # all that counts is in the log
            LOGGER.warning("what was measured can't be kept: %s", error)


@contextmanager
def opened(
    folder: Path,
    profile: ModelProfile = ModelProfile.EMBEDDED,
    models: Path | None = None,
    *,
    priming: bool = True,
    scheduled: bool = False,
    clock: Callable[[], datetime] = in_utc,
    patience: float = 0.0,
) -> Iterator[Hub]:
    """Open the store in a folder, creating it if there is none; arguments as in `load_profile` and `running`.

    Args:
        folder: Of the store.
        profile: Whose models.
        models: Where they are.
        priming: Whether what is in the workspace counts a little more in searches.
        scheduled: Whether sleep comes by itself.
        clock: What tells the time, in UTC.
        patience: Seconds to wait for another process that has it open.

    Raises:
        LogInUseError: another process has it open, and keeps it.
        LogError: the log can't be trusted.
    """
    from events.storage.duckdb_log import DuckDBLog  # noqa: PLC0415 -- a tenth of a second that `--help` needn't wait
    from events.storage.log import LogInUseError  # noqa: PLC0415

    until = monotonic() + patience
    while True:
        try:
            log = DuckDBLog(folder, passphrase())
            break
        except LogInUseError:
            if monotonic() >= until:
                raise
            sleep(AGAIN)
    load = partial(load_profile, profile=profile, models=models)
    snapshots = Snapshots(folder, log.keys)
    with running(
        log, folder, load, profile, priming=priming, scheduled=scheduled, clock=clock, snapshots=snapshots
    ) as hub:
        yield hub
