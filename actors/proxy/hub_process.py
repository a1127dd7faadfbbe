"""The process of a hub: what is wrong with one that doesn't answer, and how one is asked to end."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from actors.proxy.endpoint import HUB_INFO, is_own, process_of, read_hub_info, socket_path
from actors.proxy.launcher import LOCK, LOG, HubError, lock_folder

ANSWER_TIMEOUT = 10.0
"""Seconds after which a hub counts as one that doesn't answer: a handshake takes some milliseconds."""

_POLL = 0.05
"""Seconds between two checks whether a hub has ended."""


def describe_silence(folder: Path, pid: int) -> str:
    """Return why a hub doesn't answer, as far as it can be known, and what to run."""
    from importlib.metadata import version

    own, info = version("context-graph"), read_hub_info(folder)
    other = f" of version {info.version}, not {own}," if info is not None and info.version != own else ""
    if is_stopped(pid):
        return f"process {pid},{other} which serves {folder}, is stopped; let it go on by: kill -CONT {pid}"
    return (
        f"process {pid},{other} which serves {folder}, didn't answer within {ANSWER_TIMEOUT:.0f} s; "
        f"{folder / LOG} may tell why; end it by: kill {pid}"
    )


def is_stopped(pid: int) -> bool:
    """Return whether a signal or a debugger stopped a process; False where the platform doesn't say (no `/proc`)."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in {"T", "t"}
    return False


def stop_hub(folder: Path, seconds: float) -> int | None:
    """Ask the process that serves a store to end, and wait for that; return its id, or None if there is none.

    Raises:
        HubError: It goes on, or runs as another user.
        OSError: The folder can't be read.
    """
    deadline = monotonic() + seconds
    pid = None
    while not _is_free(folder):
        if pid is None and (pid := _connected_process(folder)) is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        if monotonic() > deadline:
            raise HubError(_describe_delay(folder, pid, seconds))
        sleep(_POLL)
    return pid


def _describe_delay(folder: Path, pid: int | None, seconds: float) -> str:
    if pid is None:
        return f"a process that doesn't serve it has {folder} open, or starts or ends: try again when it has ended"
    if is_stopped(pid):
        return describe_silence(folder, pid) + "; then it ends"
    return f"process {pid} hasn't ended after {seconds:.0f} s; it ends when the requests under way are answered"


def _connected_process(folder: Path) -> int | None:
    """Return the process that listens in a folder."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            with socket_path(folder) as path:
                connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        if not is_own(connection):
            raise HubError(f"another user listens in {folder}")
        return process_of(connection)


def _is_free(folder: Path) -> bool:
    """Return whether no process has the store open. A hub has the lock; a server without a hub has the log open."""
    from events.storage.database import exclusive
    from events.storage.log import LogInUseError

    if (folder / LOCK).exists():
        lock = lock_folder(folder)
        if lock is None:
            return False
        os.close(lock)
    if (folder / HUB_INFO).exists() and _connected_process(folder) is not None:
        return False
    try:
        with exclusive(folder):
            return True
    except LogInUseError:
        return False
