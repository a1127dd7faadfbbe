"""The way to a store that another process serves: JSON-RPC lines over the unix socket in its folder.

DuckDB lets one process open a store, so whoever else wants something of it asks that process. Nothing here imports the
MCP SDK, which alone would take longer than most answers.
"""

from __future__ import annotations

import json
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

SOCKET = "hub.sock"
"""The socket's name in the folder of the store."""

LONGEST = 103 if sys.platform == "darwin" else 107
"""Bytes of a unix socket's path: `sun_path` has room for one more, its final zero."""

PROTOCOL = "2025-06-18"

CHUNK = 1 << 16


class PipeError(Exception):
    """The other side refused what it was asked, or doesn't speak JSON-RPC."""


@contextmanager
def reachable(folder: Path) -> Iterator[Path]:
    """Yield a path to the folder's socket that is short enough to bind or connect to; valid only inside.

    Where the folder's own path is too long, it leads through a link in the directory for temporary files.

    Raises:
        OSError: the link can't be made.
    """
    path = folder.absolute() / SOCKET
    if len(bytes(path)) <= LONGEST:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="cg-") as between:
        link = Path(between) / "d"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield link / SOCKET


class Pipe:
    """A session with the process that serves a store: one question after the other, until a moment in time."""

    def __init__(self, folder: Path, seconds: float) -> None:
        """Connect and shake hands; whatever is asked must be answered within `seconds` from now.

        Raises:
            OSError: nobody serves the store (`FileNotFoundError`, `ConnectionRefusedError`), or as in `request`.
            PipeError: whoever answers speaks something else.
        """
        self._until = monotonic() + seconds
        self._rest = b""
        self._asked = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(self._left())
            with reachable(folder) as path:
                self._socket.connect(str(path))
            client = {"name": "context-graph", "version": "pipe"}
            self.request("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
            self._send({"method": "notifications/initialized"})
        except BaseException:
            self._socket.close()
            raise

    def request(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Send a request and return its result.

        Raises:
            PipeError: the answer is an error.
            ConnectionResetError, BrokenPipeError: the server went away.
            TimeoutError: no answer in time.
        """
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while True:
            answer = self._receive()
            if answer.get("id") != self._asked or "method" in answer:
                continue  # a notification, or the server asks for something that we don't offer
            if "error" in answer:
                raise PipeError(str(answer["error"].get("message")))
            return answer["result"]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured answer; errors as in `request`, a tool's refusal a `PipeError`."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        answer = result.get("structuredContent", {})
        if result.get("isError"):
            raise PipeError(str(answer.get("error", {}).get("message")))
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._socket.settimeout(self._left())
        self._socket.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _receive(self) -> dict[str, Any]:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            self._socket.settimeout(self._left())
            chunk = self._socket.recv(CHUNK)
            if not chunk:
                raise ConnectionResetError("the server hung up")
            parts.append(chunk)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        try:
            message = json.loads(line)
        except ValueError as error:
            raise PipeError("the server speaks no JSON") from error
        if not isinstance(message, dict):
            raise PipeError("the server speaks no JSON-RPC")
        return message

    def _left(self) -> float:
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError("the server took too long")
        return left
