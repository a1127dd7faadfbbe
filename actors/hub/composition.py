"""The composition root: opens a data folder and starts the actors and the embedder on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Unpack

import msgspec
from threadpoolctl import threadpool_limits

from actors.consolidator.messages import StopRuns
from actors.embedder.actor import Embedder
from actors.embedder.loading import BLAS_THREADS, load_profile
from actors.embedder.models.sentence_model import model_name
from actors.hub.anchors import Anchors
from actors.hub.backups import Backups
from actors.hub.hub import ActorOptions, HistoryCache, Hub, start_actors
from actors.proxy.endpoint import print_notice
from actors.runtime.actor import LOGGER
from actors.runtime.ask import LONG_TIMEOUT, ask_blocking
from actors.runtime.metrics import Latencies
from actors.runtime.settings import ModelProfile, passphrase
from actors.store.messages import TakeSnapshot
from actors.store.snapshot_files import Snapshots
from actors.store.spare_memories import SNAPSHOT
from actors.workspace.messages import ReadAttention
from events.recovery.salvage import DAMAGED, marked_damage
from events.storage.database import DATABASE
from events.storage.log import LogAwayError, LogError, SharedLog

if TYPE_CHECKING:
    from actors.embedder.actor import Profile
    from events.postgres.snapshot_keys import Known
    from events.storage.chain import StoredLog
    from events.storage.log import Log

SWITCH_INTERVAL = 5e-4
"""Seconds after which Python switches threads: at the default of 5e-3 an ask beside busy Python code takes 10 ms at the
95th percentile, with this value 14 µs."""

MIN_SNAPSHOT_EVENTS = 500
"""Events since the last snapshot from which on closing the store takes another."""

START_SERVER = (
    "start the server, or mend the address or the password, and try again; without the server only a hub that ran "
    "before with --offline starts"
)


def utc_now() -> datetime:
    """Return the time of the machine's clock."""
    return datetime.now(UTC)


@contextmanager
def start_hub(
    log: Log,
    folder: Path,
    load: Callable[[Latencies], Profile],
    profile: str = ModelProfile.EMBEDDED,
    *,
    namespaces: frozenset[str] | None = None,
    clock: Callable[[], datetime] = utc_now,
    snapshots: Snapshots | None = None,
    **options: Unpack[ActorOptions],
) -> Iterator[Hub]:
    """Start the actors on a log and begin its replay; stop them on exit.

    `load` loads the models of `profile` when the first one is needed. Latencies are saved in `folder`. Requests for
    other namespaces than `namespaces` are refused. The other arguments are those of `start_actors`.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    threadpool_limits(BLAS_THREADS, user_api="blas")
    latencies = Latencies()
    embedder = Embedder.start(lambda: load(latencies), latencies)
    actors = start_actors(log, latencies, clock, embedder, snapshots=snapshots, **options)
    hub = Hub(
        **msgspec.structs.asdict(actors),
        folder=folder,
        profile=model_name(profile),
        embedder=embedder,
        priming=options.get("priming", False),
        history=HistoryCache(),
        snapshots=snapshots,
        backups=Backups(folder),
        anchors=Anchors(folder),
        namespaces=namespaces,
        shared=log if isinstance(log, SharedLog) else None,
    )
    try:
        yield hub
    finally:
        hub.history.close()
        # A command asks once and exits: finish the work that its request caused before stopping.
        ask_blocking(hub.workspace, ReadAttention())
        # A run ends after its slice, which may take long over many memories.
        ask_blocking(hub.consolidator, StopRuns(), LONG_TIMEOUT)
        ask_blocking(hub.store, TakeSnapshot(after=MIN_SNAPSHOT_EVENTS), LONG_TIMEOUT)
        hub.stop()
        embedder.stop()
        try:
            latencies.save(hub.latency_file)
        except OSError as error:
            LOGGER.warning("latencies can't be saved: %s", error)


@contextmanager
def open_hub(
    folder: Path,
    profile: str = ModelProfile.EMBEDDED,
    models: Path | None = None,
    *,
    namespaces: frozenset[str] | None = None,
    patience: float = 0.0,
    load: Callable[[Latencies], Profile] | None = None,
    address: str | None = None,
    upgrades: bool = True,
    **options: Unpack[ActorOptions],
) -> Iterator[Hub]:
    """Open the store in a folder, creating it if there is none.

    With an `address`, the log is on that server, and the folder holds what belongs to this hub. Waits up to `patience`
    seconds for another process that has the store open. `load` replaces `load_profile`. A store of an earlier format is
    copied before it is upgraded; without `upgrades` it is opened read-only and stays as it is. The other arguments are
    those of `load_profile` and `start_hub`.

    Raises:
        LogInUseError: Another process still has the store open.
        LogError: The log is invalid.
    """
    log = _open_log(folder, address, monotonic() + patience, upgrades=upgrades)
    load = load or partial(load_profile, profile=profile, models=models)
    snapshots = Snapshots(folder, log.snapshot_keys)
    with start_hub(log, folder, load, profile, namespaces=namespaces, snapshots=snapshots, **options) as hub:
        yield hub


def _open_log(folder: Path, address: str | None, until: float, *, upgrades: bool) -> StoredLog:
    from events.recovery.opening import open_log

    if address is not None:
        return _open_shared(folder, address)

    def tell_upgrade(sentence: str) -> None:
        print_notice(f"INFO {sentence}")  # `doctor` takes a line without a level for an error

    return open_log(folder, passphrase(), until, upgrades=upgrades, spare=SNAPSHOT, notify=tell_upgrade)


def _open_shared(folder: Path, address: str) -> StoredLog:
    """Open a log on a server, and let later commands on the folder find it."""
    from events.postgres.address import max_lag, remember_address, without_password
    from events.postgres.log import PostgresLog

    if (folder / DATABASE).exists():
        raise LogError(
            f"{folder} holds a log of its own: choose another folder by --data for the hub of a shared log, or move "
            f"the log by: context-graph move --to URL"
        )
    if (damage := marked_damage(folder)) is not None:
        raise LogError(
            f"the log at {without_password(address)} is damaged: {damage}; restore it, then delete {folder / DAMAGED}"
        )
    try:
        log = PostgresLog(address, folder, passphrase(), max_lag(), partial(_known_offline, folder))
    except LogAwayError as error:
        raise LogAwayError(f"{error}; {START_SERVER}") from error
    remember_address(folder, address)
    return log


def _known_offline(folder: Path) -> Known | None:
    """Return what the snapshot in a folder says about a log whose server is away; None where none can be read here."""
    from events.postgres.snapshot_keys import Known, OfflineKeys

    keys = OfflineKeys(folder).load(passphrase())
    newest = Snapshots(folder, keys).newest() if keys is not None else None
    return Known(keys, *newest) if keys is not None and newest is not None else None
