"""The door beside stdio: other processes ask the one that has the store, each in a session of its own."""

import socket
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from actors.front.door import door
from actors.front.operations import Operations
from actors.front.server import converse
from actors.pipe import LONGEST, SOCKET, Pipe, PipeError, reachable

pytestmark = pytest.mark.anyio

PATIENCE = 30.0
Doors = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def listening(operations: Operations) -> Doors:
    """Open the door of a store with the real server behind it."""

    @asynccontextmanager
    async def at(folder: Path, per_minute: dict[str, int] | None = None) -> AsyncIterator[None]:
        async with door(folder, partial(converse, operations, per_minute or {})):
            yield

    return at


async def asked(folder: Path, ask: Callable[[Pipe], Any]) -> Any:
    """Connect from a thread, as another process would."""

    def run() -> Any:
        with Pipe(folder, PATIENCE) as pipe:
            return ask(pipe)

    return await anyio.to_thread.run_sync(run)


def profiles(pipe: Pipe) -> Any:
    return pipe.call("search_weight_profiles")["profiles"]


async def test_whoever_comes_to_the_door_calls_tools_methods_and_resources(listening: Doors, tmp_path: Path) -> None:
    def visit(pipe: Pipe) -> Any:
        stored = pipe.call("store_memory", content="Mara's dog is called Bo.")["fingerprintId"]
        read = pipe.request("memory/retrieve", id=stored)["content"]
        return read, pipe.request("resources/read", uri="context-graph://status")["contents"][0]["uri"]

    async with listening(tmp_path):
        assert await asked(tmp_path, visit) == ("Mara's dog is called Bo.", "context-graph://status")


async def test_a_refusal_comes_back_with_its_sentence_and_the_session_goes_on(listening: Doors, tmp_path: Path) -> None:
    def visit(pipe: Pipe) -> Any:
        with pytest.raises(PipeError, match="Content cannot be empty"):
            pipe.call("store_memory", content="")
        with pytest.raises(PipeError, match="not found"):
            pipe.request("no/such/method")
        return profiles(pipe)

    async with listening(tmp_path):
        assert await asked(tmp_path, visit)


async def test_each_connection_has_limits_of_its_own(listening: Doors, tmp_path: Path) -> None:
    def twice(pipe: Pipe) -> Any:
        assert profiles(pipe)
        with pytest.raises(PipeError, match="Rate limit"):
            profiles(pipe)

    async with listening(tmp_path, {"search_weight_profiles": 1}):
        await asked(tmp_path, twice)
        await asked(tmp_path, twice)


async def test_a_client_that_sends_rubbish_or_hangs_up_early_disturbs_nobody(listening: Doors, tmp_path: Path) -> None:
    def rude() -> bytes:
        with socket.socket(socket.AF_UNIX) as connection, reachable(tmp_path) as path:
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
    with socket.socket(socket.AF_UNIX) as dead, reachable(tmp_path) as path:
        dead.bind(str(path))
    with pytest.raises(ConnectionRefusedError):
        await asked(tmp_path, profiles)
    async with listening(tmp_path):
        assert await asked(tmp_path, profiles)


async def test_a_folder_deeper_than_a_socket_path_may_be_long_is_served_all_the_same(
    listening: Doors, tmp_path: Path
) -> None:
    deep = tmp_path / ("d" * LONGEST) / "store"
    deep.mkdir(parents=True)
    async with listening(deep):
        assert (deep / SOCKET).is_socket()
        assert await asked(deep, profiles)
    assert [*deep.iterdir()] == []


async def test_where_no_socket_can_be_made_the_server_says_so_and_goes_on(
    listening: Doors, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / SOCKET).mkdir()
    async with listening(tmp_path):
        assert "hooks can't ask this server" in capsys.readouterr().err
    assert (tmp_path / SOCKET).is_dir(), "it isn't ours to remove"


async def test_a_client_still_connected_does_not_keep_the_server_from_ending(listening: Doors, tmp_path: Path) -> None:
    connected, ended = threading.Event(), threading.Event()

    def stay() -> None:
        with Pipe(tmp_path, PATIENCE) as pipe:
            connected.set()
            assert ended.wait(PATIENCE)
            with pytest.raises(OSError):  # noqa: PT011 -- reset or broken pipe, whichever comes first
                profiles(pipe)

    async with anyio.create_task_group() as group:
        async with listening(tmp_path):
            group.start_soon(anyio.to_thread.run_sync, stay)
            assert await anyio.to_thread.run_sync(connected.wait, PATIENCE)
        ended.set()


async def test_an_answer_that_does_not_come_in_time_is_waited_for_no_longer(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as mute, reachable(tmp_path) as path:
        mute.bind(str(path))
        mute.listen()
        with pytest.raises(TimeoutError):
            Pipe(tmp_path, 0.01)
