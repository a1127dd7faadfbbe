"""Upgrading stores that earlier versions wrote, with a copy to go back to."""

import errno
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli.commands import program
from events.crypto.keys import KeyRing
from events.recovery.backup import restore
from events.recovery.safety_copy import copy_before, safety_copies
from events.storage.database import DATABASE
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import LogError, LogInUseError
from events.verify.verification import verify
from tests.events.log_suite import fill
from tests.fixtures.stores.unpacking import unpack
from tests.sampling import sampled


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*arguments: object) -> str:
    result = CliRunner().invoke(program, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_an_upgrade_says_before_and_afterwards_what_it_changes_and_can_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    words = unpack("locked", store).passphrase
    assert words is not None
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", words)
    before = files(store)
    said = run("upgrade", "--dry-run", "--data", store)
    assert [word in said for word in (f"format 1 becomes {FORMAT}", "keyed hashes", "Argon2id", "nothing was")] == [
        True
    ] * 4
    assert files(store) == before
    assert [path.name for path in tmp_path.iterdir()] == ["store"]

    assert f"restore {tmp_path}" in run("upgrade", "--data", store)
    keys = KeyRing.of((store / "keys").read_bytes(), words)
    assert (keys.chain is not None, keys.header.by_scrypt) == (True, False)
    assert format_of(store) == FORMAT
    assert verify(store, words).problems == ()
    assert "nothing changes" in run("upgrade", "--data", store)

    (copy,) = safety_copies(store)
    assert copy.operation == "upgrade"
    run("restore", copy.folder, "--data", store, "--replace")
    after = files(store)
    assert {name: after[name] for name in ("keys", "head")} == {name: before[name] for name in ("keys", "head")}
    assert format_of(store) == 1
    assert verify(store, words).problems == ()


@pytest.mark.parametrize("name", ["first", "plain", "keyed"])
def test_the_copy_is_of_the_format_that_the_store_had(tmp_path: Path, name: str) -> None:
    store = tmp_path / "store"
    unpack(name, store)
    before = files(store)
    run("upgrade", "--data", store)
    (copy,) = safety_copies(store)
    assert '"format":1' in (copy.folder / "backup.json").read_text()
    assert {one: files(copy.folder)[one] for one in ("keys", "head")} == {one: before[one] for one in ("keys", "head")}
    assert KeyRing.of((store / "keys").read_bytes()).chain is not None


@sampled("name", ["first", "plain", "keyed"])
def test_commands_that_read_or_copy_leave_a_store_of_an_earlier_version_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = tmp_path / "store"
    unpack(name, store)
    before, backup = files(store), tmp_path / "backup"
    assert "context-graph upgrade" in run("status", "--data", store)
    run("audit", "--data", store)
    assert "events, all sound, in format 1 → run context-graph upgrade" in run("doctor", "--data", store)
    run("backup", backup, "--data", store)
    assert {one: content for one, content in files(store).items() if one != "latencies.json"} == before
    assert {one: files(backup)[one] for one in ("keys", "head")} == {one: before[one] for one in ("keys", "head")}
    run("restore", backup, "--data", tmp_path / "again")
    assert (format_of(tmp_path / "again"), verify(tmp_path / "again").problems) == (1, ())


def test_doctor_and_backup_name_the_damage_of_a_store_of_an_earlier_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = tmp_path / "store"
    unpack("keyed", store)
    (store / "head").write_bytes(b"\xff" * 1024)
    for command in (["doctor"], ["backup", tmp_path / "backup"]):
        result = CliRunner().invoke(program, [*map(str, command), "--data", str(store)])
        assert (result.exit_code, "context-graph verify" in " ".join(result.output.split())) == (1, True)
    assert not (tmp_path / "backup").exists()


def test_a_backup_inside_the_folder_of_the_store_is_refused(log: DuckDBLog) -> None:
    fill(log, 3)
    log.close()
    result = CliRunner().invoke(program, ["backup", str(log.folder / "copies" / "one"), "--data", str(log.folder)])
    assert (result.exit_code, "inside the store's folder" in result.output) == (1, True)
    assert not (log.folder / "copies").exists()


@pytest.mark.parametrize("reason", [errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP])
@pytest.mark.parametrize("copied", [0, 100])
def test_a_copy_is_made_where_the_file_system_can_not_share_blocks(
    log: DuckDBLog, monkeypatch: pytest.MonkeyPatch, reason: int, copied: int
) -> None:
    def refuse(source: int, target: int, _count: int) -> int:
        os.write(target, os.read(source, copied))
        raise OSError(reason, os.strerror(reason))

    fill(log, 3)
    log.close()
    monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    copy = copy_before(log.folder, "repair", None)
    assert verify(copy).problems == ()


def test_a_damaged_store_is_not_upgraded(tmp_path: Path) -> None:
    store = tmp_path / "store"
    unpack("plain", store)
    content = bytearray((store / "keys").read_bytes())
    content[100] ^= 1
    (store / "keys").write_bytes(content)
    before = files(store)
    result = CliRunner().invoke(program, ["upgrade", "--data", str(store)])
    assert (result.exit_code, "context-graph repair" in " ".join(result.stderr.split())) == (1, True), result.output
    assert files(store) == before
    assert safety_copies(store) == []


@pytest.fixture
def log(tmp_path: Path) -> DuckDBLog:
    log = DuckDBLog(tmp_path / "store")
    fill(log, 5)
    return log


def test_of_each_operation_the_latest_copy_is_kept_and_restores(log: DuckDBLog, tmp_path: Path) -> None:
    with pytest.raises(LogInUseError):
        copy_before(log.folder, "repair", None)
    log.close()
    copies = [copy_before(log.folder, operation, None) for operation in ("repair", "reembed", "repair")]
    assert [one.folder for one in safety_copies(log.folder)] == [copies[1], copies[2]]
    restore(copies[2], tmp_path / "other")
    again = DuckDBLog(tmp_path / "other")
    assert again.head == log.head
    again.close()


def test_a_copy_contains_what_is_in_the_write_ahead_log_alone(log: DuckDBLog, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir(mode=0o700)
    for path in log.folder.iterdir():
        (killed / path.name).write_bytes(path.read_bytes())
    assert (killed / f"{DATABASE}.wal").stat().st_size
    copy = copy_before(killed, "repair", None)
    assert verify(copy).head == log.head
    log.close()


def test_too_little_room_for_a_copy_is_said_before_anything_is_done(
    log: DuckDBLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.close()
    before = files(log.folder.parent)
    monkeypatch.setattr("events.storage.room._RESERVE", 2**60)
    with pytest.raises(LogError, match="bytes left"):
        copy_before(log.folder, "reembed", None)
    assert files(log.folder.parent) == before
