"""Commands whose store is served by a hub of another version, as after each upgrade of the program."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from actors.proxy import own_version as versions
from actors.proxy.endpoint import SOCKET, HubInfo, ServeOptions
from actors.proxy.own_version import own_version
from tests.actors.cli.conftest import run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no unix sockets")

ADVICE = "context-graph stop"


@contextmanager
def fake_hub(folder: Path, version: str, answer: dict[str, object]) -> Iterator[None]:
    """Serve a folder to one client, with the same answer to each request after the handshake."""

    def serve() -> None:
        with listener.accept()[0] as connection, connection.makefile("rwb") as lines:
            for line in lines:
                request = json.loads(line)
                if "id" in request:
                    told = {"result": {}} if request["method"] == "initialize" else answer
                    lines.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **told}).encode() + b"\n")
                    lines.flush()

    (folder / "log.duckdb").touch()
    HubInfo(pid=os.getpid(), version=version, options=ServeOptions()).write(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / SOCKET))
        listener.listen()
        server = Thread(target=serve)
        server.start()
        yield
        server.join(60)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"error": {"code": -32601, "message": "Method not found"}}, id="unknown method"),
        pytest.param({"error": {"code": -32602, "message": "unknown field"}}, id="unknown parameter"),
        pytest.param({"result": {"memories": {}}}, id="answer without a field"),
    ],
)
def test_what_a_hub_of_another_version_cannot_answer_names_the_version_and_the_command(
    tmp_path: Path, answer: dict[str, object]
) -> None:
    with fake_hub(tmp_path, "0.0.1", answer):
        done = run(tmp_path, "status")
    assert done.exit_code == 1
    assert "0.0.1" in done.stderr
    assert f"{ADVICE} --data {tmp_path}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_doctor_warns_of_a_hub_of_another_version_whose_answer_it_can_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with fake_hub(tmp_path, "0.0.1", {"result": {}}):
        checks = json.loads(run(tmp_path, "doctor", "--json").stdout)["checks"]
    found = {check["name"]: check for check in checks}
    assert [found[name]["verdict"] for name in ("hub", "models")] == ["warning", "warning"]
    assert all(found[name]["advice"].startswith(ADVICE) for name in ("hub", "models"))


def test_what_a_hub_of_this_version_refuses_says_nothing_of_versions(tmp_path: Path) -> None:
    with fake_hub(tmp_path, own_version(), {"error": {"code": -32602, "message": "unknown field"}}):
        done = run(tmp_path, "status")
    assert done.stderr == "context-graph: unknown field\n"


def test_an_answer_that_a_command_reads_before_it_shows_any_names_the_version_too(tmp_path: Path) -> None:
    with fake_hub(tmp_path, "0.0.1", {"result": {"results": []}}):
        done = run(tmp_path, "search", "the ferry", "--namespace", "harbour")
    assert (done.exit_code, ADVICE in done.stderr) == (1, True)


def test_a_change_of_the_code_alone_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = tmp_path / "actors" / "proxy" / "own_version.py"
    code.parent.mkdir(parents=True)
    monkeypatch.setattr(versions, "__file__", str(code))
    told = list[str]()
    for text in ("LIMIT = 1", "LIMIT = 2", "LIMIT = 1"):
        code.write_text(text)
        told.append(own_version())
    assert told[0] == told[2] != told[1]
