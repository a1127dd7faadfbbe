import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event, Lock

import pytest

from events.crypto import wrapping
from events.recovery import backup
from events.recovery.backup import back_up, quarantine, restore
from events.storage import replacement
from events.storage.chain import Row
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, LogCorruptError, LogError, LogInUseError, PassphraseError
from events.verify.verification import verify
from events.vocabulary import Shredded
from tests.events.kills import Fuse, Killed
from tests.events.log_suite import fill
from tests.events.samples import draft, stored
from tests.sampling import sampled


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DuckDBLog]:
    with closing(DuckDBLog(tmp_path / "store")) as log:
        yield log


@pytest.fixture
def envelopes(log: DuckDBLog) -> list[Envelope]:
    return fill_both(log)


@pytest.fixture
def target(log: DuckDBLog, envelopes: list[Envelope], tmp_path: Path) -> Path:
    """A backup of the log with these events."""
    return made(log, tmp_path / "backup")


def fill_both(log: DuckDBLog) -> list[Envelope]:
    """Append 30 events, ten of them memories."""
    for number in range(10):
        log.append([draft(stored(f"memory {number}"))])
        fill(log, 2)
    return list(log.read())


def content(folder: Path, passphrase: str | None = None) -> list[Envelope]:
    """Open a store, read all of it, close it."""
    with closing(DuckDBLog(folder, passphrase)) as log:
        return list(log.read())


