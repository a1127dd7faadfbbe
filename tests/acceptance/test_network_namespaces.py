"""Two hubs on one log, each in a network of its own, one of which is cut off from the server and comes back."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.acceptance.conftest import PATIENCE, Server
from tests.postgres import Server as Postgres
from tests.postgres import relay

_numbers = count(1)
STORAGE = -32004


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def can_make_networks() -> bool:
    """Tell whether this process may make network namespaces, which needs root and iproute2."""
    if os.name == "nt" or os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"cgprobe{os.getpid()}"
    try:
        ip("netns", "add", name)
        ip("link", "add", f"cp{os.getpid()}", "type", "veth", "peer", "name", "eth0", "netns", name)
    except subprocess.CalledProcessError:
        return False
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
    return True


pytestmark = pytest.mark.slow


class Network:
    """A network namespace with a cable to this one.

    Attributes:
        host: Address at this end of the cable.
    """

    def __init__(self, stack: ExitStack) -> None:
        number = next(_numbers)
        self.name, self._cable = f"cg{os.getpid()}n{number}", f"cg{os.getpid() % 10**6}c{number}"
        ip("netns", "add", self.name)
        stack.callback(ip, "netns", "del", self.name)
        subnet = f"10.{200 + number}.{os.getpid() % 256}"
        self.host = f"{subnet}.1"
        ip("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("addr", "add", f"{self.host}/24", "dev", self._cable)
        ip("link", "set", self._cable, "up")
        ip("-n", self.name, "addr", "add", f"{subnet}.2/24", "dev", "eth0")
        ip("-n", self.name, "link", "set", "eth0", "up")

    @contextmanager
    def unplugged(self) -> Iterator[None]:
        """Cut the cable."""
        ip("link", "set", self._cable, "down")
        try:
            yield
        finally:
            ip("link", "set", self._cable, "up")


@pytest.fixture
def hubs(postgres: Postgres, address: str, database: str, tmp_path: Path) -> Iterator[list[tuple[Server, Network]]]:
    """Two servers, each on a folder and in a network of its own, on one log."""
    assert address
    if not can_make_networks():
        pytest.skip("network namespaces need root, and iproute2's ip")
    with ExitStack() as stack:
        made: list[tuple[Server, Network]] = []
        for name in ("one", "two"):
            network = Network(stack)
            port = stack.enter_context(relay(postgres, network.host))
            url = f"postgresql://postgres@{network.host}:{port}/{database}?sslmode=disable"
            server = Server(
                tmp_path / name, "--standalone", "--log", url, through=("ip", "netns", "exec", network.name)
            )
            stack.callback(server.kill)
            server.initialize()
            made.append((server, network))
        yield made


def until_found(server: Server, content: str, query: str) -> None:
    deadline = monotonic() + PATIENCE
    while content not in (found := contents(server, query)):
        assert monotonic() < deadline, found


def contents(server: Server, query: str) -> list[str]:
    return [one["content"] for one in server.call("search_graph", query=query)["structuredContent"]["results"]]


def error(answer: dict[str, Any]) -> int:
    assert answer["isError"], answer
    return answer["structuredContent"]["error"]["code"]


def test_a_hub_that_is_cut_off_goes_on_with_what_it_knows_and_catches_up(hubs: list[tuple[Server, Network]]) -> None:
    (here, _), (there, cable) = hubs
    ferry, bakery, cat = "the ferry leaves at nine", "the bakery opens at six", "the lighthouse keeper has a cat"
    assert not here.call("store_memory", content=ferry).get("isError")
    until_found(there, ferry, "when does the boat sail")
    with cable.unplugged():
        assert not here.call("store_memory", content=bakery).get("isError")
        assert error(there.call("store_memory", content=cat)) == STORAGE
        assert contents(there, "when does the boat sail") == [ferry]
        assert "reason" in there.request("store/status")["result"]["log"]["lag"]
    until_found(there, bakery, "when does the bakery open")
    deadline = monotonic() + PATIENCE
    while there.call("store_memory", content=cat).get("isError"):
        assert monotonic() < deadline
    until_found(here, cat, "who keeps a cat")
    heads = [server.request("store/verify")["result"] for server, _ in hubs]
    assert all(head["sound"] for head in heads)
