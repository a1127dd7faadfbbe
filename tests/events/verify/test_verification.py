import hashlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import msgspec
import pytest

from events.crypto import wrapping
from events.crypto.chain_key import ChainKey
from events.crypto.keys import KeyRing
from events.crypto.wrapping import KeyHeader
from events.storage import database
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import HeadFile
from events.storage.log import Head, LogError, LogInUseError, PassphraseError
from events.verify.verification import Problem, Report, examine, verify
from tests.events.log_suite import erase, fill
from tests.events.samples import draft, stored
from tests.sampling import sampled

ROOT = Path(__file__).parents[3]
HEADER = len(KeyHeader.create(None, ChainKey.create(1)).content)

KILLED = """
import os, random, sys
from pathlib import Path

os.urandom = random.Random(20261128).randbytes  # of ids and nonces: a flipped bit hits the same in each run
from events.storage.duckdb_log import DuckDBLog
from tests.events.log_suite import erase, fill
from tests.events.samples import draft, stored

log = DuckDBLog(Path(sys.argv[1]))
for half in range(2):
    for number in range(10):
        (memory,) = log.append([draft(stored(f"memory {half} {number}"))])
        fill(log, 2 if number < 9 else 1)
    erase(log, memory.id)
    if not half:
        log.checkpoint()
os.kill(os.getpid(), 9)
"""


def killed(folder: Path) -> Path:
    """Leave a store of 60 events, 30 of them in the WAL, as a process does that is killed."""
    return _copy(_kill, folder)


def closed(folder: Path, passphrase: str | None = None) -> Path:
    """Leave a store of 40 events, ten of them memories, the third of which is erased."""
    return _copy(_close, folder) if passphrase is None else _close(folder, passphrase)


def _copy(make: Callable[[Path], Path], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in _made(make).items():
        (folder / name).touch(mode=0o600)
        (folder / name).write_bytes(content)
    return folder


@cache
def _made(make: Callable[[Path], Path]) -> dict[str, bytes]:
    """Make a store once for all tests; return its files by name."""
    with TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in make(Path(folder)).iterdir()}


def _kill(folder: Path) -> Path:
    process = subprocess.run([sys.executable, "-c", KILLED, str(folder)], cwd=ROOT, check=False, timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert (folder / "log.duckdb.wal").stat().st_size > 100_000
    return folder


def _close(folder: Path, passphrase: str | None = None) -> Path:
    log = DuckDBLog(folder, passphrase)
    for number in range(10):
        (memory,) = log.append([draft(stored(f"memory {number}"))])
        fill(log, 2 if number == 2 else 3)
        if number == 2:
            erase(log, memory.id)
    log.close()
    return folder


def files(folder: Path) -> dict[str, tuple[str, int]]:
    """Describe every file of a folder."""
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in folder.iterdir()
    }


def wal_header(folder: Path) -> int:
    """Return the length of the header of a WAL: up to the last end mark before the size of the first entry.

    The identifier of the database in it is random, and may hold such a mark too.
    """
    return (folder / "log.duckdb.wal").read_bytes().rindex(b"\xff\xff", 0, 44) + 2


def flip(path: Path, at: int) -> None:
    """Change one bit."""
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(content)


def tamper(folder: Path, statement: str) -> None:
    """Change the database behind the log's back, and put the triggers back."""
    with duckdb.connect() as instance:
        instance.execute(f"ATTACH '{folder / 'log.duckdb'}' AS log; USE log")
        instance.execute("DROP TRIGGER no_update ON log; DROP TRIGGER no_delete ON log")
        instance.execute(statement)
        for trigger in database._TRIGGERS:
            instance.execute(trigger)


def only(report: Report, file: str) -> Problem:
    """Return the one problem of a report, which is in this file."""
    (problem,) = report.problems
    assert problem.file == file
    return problem


@pytest.mark.parametrize("make", [closed, killed])
def test_a_sound_store_has_no_problems_and_stays_as_it_is(tmp_path: Path, make: Callable[[Path], Path]):
    folder = make(tmp_path / "it's a store")
    before = files(folder)
    report = verify(folder)
    assert report.problems == ()
    assert report.first_bad is None
    assert files(folder) == before
    total, memories, erased = (40, 10, 1) if make is closed else (60, 20, 2)
    assert (report.events, report.sealed, report.shredded) == (total, memories - erased, erased)
    assert report.head == report.acknowledged
    assert report.head.seq == total


