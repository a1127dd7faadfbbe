"""A store of a later version is refused by name, and never called damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli.commands import program
from events.recovery.backup import back_up, quarantine, restore
from events.recovery.repair import repair
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import LogDamagedError, LogError
from events.verify.verification import verify
from tests.events.log_suite import fill


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed store with a backup beside it."""
    log = DuckDBLog(tmp_path / "store")
    fill(log, 3)
    back_up(log, tmp_path / "backup")
    log.close()
    return tmp_path / "store"


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def reopened(folder: Path) -> None:
    DuckDBLog(folder).close()


@pytest.mark.parametrize(
    "use",
    [
        reopened,
        lambda folder: DuckDBLog(folder, read_only="to look"),
        verify,
        quarantine,
        lambda folder: repair(folder, folder.with_name("repaired")),
    ],
    ids=["open", "open read-only", "verify", "quarantine", "repair"],
)
def test_a_store_of_a_later_version_is_refused_and_left_as_it_is(store: Path, use: Callable[[Path], object]) -> None:
    (store / "format").write_text(f"{FORMAT + 1}\n")
    before = files(store.parent)
    with pytest.raises(LogError, match="later version") as refusal:
        use(store)
    assert not isinstance(refusal.value, LogDamagedError)
    assert files(store.parent) == before


def test_commands_say_so_in_one_sentence_and_verify_does_not_call_it_damaged(store: Path) -> None:
    (store / "format").write_text(f"{FORMAT + 1}\n")
    before = files(store)
    for arguments, status in ((["status"], 1), (["verify", "--quarantine"], 3), (["export", "-"], 1)):
        result = CliRunner().invoke(program, [*arguments, "--data", str(store)])
        assert (result.exit_code, "later version" in result.stderr) == (status, True), result.stderr
        assert "damaged" not in result.output
        assert len(result.stderr.splitlines()) == 1
    assert files(store) == before


def test_a_backup_of_a_later_version_is_refused(store: Path) -> None:
    manifest = store.with_name("backup") / "backup.json"
    manifest.write_text(manifest.read_text().replace(f'"format":{FORMAT}', f'"format":{FORMAT + 1},"new":1'))
    with pytest.raises(LogError, match="later version"):
        restore(manifest.parent, store.with_name("other"))


def test_a_store_without_a_number_is_opened_and_gets_one(store: Path) -> None:
    (store / "format").unlink()
    reopened(store)
    assert format_of(store) == FORMAT
    assert verify(store).problems == ()


def test_a_file_without_a_number_is_named(store: Path) -> None:
    (store / "format").write_text("newest")
    with pytest.raises(LogError, match="format holds no number"):
        reopened(store)


def test_a_changed_byte_leaves_the_number_and_is_mended(store: Path) -> None:
    path = store / "format"
    whole = path.read_bytes()
    assert whole[:16].strip() == b"%d" % FORMAT, "earlier versions look there"
    for place in range(len(whole)):
        for mask in (1, 0x80):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
            assert format_of(store) == FORMAT, place
            (problem,) = verify(store).problems
            assert problem.file == "format"
    reopened(store)
    assert path.read_bytes() == whole
    assert verify(store).problems == ()
