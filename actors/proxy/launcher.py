"""Who starts the hub: whoever gets the lock. The hub inherits it, so it is held exactly as long as the hub lives.

No file holds a process id that could be stale, and nobody is ever killed (stack C2).
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from actors.proxy.endpoint import reachable

if sys.platform != "win32":
    import fcntl

LOCK = "hub.lock"
"""The name of the file that a hub has locked."""

LOG = "hub.log"
"""The name of the file that a hub's standard error goes to."""

MOST_LOG = 1 << 20
"""Bytes of it that are kept before it begins anew."""

KILLED = 3
"""Hubs that may be killed while they start before no other is started."""

STARTING = 60.0
"""Seconds that somebody else's hub may take to listen, or to end."""

TOLD_BY = "context-graph: "
"""How a line begins in which a hub tells why it can't start."""


class HubError(Exception):
    """There is no hub, and none can be started; the message says why in a sentence."""


def locked(folder: Path) -> int | None:
    """Lock a folder for a hub; return the descriptor that holds the lock, or None while somebody else has it.

    Raises:
        OSError: the folder can't be made or written to.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def log_file(folder: Path) -> int:
    """Open the hub's log at its end, and begin it anew if it has grown too long; return its descriptor."""
    descriptor = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    trim(descriptor)
    return descriptor


def trim(descriptor: int) -> None:
    """Begin a log anew that has grown too long."""
    if os.fstat(descriptor).st_size > MOST_LOG:
        os.ftruncate(descriptor, 0)


class HubLauncher:
    """Looks for the hub of a folder, and starts it if there is none and nobody else is about to.

    Args:
        folder: Of the store.
        arguments: The hub's options, as the command line takes them.
    """

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self.folder = folder.absolute()
        self._arguments = arguments
        self._hub: subprocess.Popen[bytes] | None = None
        self._starting = False
        self._killed = 0
        self._log_from = 0
        self._until: float | None = None

    def step(self) -> socket.socket | None:
        """Return a connection that doesn't block; None if there is no hub yet and this is to be called again.

        Raises:
            HubError: the hub that was started here ended at once, or somebody else's never listened.
        """
        self._until = self._until or monotonic() + STARTING
        try:
            connection = self._connected() or self._go_on()
        except OSError as error:
            raise HubError(f"no hub can be started in {self.folder}: {error}") from error
        if connection is not None:
            self._starting, self._killed, self._until = False, 0, None
        elif monotonic() > self._until:
            raise HubError(f"whoever is starting or ending a hub in {self.folder} took more than {STARTING:.0f} s")
        return connection

    def reap(self) -> None:
        """Let the hub that was started here be gone, if it is."""
        if self._hub is not None:
            self._hub.poll()

    def _connected(self) -> socket.socket | None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(0)
        try:
            with reachable(self.folder) as path:
                connection.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):  # the last: too many wait in line
            connection.close()
            return None
        except BaseException:
            connection.close()
            raise
        return connection

    def _go_on(self) -> None:
        """Start the hub if this is the one to do it."""
        if self._starting and self._hub is not None:
            status = self._hub.poll()
            if status is None:
                return
            if status >= 0 or self._killed == KILLED:
                raise HubError(self._last_words(status))
            self._killed += 1  # by somebody's signal, which says nothing against the next one
        lock = locked(self.folder)
        if lock is None:
            return
        try:
            log = log_file(self.folder)
            try:
                self._log_from = os.fstat(log).st_size
                self._hub = subprocess.Popen(  # noqa: S603 -- ourselves
                    [
                        *(sys.executable, "-P", "-m", "actors", "hub"),
                        *("--data", str(self.folder), "--lock", str(lock)),
                        *self._arguments,
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    pass_fds=(lock,),
                    start_new_session=True,
                )
            finally:
                os.close(log)
        finally:
            os.close(lock)
        self._starting = True

    def _last_words(self, status: int) -> str:
        """Return what the hub told before it ended."""
        with (self.folder / LOG).open("rb") as log:
            log.seek(self._log_from)
            told = log.read().decode(errors="replace").split("\n")
        reasons = [line.removeprefix(TOLD_BY) for line in told if line.startswith(TOLD_BY)]
        if status == 1 and reasons:
            return reasons[-1]
        return f"the hub ended with status {status} before it listened; {self.folder / LOG} may tell why"
