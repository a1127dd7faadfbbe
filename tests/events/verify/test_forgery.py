"""Forgeries with write access to every file of a store, but without its keys, fail `verify`."""

import hashlib
import shutil
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import pytest

from events.crypto import wrapping
from events.storage import chain
from events.storage.chain import Row
from events.storage.database import caching_parser, connect, insert, select_pages
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Head, LogError
from events.verify.verification import verify
from events.vocabulary import MemoryForgotten
from events.vocabulary.codec import encode, kind_of
from tests.events.log_suite import erase
from tests.events.samples import draft, stored

WORDS = "a long passphrase indeed"
COUNT = 12


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store behind a passphrase: twelve memories, the second of which is erased."""
    folder = tmp_path_factory.mktemp("forgery") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrapping, "_MEMORY", 2**4)
        with closing(DuckDBLog(folder, WORDS)) as log:
            memories = [log.append([draft(stored(f"memory {number}"))])[0] for number in range(COUNT)]
            erase(log, memories[1].id)
    return folder


@pytest.fixture
def store(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(wrapping, "_MEMORY", 2**4)
    return shutil.copytree(sound, tmp_path / "store")


def plain_hash(row: Row) -> bytes:
    return hashlib.sha256(chain._encoder.encode(row[:-1])).digest()


def rewrite(folder: Path, change: Callable[[list[Row]], list[Row]]) -> None:
    """Replace the rows by others, hashed anew without a key, in a new file; and the head by theirs."""
    path = folder / "log.duckdb"
    with closing(connect(path)) as database:
        rows = change(list(select_pages(database, 1, COUNT + 1)))
    path.unlink()
    head = Head(0, bytes(32))
    forged: list[Row] = []
    for row in rows:
        linked = row._replace(seq=head.seq + 1, prev_hash=head.hash)
        forged.append(linked._replace(hash=plain_hash(linked)))
        head = forged[-1].head
    with closing(connect(path)) as database:
        insert(database, forged, caching_parser(database))
        database.execute("CHECKPOINT log")
    write_head(folder, head)


def write_head(folder: Path, head: Head) -> None:
    body = struct.pack("<q32s", head.seq, head.hash)
    slot = (body + struct.pack("<I", crc32(body))).ljust(512, b"\0")
    (folder / "head").write_bytes(slot + slot)


def cut_out(rows: list[Row]) -> list[Row]:
    return rows[:4] + rows[5:]


def forget_ten(rows: list[Row]) -> list[Row]:
    event = MemoryForgotten(memory=rows[0].id, reason="forged")
    forged = rows[-1]._replace(kind=kind_of(event), data=encode(event))
    return rows + [forged._replace(id=uuid4()) for _ in range(10)]


def as_they_were(rows: list[Row]) -> list[Row]:
    return rows


@pytest.mark.parametrize("change", [cut_out, forget_ten, as_they_were])
def test_a_log_that_was_hashed_anew_without_the_key_fails(store: Path, change: Callable[[list[Row]], list[Row]]):
    rewrite(store, change)
    assert verify(store, WORDS).first_bad == 1
    with pytest.raises(LogError, match="damaged"):
        DuckDBLog(store, WORDS)


def test_forged_events_after_the_last_one_fail(store: Path):
    with closing(connect(store / "log.duckdb")) as database:
        rows = list(select_pages(database, 1, COUNT + 1))
        forged = forget_ten(rows)[-1]._replace(seq=COUNT + 2, prev_hash=rows[-1].hash)
        insert(database, [forged._replace(hash=plain_hash(forged))], caching_parser(database))
    assert verify(store, WORDS).first_bad == COUNT + 2


def test_an_end_that_was_cut_off_fails_whatever_head_is_forged(store: Path):
    with closing(connect(store / "log.duckdb")) as database:
        database.execute("USE log; DROP TRIGGER no_delete ON log")
        database.execute("DELETE FROM log WHERE seq > 5")
        (last,) = select_pages(database, 5, 5)
    for head in (last.head, Head(0, bytes(32))):
        write_head(store, head)
        assert any(problem.file == "head" for problem in verify(store, WORDS).problems)
        with pytest.raises(LogError, match="head"):
            DuckDBLog(store, WORDS)


def test_a_key_that_was_zeroed_is_no_erasure(store: Path):
    assert verify(store, WORDS).shredded == 1
    keys = bytearray((store / "keys").read_bytes())
    at = keys.index(stored_id(store, 7))
    body = keys[at : at + 16] + bytes(40)
    keys[at : at + 64] = (body + struct.pack("<I", crc32(body))).ljust(64, b"\0")
    (store / "keys").write_bytes(keys)
    (problem,) = verify(store, WORDS).problems
    assert problem.seq == 7
    assert "no event tells of its erasure" in problem.what


def stored_id(folder: Path, seq: int) -> bytes:
    with closing(connect(folder / "log.duckdb", read_only=True)) as database:
        (row,) = select_pages(database, seq, seq)
    return row.id.bytes


def test_the_chain_key_of_another_store_does_not_fit(store: Path, tmp_path: Path):
    DuckDBLog(tmp_path / "other", WORDS).close()
    header = 2 * wrapping._KEYED.copy
    other, own = ((folder / "keys").read_bytes() for folder in (tmp_path / "other", store))
    (store / "keys").write_bytes(other[:header] + own[header:])
    assert verify(store, WORDS).events == 0


def test_keys_say_from_which_event_on_they_hold_and_nobody_can_change_that(store: Path):
    layout = wrapping._ARGON
    content = (store / "keys").read_bytes()
    *fields, first = layout.body.unpack(content[: layout.body.size])
    assert first == 1
    body = layout.body.pack(*fields, COUNT + 2)
    copy = (body + struct.pack("<I", crc32(body))).ljust(layout.copy, b"\0")
    (store / "keys").write_bytes(2 * copy + content[2 * layout.copy :])
    rewrite(store, cut_out)
    assert any(problem.file == "head" for problem in verify(store, WORDS).problems)