def files(folder: Path) -> dict[str, bytes]:
    """Return what is in each file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def made(log: DuckDBLog, target: Path) -> Path:
    """Make a backup."""
    back_up(log, target)
    return target


def test_a_backup_is_a_store_that_stands_by_itself(log: DuckDBLog, tmp_path: Path):
    envelopes = fill_both(log)
    told: list[tuple[int, int]] = []
    head = back_up(log, tmp_path / "backup", lambda done, total: told.append((done, total)))
    assert head == log.head
    assert told == [(30, 30)]
    fill(log, 3)
    assert sorted(path.name for path in (tmp_path / "backup").iterdir()) == [
        "backup.json",
        "format",
        "head",
        "keys",
        "log.duckdb",
    ]
    assert verify(tmp_path / "backup").problems == ()
    assert content(tmp_path / "backup") == envelopes
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700


def test_an_empty_log_can_be_backed_up(log: DuckDBLog, tmp_path: Path):
    restore(made(log, tmp_path / "backup"), tmp_path / "other")
    assert content(tmp_path / "other") == []


def test_a_backup_holds_no_key_of_what_was_erased(log: DuckDBLog, tmp_path: Path):
    fill_both(log)
    memory = log.get([1])[0]
    key = log.keys._key(memory.id)
    assert key is not None
    log.shred([memory.id])
    made(log, tmp_path / "backup")
    assert all(key not in data for data in files(tmp_path / "backup").values())
    assert content(tmp_path / "backup")[0].event == Shredded(kind="memory_stored.3")


def test_what_is_erased_while_it_is_copied_is_erased_in_the_copy(log: DuckDBLog, tmp_path: Path):
    memory = fill_both(log)[0]
    back_up(log, tmp_path / "backup", lambda *_: log.shred([memory.id]))
    assert content(tmp_path / "backup")[0].event == Shredded(kind="memory_stored.3")


def test_a_backup_is_whole_while_others_go_on_writing(log: DuckDBLog, tmp_path: Path):
    fill_both(log)
    enough, turn = Event(), Lock()

    def write() -> int:
        count = 0
        while not enough.is_set():
            with turn:  # the log has one writer at a time
                log.append([draft(stored(f"meanwhile {log.head.seq}"))])
            count += 1
        return count

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write) for _ in range(2)]
        try:
            heads = [back_up(log, tmp_path / f"backup {number}") for number in range(3)]
        finally:
            enough.set()
        assert sum(writer.result(timeout=20) for writer in writers) > 0
    for number, head in enumerate(heads):
        report = verify(tmp_path / f"backup {number}")
        assert (report.head, report.problems) == (head, ())
        assert log.head_at(head.seq) == head
    assert heads[0].seq < heads[2].seq < log.head.seq + 1


@pytest.mark.parametrize("name", ["nul\0l", "x" * 300])
def test_a_target_that_can_have_no_such_name_is_refused_in_a_sentence(log: DuckDBLog, tmp_path: Path, name: str):
    with pytest.raises(LogError, match="can't be written"):
        back_up(log, tmp_path / name)


def test_a_target_that_exists_is_left_alone(log: DuckDBLog, tmp_path: Path):
    (tmp_path / "backup").mkdir()
    with pytest.raises(LogError, match="exists already"):
        back_up(log, tmp_path / "backup")


def test_a_damaged_log_makes_no_backup(log: DuckDBLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fill_both(log)
    rows = DuckDBLog.rows

    def forged(self: DuckDBLog, first: int, last: int) -> Iterator[Row]:
        for row in rows(self, first, last):
            yield row._replace(actor="somebody") if row.seq == 7 else row

    monkeypatch.setattr(DuckDBLog, "rows", forged)
    with pytest.raises(LogCorruptError, match="event 7"):
        back_up(log, tmp_path / "backup")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_restored_backup_goes_on_where_it_ended(
    log: DuckDBLog, envelopes: list[Envelope], target: Path, tmp_path: Path
):
    assert restore(target, tmp_path / "new" / "store") is None
    again = DuckDBLog(tmp_path / "new" / "store")
    later = fill(again, 1)
    assert list(again.read()) == [*envelopes, *later]
    again.close()
    assert sorted(files(tmp_path / "new")) == ["store/format", "store/head", "store/keys", "store/log.duckdb"]


def test_a_store_is_replaced_only_if_asked_and_never_deleted(
    log: DuckDBLog, envelopes: list[Envelope], target: Path, tmp_path: Path
):
    fill(log, 3)
    with pytest.raises(LogInUseError):
        restore(target, tmp_path / "store", replace=True)
    log.close()
    before = files(tmp_path / "store")
    with pytest.raises(LogError, match="isn't empty"):
        restore(target, tmp_path / "store")
    assert files(tmp_path / "store") == before
    replaced = restore(target, tmp_path / "store", replace=True)
    assert replaced is not None
    assert replaced.name.startswith("store.replaced-2")
    assert files(replaced) == before
    assert content(tmp_path / "store") == envelopes
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "store", replaced.name]


def flipped(target: Path, name: str, at: int) -> None:
    data = bytearray((target / name).read_bytes())
    data[at] ^= 1
    (target / name).write_bytes(data)


def test_nobody_opens_a_store_while_a_backup_takes_its_place(
    log: DuckDBLog, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log.close()
    copied = backup._copy_backup

    def beside_another(*arguments: object) -> None:
        copied(*arguments)
        with pytest.raises(LogInUseError):
            DuckDBLog(tmp_path / "store")

    monkeypatch.setattr(backup, "_copy_backup", beside_another)
    assert restore(target, tmp_path / "store", replace=True) is not None
    assert len(content(tmp_path / "store")) == 30


@pytest.mark.parametrize(
    ("name", "at", "told"),
    [
        ("log.duckdb", 300_000, "log.duckdb: "),
        ("head", 3, "head: neither slot"),
        ("keys", 8_192 + 20, "keys: record 0"),
        ("backup.json", 0, "isn't a backup"),
    ],
)
def test_a_damaged_backup_is_refused_and_the_target_stays(
    log: DuckDBLog, target: Path, tmp_path: Path, name: str, at: int, told: str
):
    flipped(target, name, at)
    log.close()
    before = files(tmp_path / "store")
    with pytest.raises(LogError, match=told):
        restore(target, tmp_path / "store", replace=True)
    assert files(tmp_path / "store") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "store"]


def test_a_folder_that_is_no_backup_is_refused(log: DuckDBLog, target: Path, tmp_path: Path):
    log.close()
    for folder in (tmp_path / "nowhere", tmp_path / "store"):
        with pytest.raises(LogError, match="isn't a backup"):
            restore(folder, tmp_path / "other")
    manifest = json.loads((target / "backup.json").read_text())
    (target / "backup.json").write_text(json.dumps(manifest | {"files": {"../escaped": "00"}}))
    with pytest.raises(LogError, match="names other files"):
        restore(target, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_another_store_in_a_backups_place_is_refused(log: DuckDBLog, target: Path, tmp_path: Path):
    fill(log, 1)
    log.close()
    for name in ("log.duckdb", "head", "keys"):
        shutil.copy(tmp_path / "store" / name, target / name)
    with pytest.raises(LogError, match="isn't what it was when it was made"):
        restore(target, tmp_path / "other")


def test_a_backup_is_behind_the_same_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wrapping, "_MEMORY", 2**4)
    log = DuckDBLog(tmp_path / "store", "open sesame")
    envelopes = fill_both(log)
    target = made(log, tmp_path / "backup")
    log.close()
    for passphrase in (None, "wrong"):
        with pytest.raises(PassphraseError):
            restore(target, tmp_path / "other", passphrase)
    restore(target, tmp_path / "other", "open sesame")
    assert content(tmp_path / "other", "open sesame") == envelopes


def killed_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let the process be killed before this step of a restore."""
    unless_killed = Fuse(step)
    for owner, name in [
        (shutil, "copyfile"),
        (Path, "chmod"),
        (backup, "sync_folder"),
        (replacement, "sync_folder"),
        (Path, "rename"),
    ]:
        monkeypatch.setattr(owner, name, unless_killed(getattr(owner, name)))


