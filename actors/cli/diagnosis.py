"""The checks of `doctor`: installation, store, hub, clients. Each says what it found, and what to do about it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from time import monotonic

from actors.cli.checks import Check, Verdict, failed, passed, warned
from actors.cli.client_checks import check_clients
from actors.cli.store_access import CommandError, NoStoreError, StoreLocation, served_store
from actors.proxy.client import ClientError
from actors.proxy.endpoint import MAX_SOCKET_PATH, SOCKET, read_hub_info
from actors.proxy.launcher import LOG
from actors.proxy.own_version import own_version
from actors.runtime.faults import StorageFault
from actors.runtime.settings import ModelProfile, passphrase
from actors.runtime.types import JsonObject
from events.spaces import E1
from events.storage.durable import check_private
from events.storage.log import Log, LogAwayError, LogError, LogInUseError, PassphraseError
from events.vocabulary import SpacesDeclared
from events.wording import counted

MIN_FREE = 1 << 30
"""Bytes on the disk below which `doctor` warns: a snapshot of 100,000 memories takes .7 GB."""
HUB_TIMEOUT = 30.0
"""Seconds that a hub may take to answer, models included."""
LAST_ERRORS = 5
"""Lines of the hub's log that are shown."""

_UNLOCK = (
    "give the store's passphrase by CONTEXT_GRAPH_PASSPHRASE or CONTEXT_GRAPH_PASSPHRASE_FILE; unset both without one"
)
_SERVER = "start the server of the log or restore its latest copy, or mend the address or the password"
_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:==\s*([\w.]+))?")
_LOGGED = re.compile(r"context-graph: (?!DEBUG |INFO )")


def diagnose(folder: Path) -> Iterator[Check]:
    """Yield every check of this installation and the store in a folder.

    The log is opened if no hub has it open; a store of an earlier format is only read.
    """
    yield passed("python", f"{platform.python_version()} at {sys.executable} on {platform.platform()}")
    yield _packages()
    yield _weights()
    place = [*_folder(folder)]
    yield from place
    if all(check.verdict != Verdict.FAILED for check in place):
        yield from _store(folder)
        yield _errors(folder)
    yield from check_clients()


def installed_versions() -> dict[str, str | None]:
    """Return the versions of this package and what it requires; None for what is missing."""
    return {"context-graph": version("context-graph")} | {name: found for name, _, found in _requirements()}


def _requirements() -> Iterator[tuple[str, str, str | None]]:
    """Yield name, pinned version or nothing, and installed version or None of each required package."""
    for line in requires("context-graph") or ():
        match = _REQUIREMENT.match(line)
        if match and "extra ==" not in line:
            try:
                found = version(match[1])
            except PackageNotFoundError:
                found = None
            yield match[1], match[2] or "", found


def _packages() -> Check:
    wrong = [
        f"{name} {found or 'is missing'}" + (f" instead of {pinned}" if pinned and found else "")
        for name, pinned, found in _requirements()
        if found is None or (pinned and found.partition("+")[0] != pinned)
    ]
    if wrong:
        return failed("packages", ", ".join(wrong), "install context-graph again, in an environment of its own")
    return passed("packages", f"context-graph {version('context-graph')} and all that it requires")


def _weights() -> Check:
    from actors.embedder import weights
    from actors.embedder.models.backbone import MODEL_SHA256, TOKENIZER_SHA256, package_folder

    try:
        model = package_folder()
        weights.read_verified(model / "model.safetensors", MODEL_SHA256)
        weights.read_verified(model / "tokenizer.json", TOKENIZER_SHA256)
        own = sorted(weights.FOLDER.glob("*.safetensors"))
        for file in own:
            weights.read_verified(file, weights.recorded_sha256(file.name))
    except weights.WeightsError as error:
        return failed("weights", str(error), "install context-graph again")
    return passed("weights", f"the model and {len(own)} heads have the hashes that they were published with")


