"""Starts and stops hubs, and tells what is wrong with one that doesn't answer.

The process that gets the lock starts the hub, which inherits the lock: that is held exactly while it lives.

No file holds a process id that could be stale, and no process is ever killed.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

from actors.proxy.endpoint import HUB_INFO, NOTICE, connect, process_of, read_hub_info
from events.wording import no_store_folder, reason

if sys.platform != "win32":
    import fcntl

LOCK = "hub.lock"
LOG = "hub.log"
"""Name of the file that receives a hub's standard error."""
MAX_LOG = 1 << 20
"""Bytes of the log before it is truncated."""
MAX_ENDED = 3
"""Hubs that ended before a connection, killed by a signal or for want of clients, before the launcher gives up."""
START_TIMEOUT = 60.0
"""Seconds that a hub of another process may take to listen, or to end."""
ANSWER_TIMEOUT = 10.0
"""Seconds after which a hub counts as one that doesn't answer: a handshake takes some milliseconds."""
_POLL = 0.05
"""Seconds between two checks whether a hub listens, or has ended."""


class HubError(Exception):
    """There is no hub, and none can be started; the message gives the reason in a sentence."""


def lock_folder(folder: Path) -> int | None:
    """Lock a folder for a hub.

    Returns:
        The descriptor that holds the lock; None while another process holds it.

    Raises:
        HubError: The folder can't be created, or others may write in it: a link of theirs could lead to any file.
        OSError: It can't be written to.
    """
    from events.storage.durable import check_private
    from events.storage.log import LogError

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HubError(no_store_folder(folder, error)) from error
    try:
        check_private(folder)
    except LogError as error:
        raise HubError(str(error)) from error
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return descriptor


def is_locked(folder: Path) -> bool:
    """Return whether a hub has the lock of a folder, also one that doesn't listen yet; changes no file."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def open_log(folder: Path) -> int:
    """Open the hub's log for appending, and truncate it if necessary; return its descriptor."""
    descriptor = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    truncate_log(descriptor)
    return descriptor


def truncate_log(descriptor: int) -> None:
    """Empty the log if it is longer than `MAX_LOG`."""
    if os.fstat(descriptor).st_size > MAX_LOG:
        os.ftruncate(descriptor, 0)


class _Detached(subprocess.Popen[bytes]):
    """A process that is to outlive this one, which `Popen` takes for a leak where it still runs."""

    def __del__(self) -> None:
        """Let a later process collect its exit status, without the warning."""
        super().__del__(_warn=lambda *_told, **_more: None)  # pyright: ignore[reportCallIssue] -- not in typeshed


class HubLauncher:
    """Connects to the hub of a folder, and starts one if there is none and no other process is starting one."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self.folder = folder.absolute()
        self._arguments = arguments
        self._hub: _Detached | None = None
        self._starting = False
        self._ended = 0
        self._log_offset = 0
        self._deadline: float | None = None

    def step(self) -> socket.socket | None:
        """Return a non-blocking connection; None if there is no hub yet, and the caller should call again.

        Raises:
            HubError: The hub started here ended at once, another process's hub never listened, or another user's does.
        """
        self._deadline = self._deadline or monotonic() + START_TIMEOUT
        try:
            connection = self._connect()
            if connection is None:
                self._start()
        except NotADirectoryError as error:
            raise HubError(no_store_folder(self.folder, error)) from error
        except OSError as error:
            raise HubError(f"no hub can be started in {self.folder}: {reason(error)}") from error
        if connection is not None:
            self._starting, self._ended, self._deadline = False, 0, None
        elif monotonic() > self._deadline:
            raise HubError(
                f"the hub that another process starts or ends in {self.folder} took more than {START_TIMEOUT:.0f} s"
            )
        return connection

    def wait(self) -> None:
        """Wait until a hub listens; errors as of `step`."""
        while (connection := self.step()) is None:
            self.reap()
            sleep(_POLL)
        connection.close()

    def reap(self) -> None:
        """Collect the exit status of the hub started here, if it ended."""
        if self._hub is not None:
            self._hub.poll()

    def _connect(self) -> socket.socket | None:
        with suppress(FileNotFoundError, ConnectionRefusedError, BlockingIOError):  # last: its backlog is full
            return connect(self.folder, 0)
        return None

    def _start(self) -> None:
        """Start a hub, unless one is starting or another process has the lock."""
        if self._starting and self._hub is not None:
            status = self._hub.poll()
            if status is None:
                return
            if status > 0 or self._ended == MAX_ENDED:
                raise HubError(self._failure(status))
            # Ended by a signal, or by itself before a busy machine let this process connect: neither says anything
            # about the next attempt.
            self._ended += 1
        lock = lock_folder(self.folder)
        if lock is None:
            return
        try:
            log = open_log(self.folder)
            try:
                self._log_offset = os.fstat(log).st_size
                self._hub = _Detached(
                    [
                        *(sys.executable, "-P", "-m", "actors", "hub"),
                        *("--data", str(self.folder), "--lock", str(lock)),
                        *self._arguments,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env=_environment(),
                    pass_fds=(lock,),
                    start_new_session=True,
                )
            finally:
                os.close(log)
        finally:
            os.close(lock)
        self._starting = True

    def _failure(self, status: int) -> str:
        with (self.folder / LOG).open("rb") as log:
            log.seek(self._log_offset)
            lines = log.read().decode(errors="replace").split("\n")
        reasons = [line.removeprefix(NOTICE) for line in lines if line.startswith(NOTICE)]
        if status == 1 and reasons:
            return reasons[-1]
        return f"the hub ended with status {status} before it listened; {self.folder / LOG} may tell why"


def _environment() -> dict[str, str]:
    """Return the variables of this process for a hub, which has another working folder."""
    variables = dict(os.environ)
    if file := variables.get("CONTEXT_GRAPH_PASSPHRASE_FILE"):
        variables["CONTEXT_GRAPH_PASSPHRASE_FILE"] = str(Path(file).absolute())
    return variables


def describe_silence(folder: Path, pid: int) -> str:
    """Return why a hub doesn't answer, as far as it can be known, and what to run."""
    from actors.proxy.own_version import own_version

    own, info = own_version(), read_hub_info(folder)
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
        HubError: It goes on.
        OSError: It runs as another user, or the folder can't be read.
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
    with suppress(FileNotFoundError, ConnectionRefusedError), connect(folder) as connection:
        return process_of(connection)
    return None


def _is_free(folder: Path) -> bool:
    """Return whether no process has the store open. A hub has the lock; a server without a hub has the log open."""
    from events.storage.database import exclusive
    from events.storage.log import LogInUseError

    if is_locked(folder):
        return False
    if (folder / HUB_INFO).exists() and _connected_process(folder) is not None:
        return False
    try:
        with exclusive(folder):
            return True
    except LogInUseError:
        return False
