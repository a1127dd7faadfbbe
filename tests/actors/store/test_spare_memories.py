"""A damaged log whose memories the snapshot still holds."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest

from actors.hub import move
from actors.hub.composition import open_hub
from actors.store.messages import ReadStatus
from actors.store.snapshot_files import ASIDE
from actors.store.spare_memories import SNAPSHOT, spare_memories
from events.crypto.keys import KeyRing
from events.fingerprint import Dense, Passage
from events.quantization import pack
from events.recovery.repair import repair
from events.recovery.salvage import SPARE
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, LogBehindError
from events.verify.verification import verify
from events.vocabulary import EventLost, MemoryErased, MemoryForgotten, MemoryStored
from projections.registry import digests, rebuild
from tests.actors.store.test_snapshot_files import BOUND, DECLARED, Kept, kept
from tests.events.samples import DIMENSIONS, draft, stored
from tests.projections.atlas.atlases import with_embedding

MEMORIES = 12
TEXTS = [f"memory {number}" for number in range(MEMORIES)]
"""Of the events 2 to 13; the last one is erased."""
FORGOTTEN = MEMORIES + 2
"""The event that the memory of the event 5 was forgotten."""


def unconnected(text: str, **more: Any) -> MemoryStored:
    """Return a memory as it is stored, without E8."""
    return with_embedding(stored(text), "e8_graph", Dense.null(DIMENSIONS["e8_graph"]), **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with a snapshot; its memories have sessions and passages, and one of them is erased."""
    with kept(tmp_path / "store") as store:
        store.append(DECLARED)
        unit = [1.0] + [0.0] * (DIMENSIONS["e1_semantic"] - 1)
        passages = (Passage(0, 4, pack(unit)), Passage(4, 8, pack(unit[::-1])))
        ids = [
            store.append(unconnected(text, session="talk", position=number, passages=passages if number % 2 else ()))
            for number, text in enumerate(TEXTS)
        ]
        store.append(MemoryForgotten(memory=ids[3]))
        store.append(MemoryErased(memory=ids[-1]))
        assert store.snapshot()
        store.append(stored("after the snapshot"))
    return tmp_path / "store"


def events_of(folder: Path) -> list[Envelope]:
    with closing(DuckDBLog(folder)) as log:
        return list(log.read())


