"""What a person does to keep a store: check it, copy it, put it back, lock it; and all commands beside a server."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from actors.hub.composition import open_hub
from actors.store.messages import TakeSnapshot
from tests.acceptance.conftest import COMMAND, PATIENCE, Server
from tests.actors.cli.conftest import run, run_json

DOG = "Mara's dog is called Bo."
KEY = "The boathouse key hangs behind the red canoe."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "store"
    for text in (DOG, KEY):
        run_json(folder, "store", text)
    return folder


@pytest.fixture
def kept(made: Path, tmp_path: Path) -> Path:
    """A closed store with two memories."""
    return shutil.copytree(made, tmp_path / "data")


@pytest.fixture
def served(kept: Path, servers: Callable[[], Server]) -> Iterator[Server]:
    """A server on such a store."""
    assert kept.name == "data", "where servers look"
    server = servers().greeted()
    server.call("memory_search", query="dog")
    yield server
    server.close()


def flip(path: Path, offset: int) -> None:
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def contents(data: Path, query: str) -> list[str]:
    return [hit["content"] for hit in run_json(data, "search", query)["results"]]


# ── is it sound ─────────────────────────────────────────────────────────────────────────────────────


def test_a_sound_store_is_called_sound_and_not_touched(kept: Path) -> None:
    before = files(kept)
    done = run(kept, "verify", "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["sound"], report["problems"], report["first_bad"]) == (0, True, [], None)
    assert report["events"] == report["head"]["seq"] == report["acknowledged"]
    assert report["sealed"] == 2
    assert run(kept, "verify").stdout.startswith("sound: ")
    assert files(kept) == before


def test_a_damaged_store_names_the_damage_and_is_quarantined_on_request(kept: Path) -> None:
    head = json.loads(run(kept, "verify", "--json").stdout)["head"]
    flip(kept / "log.duckdb", (kept / "log.duckdb").read_bytes().index(bytes.fromhex(head["hash"])))
    before = files(kept)
    done = run(kept, "verify")
    assert (done.exit_code, "damaged" in done.stdout) == (1, True)
    assert files(kept) == before
    moved = json.loads(run(kept, "verify", "--quarantine", "--json").stdout)["quarantine"]
    aside = files(Path(moved))
    assert {name: aside[name] for name in ("log.duckdb", "keys", "head")} == {
        name: before[name] for name in ("log.duckdb", "keys", "head")
    }
    assert "no store" in run(kept, "search", "dog").stderr


def test_a_store_that_cannot_be_checked_is_not_called_damaged(tmp_path: Path, kept: Path) -> None:
    assert run(tmp_path / "nowhere", "verify").exit_code == 3
    (kept / "keys").write_bytes(b"")
    assert run(kept, "verify").exit_code == 1


def test_a_changed_byte_in_a_snapshot_is_named_and_costs_only_a_replay(kept: Path) -> None:
    with open_hub(kept) as hub:
        assert hub.store.ask(TakeSnapshot(), timeout=PATIENCE)
    assert run(kept, "verify").exit_code == 0
    large = max((kept / "snapshot").rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0)
    flip(large, large.stat().st_size // 2)
    done = run(kept, "verify")
    assert (done.exit_code, "snapshot/" in done.stdout, "nothing, a start takes longer" in done.stdout) == (
        1,
        True,
        True,
    )
    assert contents(kept, "Where is the key?") == [KEY, DOG]
    assert run(kept, "verify").exit_code == 0, "the start removed it"


def test_a_running_server_checks_its_own_store(kept: Path, served: Server) -> None:
    served.call("store_memory", content="The ferry leaves at noon.")
    report = run_json(kept, "verify")
    assert (report["sound"], report["sealed"]) == (True, 3)


# ── copies ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_of_a_store_in_use_is_a_store_and_can_be_put_back(kept: Path, served: Server, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert re.match(r"copied \d+ events to", run(kept, "backup", str(copy)).stdout)
    served.call("store_memory", content="This came after the backup.")
    assert run(kept, "backup", str(copy)).exit_code == 1, "it is there already"
    assert run(tmp_path / "new", "restore", str(copy)).exit_code == 0
    assert contents(tmp_path / "new", "Where is the key?") == [KEY, DOG]
    assert run(copy, "verify").exit_code == 0
    before = {name: content for name, content in files(copy).items() if name in ("log.duckdb", "keys", "head")}
    assert contents(copy, "Where is the key?") == [KEY, DOG]
    assert "this is a backup" in run(copy, "store", "One more.").stderr
    assert before.items() <= files(copy).items(), "looking into a backup changes nothing"
    assert run(tmp_path / "again", "restore", str(copy)).exit_code == 0


def test_restoring_a_backup_needs_replace_and_keeps_the_present_store(kept: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run_json(kept, "backup", str(copy))
    later = run_json(kept, "store", "This came after the backup.")["fingerprintId"]
    refused = run(kept, "restore", str(copy))
    assert (refused.exit_code, "replac" in refused.stderr) == (1, True)
    answer = run_json(kept, "restore", str(copy), "--replace")
    assert set(contents(kept, "What came after the backup?")) == {DOG, KEY}
    assert later in json.dumps(run_json(Path(answer["replaced"]), "search", "after the backup"))


def test_a_damaged_backup_is_refused_and_nothing_happens(kept: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run_json(kept, "backup", str(copy))
    flip(copy / "log.duckdb", (copy / "log.duckdb").stat().st_size // 2)
    before = files(kept)
    assert run(kept, "restore", str(copy), "--replace").exit_code == 1
    assert files(kept) == before


def test_no_backup_is_restored_under_a_running_server(kept: Path, served: Server, tmp_path: Path) -> None:
    run_json(kept, "backup", str(tmp_path / "copy"))
    done = run(kept, "restore", str(tmp_path / "copy"), "--replace")
    assert (done.exit_code, "open" in done.stderr) == (1, True)
    assert len(served.call("memory_search", query="dog")["structuredContent"]["results"]) == 2


# ── a passphrase ────────────────────────────────────────────────────────────────────────────────────


def test_behind_a_passphrase_nothing_opens_without_it(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse\n")
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE_FILE", str(secret))
    assert run(kept, "passphrase").exit_code == 0
    assert contents(kept, "Where is the key?")[0] == KEY
    run_json(kept, "backup", str(tmp_path / "copy"))
    monkeypatch.delenv("CONTEXT_GRAPH_PASSPHRASE_FILE")
    for folder in (kept, tmp_path / "copy"):
        refused = run(folder, "search", "key")
        assert (refused.exit_code, "passphrase" in refused.stderr) == (1, True)
        assert run(folder, "verify").exit_code == 3
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", "battery staple")
    assert "wrong" in run(kept, "status").stderr
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", "correct horse")
    assert run(kept, "passphrase", "--remove").exit_code == 0
    monkeypatch.delenv("CONTEXT_GRAPH_PASSPHRASE")
    assert contents(kept, "Where is the key?")[0] == KEY


@pytest.mark.parametrize("given", ["Schlüssel im Schrank".encode(), b"Schl\xfcssel im Schrank"])
def test_a_passphrase_is_the_bytes_of_its_variable_in_every_locale(tmp_path: Path, given: bytes) -> None:
    for locale in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        command = [COMMAND, "store", DOG, "--no-hub", "--data", str(tmp_path / "data")]
        environment = os.environ | locale | {"CONTEXT_GRAPH_PASSPHRASE": os.fsdecode(given)}
        subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=True)


def test_a_new_store_is_behind_the_passphrase_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", "correct horse")
    run_json(tmp_path / "data", "store", DOG)
    monkeypatch.delenv("CONTEXT_GRAPH_PASSPHRASE")
    assert run(tmp_path / "data", "search", "dog").exit_code == 1


# ── beside a server ─────────────────────────────────────────────────────────────────────────────────


def test_every_command_works_while_a_server_has_the_store_and_says_what_the_server_knows(
    kept: Path, served: Server
) -> None:
    memory: Any = run_json(kept, "store", "The ferry leaves at noon.", "--namespace", "harbour")["fingerprintId"]
    found = served.call("search_graph", query="When does the ferry leave?")["structuredContent"]["results"]
    assert found[0]["fingerprintId"] == memory
    assert run_json(kept, "status")["memories"]["live"] == 3
    run_json(kept, "forget", memory, "--reason", "outdated")
    assert memory not in json.dumps(served.call("search_graph", query="ferry")["structuredContent"])
    assert f"{memory} is back" in run(kept, "restore", memory).stdout
    assert run_json(kept, "schedule", "--pause")["paused"]
    assert served.call("get_dream_status")["structuredContent"]["scheduler"]["paused"]
    words = [event["what"] for event in run_json(kept, "history", memory)["events"]]
    assert any("outdated" in what for what in words)
    done = run(kept, "search", "x", "-k", "0")
    assert (done.exit_code, "top_k" in done.stderr) == (1, True)
    assert run(kept, "consolidate", "--dry-run").exit_code == 0
    assert run(kept, "replay").exit_code == 0


# ── what is left of a damaged store ─────────────────────────────────────────────────────────────────


def damage_first_memory(data: Path) -> None:
    with duckdb.connect(str(data / "log.duckdb"), read_only=True) as database:
        rows = database.execute("SELECT data FROM log WHERE kind LIKE 'memory_stored%' ORDER BY seq").fetchall()
    path, piece = data / "log.duckdb", rows[0][0][1_000:1_064]
    path.write_bytes(path.read_bytes().replace(piece, bytes(64)))  # blocks that a checkpoint freed hold it too


def test_a_damaged_store_is_read_as_far_as_it_can_be_proved_and_repaired_into_a_sound_one(
    kept: Path, tmp_path: Path
) -> None:
    damage_first_memory(kept)
    assert contents(kept, "where is the boathouse key")[0] == KEY
    assert contents(kept, DOG) == [KEY], "the other memory is lost"
    for limits in ((), ("--namespace", "elsewhere"), ("--as-of", "4")):
        found = run(kept, "search", DOG, *limits)
        assert (found.exit_code, "has lost memories, which this answer lacks" in found.stderr) == (0, True), limits
    refused = run(kept, "store", "One more.")
    assert refused.exit_code == 1
    assert f"repair --data {kept} NEW_FOLDER" in refused.stderr
    assert "read-only" in run(kept, "status").stdout

    sound = tmp_path / "sound"
    assert [one["memories"] for one in run_json(kept, "repair", str(sound))["lost"]] == [1]
    assert run(sound, "verify").exit_code == 0
    run_json(sound, "store", "One more.")
    assert set(contents(sound, "key")) == {KEY, "One more."}
    assert not run(sound, "search", "key").stderr
    assert "it was lost, because the store was damaged" in run(sound, "audit").stdout


def test_a_store_of_which_nothing_can_be_proved_is_repaired_with_status_1(kept: Path, tmp_path: Path) -> None:
    log, sound = kept / "log.duckdb", tmp_path / "sound"
    with duckdb.connect(str(log), read_only=True) as database:
        hashes = [one for (one,) in database.execute("SELECT hash FROM log").fetchall()]
    content = log.read_bytes()
    for one in hashes:
        content = content.replace(one, bytes(len(one)))
    log.write_bytes(content)
    shutil.rmtree(kept / "snapshot", ignore_errors=True)
    done = run(kept, "repair", str(sound))
    assert done.exit_code == 1
    assert "copied 0 of 5 events" in done.stdout
    assert "nothing of it can be proved" in done.stdout


def test_doctor_fails_while_a_hub_serves_a_damaged_store_read_only(kept: Path, servers: Callable[[], Server]) -> None:
    damage_first_memory(kept)
    server = servers().greeted()
    server.call("memory_search", query="dog")
    done = run(kept, "doctor", "--json")
    (log,) = (check for check in json.loads(done.stdout)["checks"] if check["name"] == "log")
    assert (done.exit_code, log["verdict"]) == (1, "failed")
    assert "read-only" in log["found"]
    assert "repair NEW_FOLDER" in log["found"]
    server.close()
