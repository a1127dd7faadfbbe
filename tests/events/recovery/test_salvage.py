"""What can be read of a damaged store, and the new store that `repair` makes of it."""

import random
import shutil
import struct
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import duckdb
import pytest

from events.recovery.checksums import checksum, restored
from events.recovery.repair import repair
from events.recovery.salvage import describe_damage
from events.storage.database import connect, select_range
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, LogDamagedError, LogError, LogInUseError, PassphraseError
from events.verify.verification import verify
from events.vocabulary import EventLost, MemoriesLinked, MemoryErased, MemoryForgotten, MemoryStored, Shredded
from projections.registry import rebuild
from tests.events.samples import NOON, draft, stored
from tests.sampling import sampled

MEMORIES = 100


def fill(log: DuckDBLog) -> None:
    """Append memories that later events link, forget and erase."""
    ids: list[UUID] = []
    for number in range(MEMORIES):
        (memory,) = log.append([draft(stored(f"memory {number}"))])
        ids.append(memory.id)
        if number % 5 == 4:
            log.append([draft(MemoriesLinked(source=ids[-1], targets=(ids[-2],), relation="about", weight=0.5))])
    log.append([draft(MemoryForgotten(memory=ids[7]))])
    log.append([draft(MemoryErased(memory=ids[9]))])
    log.shred([ids[9]])


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "store"
    with closing(DuckDBLog(folder)) as log:
        fill(log)
    return folder


@cache
def events_of(folder: Path) -> list[Envelope]:
    """Return the events of a sound store, which stays as it is."""
    with TemporaryDirectory() as copies, closing(DuckDBLog(shutil.copytree(folder, Path(copies) / "store"))) as log:
        return list(log.read())


@pytest.fixture(scope="module")
def truth(sound: Path) -> list[Envelope]:
    return events_of(sound)


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "store")


def opened(folder: Path) -> DuckDBLog:
    """Open a log as a hub does: read-only if it is damaged."""
    try:
        return DuckDBLog(folder)
    except LogDamagedError as error:
        return DuckDBLog(folder, read_only=describe_damage(str(error)))


def salvaged(folder: Path) -> list[Envelope]:
    with closing(opened(folder)) as log:
        try:
            return list(log.read())
        except LogDamagedError as error:
            log.salvage(str(error))
            return list(log.read())


def lost_of(events: list[Envelope], truth: list[Envelope]) -> list[int]:
    """Return the numbers of lost events; all others are what they were."""
    assert [one.seq for one in events] == [one.seq for one in truth]
    lost = [one.seq for one in events if isinstance(one.event, EventLost)]
    assert [one for one in events if one.seq not in lost] == [one for one in truth if one.seq not in lost]
    return lost


def flip(folder: Path, name: str, seed: int) -> None:
    """Change one bit of a file of a store."""
    rng, path = random.Random(seed), folder / name
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


@sampled("seed", range(24))
def test_one_changed_bit_costs_one_event_at_most_and_every_projection_still_folds(
    store: Path, truth: list[Envelope], seed: int
) -> None:
    flip(store, ("log.duckdb", "log.duckdb", "keys", "head")[seed % 4], seed)
    events = salvaged(store)
    assert len(lost_of(events, truth)) <= 1
    rebuild(events)


@pytest.mark.parametrize("seed", range(4))
def test_a_repaired_store_is_sound_and_holds_what_the_damaged_one_can_prove(
    store: Path, truth: list[Envelope], tmp_path: Path, seed: int
) -> None:
    flip(store, ("log.duckdb", "keys")[seed % 2], seed)
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    result = repair(store, tmp_path / "new")
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before
    assert not verify(tmp_path / "new").problems
    with closing(DuckDBLog(tmp_path / "new")) as log:
        events = list(log.read())
        log.append([draft(stored("and on it goes"))])
    assert lost_of(events, truth) == [one.first for one in result.lost]
    assert result.events == len(truth)


def test_a_damaged_log_refuses_to_be_written_and_says_what_to_run(store: Path) -> None:
    (store / "head").unlink()
    with closing(opened(store)) as log:
        with pytest.raises(LogError, match="context-graph repair NEW_FOLDER"):
            log.append([draft(stored("one more"))])
        with pytest.raises(LogError, match="read-only"):
            log.shred([draft(stored("x")).id])