STEPS = 11
"""Of a restore that replaces a store."""


@sampled("step", range(STEPS + 1))
def test_a_restore_that_is_killed_leaves_the_old_or_the_new(
    log: DuckDBLog, envelopes: list[Envelope], target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
):
    later = fill(log, 1)
    log.close()
    with monkeypatch.context() as patched:
        killed_at(patched, step)
        if step < STEPS:
            with pytest.raises(Killed):
                restore(target, tmp_path / "store", replace=True)
        else:
            restore(target, tmp_path / "store", replace=True)
    assert content(tmp_path / "store") in ([*envelopes, *later], envelopes)
    restore(target, tmp_path / "store", replace=True)
    assert content(tmp_path / "store") == envelopes


@pytest.mark.parametrize("step", range(1, 6))
def test_a_restore_that_was_killed_between_its_renames_is_finished_where_the_folder_was_made_again(
    log: DuckDBLog, envelopes: list[Envelope], target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
):
    fill(log, 1)
    log.close()
    before = files(tmp_path / "store")
    with monkeypatch.context() as patched:
        killed_at(patched, STEPS - 2)
        with pytest.raises(Killed):
            restore(target, tmp_path / "store", replace=True)
    assert not (tmp_path / "store").exists()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "hub.lock").touch()
    with monkeypatch.context() as patched:
        killed_at(patched, step)
        if step < 5:
            with pytest.raises(Killed):
                DuckDBLog(tmp_path / "store")
    assert content(tmp_path / "store") == envelopes
    (replaced,) = tmp_path.glob("store.replaced-*")
    assert files(replaced) == before
    assert not list(tmp_path.glob("store.restoring-*"))


