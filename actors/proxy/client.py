"""A blocking client of the hub, for commands and hooks: one request at a time."""

import json
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Self, cast

from actors.proxy.endpoint import CHUNK, PROJECT, LineReader, Report, connect, process_of
from actors.proxy.launcher import ANSWER_TIMEOUT, HubLauncher, describe_silence
from actors.runtime.types import JsonObject

PROTOCOL = "2025-06-18"
CLOSED = "the server closed the connection"
LONGEST_END = 10.0
"""Seconds that a killed hub may take to end."""
POLL = 0.05
"""Seconds between two attempts to connect meanwhile."""
VERSION_ERRORS = {-32601, -32602}
"""Codes of unknown methods and parameters, which a hub of another version may lack."""


class ClientError(Exception):
    """The server answered with an error, whose code and details this has, or doesn't speak JSON-RPC."""

    def __init__(self, message: str, code: int | None = None, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Client:
    """A session on the socket in a store's folder, with one deadline for all its requests.

    `project` is the namespace of requests that name none.
    """

    deadline: float
    """A time of the monotonic clock."""

    def __init__(self, folder: Path, seconds: float, project: str | None = None) -> None:
        """Connect and initialize.

        Raises:
            OSError: As in `connect` and `request`.
            ClientError: The server doesn't answer within `ANSWER_TIMEOUT`, or as in `request`.
        """
        deadline = monotonic() + seconds
        self._folder = folder
        self.deadline = min(deadline, monotonic() + ANSWER_TIMEOUT)
        self._last_id = 0
        self._meta = {PROJECT: project} if project else {}
        self._socket = connect(folder, self._time_left())
        self._reader = LineReader(sys.maxsize)
        self._lines: deque[bytes] = deque()
        """Received, and not read yet."""
        try:
            client = {"name": "context-graph", "version": "client"}
            self.request("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=client)
            self._send({"method": "notifications/initialized"})
            self.deadline = deadline
        except TimeoutError:
            with self:
                if seconds <= ANSWER_TIMEOUT:
                    raise
                raise ClientError(describe_silence(folder, process_of(self._socket))) from None
        except BaseException:
            self.close()
            raise

    def request(self, method: str, on_progress: Report | None = None, /, **params: object) -> JsonObject:
        """Send a request and return its result.

        Raises:
            ClientError: The answer is an error or not JSON-RPC.
            ConnectionResetError: The server closed the connection.
            TimeoutError: No answer before the deadline.
        """
        self._last_id += 1
        given = cast("JsonObject", params.pop("_meta", {}))
        meta = given | self._meta | ({} if on_progress is None else {"progressToken": self._last_id})
        if meta:
            params["_meta"] = meta
        self._send({"id": self._last_id, "method": method, "params": params})
        while True:
            answer = self._receive()
            if on_progress is not None and answer.get("method") == "notifications/progress":
                progress = answer["params"]
                on_progress(progress["progress"], progress.get("total"), progress.get("message", ""))
            if answer.get("id") != self._last_id or "method" in answer:
                continue  # a notification, or a request of the server for something that we don't offer
            if "error" in answer:
                error = answer["error"]
                message = str(error.get("message"))
                if error.get("code") in VERSION_ERRORS:
                    from actors.proxy.own_version import describe_other_version

                    message = "; ".join(filter(None, [message, describe_other_version(self._folder)]))
                raise ClientError(message, error.get("code"), error.get("data"))
            return answer["result"]

    def wait_closed(self) -> None:
        """Wait until the server closes the connection, or the deadline has passed."""
        with suppress(ConnectionResetError, TimeoutError):
            while True:
                self._receive()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _send(self, message: JsonObject) -> None:
        self._socket.settimeout(self._time_left())
        try:
            self._socket.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        except BrokenPipeError:  # which in a command means that its standard output was closed
            raise ConnectionResetError(CLOSED) from None

    def _receive(self) -> JsonObject:
        try:
            message = json.loads(self._read_line())
        except ValueError as error:
            raise ClientError("the server speaks no JSON") from error
        if not isinstance(message, dict):
            raise ClientError("the server speaks no JSON-RPC")
        return message

    def _read_line(self) -> bytes:
        """Return the next line. The deadline is that of the whole line, also of one that arrives byte by byte."""
        while not self._lines:
            self._socket.settimeout(self._time_left())
            data = self._socket.recv(CHUNK)
            if not data:
                raise ConnectionResetError(CLOSED)
            self._lines.extend(self._reader.feed(data))
        return self._lines.popleft()

    def _time_left(self) -> float:
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError("the server took too long")
        return left


def client_of_hub(launcher: HubLauncher, seconds: float, project: str | None = None) -> Client:
    """Return a session with the hub of a folder, which is started if there is none.

    Raises:
        HubError: As of `HubLauncher.step`.
        ClientError, OSError: As of `Client`.
    """
    gives_up_at = monotonic() + LONGEST_END
    while True:
        launcher.wait()
        try:
            return Client(launcher.folder, seconds, project)
        except ConnectionError:  # the socket of a hub that was killed accepts until all of its files are closed
            if monotonic() > gives_up_at:
                raise
        sleep(POLL)
