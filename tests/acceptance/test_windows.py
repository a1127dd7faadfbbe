"""Many windows on one store: each a pipe of its own, all of them before the same hub, which may die at any moment."""

import json
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from mcp import Client, StdioServerParameters

from actors.proxy.client import Client as Direct
from actors.proxy.endpoint import HUB_INFO, MAX_LINE, REQUEST_KEY, SOCKET
from actors.proxy.launcher import LOCK, LOG, HubLauncher
from tests.acceptance.conftest import (
    COMMAND,
    LINGER,
    PATIENCE,
    Open,
    Server,
    gone,
    hubs,
    killed_hub,
    listens,
    refused,
    stored,
)

FOX = "The quick brown fox jumps over the lazy dog"

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for orphans in /proc")


# ── one hub ─────────────────────────────────────────────────────────────────────────────────────────


def test_eight_windows_that_open_at_once_on_an_empty_folder_have_one_hub(window: Open, data: Path) -> None:
    servers = [window() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(Server.initialize, servers)]) == 8
        answers = [*pool.map(lambda server: server.call("store_memory", content=FOX), servers)]
    assert len({answer["structuredContent"]["fingerprintId"] for answer in answers}) == 8
    assert len(hubs(data)) == 1
    assert {stored(server) for server in servers} == {8}
    for name in (SOCKET, HUB_INFO, LOCK, LOG):
        assert (data / name).stat().st_mode & 0o777 == 0o600, name


def test_a_hub_ends_by_itself_after_its_last_client_and_the_next_one_finds_everything(window: Open, data: Path) -> None:
    first = window().greeted()
    memory = first.call("store_memory", content=FOX)["structuredContent"]["fingerprintId"]
    first.close()
    gone(data)
    assert not (data / SOCKET).exists()
    assert not (data / HUB_INFO).exists()
    again = window().greeted()
    assert again.call("memory_retrieve", id=memory)["structuredContent"]["content"] == FOX


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_hub_that_is_told_to_end_does_so_cleanly_and_its_clients_go_on_with_the_next(
    window: Open, data: Path, number: signal.Signals
) -> None:
    hub = subprocess.Popen([COMMAND, "hub", "--data", str(data), "--linger", "600"], stderr=subprocess.PIPE)
    listens(data)
    server = window().greeted()
    assert hubs(data) == [hub.pid]
    memory = server.call("store_memory", content=FOX)["structuredContent"]["fingerprintId"]
    hub.send_signal(number)
    _, told = hub.communicate(timeout=PATIENCE)
    assert (hub.returncode, told) == (0, b"")
    assert server.call("memory_retrieve", id=memory)["structuredContent"]["content"] == FOX
    assert hub.pid not in hubs(data)


