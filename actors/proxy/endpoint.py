"""Where proxies and the hub meet: a socket in the store's folder, beside it a file that describes the hub."""

import os
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from actors.runtime.settings import ModelProfile

SOCKET = "hub.sock"
HUB_INFO = "hub.json"
MAX_SOCKET_PATH = 103 if sys.platform == "darwin" else 107
"""Bytes of a unix socket's path: the size of `sun_path` without its final zero."""
MAX_LINE = 64 << 20
"""Bytes of a line: fits a hundred memories of 65,536 characters, of which JSON may write each in six bytes."""
CHUNK = 1 << 16
"""Bytes of one read or write."""
REQUEST_KEY = "context-graph/request"
"""Field of a request's `_meta` with its idempotency key, a UUID."""
TOOL_SET = "context-graph/tools"
"""Field of the `_meta` of `tools/list` with the `ToolSet` that the client is shown."""
NOTICE = "context-graph: "
"""Prefix of the lines on stderr that are written for people."""
RESENT = "context-graph/resent"
"""The field of a request's `_meta` that is true where the proxy sends it to another hub."""
PROJECT = "context-graph/project"
"""The field of a request's `_meta` with the namespace of its session; null where only the client can know it."""
SERVED = "context-graph/namespaces"
"""The field of a request's `_meta` with the namespaces, of those that the hub serves, that it is limited to."""
Report: TypeAlias = Callable[[float, float | None, str], None]
"""Receives (done, total, what) during a long operation."""


class LineTooLongError(Exception):
    """A line exceeds its maximum length."""


class LineReader:
    """Takes bytes as they arrive and yields complete lines of at most `max_length` bytes, without their newline."""

    def __init__(self, max_length: int) -> None:
        self._max_length = max_length
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines completed by `data` (`LineTooLongError`)."""
        *complete, tail = data.split(b"\n")
        for part in complete:
            self._append(part)
            yield self.rest()
        self._append(tail)

    def rest(self) -> bytes:
        """Return the incomplete last line, and clear the buffer."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line

    def _append(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_length:
            raise LineTooLongError(f"a line is longer than {self._max_length} bytes")
        self._parts.append(part)


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options with which a hub serves its store."""

    embedder: str = ModelProfile.EMBEDDED
    """A `ModelProfile`, or a model's name or absolute path."""
    models: str | None = None
    """An absolute path."""
    limits: tuple[str, ...] = ()
    """Calls per minute, each as `TOOL=CALLS`."""
    priming: bool = False
    sleep: bool = True
    namespaces: tuple[str, ...] = ()
    """The namespaces that it serves; none for all."""

    def models_in_words(self) -> str:
        """Return its models as a message names them."""
        return f"{self.embedder} in {self.models}" if self.models else self.embedder

    def arguments(self) -> list[str]:
        """Return the options as command-line arguments."""
        return [
            f"--embedder={self.embedder}",
            *([f"--models={self.models}"] if self.models else []),
            *(f"--limit={limit}" for limit in self.limits),
            "--priming" if self.priming else "--no-priming",
            "--sleep" if self.sleep else "--no-sleep",
            *([f"--namespaces={','.join(self.namespaces)}"] if self.namespaces else []),
        ]


class HubInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The process that listens on the socket."""

    pid: int
    version: str
    """What `own_version` returns in its process."""
    options: ServeOptions
    http: str | None = None
    """URL of its HTTP server; None without one."""

    def refusal(self, wanted: ServeOptions) -> str | None:
        """Return why it can't stand in for a hub with the wanted options; None if it can."""
        actual = self.options
        if (actual.embedder, actual.models) != (wanted.embedder, wanted.models):
            return (
                f"process {self.pid} serves this store with the models '{actual.models_in_words()}', not "
                f"'{wanted.models_in_words()}'; serve with the same ones, or end its clients first"
            )
        if wanted.namespaces and actual.namespaces != wanted.namespaces:
            return (
                f"process {self.pid} serves {', '.join(actual.namespaces) or 'all namespaces'} of this store, not "
                f"{', '.join(wanted.namespaces)} alone; end it first by: context-graph stop"
            )
        return None

    def write(self, folder: Path) -> None:
        """Write the file beside the socket, readable by its owner only."""
        from events.storage.durable import replace_file

        replace_file(folder / HUB_INFO, msgspec.json.encode(self))


def read_hub_info(folder: Path) -> HubInfo | None:
    """Return the hub's description in a folder; None without a readable one."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / HUB_INFO).read_bytes(), type=HubInfo)
    return None


@contextmanager
def socket_path(folder: Path) -> Iterator[Path]:
    """Yield a path to the folder's socket that is short enough to bind or connect to; valid only inside.

    If the folder's own path is too long, the path leads through a symbolic link in the directory for temporary files.

    Raises:
        OSError: The link can't be created.
    """
    path = folder.absolute() / SOCKET
    if len(bytes(path)) <= MAX_SOCKET_PATH:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="cg-") as temporary:
        link = Path(temporary) / "d"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield link / SOCKET


def connect(folder: Path, seconds: float | None = None) -> socket.socket:
    """Return a connection to the hub of a folder, with a timeout; without one it blocks.

    Raises:
        FileNotFoundError, ConnectionRefusedError: No hub listens, or it is ending.
        PermissionError: Another user does, or this one may not enter the folder; nothing was sent.
    """
    with ExitStack() as unfinished:
        connection = unfinished.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        connection.settimeout(seconds)
        with socket_path(folder) as path:
            try:
                connection.connect(str(path))
            except PermissionError as error:  # names no file
                raise PermissionError(error.errno, error.strerror, str(folder)) from None
        if not is_own(connection):
            raise PermissionError(f"another user listens in {folder}")
        if _is_ending(connection):
            raise ConnectionRefusedError(f"the hub of {folder} is ending")
        unfinished.pop_all()
        return connection


def print_notice(sentence: str) -> None:
    """Print a sentence for a person on stderr, the log of a stdio server."""
    print(f"{NOTICE}{sentence}", file=sys.stderr, flush=True)  # noqa: T201 -- the purpose of this function


_LINUX = struct.Struct("3i")
"""`struct ucred`: pid, uid, gid (unix(7))."""
_DARWIN = struct.Struct("=2Ih16I")
"""`struct xucred`: version, uid, count of groups, groups (sys/ucred.h); padded after the count."""
_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2


def process_of(connection: socket.socket) -> int:
    """Return the id of the connected process (`OSError` if it is closed, or the platform doesn't say)."""
    if sys.platform == "linux":
        return _LINUX.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size))[0]
    if sys.platform == "darwin":
        return connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
    raise OSError(f"{sys.platform} has no peer credentials")


def _is_ending(connection: socket.socket) -> bool:
    """Return whether the peer was killed but its socket still accepts; False where the platform has no `/proc`."""
    with suppress(OSError):
        # A process gives back its memory, its command line in it, before it closes its files.
        return not Path(f"/proc/{process_of(connection)}/cmdline").read_bytes()
    return False


def is_own(connection: socket.socket) -> bool:
    """Return whether the peer runs as this process's user; False for any other, root included, and when unknown."""
    with suppress(OSError):
        if sys.platform == "linux":
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _LINUX.size)
            return _LINUX.unpack(credentials)[1] == os.geteuid()
        if sys.platform == "darwin":
            credentials = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _DARWIN.size + 2)
            return struct.unpack_from("=2I", credentials)[1] == os.geteuid()
    return False
