"""Operations on the store as a whole: its state, its soundness, and a copy of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

import anyio.from_thread
import anyio.to_thread

from actors.api.context import Context, wait_until_replayed
from actors.api.params.audit import StoreBackUp, StoreStatus, StoreVerify
from actors.api.params.parsing import invalid
from actors.api.progress import reporter
from actors.api.responses.administration import store
from actors.comparator.messages import ReadIndexes
from actors.runtime.ask import ask, log_fault
from actors.runtime.settings import passphrase
from actors.runtime.types import JsonObject
from actors.store.messages import ReadStatus
from actors.store.spare_memories import SNAPSHOT
from events.recovery.backup import back_up, copy_unverified
from events.recovery.safety_copy import copy_store
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import Head, LogError
from events.verify.anchors import anchor_problems
from events.verify.examination import Progress, Report
from events.verify.verification import examine, verify

if TYPE_CHECKING:
    from events.storage.chain import StoredLog

P = ParamSpec("P")
T = TypeVar("T")

STATUS = StoreStatus()
"""The parameters of `store_status`, which is no tool and takes none."""


async def store_status(context: Context, _params: StoreStatus = STATUS) -> JsonObject:
    """Return counts, indexes, spaces, the position of the log and measured latencies."""
    await wait_until_replayed(context)
    state = await ask(context.hub.store, ReadStatus())
    if context.caller is not None and context.caller.is_limited:
        return store.status_of(state, context.visible or (), context.hub)
    indexes = await ask(context.hub.comparator, ReadIndexes())
    return await anyio.to_thread.run_sync(store.status, state, indexes, context.hub)  # it reads sizes of backups


async def store_verify(context: Context, params: StoreVerify) -> JsonObject:
    """Check every event of the open log, its chain, its keys, its snapshot, and that it holds what an anchor says."""
    report = await _on_files(context, _examine, _cancellable(reporter(context.progress, "events checked")))
    snapshots = context.hub.snapshots
    problems = await _on_files(context, lambda _log: snapshots.problems() if snapshots else [])
    if (text := params.anchor) is not None:
        problems += await _on_files(context, lambda log: anchor_problems(text, log.keys.chain, log.rows))
    return store.verified(report, problems, params.anchor)


async def store_back_up(context: Context, params: StoreBackUp) -> JsonObject:
    """Copy the store as it stands now; it may be written to meanwhile."""
    target = Path(params.target)
    if not target.is_absolute():
        raise invalid("target", "not an absolute path")
    _check_free(target, context.hub.folder)
    head = await _on_files(context, _copy, target, _cancellable(reporter(context.progress, "events copied")))
    return {"backup": str(target), "events": head.seq, "hash": head.hash.hex()}


async def _on_files(
    context: Context, work: Callable[Concatenate[StoredLog, P], T], *arguments: P.args, **options: P.kwargs
) -> T:
    await wait_until_replayed(context)
    stored = cast("StoredLog", context.hub.log)
    try:
        return await anyio.to_thread.run_sync(lambda: work(stored, *arguments, **options))
    except LogError as error:
        raise log_fault(error) from error


def _cancellable(report: Callable[..., object]) -> Callable[[int, int], None]:
    """Return a progress callback for a worker thread that ends the thread once the request is cancelled."""

    def advance(done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        report(done, total)

    return advance


def _check_free(target: Path, folder: Path) -> None:
    """Refuse the place of a backup if something is there, or if it is inside the store."""
    if target.resolve().is_relative_to(folder.resolve()):
        raise invalid("target", f"it is inside the store's folder {folder}: choose one outside, as {folder}-backup")
    if os.path.exists(target):  # noqa: PTH110 -- Path.exists raises where it can't look
        raise invalid("target", f"{target} exists already")


def _copy(log: StoredLog, target: Path, progress: Progress) -> Head:
    """Copy the log in use; a store of an earlier format, which nothing opened for writing, byte by byte."""
    if isinstance(log, DuckDBLog) and log.read_only is not None and format_of(log.folder) < FORMAT:
        return copy_store(log.folder, target, passphrase(), progress)
    return back_up(log, target, progress)


def _examine(log: StoredLog, progress: Progress) -> Report:
    """Check the log in use; of a read-only one its files, of one on a server a copy."""
    if not isinstance(log, DuckDBLog):
        with TemporaryDirectory(prefix="context-graph-") as folder:
            copy_unverified(log, Path(folder), progress)
            return verify(Path(folder), passphrase(), progress)
    if log.read_only is None:
        return examine(log, progress)
    return verify(log.folder, passphrase(), progress, SNAPSHOT)