def test_an_empty_store_is_sound(tmp_path: Path):
    DuckDBLog(tmp_path / "store").close()
    report = verify(tmp_path / "store")
    assert (report.events, report.head.seq, report.problems) == (0, 0, ())


def test_where_there_is_no_store_it_says_so_and_makes_none(tmp_path: Path):
    with pytest.raises(LogError, match="no store"):
        verify(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told(tmp_path: Path):
    log = DuckDBLog(tmp_path)
    log.append([draft(stored(str(number))) for number in range(300)])
    log.close()
    told: list[tuple[int, int]] = []
    verify(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told == [(256, 300), (300, 300)]


def verified_elsewhere(folder: Path) -> str:
    """Verify in another process, and return what it says on stderr."""
    program = (
        "import sys; from pathlib import Path; from events.verify.verification import verify; verify(Path(sys.argv[1]))"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, str(folder)], cwd=ROOT, check=False, capture_output=True, text=True, timeout=120
    )
    return process.stderr


def test_a_store_that_is_open_is_refused_and_its_lock_stays(tmp_path: Path):
    log = DuckDBLog(closed(tmp_path))
    with pytest.raises(LogInUseError, match="this process"):
        verify(tmp_path)
    told = verified_elsewhere(tmp_path)
    log.close()
    assert "LogInUseError" in told
    assert f"PID {os.getpid()}" in told
    assert verified_elsewhere(tmp_path) == ""


def test_an_open_log_is_examined_and_keeps_its_lock(tmp_path: Path):
    log = DuckDBLog(closed(tmp_path))
    report = examine(log)
    assert (report.events, report.sealed, report.shredded, report.problems) == (40, 9, 1, ())
    assert fill(log, 1)[0].seq == 41
    assert examine(log).head == log.head
    told = verified_elsewhere(tmp_path)
    log.close()
    assert "LogInUseError" in told


def test_a_key_that_changes_under_an_open_log_is_seen(tmp_path: Path):
    log = DuckDBLog(closed(tmp_path))
    flip(tmp_path / "keys", HEADER + 20)
    problem = only(examine(log), "keys")
    log.close()
    assert "isn't what was read" in problem.what


def test_what_is_lost_is_told_and_the_rest_still_counts(tmp_path: Path):
    folder = closed(tmp_path)
    tamper(folder, "UPDATE log SET actor = 'somebody' WHERE seq BETWEEN 9 AND 15; DELETE FROM log WHERE seq = 30")
    report = verify(folder)
    assert report.first_bad == 9
    assert report.events == 40 - 8
    assert [(problem.seq, problem.what, problem.lost) for problem in report.problems] == [
        (
            9,
            "events 9 to 15 can't be trusted: its content doesn't match its hash",
            "2 memories and 5 other events",
        ),
        (30, "event 30 can't be trusted: missing", "1 event"),
    ]


def test_a_chain_that_was_forged_from_one_event_on_breaks_there(tmp_path: Path):
    closed(tmp_path / "one")
    _close(tmp_path / "two")  # not a copy, which has the same keys
    theirs = str(tmp_path / "two" / "log.duckdb")
    tamper(tmp_path / "one", "DELETE FROM log WHERE seq > 20")
    tamper(tmp_path / "one", f"ATTACH '{theirs}' AS two; INSERT INTO log FROM two.main.log WHERE seq > 20")
    report = verify(tmp_path / "one")
    assert report.first_bad == 21
    assert "it doesn't continue the event before it" in report.problems[0].what


def test_missing_ends_are_counted(tmp_path: Path):
    folder = closed(tmp_path)
    with closing(HeadFile(folder / "head", KeyRing.of((folder / "keys").read_bytes()).chain)) as file:
        file.write(Head(45, bytes(32)))
    problem = only(verify(folder), "log.duckdb")
    assert (problem.seq, problem.lost) == (41, "5 events")
    assert "events 41 to 45 can't be trusted: acknowledged, and missing" in problem.what


def test_events_that_were_not_acknowledged_are_no_problem(tmp_path: Path):
    folder = closed(tmp_path)
    log = DuckDBLog(folder)
    head, before = log.head, (folder / "head").read_bytes()
    fill(log, 2)
    log.close()
    (folder / "head").write_bytes(before)
    report = verify(folder)
    assert (report.head.seq, report.acknowledged, report.problems) == (42, head, ())


def test_another_end_than_was_acknowledged_is_found(tmp_path: Path):
    folder = closed(tmp_path / "one")
    with closing(HeadFile(folder / "head", KeyRing.of((folder / "keys").read_bytes()).chain)) as file:
        file.write(Head(40, bytes(32)))
    problem = only(verify(folder), "log.duckdb")
    assert problem.what == "event 40 can't be trusted: not what was acknowledged"


@pytest.mark.parametrize("at", [3, 30, 100], ids=["seq or hash", "hash", "padding"])
@pytest.mark.parametrize("slot", range(2))
def test_a_flip_in_the_head_file_is_found(tmp_path: Path, slot: int, at: int):
    path = closed(tmp_path) / "head"
    if slot * 512 + at < path.stat().st_size:
        flip(path, slot * 512 + at)
        assert only(verify(tmp_path), "head").lost == ""


def test_a_head_file_that_says_nothing_is_found(tmp_path: Path):
    path = closed(tmp_path) / "head"
    path.write_bytes(bytes(556))
    assert "neither slot" in only(verify(tmp_path), "head").what
    path.unlink()
    assert "missing" in only(verify(tmp_path), "head").what


@pytest.mark.parametrize("at", [0, 20, 50, 60], ids=["id", "key", "crc", "padding"])
def test_a_flip_in_a_key_names_the_record_and_the_memory(tmp_path: Path, at: int):
    folder = closed(tmp_path)
    flip(folder / "keys", HEADER + 64 + at)
    record, *lost = verify(folder).problems
    assert record.file == "keys"
    assert "record 1, of event" in record.what
    assert [(problem.seq, problem.lost) for problem in lost] == ([] if at == 60 else [(5, "1 memory")])


def test_a_key_that_is_missing_is_no_erasure(tmp_path: Path):
    folder = closed(tmp_path)
    content = (folder / "keys").read_bytes()
    (folder / "keys").write_bytes(content[:-64])
    report = verify(folder)
    assert (report.first_bad, report.shredded) == (37, 1)
    assert "is missing" in report.problems[0].what
    (folder / "keys").unlink()
    assert verify(folder).problems[0].lost == "every memory"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE TABLE other (x INTEGER)", "table other is unknown"),
        ("CREATE VIEW other AS SELECT 1", "view other is unknown"),
        ("DROP TRIGGER no_delete ON log", "trigger no_delete is missing"),
        ("DROP TABLE guard", "table guard is missing"),
    ],
)
def test_a_schema_that_was_changed_is_told(tmp_path: Path, statement: str, told: str):
    folder = closed(tmp_path)
    with duckdb.connect(str(folder / "log.duckdb")) as instance:
        if "guard" in statement:
            instance.execute("DROP TRIGGER no_update ON log; DROP TRIGGER no_delete ON log")
        instance.execute(statement)
    assert told in [problem.what for problem in verify(folder).problems]