def _folder(folder: Path) -> Iterator[Check]:
    if not os.path.lexists(folder):
        above = next(one for one in folder.absolute().parents if os.path.lexists(one))
        if not _may_write(above):
            problem = f"{folder} can't be made: {above} is no folder that this user can write to"
            yield failed("folder", problem, "choose another folder by --data or CONTEXT_GRAPH_DATA")
            return
        yield warned("folder", f"{folder} does not exist", "the first server or `context-graph store` creates it")
        return
    if not _may_write(folder):
        yield failed("folder", f"{folder} is no folder that this user can write to", "give its owner all rights to it")
        return
    barred = [file.name for file in folder.iterdir() if file.is_file() and not os.access(file, os.R_OK | os.W_OK)]
    if barred:
        problem = f"this user can't read and write {', '.join(sorted(barred)[:3])} in {folder}"
        yield failed("folder", problem, "give the user who runs this all rights to the files: chown -R, chmod -R u+rw")
        return
    open_files = [file.name for file in folder.iterdir() if stat.S_IMODE(file.lstat().st_mode) & 0o077]
    foreign = stat.S_IMODE(folder.stat().st_mode) & 0o077
    if os.name == "posix" and foreign and open_files:
        yield warned(
            "folder", f"other users may read {', '.join(sorted(open_files)[:3])} in {folder}", f"chmod -R go= {folder}"
        )
    else:
        yield passed("folder", str(folder))
    free = shutil.disk_usage(folder).free
    room = f"{free / 1e9:.1f} GB free"
    yield passed("disk", room) if free >= MIN_FREE else warned("disk", room, "free some room; a full disk stops stores")
    length = len(bytes(folder.absolute() / SOCKET))
    if length > MAX_SOCKET_PATH:
        yield warned(
            "socket",
            f"the path has {length} bytes, the system allows {MAX_SOCKET_PATH}; a link in the temporary folder is used",
            "choose a shorter --data",
        )
    else:
        yield passed("socket", f"{length} of {MAX_SOCKET_PATH} bytes")


def _may_write(folder: Path) -> bool:
    """Return whether it is a folder that this user can read and write."""
    # `Path` raises `PermissionError` below a folder that may not be entered, until Python 3.14.
    return os.path.isdir(folder) and os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def _store(folder: Path) -> Iterator[Check]:
    """Check the hub, and the log through it, or by opening the log if there is no hub."""
    location = StoreLocation(folder, deadline=monotonic() + HUB_TIMEOUT)
    try:
        with served_store(location) as store:
            if store is None:
                yield passed("hub", "none runs; the next client starts one")
                yield from _log(folder)
                return
            status = store.call("store/status")
            yield _hub(folder)
            log = status["log"]
            if why := log.get("lag", {}).get("reason"):
                yield failed("log", f"{log['server']}: {why}", f"{_SERVER}; until then the hub only answers searches")
            else:
                yield _opened(log["position"], "open in the hub", status["read_only"])
            yield _models(status)
    except NoStoreError as error:
        yield warned("log", str(error), "nothing, if this is the right folder")
    except LogError as error:
        yield failed("log", str(error), "name the log of this folder, or none")
    except CommandError as error:  # its hub is of another version
        yield warned("models", str(error), "context-graph stop, and then this command again")
    except (ClientError, OSError) as error:
        yield failed("hub", f"it does not answer: {error}", f"see {folder / 'hub.log'}; end the process and try again")


def _hub(folder: Path) -> Check:
    info, own = read_hub_info(folder), own_version()
    if info is None:
        return warned("hub", "it runs, but its hub.json is missing", "end its clients; the next one starts another hub")
    if info.version != own:
        return warned(
            "hub",
            f"process {info.pid} is of version {info.version}, not {own}",
            "context-graph stop: the next request starts one of this version",
        )
    http = f"HTTP at {info.http}" if info.http else "no HTTP; `context-graph ui` starts it"
    return passed("hub", f"process {info.pid} of version {info.version} answers; {http}")


