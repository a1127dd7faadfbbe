"""Ending a hub by command, and hubs that do not answer or lost their socket."""

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from context_graph import ContextGraphError, Memory

from actors.proxy.endpoint import SOCKET, read_hub_info
from tests.acceptance.conftest import COMMAND, PATIENCE, Open, gone, hubs, listens, serving, stored

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments, "--data", str(data)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@contextmanager
def routing(hub: str) -> Iterator[tuple[str, int]]:
    """Route to a hub; yield the URL and the process of the router, which is told to end meanwhile."""
    command = [COMMAND, "route", "--hub", f"default={hub}", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as router:
        assert router.stderr is not None
        yield router.stderr.readline().split()[-1], router.pid
        assert router.wait(PATIENCE) == 0


def call(number: int, text: str) -> str:
    params = {"name": "store_memory", "arguments": {"content": text}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def test_stop_lets_requests_end_and_an_open_window_starts_a_hub_when_it_needs_one(window: Open, data: Path) -> None:
    server = window("--linger", "600").greeted()
    (pid,) = hubs(data)
    for number in range(100, 108):
        server.send(call(number, f"The {number}th bicycle of the courier has blue mudguards."))
    answers = [server.receive()]
    ended = run(data, "stop", "--json")
    assert (ended.returncode, json.loads(ended.stdout)["stopped"]) == (0, pid)
    answers += [server.receive() for _ in range(7)]
    assert sorted(answer["id"] for answer in answers) == [*range(100, 108)]
    assert {answer["result"].get("isError", False) for answer in answers} == {False}
    assert pid not in hubs(data)
    assert stored(server) == 8
    assert hubs(data) not in ([], [pid])
    assert run(data, "stop").returncode == 0
    assert hubs(data) == []  # the window is open, and asks for nothing
    again = run(data, "stop")
    assert (again.returncode, "no hub runs" in again.stdout) == (0, True)


@pytest.mark.parametrize("routed", [False, True])
def test_requests_over_http_are_answered_before_the_end_also_where_a_session_has_a_stream_open(
    data: Path, *, routed: bool
) -> None:
    key = run(data, "key", "create", "shop", "--scope", "write", "-n", "*").stdout.strip()
    bikes = [{"content": f"The {number}th bicycle of the courier has blue mudguards."} for number in range(24)]
    headers = {
        "authorization": f"Bearer {key}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
    }
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "shop", "version": "1"}}

    with serving(data) as hub_url, routing(hub_url) if routed else nullcontext() as router:
        url, server = router or (hub_url, None)

        def opened(method: str | None = None, params: dict[str, Any] | None = None) -> Any:
            message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            request = urllib.request.Request(f"{url}/mcp", message if method else None, headers)
            return urllib.request.urlopen(request, timeout=PATIENCE)  # once the headers of its answer are there

        with opened("initialize", hello) as begun:
            headers["mcp-session-id"] = begun.headers["mcp-session-id"]
        info = read_hub_info(data)
        assert info
        arguments = {"name": "memory_inject_batch", "arguments": {"items": bikes}}
        with opened() as notifications, opened("tools/call", arguments) as under_way:
            os.kill(server or info.pid, signal.SIGTERM)
            answer = json.loads(under_way.read().decode().rpartition("data: ")[2])
            notifications.read()
        if not routed:
            gone(data)
    assert not answer["result"].get("isError", False)


def test_stop_ends_a_server_without_a_hub(data: Path, window: Open) -> None:
    alone = window("--standalone").greeted()
    listens(data)
    answer = json.loads(run(data, "stop", "--json").stdout)
    assert answer["stopped"] == alone.process.pid
    assert alone.process.wait(timeout=PATIENCE) == 0


def test_a_hub_that_a_signal_stopped_is_named_with_the_command_that_lets_it_go_on(window: Open, data: Path) -> None:
    server = window().greeted()
    (pid,) = hubs(data)
    os.kill(pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(2) as pool:
            commands = [pool.submit(run, data, *each) for each in (["status"], ["stop", "--timeout", "0.2"])]
            error: dict[str, Any] = server.request("store/status")["error"]
        assert f"kill -CONT {pid}" in error["message"]
        for failed in (command.result() for command in commands):
            assert failed.returncode == 1
            assert f"kill -CONT {pid}" in failed.stderr
            assert len(failed.stderr.splitlines()) == 1
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_program_waits_for_a_hub_that_a_signal_stopped_as_long_as_it_says(window: Open, data: Path) -> None:
    window().greeted()
    (pid,) = hubs(data)
    with Memory(data, timeout=0.2) as memory:
        os.kill(pid, signal.SIGSTOP)
        try:
            for _ in range(2):
                with pytest.raises(ContextGraphError, match=r"no answer within 0\.2 s|kill -CONT"):
                    memory.store("Nobody hears this.")
        finally:
            os.kill(pid, signal.SIGCONT)
    with Memory(data) as memory:
        assert memory.store("Now it is heard.")


def test_a_socket_that_is_deleted_is_made_again_and_the_hub_stays(window: Open, data: Path) -> None:
    server = window().greeted()
    info = read_hub_info(data)
    (data / SOCKET).unlink()
    second = window().greeted()
    assert hubs(data) == [info.pid if info else None]
    assert (data / SOCKET).stat().st_mode & 0o777 == 0o600
    assert stored(server) == stored(second) == 0


def test_a_hub_whose_folder_was_moved_ends_and_costs_the_store_in_its_place_nothing(window: Open, data: Path) -> None:
    stored(window().greeted())
    (hub,) = hubs(data)
    os.kill(hub, signal.SIGSTOP)
    moved = data.rename(data.with_name("moved"))
    server = window().greeted()
    memory = server.call("store_memory", content="The cellar key lies under the mat.")["structuredContent"]
    os.kill(hub, signal.SIGCONT)
    gone(moved)
    (successor,) = hubs(data)
    os.kill(successor, signal.SIGKILL)
    results = server.call("search_graph", query="Where is the cellar key?")["structuredContent"]["results"]
    assert [found["fingerprintId"] for found in results] == [memory["fingerprintId"]]
    assert run(moved, "verify").stdout.startswith("sound")


def test_requests_before_the_end_of_input_are_answered(window: Open, data: Path) -> None:
    server = window().greeted()
    for number in range(5):
        server.send(call(number, f"Parcel {number} lies in the cellar of the bakery."))
    assert server.process.stdin
    server.process.stdin.close()
    assert sorted(server.receive()["id"] for _ in range(5)) == [*range(5)]
    assert server.process.wait(timeout=PATIENCE) == 0
