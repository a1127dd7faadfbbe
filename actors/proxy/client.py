"""A session with the process that serves a store, for commands and hooks: one question after the other."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from actors.proxy.endpoint import LONGEST_LINE, reachable
from actors.proxy.framing import LineReader

PROTOCOL = "2025-06-18"

CHUNK = 1 << 16

Report = Callable[[float, float | None, str], object]
"""Told (done, total, what) while something takes long."""


class ClientError(Exception):
    """The other side refused what it was asked, or doesn't speak JSON-RPC."""


class Client:
    """A session over the socket in a store's folder, until a moment in time."""

    def __init__(self, folder: Path, seconds: float) -> None:
        """Connect and shake hands; whatever is asked must be answered within `seconds` from now.

        Raises:
            OSError: nobody serves the store (`FileNotFoundError`, `ConnectionRefusedError`), or as in `request`.
            ClientError: whoever answers speaks something else.
        """
        self._until = monotonic() + seconds
        self._lines = LineReader(LONGEST_LINE)
        self._received: list[bytes] = []
        self._asked = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(self._left())
            with reachable(folder) as path:
                self._socket.connect(str(path))
            client = {"name": "context-graph", "version": "client"}
            self.request("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
            self._send({"method": "notifications/initialized"})
        except BaseException:
            self._socket.close()
            raise

    def request(self, method: str, report: Report | None = None, /, **params: Any) -> dict[str, Any]:
        """Send a request and return its result.

        Args:
            method: Its name.
            report: Told of its progress.
            params: Its parameters.

        Raises:
            ClientError: the answer is an error.
            ConnectionResetError, BrokenPipeError: the server went away.
            TimeoutError: no answer in time.
        """
        self._asked += 1
        if report is not None:
            params = params | {"_meta": {"progressToken": self._asked} | params.get("_meta", {})}
        self._send({"id": self._asked, "method": method, "params": params})
        while True:
            answer = self._receive()
            if report is not None and answer.get("method") == "notifications/progress":
                told = answer["params"]
                report(told["progress"], told.get("total"), told.get("message", ""))
            if answer.get("id") != self._asked or "method" in answer:
                continue  # a notification, or the server asks for something that we don't offer
            if "error" in answer:
                raise ClientError(str(answer["error"].get("message")))
            return answer["result"]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured answer; errors as in `request`, a tool's refusal a `ClientError`."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        answer = result.get("structuredContent", {})
        if result.get("isError"):
            raise ClientError(str(answer.get("error", {}).get("message")))
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
        while not self._received:
            self._socket.settimeout(self._left())
            chunk = self._socket.recv(CHUNK)
            if not chunk:
                raise ConnectionResetError("the server hung up")
            self._received += self._lines.feed(chunk)
        try:
            message = json.loads(self._received.pop(0))
        except ValueError as error:
            raise ClientError("the server speaks no JSON") from error
        if not isinstance(message, dict):
            raise ClientError("the server speaks no JSON-RPC")
        return message

    def _left(self) -> float:
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError("the server took too long")
        return left