def _models(status: JsonObject) -> Check:
    """Return how the models run, and whether a chosen one can tell what is relevant."""
    runtime = status["runtime"]
    profile = f"profile {status['profile']}" if status["profile"] else "no profile yet"
    precision = runtime["precision"] or "a precision that the first use chooses"
    run = f"{profile}, run by {runtime['name']} {runtime['version']} in {precision}, chosen by {runtime['chosen_by']}"
    if status["profile"] in {None, ModelProfile.FULL} or E1 in status["calibration"]:
        return passed("models", run)
    return warned(
        "models",
        f"{run}; it is not calibrated, so searches can't say how relevant results are, and hooks recall nothing",
        "once the store holds 50 memories: context-graph calibrate",
    )


def _log(folder: Path) -> Iterator[Check]:
    """Check a log that no hub has open, and whether the models of this version can go on with it."""
    log = _opened_log(folder)
    if isinstance(log, Check):
        yield log
        return
    with closing(log):
        yield _opened(log.head.seq, "the last as acknowledged", log.read_only)
        yield from _other_models(log)


def _opened_log(folder: Path) -> Log | Check:
    """Open the log, which compares its last and its last acknowledged event with the head file."""
    from actors.store.spare_memories import SNAPSHOT
    from events.postgres.address import log_address
    from events.postgres.log import PostgresLog
    from events.storage.duckdb_log import DuckDBLog
    from events.storage.format import FORMAT, format_of

    try:
        check_private(folder)
    except LogError as error:
        return failed("log", str(error), "with other rights it opens; `context-graph verify` checks it as it is")
    try:
        address = log_address(folder)
        if address is None and (found := format_of(folder)) < FORMAT:
            return _earlier(folder, found)
        return (
            PostgresLog(address, folder, passphrase()) if address else DuckDBLog(folder, passphrase(), spare=SNAPSHOT)
        )
    except LogInUseError:
        return warned("log", "another process has it open and does not answer", "wait for it to end, or end it")
    except PassphraseError as error:
        return failed("log", str(error), _UNLOCK)
    except LogAwayError as error:
        return failed("log", str(error), _SERVER)
    except (LogError, OSError) as error:
        return failed("log", str(error), "`context-graph verify` tells what is lost; `restore` puts a backup back")


def _other_models(log: Log) -> Iterator[Check]:
    """Yield a failed check if the models of the embedded profile filled the spaces differently."""
    from actors.embedder.profiles.embedded import space_models
    from actors.store.queries import same_models

    declared = [each.event for each in log.get(log.seqs_of(["spaces_declared"], 1, log.head.seq)[-1:])]
    for event in declared:
        if isinstance(event, SpacesDeclared) and event.profile == ModelProfile.EMBEDDED:
            try:
                same_models(event, SpacesDeclared(profile=event.profile, spaces=space_models()))
            except StorageFault as fault:
                found, _, advice = str(fault).partition(". ")
                yield failed("models", found, advice)


def _opened(events: int, state: str, read_only: str | None) -> Check:
    """Tell how far an open log goes, or why nothing is written to it."""
    if read_only is not None:
        return failed("log", read_only, "`context-graph verify` tells what is lost")
    return passed("log", f"{counted(events, 'event')}, {state}; `context-graph verify` checks all")


def _earlier(folder: Path, found: int) -> Check:
    from actors.store.spare_memories import SNAPSHOT
    from events.verify.verification import verify

    report = verify(folder, passphrase(), spare=SNAPSHOT)
    if report.problems:
        first = report.problems[0]
        return failed("log", f"{first.file}: {first.what}", "`context-graph verify` tells what is lost")
    return warned(
        "log", f"{counted(report.head.seq, 'event')}, all sound, in format {found}", "run context-graph upgrade"
    )


def _errors(folder: Path) -> Check:
    lines = logged_errors(folder)
    if not lines:
        return passed("errors", "none in hub.log")
    shown = "; ".join(line.removeprefix("context-graph: ") for line in lines[-LAST_ERRORS:])
    return warned("errors", f"{len(lines)} in hub.log, the last: {shown}", f"see {folder / 'hub.log'}")


def logged_errors(folder: Path) -> list[str]:
    """Return the lines of errors and warnings in the hub's log, without what follows them."""
    try:
        text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if _LOGGED.match(line)]
