import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

import pytest

from actors.proxy.client import Client
from actors.proxy.endpoint import SOCKET, connect
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogError

NOBODY = 65_534
SERVER = f"""
import os, socket
os.setuid({NOBODY})
listener = socket.socket(socket.AF_UNIX)
listener.bind("hub.sock")
listener.listen()
print("listening", flush=True)
print(listener.accept()[0].recv(1_000), flush=True)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can run a server as another user")
def test_nothing_is_sent_to_a_server_of_another_user(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    command = [sys.executable, "-c", SERVER]  # becomes the other user by itself, who may not reach this interpreter
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        with pytest.raises(PermissionError, match="another user"):
            Client(tmp_path, 60)
        assert server.stdout.readline() == "b''\n"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="asks /proc whether a process is ending")
def test_a_server_that_is_ending_is_not_connected_to(tmp_path: Path) -> None:
    """The kernel accepts for it until its files are closed, one by one; here another process keeps them open."""
    listening = "import socket, sys; socket.socket(fileno=int(sys.argv[1])).listen(); print(flush=True); input()"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / SOCKET))
        number = listener.fileno()
        command = [sys.executable, "-c", listening, str(number)]
        with subprocess.Popen(command, pass_fds=[number], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdout
            assert server.stdout.readline() == b"\n"
            connect(tmp_path, 60).close()
            server.kill()
            os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
            with pytest.raises(ConnectionRefusedError, match="is ending"):
                connect(tmp_path, 60)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no unix sockets")
def test_a_server_that_is_gone_is_no_closed_output(tmp_path: Path) -> None:
    """A command whose output was closed ends without a word, so no `BrokenPipeError` may come from a server."""

    def shake_hands() -> None:
        with listener.accept()[0] as connection, connection.makefile("rwb") as lines:
            lines.readline()
            lines.write(b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n')
            lines.flush()
            lines.readline()

    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(1) as pool:
        listener.bind(str(tmp_path / SOCKET))
        listener.listen()
        server = pool.submit(shake_hands)
        with closing(Client(tmp_path, 60)) as client:
            server.result(60)
            with pytest.raises(ConnectionResetError, match="the server closed the connection"):
                client.request("store/status")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no unix sockets")
def test_an_answer_that_trickles_in_ends_at_the_deadline(tmp_path: Path) -> None:
    """A server that sends a byte again and again never lets a single read run out of time."""
    ended = Event()

    def trickle() -> None:
        with listener.accept()[0] as connection, suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(500):
                if ended.wait(0.01):
                    break
                connection.sendall(b" ")

    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(1) as pool:
        listener.bind(str(tmp_path / SOCKET))
        listener.listen()
        server = pool.submit(trickle)
        try:
            with pytest.raises(TimeoutError):
                Client(tmp_path, 0.2)
        finally:
            ended.set()
        server.result(60)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no unix sockets")
def test_answers_of_any_size_are_read_one_after_the_other(tmp_path: Path) -> None:
    texts = ["", "x" * 100_000, "y"]

    def answer() -> None:
        with listener.accept()[0] as connection:
            results = [{}, *({"text": text} for text in texts)]
            lines = [{"jsonrpc": "2.0", "id": number, "result": one} for number, one in enumerate(results, 1)]
            connection.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
            while connection.recv(1_000):
                pass

    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(1) as pool:
        listener.bind(str(tmp_path / SOCKET))
        listener.listen()
        server = pool.submit(answer)
        with closing(Client(tmp_path, 60)) as client:
            assert [client.request("store/status")["text"] for _ in texts] == texts
        server.result(60)


@pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")
def test_a_folder_in_which_others_may_write_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(LogError, match=f"chmod go-w {tmp_path}"):
        DuckDBLog(tmp_path)
    tmp_path.chmod(0o755)
    with closing(DuckDBLog(tmp_path)) as log:
        assert log.head.seq == 0


@pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")
def test_a_folder_that_others_may_replace_is_refused_unless_only_its_owner_can_rename_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(LogError, match=f"chmod go-w {tmp_path}$"):
        DuckDBLog(tmp_path / "store")
    tmp_path.chmod(0o1777)
    with closing(DuckDBLog(tmp_path / "store")) as log:
        assert log.head.seq == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, NOBODY, NOBODY)
    with pytest.raises(LogError, match=f"belongs to user {NOBODY}"):
        DuckDBLog(tmp_path)
