"""Clients that hang, flood or die: others are answered meanwhile, and the hub's memory stays within bounds."""

import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from actors.proxy.client import Client as Direct
from actors.proxy.endpoint import MAX_LINE, socket_path
from tests.acceptance.conftest import PATIENCE, Open, hubs, stored

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="asks /proc how much memory it takes"
)

HELLO = "hello"

MOST_GROWTH = 4 * MAX_LINE
"""Bytes of memory: two lines that are as long as one may be, each held twice while it grows."""


def memory_of(process: int, what: str) -> int:
    """Return bytes of memory that a process has (VmRSS), or had at most (VmHWM)."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(what)).split()[1]) * 1_024


class Rude:
    """A connection that keeps to no manners."""

    def __init__(self, folder: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        with socket_path(folder) as path:
            self.socket.connect(str(path))

    def send(self, *lines: dict[str, Any]) -> None:
        self.socket.sendall(b"".join(json.dumps({"jsonrpc": "2.0"} | line).encode() + b"\n" for line in lines))

    def send_until_stuck(self, data: bytes, most: int) -> None:
        """Send as much as is taken within a second of patience."""
        self.socket.settimeout(1.0)
        with suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
            for _ in range(most // len(data)):
                self.socket.sendall(data)


HANDSHAKE = {
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "rude", "version": "1"},
    },
}


def half_a_message(rude: Rude) -> None:
    rude.send(HANDSHAKE)
    rude.socket.sendall(b'{"jsonrpc": "2.0", "id": 1, "meth')


def endless_line(rude: Rude) -> None:
    rude.send_until_stuck(b"x" * (1 << 20), 2 * MAX_LINE)


def flood(rude: Rude) -> None:
    rude.send(HANDSHAKE)
    question = {"jsonrpc": "2.0", "method": "search/graph", "params": {"query": HELLO * 100}}
    lines = [json.dumps(question | {"id": number}).encode() + b"\n" for number in range(1, 10_001)]
    rude.send_until_stuck(b"".join(lines), 50 << 20)


def death(rude: Rude) -> None:
    rude.send(HANDSHAKE, {"id": 1, "method": "search/graph", "params": {"query": HELLO}})
    rude.socket.close()


def nothing(rude: Rude) -> None:
    assert rude.socket


@pytest.mark.parametrize(
    ("how", "times"),
    [
        (half_a_message, 20),
        (endless_line, 2),
        (flood, 2),
        pytest.param(death, 50, marks=pytest.mark.slow),
        pytest.param(nothing, 200, marks=pytest.mark.slow),
    ],
)
def test_a_client_that_floods_or_stalls_delays_nobody_and_fills_no_memory(
    window: Open, data: Path, how: Callable[[Rude], None], times: int
) -> None:
    server = window().greeted()
    memory = server.call("store_memory", content=HELLO)["structuredContent"]["fingerprintId"]
    server.request("search/graph", query=HELLO)
    (hub,) = hubs(data)
    before = memory_of(hub, "VmRSS")
    Path(f"/proc/{hub}/clear_refs").write_text("5")  # the peak is counted from here
    with ThreadPoolExecutor(8) as pool:
        clients = [Rude(data) for _ in range(times)]
        rudeness = [pool.submit(how, client) for client in clients]
        for number in range(20):
            found = server.request("search/graph", query=f"{HELLO} {number}")["result"]["results"]
            assert [hit["fingerprintId"] for hit in found] == [memory]
        for done in rudeness:
            done.result(timeout=PATIENCE)
        assert stored(server) == 1
        assert memory_of(hub, "VmHWM") - before < MOST_GROWTH
        for client in clients:
            client.socket.close()
    with Direct(data, PATIENCE) as next_one:
        assert next_one.request("tools/list")["tools"]
    assert hubs(data) == [hub]
