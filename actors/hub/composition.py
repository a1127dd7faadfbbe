"""The composition root: opens a data folder and starts the actors and the embedder on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import msgspec
from threadpoolctl import threadpool_limits

from actors.consolidator.messages import StopRuns
from actors.embedder.actor import Embedder
from actors.hub.history import HistoryCache
from actors.hub.hub import Hub, start_actors
from actors.runtime.actor import LOGGER
from actors.runtime.ask import ask_blocking
from actors.runtime.metrics import Latencies
from actors.runtime.settings import ModelProfile, passphrase
from actors.store.messages import TakeSnapshot
from actors.store.snapshot_files import Snapshots
from actors.workspace.messages import ReadAttention

if TYPE_CHECKING:
    from actors.embedder.actor import Profile
    from events.storage.log import Log

SWITCH_INTERVAL = 5e-4
"""Seconds after which Python switches threads: at the default of 5e-3 an ask beside busy Python code takes 10 ms at the
95th percentile, with this value 14 µs."""

BLAS_THREADS = 1
"""Threads of one matrix product. The actors use the other cores; with two threads on a busy machine a product takes up
to forty times as long, and storing a batch twice the processor time."""

MIN_SNAPSHOT_EVENTS = 500
"""Events since the last snapshot from which on closing the store takes another."""

SNAPSHOT_TIMEOUT = 600.0
"""Seconds for that snapshot: some 2 GB for 100,000 memories on a slow disk."""

LOCK_POLL = 0.1
"""Seconds between two attempts to open a store that is in use."""


def utc_now() -> datetime:
    """Return the time of the machine's clock."""
    return datetime.now(UTC)


def load_profile(latencies: Latencies, profile: ModelProfile, models: Path | None = None) -> Profile:
    """Load the models of a profile.

    Args:
        latencies: Receives measurements.
        profile: Which one.
        models: For `full`, a folder with one folder for each space; None for the Hugging Face hub.

    Raises:
        EmbeddingFault: A model isn't available.
    """
    # Imported on demand: torch takes a second to import, during which `initialize` would wait.
    if profile is ModelProfile.EMBEDDED:
        from actors.embedder.profiles.embedded import EmbeddedProfile

        return EmbeddedProfile(latencies)
    from actors.embedder.models.full_models import FullModels, local_sources
    from actors.embedder.profiles.full import FullProfile

    return FullProfile(FullModels(local_sources(models) if models else None), latencies)


@contextmanager
def start_hub(
    log: Log,
    folder: Path,
    load: Callable[[Latencies], Profile],
    profile: ModelProfile = ModelProfile.EMBEDDED,
    *,
    priming: bool = True,
    scheduled: bool = False,
    clock: Callable[[], datetime] = utc_now,
    snapshots: Snapshots | None = None,
) -> Iterator[Hub]:
    """Start the actors on a log and begin its replay; stop them on exit.

    `load` loads the models of `profile` when the first one is needed. Latencies are saved in `folder`. The other
    arguments are those of `start_actors`.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    threadpool_limits(BLAS_THREADS, user_api="blas")
    latencies = Latencies()
    embedder = Embedder.start(lambda: load(latencies), latencies)
    actors = start_actors(log, latencies, clock, embedder, priming=priming, scheduled=scheduled, snapshots=snapshots)
    hub = Hub(
        **msgspec.structs.asdict(actors),
        folder=folder,
        profile=profile,
        embedder=embedder,
        priming=priming,
        history=HistoryCache(),
        snapshots=snapshots,
    )
    try:
        yield hub
    finally:
        hub.history.close()
        # A command asks once and exits: finish the work that its request caused before stopping.
        ask_blocking(hub.workspace, ReadAttention())
        ask_blocking(hub.consolidator, StopRuns())
        ask_blocking(hub.store, TakeSnapshot(after=MIN_SNAPSHOT_EVENTS), SNAPSHOT_TIMEOUT)
        hub.stop()
        embedder.stop()
        try:
            latencies.save(hub.latency_file)
        except OSError as error:
            LOGGER.warning("latencies can't be saved: %s", error)


@contextmanager
def open_hub(
    folder: Path,
    profile: ModelProfile = ModelProfile.EMBEDDED,
    models: Path | None = None,
    *,
    priming: bool = True,
    scheduled: bool = False,
    clock: Callable[[], datetime] = utc_now,
    patience: float = 0.0,
) -> Iterator[Hub]:
    """Open the store in a folder, creating it if there is none.

    Waits up to `patience` seconds for another process that has it open. The other arguments are those of `load_profile`
    and `start_actors`.

    Raises:
        LogInUseError: Another process still has the store open.
        LogError: The log is invalid.
    """
    from events.storage.duckdb_log import DuckDBLog
    from events.storage.log import LogInUseError

    until = monotonic() + patience
    while True:
        try:
            log = DuckDBLog(folder, passphrase())
            break
        except LogInUseError:
            if monotonic() >= until:
                raise
            sleep(LOCK_POLL)
    load = partial(load_profile, profile=profile, models=models)
    snapshots = Snapshots(folder, log.keys)
    with start_hub(
        log, folder, load, profile, priming=priming, scheduled=scheduled, clock=clock, snapshots=snapshots
    ) as hub:
        yield hub