def test_the_images_of_a_backup_are_put_in_place_where_the_folder_was_made_again(
    log: DuckDBLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (memory,) = (one.id for one in log.append([draft(stored("a photo"))]))
    log.images.write(memory, b"pixels")
    target = made(log, tmp_path / "backup")
    log.close()
    with monkeypatch.context() as patched:
        killed_at(patched, STEPS)  # one more than without an image
        with pytest.raises(Killed):
            restore(target, tmp_path / "store", replace=True)
    assert not (tmp_path / "store").exists()
    (tmp_path / "store").mkdir()
    with closing(DuckDBLog(tmp_path / "store")) as restored:
        assert restored.images.read(memory) == b"pixels"
    assert not list(tmp_path.glob("store.restoring-*"))


def test_a_log_that_was_begun_after_a_restore_was_killed_is_left_alone(
    log: DuckDBLog, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log.close()
    with monkeypatch.context() as patched:
        killed_at(patched, STEPS - 2)
        with pytest.raises(Killed):
            restore(target, tmp_path / "store", replace=True)
    begun = DuckDBLog(tmp_path / "elsewhere")
    envelopes = fill(begun, 2)
    begun.close()
    (tmp_path / "elsewhere").rename(tmp_path / "store")
    assert content(tmp_path / "store") == envelopes


def test_a_store_that_cannot_be_renamed_stays(
    log: DuckDBLog, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log.close()
    before = files(tmp_path / "store")

    def refused(*_: Path) -> None:
        raise OSError(22, "Invalid argument")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refused)
        with pytest.raises(LogError, match="can't be put in place"):
            restore(target, tmp_path / "store", replace=True)
    assert files(tmp_path / "store") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "store"]


def test_quarantined_files_are_all_there_and_a_new_log_can_begin(log: DuckDBLog, tmp_path: Path):
    fill_both(log)
    with pytest.raises(LogInUseError):
        quarantine(tmp_path / "store")
    log.close()
    folder = tmp_path / "store"
    (folder / "snapshot").mkdir()
    (folder / "snapshot" / "atlas.npy").write_bytes(b"much")
    (folder / "log.duckdb.wal").write_bytes(b"garbage")
    (folder / "latencies.json").write_text("{}")
    before = files(folder)
    aside = quarantine(folder)
    assert aside.parent == folder
    assert aside.name.startswith("quarantine-2")
    assert sorted(path.name for path in folder.iterdir()) == ["latencies.json", aside.name]
    assert files(aside) == {name: data for name, data in before.items() if name != "latencies.json"}
    assert content(folder) == []
    with pytest.raises(LogError, match="no store"):
        quarantine(tmp_path)


def test_a_quarantine_that_is_killed_lets_no_new_log_begin(
    log: DuckDBLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fill_both(log)
    log.close()
    rename = Path.rename
    for kept in ("keys", "head"):
        with monkeypatch.context() as patched:

            def rename_but(path: Path, target: Path, kept: str = kept) -> Path:
                if path.name == kept:
                    raise Killed
                return rename(path, target)

            patched.setattr(Path, "rename", rename_but)
            with pytest.raises(Killed):
                quarantine(tmp_path / "store")
        with pytest.raises(LogError, match=r"log\.duckdb is missing"):
            DuckDBLog(tmp_path / "store")
    quarantine(tmp_path / "store")
    assert content(tmp_path / "store") == []


BUILD = """
import sys
from pathlib import Path
from events.storage import replacement
with replacement.building(Path(sys.argv[1])):
    Path(sys.argv[1], "log.duckdb").write_bytes(b"half of a log")
    print("building", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders can't be locked")
@pytest.mark.parametrize("name", ["other.partial", "store.restoring"])
def test_what_a_killed_process_was_building_is_deleted_and_what_another_builds_stays(
    log: DuckDBLog, tmp_path: Path, name: str
):
    fill(log, 2)
    log.close()
    leftover = tmp_path / f"{name}-20260102T030405.000006Z"
    theirs = tmp_path / f"{name}-of mine"
    theirs.mkdir()

    def made_again() -> None:
        log = DuckDBLog(tmp_path / "store")
        shutil.rmtree(made(log, tmp_path / "backup"))
        log.close()

    with subprocess.Popen(
        [sys.executable, "-c", BUILD, leftover], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"building\n"
        made_again()
        assert leftover.exists()
        process.kill()
    made_again()
    assert not leftover.exists()
    assert theirs.exists()
