"""Which process answers a command: a hub, also one that is starting, or the command itself."""

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from actors.cli import store_access
from actors.cli.commands.agents import serve
from actors.cli.store_access import LOCK_TIMEOUT, StoreLocation, StoreSession, open_store
from actors.proxy.endpoint import SOCKET
from actors.proxy.launcher import is_locked, lock_folder
from actors.proxy.serve_command import data_folder
from events.storage.log import LogInUseError
from tests.acceptance.conftest import COMMAND, PATIENCE
from tests.actors.cli.conftest import run


def test_a_command_waits_for_a_hub_that_is_starting_instead_of_opening_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that holds the lock listens at the third attempt to connect."""
    attempts: list[StoreLocation] = []

    def connect(location: StoreLocation, _stack: ExitStack) -> StoreSession | None:
        attempts.append(location)
        return StoreSession(lambda *_: {}, served=True) if len(attempts) == 3 else None

    monkeypatch.setattr(store_access, "_connect", connect)
    lock = lock_folder(tmp_path)
    assert lock is not None
    with open_store(StoreLocation(tmp_path), creates=True) as store:
        assert store.served
    os.close(lock)
    assert list(tmp_path.iterdir()) == [tmp_path / "hub.lock"], "the store was opened"


def test_a_hub_that_gives_up_its_start_leaves_the_store_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = lock_folder(tmp_path)
    assert lock is not None
    held = [lock]

    def connect(_location: StoreLocation, _stack: ExitStack) -> None:
        if is_locked(tmp_path):
            os.close(held.pop())

    monkeypatch.setattr(store_access, "_connect", connect)
    monkeypatch.setattr(store_access, "_open", lambda *_: StoreSession(lambda *_: {}, served=False))
    with open_store(StoreLocation(tmp_path), creates=True) as store:
        assert not store.served
    assert not held


@pytest.mark.skipif(os.name != "posix", reason="Windows has no unix sockets")
def test_a_hub_that_ends_while_a_command_connects_leaves_the_store_to_it(tmp_path: Path) -> None:
    """The socket of a hub that is killed accepts connections until the system has closed all of its files."""
    assert run(tmp_path, "store", "Bo is afraid of thunder.", "--no-hub").exit_code == 0

    def end() -> None:
        with listener.accept()[0]:
            (tmp_path / SOCKET).unlink()

    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(1) as pool:
        listener.bind(str(tmp_path / SOCKET))
        listener.listen()
        ended = pool.submit(end)
        done = run(tmp_path, "status")
        ended.result(PATIENCE)
    assert (done.exit_code, done.stdout.startswith("1 memory, ")) == (0, True), done.output


def test_looking_for_the_lock_of_a_hub_changes_nothing(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_stays_in_use_is_tried_ever_more_rarely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 1_000.0
    attempts: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal moment
        moment += seconds

    def refuse(_location: StoreLocation, _stack: ExitStack) -> StoreSession:
        attempts.append(moment)
        raise LogInUseError("by another process")

    for name, fake in (("monotonic", lambda: moment), ("sleep", sleep), ("_open", refuse)):
        monkeypatch.setattr(store_access, name, fake)
    with pytest.raises(LogInUseError), open_store(StoreLocation(tmp_path), creates=True):
        pass
    assert len([one for one in attempts if one < 1_001]) > 5, "a hook that closes it soon is soon followed"
    assert len(attempts) < 200
    assert attempts[-1] - attempts[0] >= LOCK_TIMEOUT


HOLDER = """
import sys
from pathlib import Path
from events.storage.database import connect
database = connect(Path(sys.argv[1]) / "log.duckdb")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_command_says_which_process_it_waits_for_and_goes_on_once_that_has_closed_the_store(tmp_path: Path) -> None:
    assert run(tmp_path, "store", "Bo is afraid of thunder.", "--no-hub").exit_code == 0
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], **pipes) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        command = [COMMAND, "store", "Bo sleeps in the kitchen.", "--no-hub", "--data", str(tmp_path)]
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr is not None
        notice = waiting.stderr.readline()
        holder.stdin.close()
        told = waiting.communicate(timeout=PATIENCE)
    assert "waiting" in notice
    assert f"PID {holder.pid}" in notice
    assert (waiting.returncode, told[0].startswith("stored "), told[1]) == (0, True, "")


def test_serving_over_http_waits_for_a_hub_that_does_not_listen_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub that holds the lock ends before it listens."""
    served: list[Path] = []

    async def serve_socket(folder: Path, *_options: object) -> None:
        served.append(folder)

    lock = lock_folder(tmp_path)
    assert lock is not None
    monkeypatch.setattr(serve, "sleep", lambda _seconds: os.close(lock))
    monkeypatch.setattr(serve, "_serve_socket", serve_socket)
    done = run(tmp_path, "serve", "--http", "127.0.0.1:0")
    assert (done.exit_code, served) == (0, [tmp_path]), done.output


# ── a log that is lost, or was being replaced ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "command", [("status",), ("doctor",), ("verify",), ("backup", "copy"), ("export",), ("store", "Bo.", "--no-hub")]
)
def test_a_store_whose_log_is_lost_is_called_damaged_and_not_missing(tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "store"
    assert run(folder, "store", "Bo is afraid of thunder.", "--no-hub").exit_code == 0
    (folder / "log.duckdb").unlink()
    done = run(folder, *command)
    assert done.exit_code == 1, done.output
    assert "missing" in done.output
    assert "no store in" not in done.output


def test_what_only_reads_finishes_a_restore_that_was_interrupted_between_its_renames(tmp_path: Path) -> None:
    folder, backup = tmp_path / "store", tmp_path / "backup"
    assert run(folder, "store", "Bo is afraid of thunder.", "--no-hub").exit_code == 0
    assert run(folder, "backup", str(backup)).exit_code == 0
    assert run(folder, "restore", str(backup), "--replace").exit_code == 0
    (replaced,) = tmp_path.glob("store.replaced-*")
    folder.rename(tmp_path / replaced.name.replace("replaced", "restoring"))
    done = run(folder, "status")
    assert (done.exit_code, done.stdout.startswith("1 memory, ")) == (0, True), done.output


def test_a_home_folder_is_meant_by_a_tilde_that_no_shell_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", "~/store")
    assert data_folder(None) == tmp_path / "store"
    assert run(tmp_path / "store", "store", "Bo is afraid of thunder.", "--no-hub").exit_code == 0
    assert run(Path("~/store"), "backup", "~/backup").exit_code == 0
    done = run(Path("~/store"), "restore", "~/backup", "--replace")
    assert (done.exit_code, done.stdout.startswith(f"{tmp_path / 'store'} is restored")) == (0, True), done.output
