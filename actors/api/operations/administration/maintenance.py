"""Operations on the store as a whole: its state, its soundness, a copy of it, and its HTTP server."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import anyio.from_thread
import anyio.to_thread
import msgspec

from actors.api.answers import pick
from actors.api.context import Context, reporter, wait_until_replayed
from actors.api.operations.administration.history import from_log
from actors.api.params.fields import Reading
from actors.api.params.http import HttpListen, HttpLogin, WebServer
from actors.api.params.parsing import Params, invalid
from actors.comparator.messages import Indexes, ReadIndexes
from actors.embedder.messages import READS_IMAGES
from actors.runtime import metrics
from actors.runtime.ask import ask
from actors.runtime.faults import UnknownOperationFault
from actors.runtime.settings import passphrase
from actors.runtime.types import JsonObject
from actors.store.messages import ReadStatus, Status
from actors.store.spare_memories import SNAPSHOT
from events.recovery.backup import back_up, copy_unverified
from events.recovery.safety_copy import copy_store
from events.spaces import E4, E8, E10
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import Head, Lag
from events.verify.anchors import ANCHOR, anchor_problems, parse_anchors
from events.verify.examination import Progress
from events.verify.report import Problem, Report
from events.verify.verification import examine, verify
from events.vocabulary.values import SpaceModel

if TYPE_CHECKING:
    from actors.hub.hub import Hub
    from events.storage.chain import StoredLog


NOTES = {
    E4: "null outside sessions",
    E8: "null without turns beside it, a link, a cause or a shared rare name; without the memory's own text",
    E10: "reads text alone: what it says, and the modality that the memory was given; no image, no sound",
}
"""What a space can't say."""


class StoreStatus(Reading, frozen=True, kw_only=True):
    """Return what the store holds, which models fill the spaces, and how long operations take."""


class StoreVerify(Params, frozen=True, kw_only=True):
    """Verify that no byte of the log has changed."""

    anchor: str | None = None
    """Lines of `context-graph anchor`, whose events must be in the log."""


class StoreBackUp(Params, frozen=True, kw_only=True):
    """Copy the store to a new folder."""

    target: str
    """An absolute path that does not exist yet."""


STATUS = StoreStatus()
"""The parameters of `store_status`, which is no tool and takes none."""


async def store_status(context: Context, _params: StoreStatus = STATUS) -> JsonObject:
    """Return counts, indexes, spaces, the position of the log and measured latencies."""
    state = await ask(context.hub.store, ReadStatus())
    if context.caller is not None and context.caller.is_limited:
        return _status_of(state, context.visible or (), context.hub)
    indexes = await ask(context.hub.comparator, ReadIndexes())
    return await anyio.to_thread.run_sync(_status, state, indexes, context.hub)  # it reads sizes of backups


async def store_verify(context: Context, params: StoreVerify) -> JsonObject:
    """Check every event of the open log, its chain, its keys, its snapshot, and that it holds what an anchor says."""
    log, snapshots = cast("StoredLog", context.hub.log), context.hub.snapshots
    report = await from_log(_examine, log, _cancellable(reporter(context.progress, "events checked")))
    problems = [] if snapshots is None else await from_log(snapshots.problems)
    if params.anchor is not None:
        problems += await from_log(anchor_problems, params.anchor, log.keys.chain, log.rows)
    return verified(report, problems, params.anchor)


async def store_back_up(context: Context, params: StoreBackUp) -> JsonObject:
    """Copy the store as it stands now; it may be written to meanwhile."""
    target = Path(params.target)
    if not target.is_absolute():
        raise invalid("target", "not an absolute path")
    _check_free(target, context.hub.folder)
    await wait_until_replayed(context)
    log = cast("StoredLog", context.hub.log)
    head = await from_log(_copy, log, target, _cancellable(reporter(context.progress, "events copied")))
    return {"backup": str(target), "events": head.seq, "hash": head.hash.hex()}