def test_a_memory_whose_whole_row_is_gone_keeps_the_id_that_later_events_name(
    store: Path, truth: list[Envelope]
) -> None:
    gone = truth[3]
    with duckdb.connect(str(store / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_delete ON log")
        database.execute("DELETE FROM log WHERE seq = 4")
    events = salvaged(store)
    assert lost_of(events, truth) == [4]
    assert events[3].id == gone.id
    rebuild(events)


@pytest.mark.parametrize("number", [150, 10**4, 2**40, 2**62])
def test_a_row_with_a_number_far_above_all_others_is_one_lost_event(
    store: Path, truth: list[Envelope], number: int, tmp_path: Path
) -> None:
    with duckdb.connect(str(store / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_update ON log; DROP TRIGGER no_delete ON log")
        database.execute("UPDATE log SET seq = ? WHERE seq = 4", [number])
    assert any(str(number) in problem.what for problem in verify(store).problems)
    events = salvaged(store)
    assert lost_of(events, truth) == [4]
    assert len(events) == len(truth)
    (lost,) = repair(store, tmp_path / "new").lost
    assert (lost.first, lost.last) == (4, 4)


def test_what_was_acknowledged_and_is_cut_off_is_counted(store: Path, truth: list[Envelope], tmp_path: Path) -> None:
    with duckdb.connect(str(store / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_delete ON log")
        database.execute("DELETE FROM log WHERE seq > 100")
    (lost,) = repair(store, tmp_path / "new").lost
    assert (lost.first, lost.last) == (101, len(truth))


def test_without_keys_nothing_can_be_proved(store: Path, truth: list[Envelope], tmp_path: Path) -> None:
    (store / "keys").unlink()
    lost = repair(store, tmp_path / "new").lost
    assert [seq for one in lost for seq in range(one.first, one.last + 1)] == [one.seq for one in truth]
    assert not verify(tmp_path / "new").problems


@pytest.mark.parametrize("copy", range(2))
def test_a_lost_page_of_the_header_of_the_keys_costs_nothing(store: Path, truth: list[Envelope], copy: int) -> None:
    content = bytearray((store / "keys").read_bytes())
    content[4_096 * copy : 4_096 * (copy + 1)] = bytes(4_096)
    (store / "keys").write_bytes(content)
    assert "header" in verify(store).problems[0].what
    assert lost_of(salvaged(store), truth) == []


def test_an_erased_memory_stays_erased_in_the_repaired_store(store: Path, tmp_path: Path) -> None:
    (store / "head").unlink()
    assert repair(store, tmp_path / "new").lost == ()
    with closing(DuckDBLog(tmp_path / "new")) as log:
        assert sum(isinstance(one.event, Shredded) for one in log.read()) == 1


def test_a_passphrase_stays_that_of_the_repaired_store(tmp_path: Path) -> None:
    with closing(DuckDBLog(tmp_path / "store", "correct horse battery")) as log:
        log.append([draft(stored("sealed"))])
    (tmp_path / "store" / "head").unlink()
    with pytest.raises(PassphraseError):
        repair(tmp_path / "store", tmp_path / "new", "another one entirely")
    assert not (tmp_path / "new").exists()
    repair(tmp_path / "store", tmp_path / "new", "correct horse battery")
    with closing(DuckDBLog(tmp_path / "new", "correct horse battery")) as log:
        assert log.head.seq == 1


def test_an_open_store_is_not_repaired_and_an_existing_folder_not_replaced(store: Path, tmp_path: Path) -> None:
    with closing(DuckDBLog(store)), pytest.raises(LogInUseError):
        repair(store, tmp_path / "new")
    (tmp_path / "new").mkdir()
    with pytest.raises(LogError, match="exists already"):
        repair(store, tmp_path / "new")


def test_keys_and_head_that_are_deleted_under_an_open_log_are_written_again(store: Path) -> None:
    with closing(DuckDBLog(store)) as log:
        (store / "keys").unlink()
        (store / "head").unlink()
        log.append([draft(stored("after the deletion"))])
    assert not verify(store).problems


WAL = "log.duckdb.wal"
WAL_HEADER = 46
"""Bytes of the header of the write-ahead log of these stores, at most."""
FIRST_BLOCK = 12_288
"""Where the first block of the log's file begins."""
IN_FILE, BATCH, IN_WAL = 4, 8, 3
"""Memories that a checkpoint wrote to the log's file, memories of one transaction behind it, and others."""
LAST = IN_FILE + BATCH + IN_WAL
PER_EVENT = 3
"""Entries of the write-ahead log for an event: the table, the row, and the end of the transaction."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as kill -9 leaves it: the last memories are in the write-ahead log."""
    folder = tmp_path_factory.mktemp("killed") / "store"
    with closing(DuckDBLog(folder.with_name("running"))) as log:
        log.append([draft(stored(f"memory {number}")) for number in range(IN_FILE)])
        log.checkpoint()
        log.append([draft(stored(f"of a batch {number}")) for number in range(BATCH)])
        for number in range(IN_WAL):
            log.append([draft(stored(f"later {number}"), at=NOON + timedelta(hours=number))])
        return shutil.copytree(log.folder, folder)


@pytest.fixture(scope="module")
def killed_early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as kill -9 leaves it before the first checkpoint: its tables too are in the write-ahead log."""
    folder = tmp_path_factory.mktemp("early") / "store"
    with closing(DuckDBLog(folder.with_name("running"))) as log:
        for number in range(IN_WAL):
            log.append([draft(stored(f"memory {number}"))])
        return shutil.copytree(log.folder, folder)


def entries(wal: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each entry of a write-ahead log begins, and the size of its body, 16 bytes behind that."""
    start = wal.index(b"\xff\xff") + 2
    while start < len(wal):
        (size,) = struct.unpack_from("<Q", wal, start)
        yield start, size
        start += 16 + size


def largest(wal: bytes) -> tuple[int, int]:
    return max(entries(wal), key=lambda entry: entry[1])


def changed(folder: Path, target: Path, name: str, at: int, mask: int = 0x41) -> Path:
    """Copy a store, and change a byte of a file of the copy."""
    shutil.copytree(folder, target)
    content = bytearray((target / name).read_bytes())
    content[at] ^= mask
    (target / name).write_bytes(content)
    return target


def numbers_lost(folder: Path, harmed: Path) -> list[int]:
    """Return the numbers of the events that `verify` names as lost, and that opening the store loses."""
    report = verify(harmed)
    assert report.problems
    named = [seq for one in report.bad for seq in range(one.first, one.last + 1)]
    assert lost_of(salvaged(harmed), events_of(folder)) == named
    return named


@sampled("at", range(WAL_HEADER), every=8)
def test_a_changed_byte_in_the_header_of_the_write_ahead_log_costs_nothing(
    killed_early: Path, tmp_path: Path, at: int
) -> None:
    events = salvaged(changed(killed_early, tmp_path / "store", WAL, at))
    assert [isinstance(one.event, MemoryStored) for one in events] == [True] * IN_WAL


@sampled(("entry", "byte"), [*product([0, 1, -1], [0, 1, 2, 5, 7])])
def test_a_changed_byte_in_a_size_in_the_write_ahead_log_costs_nothing(
    killed: Path, tmp_path: Path, entry: int, byte: int
) -> None:
    start, _ = list(entries((killed / WAL).read_bytes()))[entry]
    folder = changed(killed, tmp_path / "store", WAL, start + byte)
    assert numbers_lost(killed, folder) == []


@sampled("byte", range(8))
def test_a_changed_byte_of_a_memory_in_the_write_ahead_log_costs_that_memory_at_most(
    killed: Path, tmp_path: Path, byte: int
) -> None:
    start, size = largest((killed / WAL).read_bytes())
    at = start + 16 + size // 16 * 8 + byte
    assert len(numbers_lost(killed, changed(killed, tmp_path / "store", WAL, at))) <= 1


@pytest.mark.parametrize("name", ["log.duckdb", WAL])
def test_changes_in_the_lowest_byte_of_a_word_are_put_back(killed: Path, tmp_path: Path, name: str) -> None:
    start, size = largest((killed / WAL).read_bytes())
    first = start + 16 + size // 16 * 8
    if name != WAL:
        with closing(connect(killed / "log.duckdb", read_only=True)) as database:
            (row,) = select_range(database, 2, 2)
        first = ((killed / name).read_bytes().index(row.data) - FIRST_BLOCK) // 8 * 8 + 1_000 + FIRST_BLOCK
    costs = [salvaged(changed(killed, tmp_path / f"{at}", name, at)) for at in range(first, first + 80, 8)]
    # Of some 15,000 changes, one can't be told from that of another word.
    assert sum(not any(isinstance(one.event, EventLost) for one in events) for events in costs) > 7


@sampled("byte", range(7))
def test_a_changed_byte_in_the_structure_of_an_entry_costs_nothing(killed: Path, tmp_path: Path, byte: int) -> None:
    """DuckDB can't decode what only gets a new checksum, and would lose the whole batch."""
    start, _ = largest((killed / WAL).read_bytes())
    assert numbers_lost(killed, changed(killed, tmp_path / "store", WAL, start + 16 + byte)) == []


@sampled(("entry", "at"), [*product([0, 2, 4], [2, 9, 16 + 36, 16 + 94, 16 + 95])], 4)
def test_opening_a_store_whose_tables_are_hidden_by_a_changed_byte_leaves_the_write_ahead_log_whole(
    killed_early: Path, tmp_path: Path, entry: int, at: int
) -> None:
    start, _ = list(entries((killed_early / WAL).read_bytes()))[entry]
    folder = changed(killed_early, tmp_path / "store", WAL, start + at)
    before = (folder / WAL).read_bytes()
    assert numbers_lost(killed_early, folder) == []
    assert (folder / WAL).read_bytes() == before


@pytest.mark.parametrize("head", [None, b"", b"\xff" * 1_024], ids=["missing", "empty", "unreadable"])
def test_opening_a_store_whose_tables_are_hidden_and_whose_head_file_is_lost_leaves_the_write_ahead_log_whole(
    killed_early: Path, tmp_path: Path, head: bytes | None
) -> None:
    start, _ = next(entries((killed_early / WAL).read_bytes()))
    folder = changed(killed_early, tmp_path / "store", WAL, start + 2)
    before = (folder / WAL).read_bytes()
    (folder / "head").unlink()
    if head is not None:
        (folder / "head").write_bytes(head)
    assert numbers_lost(killed_early, folder) == []
    assert (folder / WAL).read_bytes() == before


@sampled(("entry", "within", "count"), [(-3, 0, 1), (-2, 16, 1), (-2, 5_000, 1), (-5, 100, 2)], every=2)
def test_zeros_at_the_end_of_the_write_ahead_log_cost_what_they_replace(
    killed: Path, tmp_path: Path, entry: int, within: int, count: int
) -> None:
    """A power cut leaves them where the file was longer already and its content wasn't on the disk yet."""
    wal = (killed / WAL).read_bytes()
    start, _ = list(entries(wal))[entry]
    folder = shutil.copytree(killed, tmp_path / "store")
    (folder / WAL).write_bytes(wal[: start + within] + bytes(2**20))
    assert numbers_lost(killed, folder) == list(range(LAST + 1 - count, LAST + 1))
    repair(folder, tmp_path / "new")
    assert not verify(tmp_path / "new").problems


def test_zeros_amid_the_write_ahead_log_cost_what_they_replace(killed: Path, tmp_path: Path) -> None:
    wal = (killed / WAL).read_bytes()
    (start, _), (end, _) = (list(entries(wal))[-PER_EVENT * number] for number in (2, 1))
    folder = shutil.copytree(killed, tmp_path / "store")
    (folder / WAL).write_bytes(wal[:start] + bytes(2**20) + wal[end:])
    assert numbers_lost(killed, folder) == [LAST - 1]


def recorded(folder: Path, target: Path, before: bytes, after: bytes) -> Path:
    """Copy a store, and change bytes in its write-ahead log, under correct checksums."""
    shutil.copytree(folder, target)
    wal = (folder / WAL).read_bytes()
    content = wal[: wal.index(b"\xff\xff") + 2]
    for start, size in entries(wal):
        body = wal[start + 16 : start + 16 + size].replace(before, after)
        content += struct.pack("<QQ", len(body), checksum(body)) + body
    assert content != wal
    (target / WAL).write_bytes(content)
    return target


def test_an_error_of_duckdb_that_quotes_bytes_that_are_no_text_ends_nothing(killed: Path, tmp_path: Path) -> None:
    folder = recorded(killed, tmp_path / "store", b"\x03log", b"\x03l\xe9g")
    with pytest.raises(LogDamagedError):
        connect(folder / "log.duckdb", read_only=True)
    assert numbers_lost(killed, folder) == list(range(IN_FILE + 1, IN_FILE + BATCH + IN_WAL + 1))


def test_an_event_with_an_impossible_time_is_one_lost_event(killed: Path, tmp_path: Path) -> None:
    at = struct.pack("<q", round((NOON + timedelta(hours=1)).timestamp() * 1e6))
    folder = recorded(killed, tmp_path / "store", at, at[:7] + b"\x66")
    assert numbers_lost(killed, folder) == [14]


def test_a_wrong_repair_shows_in_the_chain(killed: Path, tmp_path: Path) -> None:
    """The checksum is made to tell a change of an event that hasn't changed; only its hash says otherwise."""
    wal = (killed / WAL).read_bytes()
    start, size = largest(wal)
    body = wal[start + 16 : start + 16 + size]
    word, other = size // 24 * 8, size // 12 * 8
    mask, factor = 2**64 - 1, 0xBF58476D1CE4E5B9

    def product(at: int, change: int = 0) -> int:
        return ((int.from_bytes(body[at : at + 8], "little") ^ change) * factor) & mask

    for change in (1, 2, 4, 8, 16, 32, 64, 128):
        wanted = product(word) ^ product(other) ^ product(other, change)
        harmed = (wanted * pow(factor, -1, 2**64)) & mask
        changed_body = body[:word] + harmed.to_bytes(8, "little") + body[word + 8 :]
        if restored(changed_body, checksum(body)) not in {None, body}:
            break
    folder = shutil.copytree(killed, tmp_path / "store")
    (folder / WAL).write_bytes(wal[: start + 16] + changed_body + wal[start + 16 + size :])
    lost = numbers_lost(killed, folder)
    assert len(lost) == 2
    assert IN_FILE < lost[0] < lost[1] <= IN_FILE + BATCH