def test_a_second_hub_on_a_folder_says_so_and_leaves_the_first_alone(window: Open, data: Path) -> None:
    window().initialize()
    done = subprocess.run(
        [COMMAND, "hub", "--data", str(data)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1
    assert "already" in done.stderr
    assert len(hubs(data)) == 1


def test_a_hub_that_ended_before_a_busy_client_connected_is_started_again(data: Path) -> None:
    data.mkdir(mode=0o700)
    launcher = HubLauncher(data, LINGER)
    assert launcher.step() is None
    gone(data)
    launcher.wait()
    assert len(hubs(data)) == 1


# ── the hub dies ────────────────────────────────────────────────────────────────────────────────────


def test_when_the_hub_is_killed_every_request_is_answered_once_and_none_is_done_twice(window: Open, data: Path) -> None:
    each = 30
    servers = [window() for _ in range(4)]
    for server in servers:
        server.initialize()

    def ask(server: Server) -> None:
        for number in range(each):
            call = {"name": "store_memory", "arguments": {"content": f"Memory {number} of {id(server)}."}}
            server.send(json.dumps({"jsonrpc": "2.0", "id": 100 + number, "method": "tools/call", "params": call}))

    for server in servers:
        ask(server)
    answers = [[server.receive() for _ in range(each // 4)] for server in servers]
    killed_hub(data)
    for known, server in zip(answers, servers, strict=True):
        known += [server.receive() for _ in range(each - len(known))]
        assert sorted(answer["id"] for answer in known) == [*range(100, 100 + each)]
    ids = {answer["result"]["structuredContent"]["fingerprintId"] for known in answers for answer in known}
    assert len(ids) == 4 * each
    assert stored(servers[0]) == 4 * each
    assert len(hubs(data)) == 1


def test_a_memory_is_stored_once_if_the_hub_is_killed_between_commit_and_answer(window: Open, data: Path) -> None:
    server = window().greeted()
    server.call("store_memory", content=FOX)
    head = data / "head"
    for number in range(2):
        before = head.read_bytes()
        arguments = {"content": f"{FOX} {number}"}
        params = {"name": "store_memory", "arguments": arguments}
        server.send(json.dumps({"jsonrpc": "2.0", "id": number + 100, "method": "tools/call", "params": params}))
        while head.read_bytes() == before:
            pass
        killed_hub(data)
        answer = server.receive()
        assert (answer["id"], "result" in answer) == (number + 100, True)
    assert stored(server) == 3


def test_a_request_with_the_client_s_own_key_is_done_once_by_two_hubs(window: Open, data: Path) -> None:
    server = window().greeted()
    key = {"_meta": {REQUEST_KEY: str(uuid4())}}
    first = server.request("memory/store", content=FOX, **key)["result"]["fingerprintId"]
    killed_hub(data)
    assert server.request("memory/store", content=FOX, **key)["result"]["fingerprintId"] == first
    assert server.request("memory/store", content="other", **key)["error"]["code"] == -32602
    assert stored(server) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
async def test_the_official_client_does_not_notice_that_the_hub_was_killed(data: Path, mode: str) -> None:
    command = StdioServerParameters(command=COMMAND, args=["serve", "--data", str(data), *LINGER])
    async with Client(command, mode=mode) as client:
        assert client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
        memory = (await client.call_tool("store_memory", {"content": FOX})).structured_content["fingerprintId"]
        killed_hub(data)
        found = (await client.call_tool("memory_retrieve", {"id": memory})).structured_content
        assert found["content"] == FOX
        assert (await client.list_tools()).tools


# ── a pipe ends ─────────────────────────────────────────────────────────────────────────────────────


def test_a_client_that_closes_its_side_at_once_is_still_answered(data: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    lines = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n{half a line"
    done = subprocess.run(
        [COMMAND, "serve", "--data", str(data), *LINGER],
        input=lines.encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    # Whether the SDK still does what was asked, or answers that it didn't, is a matter of moments.
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {1, None}


def test_a_pipe_whose_parent_is_gone_ends_though_its_input_stays_open(data: Path) -> None:
    starting = f"import subprocess; subprocess.Popen({[COMMAND, 'serve', '--data', str(data), *LINGER]}).wait()"
    parent = subprocess.Popen([sys.executable, "-c", starting], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdin
    assert parent.stdout
    parent.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    parent.stdin.flush()
    assert json.loads(parent.stdout.readline())["id"] == 1
    parent.kill()
    parent.wait()
    ended, _, _ = select.select([parent.stdout], [], [], PATIENCE)
    assert ended
    assert parent.stdout.read() == b"", "nobody holds its output any more"
    parent.stdin.close()
    parent.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_pipe_that_is_told_to_end_does_so_and_leaves_the_hub_to_the_others(
    window: Open, data: Path, number: signal.Signals
) -> None:
    first, second = window(), window()
    first.initialize()
    second.initialize()
    first.process.send_signal(number)
    assert first.process.wait(timeout=PATIENCE) == 0
    assert second.call("store_memory", content=FOX)["structuredContent"]["fingerprintId"]
    assert len(hubs(data)) == 1


# ── what can't be served is told ────────────────────────────────────────────────────────────────────


def test_a_hub_that_cannot_start_is_told_to_client_and_person_in_one_line(data: Path) -> None:
    data.mkdir()
    (data / "log.duckdb").write_bytes(b"this is no database" * 1_000)
    assert str(data / "log.duckdb") in refused(data)
    assert hubs(data) == []


def test_a_limit_on_a_tool_that_does_not_exist_is_told_by_its_name(data: Path) -> None:
    assert "no tool is named 'psychic'" in refused(data, "--limit", "psychic=1")


def test_other_models_than_those_of_the_running_hub_are_refused(window: Open, data: Path) -> None:
    server = window().greeted()
    assert "'embedded', not 'full'" in refused(data, "--embedder", "full")
    assert server.request("tools/list")["result"]["tools"], "and the one that runs goes on"


def test_options_that_a_running_hub_was_not_started_with_are_told_and_do_not_hold(window: Open, data: Path) -> None:
    window().initialize()
    again = subprocess.Popen(
        [COMMAND, "serve", "--data", str(data), "--priming"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert again.stderr
    told = again.stderr.readline().decode()
    again.communicate(timeout=PATIENCE)
    assert told == (
        "context-graph: the hub was started with other options, which hold: priming False instead of True\n"
    )


def test_a_session_goes_on_while_its_package_is_replaced(window: Open, data: Path, tmp_path: Path) -> None:
    window().initialize()
    (tmp_path / "sitecustomize.py").write_text("""
import importlib.metadata

def version(name):
    raise importlib.metadata.PackageNotFoundError(name)

importlib.metadata.version = version
""")
    session = subprocess.Popen(
        [COMMAND, "serve", "--data", str(data), "--priming"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert session.stderr
    told = session.stderr.readline().decode()
    answer, rest = session.communicate(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n', timeout=PATIENCE)
    assert (told.partition(":")[0], json.loads(answer)["result"], rest) == ("context-graph", {}, b"")


def test_a_line_without_an_end_ends_its_own_pipe_with_an_error(window: Open) -> None:
    server = window().greeted()
    assert server.process.stdin
    with suppress(BrokenPipeError):  # it reads no more than it must
        server.process.stdin.write(b"x" * (MAX_LINE + 1_000_000))
        server.process.stdin.flush()
    assert server.receive()["error"]["code"] == -32600
    assert server.process.wait(timeout=PATIENCE) == 1


# ── beside a server that keeps its store to itself ──────────────────────────────────────────────────


def test_a_window_beside_a_standalone_server_shares_its_store_and_outlives_it(window: Open, data: Path) -> None:
    alone = Server(data).greeted()
    server = window().greeted()
    memory = server.call("store_memory", content=FOX)["structuredContent"]["fingerprintId"]
    assert hubs(data) == []
    alone.close()
    assert server.call("memory_retrieve", id=memory)["structuredContent"]["content"] == FOX
    assert len(hubs(data)) == 1


def test_commands_reach_the_store_through_the_hub_and_keep_it(window: Open, data: Path) -> None:
    window().initialize()
    with Direct(data, PATIENCE) as direct:
        assert direct.request("tools/list")["tools"]
