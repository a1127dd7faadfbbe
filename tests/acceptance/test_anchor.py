"""Anchors through the command line: what nobody can change afterwards, also with every key."""

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli.commands import program
from events.crypto.keys import KeyRing
from events.storage.chain import GENESIS
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import HeadFile
from events.storage.log import LogDamagedError
from tests.events.log_suite import fill


def run(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(program, [str(one) for one in arguments])
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with closing(DuckDBLog(tmp_path / "store")) as log:
        fill(log, 20)
    return tmp_path / "store"


def grow(store: Path) -> None:
    with closing(DuckDBLog(store)) as log:
        fill(log, 5)


def problem(store: Path, anchor: object) -> str:
    answer = json.loads(run("verify", "--data", store, "--anchor", anchor, "--json", status=1))
    (found,) = answer["problems"]
    assert found["file"] == "anchor"
    assert [one["confirmed"] for one in answer["anchors"]] == [False]
    return found["what"]


def test_an_anchor_holds_for_the_store_as_it_grows(store: Path, tmp_path: Path) -> None:
    anchor = run("anchor", "--data", store, "--file", tmp_path / "anchors").strip()
    assert len(anchor) < 250
    grow(store)
    run("anchor", "--data", store, "--file", tmp_path / "anchors")
    for given in (anchor, tmp_path / "anchors"):
        assert "sound" in run("verify", "--data", store, "--anchor", given)
    assert "1 anchor up to event 20 confirmed" in run("verify", "--data", store, "--anchor", anchor)
    both = json.loads(run("verify", "--data", store, "--anchor", tmp_path / "anchors", "--json"))["anchors"]
    assert both == [{"event": 20, "confirmed": True}, {"event": 25, "confirmed": True}]


def test_an_older_state_that_was_put_back_is_found(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "older")
    grow(store)
    anchor = run("anchor", "--data", store).strip()
    assert "sound" in run("verify", "--data", tmp_path / "older")
    assert "cut off" in problem(tmp_path / "older", anchor)


def test_a_log_that_was_rewritten_with_its_key_is_found(store: Path) -> None:
    anchor = run("anchor", "--data", store).strip()
    keys = (store / "keys").read_bytes()
    shutil.rmtree(store)
    store.mkdir(mode=0o700)
    (store / "keys").write_bytes(keys)
    with pytest.raises(LogDamagedError, match="head file is missing"):
        DuckDBLog(store)
    with closing(KeyRing(store / "keys")) as ring, closing(HeadFile(store / "head", ring.chain)) as head:
        head.write(GENESIS)
    with closing(DuckDBLog(store)) as log:  # who has the key makes any other history
        fill(log, 25)
    assert "sound" in run("verify", "--data", store)
    assert "changed or removed" in problem(store, anchor)


def test_an_anchor_that_was_changed_or_comes_from_another_store_is_refused(store: Path, tmp_path: Path) -> None:
    anchor = run("anchor", "--data", store).strip()
    forged = anchor.replace(":20:", ":19:")
    assert "signature" in run("verify", "--data", store, "--anchor", forged, status=3)
    assert "incomplete" in run("verify", "--data", store, "--anchor", f"{anchor}\n{anchor[:-9]}", status=3)
    assert "no anchor in 'nothing of the kind'" in run(
        "verify", "--data", store, "--anchor", "nothing of the kind", status=3
    )
    with closing(DuckDBLog(tmp_path / "other")) as log:
        fill(log, 20)
    assert "another store" in problem(tmp_path / "other", anchor)


def test_an_anchor_can_be_a_note_of_a_repository(store: Path, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git[:3], "config", "user.name", "t"], check=True)
    subprocess.run([*git[:3], "config", "user.email", "t@example.org"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "empty"], check=True)
    anchor = run("anchor", "--data", store, "--git", tmp_path).strip()
    shown = subprocess.run([*git, "notes", "--ref=context-graph", "show"], check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == anchor