def damage(folder: Path, condition: str) -> None:
    """Change the content of rows, as a worn-out disk does."""
    with duckdb.connect(str(folder / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_update ON log")
        database.execute(f"UPDATE log SET data = '\\x00'::BLOB WHERE {condition}")  # noqa: S608 -- of this test


def test_every_memory_of_a_snapshot_is_the_event_that_stored_it(folder: Path) -> None:
    before = {one.seq: one for one in events_of(folder) if isinstance(one.event, MemoryStored)}
    spares = spare_memories(folder, KeyRing.of((folder / "keys").read_bytes()))
    assert sorted(spares) == [1, *(seq for seq in before if seq <= MEMORIES), FORGOTTEN]
    assert {seq: (one.id, one.at, one.event) for seq, one in spares.items() if 1 < seq < FORGOTTEN} == {
        seq: (one.id, one.at, one.event) for seq, one in before.items() if seq <= MEMORIES
    }
    assert spares[1].event == DECLARED


def test_what_the_log_lost_comes_from_the_snapshot_and_is_said_to(folder: Path, tmp_path: Path) -> None:
    before = events_of(folder)
    damage(folder, "seq BETWEEN 3 AND 6 OR seq = 16")
    report = verify(folder, spare=SNAPSHOT)
    assert [(one.first, one.last) for one in report.spared] == [(3, 6)]
    assert [(one.first, one.last) for one in report.bad] == [(16, 16)], "it was stored after the snapshot"
    assert "the chain doesn't prove" in report.problems[-1].lost

    result = repair(folder, tmp_path / "new", spare=SNAPSHOT)
    assert (result.lost, result.spared) == (report.bad, report.spared)
    assert verify(tmp_path / "new").problems == ()
    after = events_of(tmp_path / "new")
    assert {one.seq for one in after if one.actor == SPARE} == {3, 4, 5, 6}
    assert [(one.id, one.event) for one in after[1:13]] == [(one.id, one.event) for one in before[1:13]]
    assert [one.correlation_id for one in after[2:6]] == [one.correlation_id for one in before[2:6]]
    assert isinstance(after[15].event, EventLost)
    rebuild(after)
    with closing(DuckDBLog(tmp_path / "new")) as log:
        log.append([draft(stored("and on it goes"))])


@pytest.mark.parametrize("row", ["its content is damaged", "all of it is gone"])
def test_a_forgotten_memory_stays_forgotten_though_the_event_of_that_is_lost(
    folder: Path, tmp_path: Path, row: str
) -> None:
    before = events_of(folder)
    if row == "all of it is gone":
        with duckdb.connect(str(folder / "log.duckdb")) as database:
            database.execute("DROP TRIGGER no_delete ON log")
            database.execute(f"DELETE FROM log WHERE seq = {FORGOTTEN}")  # noqa: S608 -- of this test
    else:
        damage(folder, f"seq = {FORGOTTEN}")
    result = repair(folder, tmp_path / "new", spare=SNAPSHOT)
    assert [(one.first, one.last) for one in result.spared] == [(FORGOTTEN, FORGOTTEN)]
    assert result.lost == ()
    after = events_of(tmp_path / "new")
    assert after[FORGOTTEN - 1].event == before[FORGOTTEN - 1].event
    assert after[FORGOTTEN - 1].at == before[FORGOTTEN - 1].at
    assert digests(rebuild(after))["catalog"] == digests(rebuild(before))["catalog"]


def test_a_damaged_store_opens_with_the_memories_of_its_snapshot_and_leaves_it_there(folder: Path) -> None:
    damage(folder, "seq BETWEEN 3 AND 6")
    (folder / "damaged").write_text("rows 3 to 6")
    snapshot = sorted((folder / "snapshot").rglob("*"))
    with open_hub(folder) as hub:
        hub.replayed.get(timeout=BOUND)
        assert hub.store.ask(ReadStatus(), timeout=BOUND).read_only
        found = {Kept(hub).text(one.id) for one in hub.log.read() if isinstance(one.event, MemoryStored)}
        assert found == {*TEXTS[:-1], "after the snapshot"}
    assert sorted((folder / "snapshot").rglob("*")) == snapshot


@pytest.mark.parametrize("lost", ["log.duckdb", "log.duckdb and head"])
def test_of_a_log_that_is_gone_all_memories_of_the_snapshot_are_left(folder: Path, tmp_path: Path, lost: str) -> None:
    for name in lost.split(" and "):
        (folder / name).write_bytes(b"\xff" * 10_000)
    report = verify(folder, spare=SNAPSHOT)
    assert report.problems
    result = repair(folder, tmp_path / "new", spare=SNAPSHOT)
    assert (result.lost, result.spared) == (report.bad, report.spared)
    found = {one.seq for one in events_of(tmp_path / "new") if isinstance(one.event, MemoryStored)}
    assert found == set(range(2, MEMORIES + 1))
    assert verify(tmp_path / "new").problems == ()


def test_an_erased_memory_never_comes_back(folder: Path, tmp_path: Path) -> None:
    snapshot = shutil.copytree(folder / "snapshot", tmp_path / "snapshot")
    keys = KeyRing.of((folder / "keys").read_bytes())
    gone = next(one for one in events_of(folder) if one.seq == 3)
    with closing(DuckDBLog(folder)) as log:
        log.append([draft(MemoryErased(memory=gone.id))])
        log.shred([gone.id])
        keys = log.keys
        assert snapshot.exists()
        assert 3 not in spare_memories(folder, keys)
        assert 4 in spare_memories(folder, keys)


def put_back(older: Path, folder: Path) -> None:
    """Put back a log and its head of an earlier day, and nothing else."""
    for name in ("log.duckdb", "head"):
        shutil.copyfile(older / name, folder / name)


@pytest.fixture
def older(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """A store with a snapshot, whose log and head are replaced by earlier ones that match each other."""
    folder, before = tmp_path / "store", tmp_path / "before"
    with kept(folder) as store:
        store.append(DECLARED)
        first = [store.append(stored(text)) for text in TEXTS[:4]]
    shutil.copytree(folder, before)
    with kept(folder) as store:
        later = [store.append(stored(text)) for text in TEXTS[4:]]
        store.append(MemoryForgotten(memory=later[0]))
        assert store.snapshot()
    put_back(before, folder)
    return folder, before, [str(one) for one in (*first, *later)]


def test_a_log_that_ends_before_its_snapshot_is_damaged_and_the_snapshot_shows_the_rest(
    older: tuple[Path, Path, list[str]], tmp_path: Path
) -> None:
    folder, _, ids = older
    snapshot = sorted((folder / "snapshot").rglob("*"))
    report = verify(folder, spare=SNAPSHOT)
    assert [(one.first, one.last) for one in report.spared] == [(6, 14)], "eight memories, of which one was forgotten"
    assert report.bad == ()
    for _ in range(2):
        with open_hub(folder) as hub:
            hub.replayed.get(timeout=BOUND)
            assert "9 events are missing" in (hub.store.ask(ReadStatus(), timeout=BOUND).read_only or "")
            assert [str(one.id) for one in hub.log.read() if isinstance(one.event, MemoryStored)] == ids
        assert sorted((folder / "snapshot").rglob("*")) == snapshot
    result = repair(folder, tmp_path / "new", spare=SNAPSHOT)
    assert (result.lost, result.spared) == (report.bad, report.spared)
    assert verify(tmp_path / "new", spare=SNAPSHOT).problems == ()
    assert [str(one.id) for one in events_of(tmp_path / "new") if isinstance(one.event, MemoryStored)] == ids


def test_a_log_that_ends_before_its_snapshot_is_moved_nowhere(older: tuple[Path, Path, list[str]]) -> None:
    with pytest.raises(LogBehindError):
        move.open_log(older[0], None)


def test_repair_adds_what_a_snapshot_alone_holds_that_was_set_aside(
    older: tuple[Path, Path, list[str]], tmp_path: Path
) -> None:
    folder, _, ids = older
    with closing(DuckDBLog(folder)) as log:  # as a program does that knows nothing of snapshots
        log.append([draft(stored(f"instead {number}")) for number in range(20)])
        log.shred([UUID(ids[5])])
    with open_hub(folder) as hub:
        hub.replayed.get(timeout=BOUND)
        assert hub.store.ask(ReadStatus(), timeout=BOUND).read_only is None
    assert [path.suffix for path in (folder / "snapshot").iterdir()] == [ASIDE]
    before = events_of(folder)
    result = repair(folder, tmp_path / "new", spare=SNAPSHOT)
    assert [(one.first, one.last, one.memories) for one in result.spared] == [(len(before) + 1, len(before) + 8, 7)]
    after = events_of(tmp_path / "new")
    assert [(one.id, one.event) for one in after[: len(before)]] == [(one.id, one.event) for one in before]
    *memories, forgotten = after[len(before) :]
    assert {str(one.id) for one in memories} == {*ids[4:]} - {ids[5]}
    assert forgotten.event == MemoryForgotten(memory=UUID(ids[4]))
    assert verify(tmp_path / "new", spare=SNAPSHOT).problems == ()
