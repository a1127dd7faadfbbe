import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple
from uuid import uuid4

import duckdb
import pytest

from events.crypto import wrapping
from events.crypto.keys import KeyRing
from events.storage import chain, database, duckdb_log
from events.storage.chain import GENESIS
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import DurableFile, HeadFile
from events.storage.log import (
    Envelope,
    Head,
    LogBehindError,
    LogCorruptError,
    LogDamagedError,
    LogError,
    LogFullError,
    LogInUseError,
)
from events.vocabulary import Shredded
from tests.events.kills import Fuse, Killed
from tests.events.log_suite import LogSuite, fill, forgotten
from tests.events.samples import draft, stored

ROOT = Path(__file__).parents[3]

WRITER = """
import sys
from pathlib import Path
from events.storage.duckdb_log import DuckDBLog
from tests.events.samples import draft, stored

log = DuckDBLog(Path(sys.argv[1]))
while True:
    batch = log.append([draft(stored(f"memory {log.head.seq}"), actor="writer") for _ in range(3)])
    print(batch[-1].seq, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "it's a log"


@pytest.fixture
def log(folder: Path) -> Iterator[DuckDBLog]:
    log = DuckDBLog(folder)
    yield log
    log.close()


def tamper(folder: Path, *statements: str) -> None:
    """Change the table behind the log's back, with the triggers out of the way."""
    with duckdb.connect(str(folder / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_update ON log; DROP TRIGGER no_delete ON log")
        for statement in statements:
            database.execute(statement)


def reopened(folder: Path) -> list[Envelope]:
    """Open the log, read all of it, close it."""
    log = DuckDBLog(folder)
    try:
        return list(log.read())
    finally:
        log.close()


class TestDuckDBLog(LogSuite):
    """The whole contract."""


def test_everything_is_there_after_reopening(log: DuckDBLog, folder: Path):
    envelopes = [*fill(log, 3), *log.append([draft(stored("kept")), draft(stored("other"))])]
    head = log.head
    log.close()
    again = DuckDBLog(folder)
    assert again.head == head
    assert list(again.read()) == envelopes
    assert again.append([draft(forgotten())])[0].seq == 6
    again.close()
    assert len(reopened(folder)) == 6


def test_the_folder_and_what_tells_secrets_are_the_owners_alone(log: DuckDBLog, folder: Path):
    log.append([draft(stored())])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "keys").stat().st_mode & 0o777 == 0o600
    assert (folder / "head").stat().st_mode & 0o777 == 0o600


def test_a_second_log_on_the_folder_is_refused_in_the_same_process(log: DuckDBLog, folder: Path):
    fill(log, 1)
    with pytest.raises(LogInUseError, match="this process"):
        DuckDBLog(folder)
    assert fill(log, 1)[0].seq == 2


def test_a_log_that_another_process_holds_is_refused_with_its_pid(folder: Path):
    writer = start_writer(folder)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(LogInUseError, match=f"PID {writer.pid}; .*context-graph stop --data"):
            DuckDBLog(folder)
    finally:
        writer.kill()
        writer.communicate(timeout=60)


def start_writer(folder: Path) -> "subprocess.Popen[str]":
    """Start a process that appends without end and prints the number of each event it was promised."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_kill_in_the_middle_of_appends_loses_nothing_that_was_acknowledged(folder: Path):
    rng = random.Random(4)
    for _ in range(3):
        writer = start_writer(folder)
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(rng.randint(1, 40))]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate(timeout=60)
        # The kill may cut a number in two; only whole lines were promised.
        acknowledged += [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        envelopes = reopened(folder)
        assert len(envelopes) >= acknowledged[-1]
        assert len(envelopes) % 3 == 0  # all of a batch or none of it


def test_a_log_whose_folder_was_moved_writes_nothing_where_it_was(log: DuckDBLog, folder: Path) -> None:
    fill(log, 2)
    moved = folder.rename(folder.with_name("moved"))
    folder.mkdir()
    (folder / "log.duckdb.wal").write_text("of another log")
    with pytest.raises(LogError, match="was moved"):
        fill(log, 1)
    log.close()
    assert (folder / "log.duckdb.wal").read_text() == "of another log"
    with closing(DuckDBLog(moved)) as again:
        assert again.head.seq == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE log.main.log SET actor = 'somebody'",
        "DELETE FROM log.main.log",
        "TRUNCATE log.main.log",
        "INSERT OR REPLACE INTO log.main.log SELECT * FROM log.main.log",
    ],
)
def test_the_table_refuses_anything_but_appending(log: DuckDBLog, statement: str):
    envelopes = fill(log, 2)
    with pytest.raises(duckdb.Error):
        log._database.execute(statement)
    assert list(log.read()) == envelopes


def test_the_guards_hold_for_others_who_open_the_file(log: DuckDBLog, folder: Path):
    fill(log, 2)
    log.close()
    with (
        duckdb.connect(str(folder / "log.duckdb")) as database,
        pytest.raises(duckdb.Error, match="the log is append-only"),
    ):
        database.execute("DELETE FROM log")
    assert len(reopened(folder)) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('{outside}')",
        "COPY log.main.log TO '{outside}'",
        "ATTACH '{outside}' AS other",
        "INSTALL httpfs",
        "SET enable_external_access = true",
    ],
)
def test_the_database_can_touch_no_other_file(log: DuckDBLog, tmp_path: Path, statement: str):
    outside = tmp_path / "outside"
    outside.write_text("private")
    with pytest.raises(duckdb.Error):
        log._database.execute(statement.format(outside=outside))
    assert outside.read_text() == "private"


def test_one_flipped_byte_is_found(log: DuckDBLog, folder: Path, tmp_path: Path):
    fill(log, 2)
    log.append([draft(stored())])
    fill(log, 1)
    log.close()
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    tamper(
        copy,
        "UPDATE log SET data = unhex(hex(data)[1:200] || CASE hex(data)[201] WHEN '0' THEN '1' ELSE '0' END"
        " || hex(data)[202:]) WHERE seq = 3",
    )
    damaged = DuckDBLog(copy)
    with pytest.raises(LogCorruptError, match="event 3"):
        list(damaged.read())
    with pytest.raises(LogCorruptError, match="event 3"):
        damaged.get([3])
    assert len(damaged.get([1, 2, 4])) == 3
    damaged.close()
    assert len(reopened(folder)) == 4


def test_an_event_taken_out_of_the_middle_is_missed(log: DuckDBLog, folder: Path):
    fill(log, 4)
    log.close()
    tamper(folder, "DELETE FROM log WHERE seq = 2")
    with pytest.raises(LogCorruptError, match="event 2: it is missing"):
        reopened(folder)


def test_an_older_copy_is_refused_with_the_count_of_what_is_missing(log: DuckDBLog, folder: Path, tmp_path: Path):
    fill(log, 2)
    log.close()
    older = tmp_path / "older"
    shutil.copy(folder / "log.duckdb", older)
    log = DuckDBLog(folder)
    fill(log, 3)
    log.close()
    shutil.copy(older, folder / "log.duckdb")
    with pytest.raises(LogBehindError, match="3 events are missing") as refusal:
        DuckDBLog(folder)
    assert (refusal.value.found, refusal.value.acknowledged) == (2, 5)


def test_a_log_whose_wal_was_deleted_is_refused(folder: Path):
    writer = start_writer(folder)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(5)][-1]
    writer.kill()
    writer.communicate(timeout=60)
    (folder / "log.duckdb.wal").unlink()
    with pytest.raises(LogBehindError) as refusal:
        DuckDBLog(folder)
    assert refusal.value.found == 0
    assert refusal.value.acknowledged >= acknowledged


def test_a_log_with_another_end_than_was_acknowledged_is_refused(tmp_path: Path):
    for name in ("start", "one", "two"):
        if name != "start":
            shutil.copytree(tmp_path / "start", tmp_path / name)
        log = DuckDBLog(tmp_path / name)
        fill(log, 3)
        log.close()
    shutil.copy(tmp_path / "two" / "log.duckdb", tmp_path / "one" / "log.duckdb")
    with pytest.raises(LogCorruptError, match="event 6: it isn't the event that was acknowledged"):
        DuckDBLog(tmp_path / "one")


def test_the_log_of_another_store_is_refused(tmp_path: Path):
    for name in ("one", "two"):
        log = DuckDBLog(tmp_path / name)
        fill(log, 3)
        log.close()
    shutil.copy(tmp_path / "two" / "log.duckdb", tmp_path / "one" / "log.duckdb")
    with pytest.raises(LogCorruptError, match="event 3: its content doesn't match its hash"):
        DuckDBLog(tmp_path / "one")


def test_a_log_without_its_head_file_is_refused(log: DuckDBLog, folder: Path):
    fill(log, 2)
    log.close()
    (folder / "head").unlink()
    with pytest.raises(LogError, match="head file is missing"):
        DuckDBLog(folder)


@pytest.mark.parametrize("name", ["log.duckdb", "keys"])
def test_where_a_file_of_the_log_is_missing_no_new_one_takes_its_place(log: DuckDBLog, folder: Path, name: str):
    fill(log, 4)
    log.close()
    (folder / name).unlink()
    (folder / "log.duckdb.wal").write_bytes(b"what wasn't folded in")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(LogError, match=f"{name} is missing"):
        DuckDBLog(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_events_that_a_crash_left_unacknowledged_are_kept(log: DuckDBLog, folder: Path, tmp_path: Path):
    fill(log, 2)
    shutil.copy(folder / "head", tmp_path / "head")
    envelopes = [*log.read(), *fill(log, 2)]
    log.close()
    shutil.copy(tmp_path / "head", folder / "head")
    assert reopened(folder) == envelopes


def full(*_: object) -> None:
    raise OSError("no space left on device")


@pytest.mark.parametrize("part", ["insert", "_head_file.write", "_keys.create"])
def test_after_a_failed_append_the_log_takes_no_more(
    log: DuckDBLog, folder: Path, monkeypatch: pytest.MonkeyPatch, part: str
):
    fill(log, 2)
    before = log.head
    owner, _, name = part.rpartition(".")
    monkeypatch.setattr(getattr(log, owner) if owner else database, name, full)
    with pytest.raises(LogError, match="outcome is unknown"):
        fill(log, 1)
    monkeypatch.undo()
    with pytest.raises(LogError, match="outcome is unknown"):
        fill(log, 1)
    assert log.head == before
    assert len(list(log.read())) == 2
    log.close()
    assert len(reopened(folder)) == (3 if part == "_head_file.write" else 2)


def test_a_key_that_was_reserved_need_not_be_waited_for(log: DuckDBLog, folder: Path, monkeypatch: pytest.MonkeyPatch):
    memory, stray = draft(stored("The tide is high at noon.")), uuid4()
    log.reserve([memory.id, stray])
    reserved = (folder / "keys").read_bytes()
    monkeypatch.setattr(DurableFile, "write", lambda *_: pytest.fail("nothing is left to wait for"))
    assert memory.id.bytes in reserved
    assert log.append([memory])[0].event == memory.event
    assert (folder / "keys").read_bytes() == reserved
    log.close()
    with closing(DuckDBLog(folder)) as again:
        assert [envelope.event for envelope in again.read()] == [memory.event]


class Usage(NamedTuple):
    free: int


def test_a_full_disk_refuses_an_append_before_anything_is_written(
    log: DuckDBLog, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    envelopes = fill(log, 2)
    before = {
        path.name: path.read_bytes() for path in folder.iterdir() if path.name in {"head", "keys", "log.duckdb.wal"}
    }
    for free in (0, 64 * 2**20):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: Usage(free))
        with pytest.raises(LogFullError, match=rf"{free:,} bytes left, and 67,\d\d\d,\d\d\d are needed"):
            log.append([draft(stored())])
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert list(log.read()) == envelopes
    monkeypatch.undo()
    assert log.append([draft(stored())])[0].seq == 3
    log.close()
    assert len(reopened(folder)) == 3


def test_a_larger_batch_and_a_longer_wal_need_more_room(log: DuckDBLog, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(64 * 2**20 + 2**20))
    log.append([draft(stored())])
    with pytest.raises(LogFullError):
        log.append([draft(stored(metadata={"much": token_hex(2**18)}))])
    while (folder / "log.duckdb.wal").stat().st_size < 2**20:
        monkeypatch.undo()
        log.append([draft(stored(str(log.head.seq))) for _ in range(40)])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(64 * 2**20 + 2**20))
    with pytest.raises(LogFullError):
        fill(log, 1)
    log.checkpoint()
    fill(log, 1)


def test_a_commit_that_the_database_refuses_is_a_log_error(log: DuckDBLog):
    fill(log, 1)
    log._writer.close()
    with pytest.raises(LogError, match="outcome is unknown"):
        fill(log, 1)


def test_an_erased_memory_leaves_no_key_in_any_file(log: DuckDBLog, folder: Path):
    memory, kept = log.append([draft(stored("a secret of some length")), draft(stored("kept"))])
    key, other = (log._keys._key(envelope.id) for envelope in (memory, kept))
    assert key is not None
    assert other is not None
    log.shred([memory.id])
    log.checkpoint()
    log.close()
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert other in content  # so the search would find a key
    assert key not in content
    assert b"a secret" not in content
    assert [envelope.event for envelope in reopened(folder)] == [Shredded(kind="memory_stored.3"), kept.event]


def test_content_stands_in_no_file_as_it_was_said(log: DuckDBLog, folder: Path):
    log.append([draft(stored("the launch code is 0000 and the cat is called Schroedinger"))])
    assert all(b"Schroedinger" not in path.read_bytes() for path in folder.iterdir())
    log.close()
    assert all(b"Schroedinger" not in path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("part", [3, 20, 50], ids=["id", "key", "crc"])
def test_a_damaged_key_is_reported_and_never_taken_for_an_erasure(log: DuckDBLog, folder: Path, part: int):
    fill(log, 1)
    log.append([draft(stored())])
    log.close()
    keys = bytearray((folder / "keys").read_bytes())
    keys[-64 + part] ^= 1
    (folder / "keys").write_bytes(keys)
    with pytest.raises(LogCorruptError, match="event 2: the key of event"):
        reopened(folder)


def test_a_checkpoint_may_come_while_somebody_reads(log: DuckDBLog):
    envelopes = fill(log, 600)
    reader = log.read()
    got = [next(reader)]
    log.checkpoint()
    assert [*got, *reader] == envelopes


def test_an_empty_log_has_no_end_to_lose(log: DuckDBLog, folder: Path):
    log.close()
    again = DuckDBLog(folder)
    assert again.head == GENESIS == Head(0, bytes(32))
    again.close()


@pytest.mark.parametrize("passphrase", [None, "open sesame"])
def test_a_log_whose_creation_was_killed_is_created(
    folder: Path, monkeypatch: pytest.MonkeyPatch, passphrase: str | None
):
    monkeypatch.setattr(wrapping, "_MEMORY", 2**4)
    steps = [
        (database, "connect"),
        (duckdb_log, "KeyRing"),
        (duckdb_log, "HeadFile"),
        (database, "create_schema"),
        (HeadFile, "write"),
        (duckdb_log, "write_format"),
        (Path, "replace"),
        (chain, "key_chain"),
        (KeyRing, "key_chain"),
    ]
    for number in range(len(steps)):
        with monkeypatch.context() as patched:
            unless_killed = Fuse(number)
            for owner, name in steps:
                patched.setattr(owner, name, unless_killed(getattr(owner, name)))
            with pytest.raises(Killed):
                DuckDBLog(folder / str(number), passphrase)
        with closing(DuckDBLog(folder / str(number), passphrase)) as log:
            assert fill(log, 1)[0].seq == 1


@pytest.mark.parametrize("emptied", [False, True])
def test_a_log_without_its_head_file_is_refused_though_it_shows_no_event(
    log: DuckDBLog, folder: Path, tmp_path: Path, *, emptied: bool
):
    fill(log, 2)
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "log.duckdb.wal").unlink()
    (copy / "head").write_bytes(b"") if emptied else (copy / "head").unlink()
    with pytest.raises(LogDamagedError, match="head file is missing"):
        DuckDBLog(copy)


def test_what_was_read_does_not_stay_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(database, "_READ_MEMORY", "1MB")
    with closing(DuckDBLog(folder)) as log:
        log.append([draft(stored(metadata={"long": token_hex(4_000)})) for _ in range(400)])
    with closing(DuckDBLog(folder)) as log, log.cursor() as cursor:
        cursor.execute("SELECT sum(octet_length(data)) FROM log.main.log")
        assert cursor.fetchall()[0][0] > 5_000_000
        assert held(cursor) > 2_000_000
        assert sum(1 for _ in log.read()) == 400
        assert held(cursor) < 2_000_000
        assert cursor.execute("SELECT current_setting('memory_limit')").fetchall() == [("953.6 MiB",)]


def held(cursor: duckdb.DuckDBPyConnection) -> int:
    (found,) = cursor.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
    return int(found[0])
