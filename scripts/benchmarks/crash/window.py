"""A window as an agent has it open: a `serve` process of its own, and a user who asks again when it dies."""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import msgspec

COMMAND = Path(sys.executable).parent / "context-graph"
PROTOCOL = "2025-06-18"
KEY = "context-graph/request"
"""The field of a request's `_meta` by which a server knows a request that it was sent before."""
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "CONTEXT_GRAPH_LIMITS": "consolidate_memories=1000",
    "CONTEXT_GRAPH_SLEEP": "false",  # what sleeps by itself can't be told from what was asked for twice
}
PATIENCE = 120.0
"""Seconds until a request that isn't answered counts as lost."""
PAUSE = 0.1
"""Seconds until a window that wouldn't open is opened again."""
CHUNK = 1 << 16


class Gone(Exception):
    """The process behind a window has ended."""


class Reply(msgspec.Struct, frozen=True):
    """What a request came to."""

    answer: dict[str, Any]
    """The structured answer, or that of an error under `error`."""
    seconds: float
    """From the first time that it was sent."""
    sent: int
    """How often the window's user sent it; what the pipe sends again by itself isn't counted."""

    @property
    def code(self) -> int | None:
        """The code of the error, if it is one."""
        return self.answer.get("error", {}).get("code")


class Window:
    """One request after the other; not for several threads.

    Args:
        folder: Of the store.
        errors: Where the standard error of the processes is kept.
    """

    def __init__(self, folder: Path, errors: Path) -> None:
        self._arguments = [COMMAND, "serve", "--data", folder]
        self._errors = errors
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._asked = 0
        self.refused = 0
        """How often a process ended before it had shaken hands."""

    @property
    def pid(self) -> int | None:
        """The process of the window, while there is one."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def ask(
        self,
        method: str,
        params: dict[str, Any],
        *,
        heard: Callable[[dict[str, Any]], object] | None = None,
    ) -> Reply:
        """Send a request until it is answered, in a new process whenever the one before is gone.

        Args:
            method: Of JSON-RPC.
            params: Its parameters, the key in their `_meta` included.
            heard: Told of every notification meanwhile.

        Raises:
            TimeoutError: there is no answer.
        """
        start, sent = monotonic(), 0
        until = start + PATIENCE
        while True:
            try:
                if self.pid is None:
                    self._open(until)
                sent += 1
                answer = self._request(method, params, until, heard)
                return Reply(answer, monotonic() - start, sent)
            except Gone:
                self._let_go()

    def call(self, tool: str, key: str | None = None, /, **arguments: Any) -> Reply:
        """Call a tool as `ask` does, with a key by which it is known when it is sent again."""
        meta = {"_meta": {KEY: key}} if key else {}
        reply = self.ask("tools/call", {"name": tool, "arguments": arguments, **meta})
        return msgspec.structs.replace(reply, answer=reply.answer.get("structuredContent", reply.answer))

    def open(self) -> None:
        """Start the process and shake hands, if there is none."""
        if self.pid is None:
            self._open(monotonic() + PATIENCE)

    def close(self) -> None:
        """Close its input, and wait for it to end by itself."""
        if self._process and self._process.stdin:
            try:
                self._process.stdin.close()
                self._process.wait(PATIENCE)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self._process.kill()
        self._let_go()

    def _open(self, until: float) -> None:
        while True:
            self._rest = b""
            with self._errors.open("ab") as errors:
                self._process = subprocess.Popen(
                    self._arguments,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=os.environ | SETTINGS,
                )
            hello = {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "crash", "version": "1"},
            }
            try:
                self._request("initialize", hello, until)
                self._send({"method": "notifications/initialized"})
            except Gone:
                self.refused += 1
                self._let_go()
                sleep(PAUSE)
            else:
                return

    def _request(
        self,
        method: str,
        params: dict[str, Any],
        until: float,
        heard: Callable[[dict[str, Any]], object] | None = None,
    ) -> dict[str, Any]:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        while True:
            message = json.loads(self._line(until))
            if "method" in message:
                if heard:
                    heard(message)
            elif message.get("id") == self._asked:
                return message.get("result") or {"error": message["error"]}

    def _send(self, message: dict[str, Any]) -> None:
        if not self._process or not self._process.stdin:
            raise Gone
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Gone from None

    def _line(self, until: float) -> bytes:
        if not self._process or not self._process.stdout:
            raise Gone
        output = self._process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, until - monotonic())):
                    raise TimeoutError("a request stays without an answer")
                chunk = os.read(output, CHUNK)
                if not chunk:
                    raise Gone
                self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _let_go(self) -> None:
        """Forget a process that has ended, or is about to."""
        if not self._process:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:  # what was still to be sent has nobody to read it
                    continue
        self._process = None