def _cancellable(report: Callable[..., object]) -> Callable[[int, int], None]:
    """Return a progress callback for a worker thread that ends the thread once the request is cancelled."""

    def advance(done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        report(done, total)

    return advance


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


def describe_lag(behind: Lag) -> JsonObject:
    """Return how far a hub is behind the log that it shares."""
    return {"events": behind.events, "seconds": round(behind.seconds, 1), "reason": behind.reason}


def _status(state: Status, indexes: Indexes, hub: Hub) -> JsonObject:
    """Return the content of the store. Latencies are of this process, or of the last one that measured them."""
    latencies = metrics.load(hub.latency_file) | hub.latencies.summary()
    return {
        "folder": str(hub.folder),
        **_common(state, hub),
        "memories": state.memories,
        "namespaces": state.namespaces,
        "serves": None if hub.namespaces is None else sorted(hub.namespaces),
        "indexes": indexes.counts,
        "graphs": msgspec.to_builtins(indexes.states),
        "memory_mb": indexes.megabytes,
        "backups": hub.backups.state(),
        "log": {"position": state.head.seq, "hash": state.head.hash.hex()}
        | ({"server": hub.shared.name, "lag": describe_lag(hub.shared.lag)} if hub.shared else {}),
        "calibration": {key: "own texts" if own else "shipped" for key, own in indexes.calibrated.items()},
        "latencies_ms": msgspec.to_builtins(dict(sorted(latencies.items()))),
    }


def _space(space: SpaceModel) -> JsonObject:
    silent = space.key in NOTES and READS_IMAGES not in space.model
    note = {"note": NOTES[space.key]} if silent else {}
    return pick(space, "key", "model", "sha256", "dimension") | note


def verified(report: Report, others: Sequence[Problem], anchors: str | None = None) -> JsonObject:
    """Return the result of verifying a log.

    `others` are problems of the snapshot, which only speeds up the start, and of the `anchors` that were compared.
    """
    problems = (*report.problems, *others)
    wrong = {problem.seq for problem in others if problem.file == ANCHOR}
    compared = [] if anchors is None else [one.head.seq for one in parse_anchors(anchors)]
    confirmed = [{"event": seq, "confirmed": not report.problems and seq not in wrong} for seq in compared]
    return {
        **({"anchors": confirmed} if compared else {}),
        "sound": not problems,
        **pick(report, "events", "sealed", "first_bad"),
        "erased": report.shredded,
        "head": {"seq": report.head.seq, "hash": report.head.hash.hex()},
        "acknowledged": report.acknowledged.seq if report.acknowledged else None,
        "problems": [msgspec.structs.asdict(problem) for problem in problems],
    }


def _status_of(state: Status, namespaces: Collection[str], hub: Hub) -> JsonObject:
    """Return what a caller of these namespaces may know of the store: nothing that depends on others."""
    counts = {name: count for name, count in state.namespaces.items() if name in namespaces}
    return {**_common(state, hub), "memories": {"live": sum(counts.values())}, "namespaces": counts}


def _common(state: Status, hub: Hub) -> JsonObject:
    return {
        "read_only": state.read_only,
        "profile": state.declared.profile if state.declared else None,
        "spaces": [_space(space) for space in state.declared.spaces] if state.declared else [],
        "runtime": hub.runtime,
    }


async def http_listen(context: Context, params: HttpListen) -> JsonObject:
    """Start the HTTP server, or say where it listens already."""
    return {"url": await _web(context).listen(params)}


async def http_login(context: Context, _params: HttpLogin) -> JsonObject:
    """Return a link that logs a browser in once."""
    return {"url": await _web(context).login_link()}


def _web(context: Context) -> WebServer:
    if context.process.web is None:
        raise UnknownOperationFault("This process serves no HTTP")
    return context.process.web


def _check_free(target: Path, folder: Path) -> None:
    """Refuse the place of a backup if something is there, or if it is inside the store."""
    if target.resolve().is_relative_to(folder := folder.resolve()):
        raise invalid("target", f"it is inside the store's folder {folder}: choose one outside, as {folder}-backup")
    if os.path.exists(target):  # noqa: PTH110 -- Path.exists raises where it can't look
        raise invalid("target", f"{target} exists already")
