"""The real server, as a client starts it: a process of its own, over stdio, on a folder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

COMMAND = str(Path(sys.executable).parent / "context-graph")

PATIENCE = 120.0
"""Seconds that an answer may take on a busy machine before a test gives up on it."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


class Server:
    """A server process, spoken to in plain JSON-RPC lines, so that broken ones can be sent too."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--standalone", "--data", str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        self._id = 0

    def send(self, line: str) -> None:
        """Write one line, whatever it is."""
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Read the next message that is no notification."""
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if "method" not in message:
                return message
        raise EOFError("the server closed its output")

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return the whole answer to it."""
        self._id += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}))
        answer = self.receive()
        assert answer["id"] == self._id
        return answer

    def initialize(self) -> dict[str, Any]:
        """Shake hands."""
        answer = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "acceptance", "version": "1"},
        )
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer["result"]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result."""
        return self.request("tools/call", name=tool, arguments=arguments)["result"]

    def close(self) -> None:
        """Close its input, and wait for it to end by itself."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        assert self.process.wait(timeout=PATIENCE) == 0
        self.process.stdout.close()

    def kill(self) -> None:
        """Kill it with SIGKILL, and let go of the pipes."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                continue


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Any]:
    """Start servers on one folder; whatever still runs at the end is killed."""
    started: list[Server] = []

    def start() -> Server:
        started.append(Server(tmp_path / "data"))
        return started[-1]

    yield start
    for server in started:
        server.kill()
