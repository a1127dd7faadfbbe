"""An MCP client over `context-graph serve`: it starts the process again and repeats the request when it dies."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic, sleep
from typing import IO, Any

import msgspec

from actors.proxy.endpoint import REQUEST_KEY
from benchmarks.processes import COMMAND, PATIENCE, stop_hub

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "CONTEXT_GRAPH_LIMITS": "consolidate_memories=1000",
    "CONTEXT_GRAPH_SLEEP": "false",  # a scheduled run can't be told apart from a request that ran twice
}
UNCERTAIN = -32004
"""Error code of a request whose outcome is unknown: it is sent again with the same key."""
PAUSE = 0.1
"""Seconds before a process that didn't start is started again."""

Message = dict[str, Any]


class ServerGoneError(Exception):
    """The `serve` process has ended."""


class Reply(msgspec.Struct, frozen=True):
    """The answer to a request."""

    answer: Message
    """The structured answer, or an error under `error`."""
    seconds: float
    """Since the request was sent for the first time."""
    sent: int
    """How often this client sent it; resending inside `serve` is not counted."""

    @property
    def code(self) -> int | None:
        """The error code, if it is an error."""
        return self.answer.get("error", {}).get("code")


class ServeClient:
    """A client that sends one request after the other; not thread-safe.

    The file `errors` receives the standard error of the processes.
    """

    def __init__(self, folder: Path, errors: Path) -> None:
        self._arguments = [COMMAND, "serve", "--data", folder, "--namespace", "default"]
        self._errors = errors
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: Queue[bytes | None] = Queue()
        """What the process has written; None at its end."""
        self._last_id = 0
        self.on_notification: Callable[[Message], object] = bool
        """Called with each notification that arrives while an answer is awaited."""

    @property
    def pid(self) -> int | None:
        """The id of the `serve` process, while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def ask(self, method: str, params: Message) -> Reply:
        """Send a request until it is answered, in a new process whenever the old one has ended.

        Raises:
            TimeoutError: there is no answer.
        """
        start, sent = monotonic(), 0
        until = start + PATIENCE
        while True:
            try:
                self.open(until)
                sent += 1
                return Reply(self._request(method, params, until), monotonic() - start, sent)
            except ServerGoneError:
                self._discard()

    def call(self, tool: str, key: str | None = None, /, **arguments: Any) -> Reply:
        """Call a tool; a repeated request is recognised by its idempotency key."""
        meta = {"_meta": {REQUEST_KEY: key}} if key else {}
        reply = self.ask("tools/call", {"name": tool, "arguments": arguments, **meta})
        return msgspec.structs.replace(reply, answer=reply.answer.get("structuredContent", reply.answer))

    def open(self, until: float | None = None) -> None:
        """Start the process and shake hands, unless one runs."""
        until = until or monotonic() + PATIENCE
        while self.pid is None:
            with self._errors.open("ab") as errors:
                self._process = subprocess.Popen(
                    self._arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=os.environ | SETTINGS,
                )
            self._lines = Queue()
            Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
            try:
                self._request("initialize", HELLO, until)
                self._send({"method": "notifications/initialized"})
            except ServerGoneError:
                self._discard()
                sleep(PAUSE)

    def close(self) -> None:
        """Close the process's input and wait until it ends."""
        if self._process and self._process.stdin:
            with suppress(BrokenPipeError, subprocess.TimeoutExpired):
                self._process.stdin.close()
                self._process.wait(PATIENCE)
        self._discard()

    def _request(self, method: str, params: Message, until: float) -> Message:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - monotonic()))
            except Empty:
                raise TimeoutError("a request stays without an answer") from None
            if line is None:
                raise ServerGoneError
            message = json.loads(line)
            if "method" in message:
                self.on_notification(message)
            elif message.get("id") == self._last_id:
                return message.get("result") or {"error": message["error"]}

    def _send(self, message: Message) -> None:
        if not self._process or not self._process.stdin:
            raise ServerGoneError
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ServerGoneError from None

    def _discard(self) -> None:
        """Kill the process and close its input."""
        if self._process:
            self._process.kill()
            self._process.wait()
            if self._process.stdin:
                with suppress(BrokenPipeError):  # unsent data has no reader any more
                    self._process.stdin.close()
            self._process = None


def _read(output: IO[bytes], lines: Queue[bytes | None]) -> None:
    with output:
        for line in output:
            if line.endswith(b"\n"):  # a killed process may have written a part of its last one
                lines.put(line)
    lines.put(None)


@contextmanager
def serve_clients(
    folder: Path, errors: Path, count: int = 1, end: signal.Signals = signal.SIGTERM
) -> Iterator[list[ServeClient]]:
    """Yield `count` clients of a store; afterwards close them, and end the hub that they started with this signal."""
    clients = [ServeClient(folder, errors) for _ in range(count)]
    try:
        yield clients
    finally:
        for client in clients:  # first, or one would start another hub
            client.close()
        stop_hub(folder, end)