def test_content_that_is_not_what_its_digest_says_is_found(tmp_path: Path):
    log = DuckDBLog(tmp_path)
    whole = stored("whole")
    forged = [msgspec.structs.replace(whole, sha256=bytes(32)), msgspec.structs.replace(whole, content=b"\1\0\0\0")]
    log.append([draft(event) for event in (whole, *forged)])
    log.close()
    report = verify(tmp_path)
    assert (report.events, [problem.seq for problem in report.problems]) == (1, [2, 3])
    assert "its content isn't what its SHA-256 says" in report.problems[0].what


def test_a_flip_in_any_row_is_named(tmp_path: Path):
    folder = closed(tmp_path)
    content = (folder / "log.duckdb").read_bytes()
    log = DuckDBLog(folder)
    with log.cursor() as cursor:
        rows = list(database.select_pages(cursor, 1, log.head.seq))
    log.close()
    for row in rows[::5]:
        for part in (row.data, row.hash):
            assert content.count(part) >= 1
            flip(folder / "log.duckdb", content.index(part) + len(part) // 2)
            report = verify(folder)
            assert report.problems
            lost = [seq for bad in report.bad for seq in range(bad.first, bad.last + 1)]
            assert len(lost) <= 1
            assert content.count(part) > 2 or not lost or row.seq <= lost[0] <= row.seq + 1
            (folder / "log.duckdb").write_bytes(content)
    assert verify(folder).problems == ()


def test_a_file_that_was_cut_off_is_named(tmp_path: Path):
    path = closed(tmp_path) / "log.duckdb"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    report = verify(tmp_path)
    assert report.problems[0].file == "log.duckdb"
    assert report.events < 40


@sampled("at", range(8))
def test_a_flip_in_an_event_of_the_wal_is_named_and_costs_that_event_at_most(tmp_path: Path, at: int):
    folder = killed(tmp_path)
    flip(folder / "log.duckdb.wal", (folder / "log.duckdb.wal").stat().st_size // 2 + 2_000 + at)
    report = verify(folder)
    assert report.problems[0].file == "log.duckdb.wal"
    assert "DuckDB can't replay it" in report.problems[0].what
    assert report.problems[0].lost == ("the events that are named here" if report.bad else "no event")
    assert report.events == 60 - len(report.bad)
    assert all(30 < bad.first == bad.last for bad in report.bad)
    assert len(report.bad) <= 1


def test_a_flip_in_a_size_of_the_wal_is_named_and_costs_nothing(tmp_path: Path):
    folder = killed(tmp_path)
    flip(folder / "log.duckdb.wal", wal_header(folder) + 5)  # the entry seems to go on for terabytes
    report = verify(folder)
    problem = only(report, "log.duckdb.wal")
    assert (problem.what, problem.lost) == ("DuckDB leaves out events 31 to 60, which a mended copy shows", "no event")
    assert (report.first_bad, report.events) == (None, 60)


def test_a_flip_in_the_header_of_the_wal_is_named_or_changes_nothing(tmp_path: Path):
    folder = killed(tmp_path)
    path = folder / "log.duckdb.wal"
    for at in range(0, wal_header(folder), 4):
        flip(path, at)
        report = verify(folder)
        assert report.problems or report.events == 60
        flip(path, at)
    assert verify(folder).problems == ()


def test_a_wal_that_a_kill_cut_off_behind_the_last_acknowledgement_is_no_problem(tmp_path: Path):
    folder = killed(tmp_path)
    with (folder / "log.duckdb.wal").open("ab") as file:
        file.write((100).to_bytes(8, "little") + bytes(40))
    assert verify(folder).problems == ()


def test_a_file_of_garbage_is_told_and_does_not_end_the_check(tmp_path: Path):
    folder = closed(tmp_path)
    path = folder / "log.duckdb"
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))
    report = verify(folder)
    assert (report.events, report.first_bad) == (0, 1)
    assert any("DuckDB can't open it" in problem.what for problem in report.problems)
    assert report.problems[-1].lost == "40 events"


def test_a_store_behind_a_passphrase_is_verified_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wrapping, "_MEMORY", 2**4)
    folder = closed(tmp_path, "open sesame")
    assert verify(folder, "open sesame").problems == ()
    for passphrase in (None, "wrong"):
        with pytest.raises(PassphraseError):
            verify(folder, passphrase)
    flip(folder / "keys", HEADER // 2 + 200)
    assert only(verify(folder, "open sesame"), "keys").what == "copy 2 of the header is damaged"


@pytest.mark.slow
def test_memory_stays_flat_however_long_the_log_is(tmp_path: Path):
    log = DuckDBLog(tmp_path)
    for _ in range(150):
        log.append([draft(stored(str(number))) for number in range(100)])
    log.close()
    program = (
        "import sys, resource; from pathlib import Path; from events.verify.verification import verify; import numpy\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert not verify(Path(sys.argv[1])).problems\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    grown = subprocess.check_output([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, timeout=120)
    assert (tmp_path / "log.duckdb").stat().st_size > 100 * 2**20
    assert int(grown) < 80 * 1024
