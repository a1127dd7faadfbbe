"""The door beside stdio: other processes ask the one that has the store, each in a session of its own."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from actors.api.context import Context
from actors.api.mcp.flow_control import MAX_OPEN_REQUESTS, ResponseWriter, valid_messages
from actors.api.mcp.server import converse
from actors.hub.listener import Connections, listen
from actors.proxy.client import Client, ClientError
from actors.proxy.endpoint import HUB_INFO, MAX_SOCKET_PATH, SOCKET, HubInfo, ServeOptions, read_hub_info, socket_path

pytestmark = pytest.mark.anyio

PATIENCE = 60.0
Doors = Callable[..., AbstractAsyncContextManager[Connections]]
CARD_HERE = HubInfo(pid=1, version="0", options=ServeOptions())


@pytest.fixture
def listening(context: Context) -> Doors:
    """Open the door of a store with the real server behind it."""

    @asynccontextmanager
    async def at(folder: Path, per_minute: dict[str, int] | None = None) -> AsyncIterator[Connections]:
        async with listen(folder, partial(converse, context, per_minute or {}), CARD_HERE) as guests:
            yield guests

    return at


class Rude:
    """A connection that speaks no protocol."""

    def __init__(self, folder: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        with socket_path(folder) as path:
            self.socket.connect(str(path))


async def asked(folder: Path, ask: Callable[[Client], Any]) -> Any:
    """Connect from a thread, as another process would."""

    def run() -> Any:
        with Client(folder, PATIENCE) as client:
            return ask(client)

    return await anyio.to_thread.run_sync(run)


def profiles(client: Client) -> Any:
    return client.request("search/weight_profiles")["profiles"]


async def test_whoever_comes_to_the_door_calls_tools_methods_and_resources(listening: Doors, tmp_path: Path) -> None:
    def visit(client: Client) -> Any:
        called = client.request("tools/call", name="store_memory", arguments={"content": "Mara's dog is called Bo."})
        stored = called["structuredContent"]["fingerprintId"]
        read = client.request("memory/retrieve", id=stored)["content"]
        return read, client.request("resources/read", uri="context-graph://status")["contents"][0]["uri"]

    async with listening(tmp_path):
        assert await asked(tmp_path, visit) == ("Mara's dog is called Bo.", "context-graph://status")


async def test_a_refusal_comes_back_with_its_sentence_and_the_session_goes_on(listening: Doors, tmp_path: Path) -> None:
    def visit(client: Client) -> Any:
        with pytest.raises(ClientError, match="Content cannot be empty"):
            client.request("memory/store", content="")
        with pytest.raises(ClientError, match="not found"):
            client.request("no/such/method")
        return profiles(client)

    async with listening(tmp_path):
        assert await asked(tmp_path, visit)


async def test_each_connection_has_limits_of_its_own(listening: Doors, tmp_path: Path) -> None:
    def twice(client: Client) -> Any:
        assert profiles(client)
        with pytest.raises(ClientError, match="Rate limit"):
            profiles(client)

    async with listening(tmp_path, {"search_weight_profiles": 1}):
        await asked(tmp_path, twice)
        await asked(tmp_path, twice)


async def test_a_client_that_sends_rubbish_or_hangs_up_early_disturbs_nobody(listening: Doors, tmp_path: Path) -> None:
    def rude() -> bytes:
        with socket.socket(socket.AF_UNIX) as connection, socket_path(tmp_path) as path:
            connection.settimeout(PATIENCE)
            connection.connect(str(path))
            connection.sendall(b"{not json\n")
            refused = connection.recv(1 << 16)
            connection.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n{"half a line')
            return refused

    async with listening(tmp_path):
        assert b"-32700" in await anyio.to_thread.run_sync(rude)
        assert await asked(tmp_path, profiles)


async def test_only_the_owner_may_knock_and_the_socket_is_gone_afterwards(listening: Doors, tmp_path: Path) -> None:
    async with listening(tmp_path):
        mode = (tmp_path / SOCKET).stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
    assert not (tmp_path / SOCKET).exists()
    with pytest.raises(FileNotFoundError):
        await asked(tmp_path, profiles)


async def test_the_socket_of_a_dead_process_is_replaced(listening: Doors, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead, socket_path(tmp_path) as path:
        dead.bind(str(path))
    with pytest.raises(ConnectionRefusedError):
        await asked(tmp_path, profiles)
    async with listening(tmp_path):
        assert await asked(tmp_path, profiles)


async def test_a_folder_deeper_than_a_socket_path_may_be_long_is_served_all_the_same(
    listening: Doors, tmp_path: Path
) -> None:
    deep = tmp_path / ("d" * MAX_SOCKET_PATH) / "store"
    deep.mkdir(parents=True)
    async with listening(deep):
        assert (deep / SOCKET).is_socket()
        assert await asked(deep, profiles)
    assert [*deep.iterdir()] == []


async def test_where_no_socket_can_be_made_that_is_an_error_and_nothing_is_left_behind(
    listening: Doors, tmp_path: Path
) -> None:
    (tmp_path / SOCKET).mkdir()
    with pytest.raises(OSError, match="in use"):
        async with listening(tmp_path):
            pytest.fail("nobody can knock here")
    assert (tmp_path / SOCKET).is_dir(), "it isn't ours to remove"
    assert not (tmp_path / HUB_INFO).exists()


async def test_a_card_for_its_owner_alone_tells_who_listens(listening: Doors, tmp_path: Path) -> None:
    async with listening(tmp_path):
        assert stat.S_IMODE((tmp_path / HUB_INFO).stat().st_mode) == 0o600
        assert read_hub_info(tmp_path) == CARD_HERE
    assert read_hub_info(tmp_path) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_a_process_of_another_user_gets_nothing_even_if_the_file_modes_would_let_it_in(
    listening: Doors, tmp_path: Path
) -> None:
    code = (
        "import os, socket; os.setuid(65534); s = socket.socket(socket.AF_UNIX); s.connect('hub.sock'); "
        "s.settimeout(30); print(s.recv(1))"
    )

    def other_user() -> subprocess.CompletedProcess[bytes]:
        tmp_path.chmod(0o755)
        (tmp_path / SOCKET).chmod(0o666)
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)

    async with listening(tmp_path):
        done = await anyio.to_thread.run_sync(other_user)
        assert (done.stdout, done.stderr) == (b"b''\n", b"")
        assert await asked(tmp_path, profiles), "its own user is let in"


async def test_a_client_still_connected_does_not_keep_the_server_from_ending(listening: Doors, tmp_path: Path) -> None:
    connected, ended = threading.Event(), threading.Event()

    def stay() -> None:
        with Client(tmp_path, PATIENCE) as client:
            connected.set()
            assert ended.wait(PATIENCE)
            with pytest.raises(OSError):  # noqa: PT011 -- reset or broken pipe, whichever comes first
                profiles(client)

    async with anyio.create_task_group() as group:
        async with listening(tmp_path):
            group.start_soon(anyio.to_thread.run_sync, stay)
            assert await anyio.to_thread.run_sync(connected.wait, PATIENCE)
        ended.set()


async def test_data_that_arrive_while_reading_is_cancelled_break_nothing(listening: Doors, tmp_path: Path) -> None:
    async with listening(tmp_path) as connections:
        opened = connections.changed()
        with Rude(tmp_path).socket as rude:
            await opened
            await anyio.wait_all_tasks_blocked()
            (connection,) = connections._open
            rude.sendall(b"{")  # in the next turn of the loop it is cancelled first, then found to be readable
            asyncio.get_running_loop().call_soon(connection.end_input)
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(PATIENCE):
                await connections.finish()


async def test_an_answer_that_does_not_come_in_time_is_waited_for_no_longer(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as mute, socket_path(tmp_path) as path:
        mute.bind(str(path))
        mute.listen()
        with pytest.raises(TimeoutError):
            Client(tmp_path, 0.01)


# ── one client can't harm others ────────────────────────────────────────────────────────────────────


async def test_nothing_more_is_read_of_a_client_that_reads_no_answers_and_others_are_served(
    listening: Doors, tmp_path: Path
) -> None:
    flood = b'{"jsonrpc": "2.0", "id": %d, "method": "tools/list"}\n'
    lines = b"".join(flood % number for number in range(20_000))

    def pour(rude: Rude) -> int:
        rude.socket.settimeout(2.0)
        try:
            rude.socket.sendall(lines)
        except TimeoutError:
            return 0
        return len(lines)

    async with listening(tmp_path):
        rude = await anyio.to_thread.run_sync(Rude, tmp_path)
        with rude.socket:
            assert await anyio.to_thread.run_sync(pour, rude) == 0, "it had to wait"
            assert await asked(tmp_path, profiles)


async def test_a_session_has_no_more_than_so_many_requests_under_way(tmp_path: Path) -> None:
    under_way, most, gate = 0, 0, anyio.Event()

    async def busy(messages: Any, answers: Any) -> None:
        nonlocal under_way, most
        counted = ResponseWriter(answers)

        async def answer(request: Any) -> None:
            nonlocal under_way
            await gate.wait()
            under_way -= 1
            await counted.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=request.id, result={})))

        async with valid_messages(messages, counted) as ordered, anyio.create_task_group() as group, counted:
            async for message in ordered:
                under_way += 1
                most = max(most, under_way)
                if under_way == MAX_OPEN_REQUESTS:
                    gate.set()
                group.start_soon(answer, message.message)

    def ask_much() -> list[int]:
        rude = Rude(tmp_path)
        with rude.socket:
            for number in range(3 * MAX_OPEN_REQUESTS):
                rude.socket.sendall(b'{"jsonrpc": "2.0", "id": %d, "method": "ping"}\n' % number)
            with rude.socket.makefile("rb") as answers:
                return [json.loads(answers.readline())["id"] for _ in range(3 * MAX_OPEN_REQUESTS)]

    async with listen(tmp_path, busy, CARD_HERE):
        assert sorted(await anyio.to_thread.run_sync(ask_much)) == [*range(3 * MAX_OPEN_REQUESTS)]
    assert most == MAX_OPEN_REQUESTS


async def test_an_id_that_waits_for_its_answer_already_is_refused(listening: Doors, tmp_path: Path) -> None:
    call = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "search_graph", "arguments": '

    def twice() -> list[Any]:
        rude = Rude(tmp_path)
        with rude.socket:
            rude.socket.sendall(2 * (call + b'{"query": "fox"}}}\n'))
            with rude.socket.makefile("rb") as answers:
                return [json.loads(answers.readline()) for _ in range(2)]

    async with listening(tmp_path):
        refused, answered = await anyio.to_thread.run_sync(twice)
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert answered["id"] == 7


async def test_a_line_without_an_end_closes_its_own_connection_after_an_error(
    listening: Doors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.hub.listener.MAX_LINE", 1_000_000)

    def endless() -> bytes:
        rude = Rude(tmp_path)
        with rude.socket:
            told = b""
            with suppress(BrokenPipeError):  # it was closed before all was sent
                rude.socket.sendall(b"x" * 2_000_000)
            with suppress(ConnectionResetError):  # and before all of that was read
                while data := rude.socket.recv(1 << 16):
                    told += data
            return told

    async with listening(tmp_path):
        (error,) = (await anyio.to_thread.run_sync(endless)).splitlines()
        assert json.loads(error)["error"]["code"] == -32600
        assert await asked(tmp_path, profiles)


async def test_half_a_line_and_then_silence_holds_up_nobody(listening: Doors, tmp_path: Path) -> None:
    async with listening(tmp_path) as guests:
        rude = await anyio.to_thread.run_sync(Rude, tmp_path)
        with rude.socket:
            await anyio.to_thread.run_sync(rude.socket.sendall, b'{"jsonrpc": "2.0", "id": 1, "meth')
            assert await asked(tmp_path, profiles)
        while guests:
            await guests.changed()


async def test_what_was_cut_off_by_the_end_of_the_server_is_left_unanswered(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def cut_off(messages: Any, answers: Any) -> None:
        async with messages, answers:
            begun.set()
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.move_on_after(1.0, shield=True), suppress(anyio.BrokenResourceError):
                    await answers.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={})))

    def wait(rude: Rude) -> bytes:
        with rude.socket:
            return rude.socket.recv(1)

    async with anyio.create_task_group() as group:
        told: list[bytes] = []

        async def receive() -> None:
            told.append(await anyio.to_thread.run_sync(wait, rude))

        async with listen(tmp_path, cut_off, CARD_HERE):
            rude = await anyio.to_thread.run_sync(Rude, tmp_path)
            group.start_soon(receive)
            await begun.wait()
    assert told == [b""], "the client sends the request to the next server"


async def test_a_cancellation_that_names_true_cancels_not_the_request_of_id_one() -> None:
    send, receive = anyio.create_memory_object_stream[SessionMessage](1)
    async with send, receive:
        responses = ResponseWriter(send)
        number = await responses.admit(1)
        yes: object = True
        assert responses.cancel(yes) is None
        assert responses.cancel(1) == number
