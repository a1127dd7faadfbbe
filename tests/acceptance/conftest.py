"""The real server, as a client starts it: a process of its own, over stdio, on a folder."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Self, TypeAlias

import pytest

from actors.proxy.client import Client as Direct
from actors.proxy.endpoint import read_hub_info
from actors.proxy.launcher import LOCK
from tests.actors.cli.conftest import _loaded  # noqa: F401 -- commands in the process of a test load no models
from tests.actors.conftest import _rested, profile  # noqa: F401 -- fixtures, as there

COMMAND = str(Path(sys.executable).parent / "context-graph")

PATIENT = Path(__file__).parent / "patient" / "context-graph"
"""The same command without the time limits of its hooks, which are no subject of most tests."""

PATIENCE = 120.0
"""Seconds that an answer may take on a busy machine before a test gives up on it."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


LINGER = ("--linger", "0.5")
"""For a hub that is gone soon after its last client."""


class Server:
    """A server process, spoken to in plain JSON-RPC lines, so that broken ones can be sent too."""

    def __init__(
        self,
        data: Path,
        *options: str,
        environment: Mapping[str, str] | None = None,
        through: Sequence[str] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [*through, COMMAND, "serve", "--data", str(data), *(options or ["--standalone"])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"} | dict(environment or {}),
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

    def greeted(self) -> Self:
        """Shake hands, and return itself."""
        self.initialize()
        return self

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


Open: TypeAlias = Callable[..., Server]
"""Opens a window: a pipe, with these options."""


def running(folder: Path) -> dict[int, list[str]]:
    """Return the command lines of all processes that were started on a folder, by process id."""
    found = {}
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            with suppress(FileNotFoundError, ProcessLookupError):
                # Tests that run beside this one start commands with arguments that are not UTF-8.
                line = os.fsdecode((process / "cmdline").read_bytes()).split("\0")
                if str(folder) in line:
                    found[int(process.name)] = line
    return found


def hubs(folder: Path) -> list[int]:
    return [number for number, line in running(folder).items() if "hub" in line]


def gone(folder: Path) -> None:
    """Wait until no hub holds the lock."""

    def out_of_time(_number: int, _frame: object) -> None:
        pytest.fail("a hub outlived its last client for too long")

    before = signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(int(PATIENCE))
    try:
        with (folder / LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A folder for a store; no process on it may be left when the test is over."""
    folder = tmp_path / "data"
    yield folder
    if (folder / LOCK).exists():
        gone(folder)
    orphans = running(folder)
    for number in orphans:
        os.kill(number, signal.SIGKILL)
    assert orphans == {}


@pytest.fixture
def window(data: Path) -> Iterator[Open]:
    """Open windows on the store; they are closed at the end."""
    opened: list[Server] = []

    def start(*options: str, environment: Mapping[str, str] | None = None) -> Server:
        opened.append(Server(data, *LINGER, *options, environment=environment))
        return opened[-1]

    yield start
    for server in opened:
        server.kill()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a store over HTTP by a process of its own, on a free port; yield its URL."""
    command = [COMMAND, "serve", "--http", "127.0.0.1:0", "--data", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = re.search(r"http://\S+", server.stderr.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()
            status = server.wait(PATIENCE)
        assert status == 0


def stored(server: Server) -> int:
    return server.request("store/status")["result"]["memories"]["live"]


def listens(folder: Path) -> None:
    """Wait until a hub that is starting listens."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        with suppress(FileNotFoundError, ConnectionRefusedError), Direct(folder, PATIENCE):
            return
    pytest.fail("no hub listens")


def killed_hub(folder: Path) -> None:
    """Kill the hub of a folder; wait for the card of one that is starting in place of a killed one."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        card = read_hub_info(folder)
        with suppress(ProcessLookupError):
            if card is not None:
                os.kill(card.pid, signal.SIGKILL)
                return
    pytest.fail("no hub lives")


def refused(
    data: Path, *options: str, environment: Mapping[str, str] | None = None, through: Sequence[str] = ()
) -> str:
    """Serve a client that asks one thing and waits; return the one line that it and a person are told."""
    process = subprocess.Popen(
        [*through, COMMAND, "serve", "--data", str(data), *LINGER, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | dict(environment or {}),
    )
    assert process.stdin
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}\n')
    process.stdin.flush()
    assert process.wait(timeout=PATIENCE) == 1
    told, errors = process.communicate()
    answer: dict[str, Any] = json.loads(told)
    assert (answer["id"], answer["error"]["code"]) == (7, -32004)
    (line,) = errors.decode().splitlines()
    assert line.startswith("context-graph: ")
    assert line.removeprefix("context-graph: ") in answer["error"]["message"]
    return line
