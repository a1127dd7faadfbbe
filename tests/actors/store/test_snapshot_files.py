"""What is known is written down, believed only as far as it proves itself, and destroyed with whatever is erased."""

import errno
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID, uuid4

import anyio
import duckdb
import lz4.block
import msgspec
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.api.context import Context
from actors.api.tools import dispatch
from actors.api.tools.agent_tools import BY_METHOD
from actors.cli.store_access import StoreLocation, open_store
from actors.hub import composition as hubs
from actors.hub.composition import open_hub, start_hub
from actors.hub.hub import Hub
from actors.runtime import snapshot_io
from actors.runtime.actor import EXIT_UNCERTAIN
from actors.runtime.faults import StorageFault
from actors.runtime.snapshot_io import EncryptedReader, EncryptedWriter
from actors.store import snapshot_files, snapshot_policy
from actors.store.messages import Append, Describe, ReadDigests, ReadStatus, TakeSnapshot
from actors.store.snapshot_files import ASIDE, MANIFEST, Loaded, Manifest, Snapshots
from events import vocabulary as ev
from events.crypto.keys import KeyRing
from events.fingerprint import Dense
from events.recovery.salvage import SPARE
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Head
from events.vocabulary.values import SpaceModel
from projections.registry import digests, rebuild
from tests.events.samples import DIMENSIONS, draft, stored
from tests.projections.sleeps import goal
from tests.sampling import sampled

BOUND = 60.0
DECLARED = ev.SpacesDeclared(
    profile="embedded", spaces=tuple(SpaceModel(key, "sample", "ab", size) for key, size in DIMENSIONS.items())
)
OWNERS = ("store", "comparator", "workspace", "embedder", "consolidator", "scheduler")
SECRET = stored(
    "The key to the safe lies under the third flowerpot.", session="talk of the keys", tags=("safe and sound",)
)


def no_models(_latencies: object) -> NoReturn:
    raise AssertionError("no model is needed for what the log tells")


class Kept:
    """An open store, without models."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def append(self, event: Any, *consequences: Any) -> UUID:
        message = Append(id=uuid4(), event=event, consequences=consequences, actor="test", correlation_id=uuid4())
        return self.hub.store.ask(message, timeout=BOUND).id

    def digests(self) -> tuple[int, dict[str, str]]:
        return self.hub.store.ask(ReadDigests(), timeout=BOUND)

    def snapshot(self, after: int = 1) -> bool:
        return self.hub.store.ask(TakeSnapshot(after=after), timeout=BOUND)

    def text(self, memory: UUID) -> str | None:
        entry = self.hub.store.ask(Describe(memories=(memory,)), timeout=BOUND)[0]
        return None if entry.body is None else entry.body.text


@contextmanager
def kept(folder: Path, **more: Any) -> Iterator[Kept]:
    log = DuckDBLog(folder)
    with start_hub(log, folder, no_models, snapshots=Snapshots(folder, log.keys), **more) as hub:
        hub.replayed.get(timeout=BOUND)
        yield Kept(hub)


def fill(store: Kept, count: int = 12) -> list[UUID]:
    store.append(DECLARED)
    return [store.append(stored(f"memory {n}", session="talk", position=n)) for n in range(count)]


def only(folder: Path) -> Path:
    """Return the one snapshot that there is."""
    (found,) = (folder / "snapshot").iterdir()
    return found


def none_is_left(folder: Path) -> bool:
    return not (folder / "snapshot").exists() or not list((folder / "snapshot").iterdir())


def read_events(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the numbers of the events after which logs are read."""
    afters: list[int] = []
    read = DuckDBLog.read

    def noted(self: DuckDBLog, after: int = 0, last: int | None = None) -> Any:
        afters.append(after)
        return read(self, after, last)

    monkeypatch.setattr(DuckDBLog, "read", noted)
    return afters


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A closed store with a snapshot of all of it, and its digests."""
    with kept(tmp_path) as store:
        ids = fill(store)
        store.append(ev.MemoryForgotten(memory=ids[3]))
        assert store.snapshot()
        return tmp_path, store.digests()[1]


# ── cuts ────────────────────────────────────────────────────────────────────────────────────────────


def test_all_owners_answer_for_the_same_event_and_a_replay_says_the_same(tmp_path: Path) -> None:
    with kept(tmp_path) as store:
        ids = fill(store)
        pending = [store.hub.store.ask(ReadDigests(), block=False)]
        for memory in ids[:3]:
            store.append(ev.MemoryForgotten(memory=memory))
            pending.append(store.hub.store.ask(ReadDigests(), block=False))
        for reply in pending:
            seq, told = reply.get(timeout=BOUND)
            assert told == digests(rebuild(store.hub.log.read(0, seq)))
        assert len({seq for seq, _ in (reply.get(timeout=BOUND) for reply in pending)}) == 4


def test_the_write_ahead_log_is_folded_after_a_snapshot(tmp_path: Path) -> None:
    wal = tmp_path / "log.duckdb.wal"
    with kept(tmp_path) as store:
        ids = fill(store)
        before = wal.stat().st_size
        assert store.snapshot()
        assert store.text(ids[0]) == "memory 0"  # answered after the store's turn in which the snapshot ended
        assert not wal.exists() or wal.stat().st_size < before / 10


# ── there and back ──────────────────────────────────────────────────────────────────────────────────


def test_a_store_comes_back_from_its_snapshot_and_reads_nothing_but_what_followed(
    written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, before = written
    afters = read_events(monkeypatch)
    with kept(folder) as store:
        head = store.hub.log.head.seq
        assert store.digests() == (head, before)
        one = store.append(stored("one more", session="talk", position=12))
        live = store.digests()
    assert afters == [head]
    with kept(folder) as store:
        assert store.text(one) == "one more"
        assert store.digests() == live
        assert live[1] == digests(rebuild(store.hub.log.read()))


def test_its_files_are_private_and_say_nothing_in_the_clear(tmp_path: Path) -> None:
    with kept(tmp_path) as store:
        fill(store)
        store.append(SECRET)
        assert store.snapshot()
    path = only(tmp_path)
    assert {file.stat().st_mode & 0o777 for file in path.iterdir()} == {0o600}
    assert {folder.stat().st_mode & 0o777 for folder in (path, path.parent)} == {0o700}
    everything = b"".join(file.read_bytes() for file in path.iterdir())
    vector = SECRET.fingerprint.take("e1_semantic", Dense).vector
    # Random bytes as many as these hold any text of four letters once in some thousand runs.
    words = (b"talk of the keys", b"safe and sound", b"memory 11")
    assert [trace for trace in (vector[:16], SECRET.content[8:24], *words) if trace in everything] == []


def test_only_the_newest_is_kept_and_the_key_of_the_one_before_is_destroyed(tmp_path: Path) -> None:
    with kept(tmp_path) as store:
        fill(store)
        assert store.snapshot()
        first = only(tmp_path)
        store.append(stored("one more"))
        assert store.snapshot()
        assert only(tmp_path) != first
        assert not store.hub.log.keys.has(UUID(first.name))
        assert store.hub.log.keys.has(UUID(only(tmp_path).name))


def test_one_is_taken_at_the_close_once_enough_has_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "MIN_SNAPSHOT_EVENTS", 5)
    with kept(tmp_path) as store:
        fill(store, 2)
    assert none_is_left(tmp_path)
    with kept(tmp_path) as store:
        fill(store, 4)
    first = only(tmp_path)
    with kept(tmp_path) as store:
        store.append(stored("too little to be worth it"))
    assert only(tmp_path) == first


def test_one_is_taken_once_nothing_has_happened_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    armed: list[float] = []
    monkeypatch.setattr(snapshot_policy, "MIN_EVENTS", 5)
    monkeypatch.setattr("actors.runtime.actor.monotonic", lambda: now)
    monkeypatch.setattr("actors.store.actor.MIN_EVENTS", 5)

    class Unstarted(threading.Timer):
        def start(self) -> None:
            armed.append(self.interval)

        def join(self, timeout: float | None = None) -> None:
            """It never began."""

    monkeypatch.setattr("actors.runtime.actor.Timer", Unstarted)
    with kept(tmp_path) as store:
        fill(store, 3)
        assert armed == []
        fill(store, 4)
        assert armed == [snapshot_policy.IDLE]
        now += 10
        store.append(stored("something happens"))
        now += snapshot_policy.IDLE - 10
        store.hub.store.tell(snapshot_policy.IdleReached())
        store.digests()
        assert armed == [snapshot_policy.IDLE, 10.0]
        assert none_is_left(tmp_path)
        now += 10
        store.hub.store.tell(snapshot_policy.IdleReached())
        assert not store.snapshot(after=1) or only(tmp_path)
    assert only(tmp_path)


def test_a_snapshot_during_which_something_happens_is_given_up_and_can_be_taken_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, may_go_on = threading.Event(), threading.Event()
    check = EncryptedWriter._check
    monkeypatch.setattr(snapshot_io, "PIECE", 1 << 14)
    monkeypatch.setattr(snapshot_io, "SLICE", 1)

    def held(self: EncryptedWriter) -> None:
        if self.name == "comparator" and not may_go_on.is_set():
            reached.set()
            assert may_go_on.wait(BOUND)
        check(self)

    with kept(tmp_path) as store:
        fill(store)
        monkeypatch.setattr(EncryptedWriter, "_check", held)
        taken = store.hub.store.ask(TakeSnapshot(), block=False)
        assert reached.wait(BOUND)
        one = store.append(stored("meanwhile"))
        may_go_on.set()
        assert taken.get(timeout=BOUND) is False
        assert none_is_left(tmp_path)
        assert store.snapshot()
        live = store.digests()
    with kept(tmp_path) as store:
        assert store.digests() == live
        assert store.text(one) == "meanwhile"


def test_a_disk_without_room_gets_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kept(tmp_path) as store:
        fill(store)
        monkeypatch.setattr("actors.runtime.snapshot_io.SPARE", 1 << 62)
        assert not store.snapshot()
        assert none_is_left(tmp_path)
        store.append(stored("the store goes on"))


# ── what can't be used ──────────────────────────────────────────────────────────────────────────────


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def any_file(name: str, place: int) -> Callable[[Path], None]:
    return lambda folder: flip(only(folder) / name, place)


def cut_short(folder: Path) -> None:
    path = only(folder) / "comparator"
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(folder: Path) -> None:
    with (only(folder) / "store").open("ab") as file:
        file.write(b"\0")


def remove(folder: Path) -> None:
    (only(folder) / "workspace").unlink()


def garble(folder: Path) -> None:
    (only(folder) / MANIFEST).write_bytes(b"{}")


def empty(folder: Path) -> None:
    (only(folder) / MANIFEST).write_bytes(b"")


def rename(folder: Path) -> None:
    only(folder).rename(only(folder).with_name(uuid4().hex))


def misname(folder: Path) -> None:
    only(folder).rename(only(folder).with_name("latest"))


def swap(folder: Path) -> None:
    one, other = only(folder) / "scheduler", only(folder) / "consolidator"
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def resealed(**changes: Any) -> Callable[[Path], None]:
    """Return what changes the manifest as only the owner of the keys could."""

    def change(folder: Path) -> None:
        log = DuckDBLog(folder)
        path, id_ = only(folder) / MANIFEST, UUID(only(folder).name)
        plain = log.keys.open(id_, snapshot_files.CONTEXT, path.read_bytes())
        manifest = msgspec.structs.replace(msgspec.msgpack.decode(plain, type=Manifest), **changes)
        path.write_bytes(log.keys.seal(id_, snapshot_files.CONTEXT, snapshot_files._encoder.encode(manifest)))
        log.close()

    return change


def earlier(folder: Path) -> None:
    """Put a manifest there as versions wrote it that had pickled snapshots."""
    log = DuckDBLog(folder)
    path, id_ = only(folder) / MANIFEST, UUID(only(folder).name)
    manifest = {"format": 3, "code": bytes(32), "head": log.head, "secret": bytes(32), "parts": {}}
    path.write_bytes(log.keys.seal(id_, snapshot_files.CONTEXT, msgspec.msgpack.encode(manifest)))
    log.close()


def destroy_key(folder: Path) -> None:
    log = DuckDBLog(folder)
    log.shred([UUID(only(folder).name)])
    log.close()


PLACES = (0, 1_000, -1)
DAMAGES: dict[str, Callable[[Path], None]] = {
    **{f"byte {place} of {name}": any_file(name, place) for name in ("comparator", "store") for place in PLACES},
    **{f"byte {place} of the manifest": any_file(MANIFEST, place) for place in (0, 12, 40, -1)},
    "a file cut short": cut_short,
    "a file too long": lengthen,
    "a file missing": remove,
    "two files swapped": swap,
    "garbage for a manifest": garble,
    "an empty manifest": empty,
    "another id": rename,
    "no id": misname,
    "another schema": resealed(schema=99),
    "an earlier version": earlier,
    "files without a head": resealed(parts={name: snapshot_io.Part((0,), ()) for name in OWNERS}),
    "a destroyed key": destroy_key,
}


@sampled("damage", DAMAGES)
def test_a_snapshot_that_isn_t_what_it_was_is_deleted_with_a_line_that_says_why_and_all_is_read_from_the_log(
    written: tuple[Path, dict[str, str]], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder, before = written
    DAMAGES[damage](folder)
    with caplog.at_level(logging.INFO, "context-graph"), kept(folder) as store:
        assert store.digests()[1] == before
        assert none_is_left(folder)
    (told,) = [record for record in caplog.records if "can't be used (" in record.getMessage()]
    assert told.getMessage().startswith("snapshot ")
    other_schema = damage in {"another schema", "an earlier version"}
    assert told.levelno == (logging.INFO if other_schema else logging.WARNING)


@pytest.mark.parametrize("head", [Head(5, bytes(32)), Head(500, bytes(32))], ids=["another log", "a longer log"])
def test_a_snapshot_that_does_not_follow_from_the_log_is_set_aside_and_only_an_erasure_deletes_it(
    written: tuple[Path, dict[str, str]], head: Head, caplog: pytest.LogCaptureFixture
) -> None:
    folder, before = written
    resealed(head=head)(folder)
    for starts in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "context-graph"), kept(folder) as store:
            assert store.digests()[1] == before
            (problem,) = Snapshots(folder, store.hub.log.keys).problems()
        aside = only(folder)
        assert (aside.suffix, problem.file) == (ASIDE, f"snapshot/{aside.name}")
        assert len(caplog.records) == 1 - starts
    with kept(folder) as store:
        first = next(one.id for one in store.hub.log.read() if isinstance(one.event, ev.MemoryStored))
        assert store.snapshot(0)
        assert aside.exists()
        store.append(ev.MemoryErased(memory=first))
        assert none_is_left(folder)
        assert not store.hub.log.keys.has(UUID(aside.stem))


@pytest.mark.parametrize("damage", [cut_short, resealed(schema=99)], ids=["damaged", "another schema"])
def test_a_snapshot_that_cannot_be_used_stays_while_the_log_is_damaged(
    written: tuple[Path, dict[str, str]], damage: Callable[[Path], None]
) -> None:
    folder, _ = written
    damage(folder)
    path = only(folder)
    with duckdb.connect(str(folder / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_update ON log")
        database.execute("UPDATE log SET data = '\\x00'::BLOB WHERE seq = 4")
    with kept(folder) as store:
        assert store.hub.log.read_only is not None
    assert only(folder) == path


@pytest.mark.parametrize("name", ["store\0", "../store", "/etc/passwd", ""])
def test_files_of_other_names_are_never_opened(written: tuple[Path, dict[str, str]], name: str) -> None:
    folder, _ = written
    resealed(parts={name: snapshot_io.Part((0,), ())})(folder)
    with closing(DuckDBLog(folder)) as log:
        (problem,) = Snapshots(folder, log.keys).problems()
        assert "other names" in problem.what
        assert list(Snapshots(folder, log.keys).recover()) == []


@pytest.mark.parametrize("change", [earlier, resealed(schema=99)])
def test_a_snapshot_of_another_schema_is_no_damage(
    written: tuple[Path, dict[str, str]], change: Callable[[Path], None]
) -> None:
    folder, _ = written
    change(folder)
    with closing(DuckDBLog(folder)) as log:
        assert Snapshots(folder, log.keys).problems() == []


def test_what_a_crash_left_of_an_unfinished_snapshot_is_swept_away(written: tuple[Path, dict[str, str]]) -> None:
    folder, before = written
    unfinished = folder / "snapshot" / f"{uuid4().hex}.tmp"
    unfinished.mkdir()
    (unfinished / "comparator").write_bytes(b"half")
    with kept(folder) as store:
        assert store.digests()[1] == before
        assert not unfinished.exists()
        assert only(folder)


def test_without_the_snapshot_that_was_to_replace_another_one_all_is_read_from_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: Path, _target: Path) -> Path:
        raise OSError(errno.EIO, "the disk is gone")

    with kept(tmp_path) as store:
        fill(store)
        assert store.snapshot()
        store.append(stored("one more"))
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", fail)
            assert not store.snapshot()
        live = store.digests()
    assert none_is_left(tmp_path)
    afters = read_events(monkeypatch)
    with kept(tmp_path) as store:
        assert store.digests() == live
    assert afters == [0]


def change_row(folder: Path) -> None:
    """Change a row that the snapshot replaces at a start."""
    with duckdb.connect(str(folder / "log.duckdb")) as database:
        database.execute("DROP TRIGGER no_update ON log")
        database.execute("UPDATE log SET actor = 'somebody else' WHERE seq = 3")


def change_key(folder: Path) -> None:
    """Change a byte of the key of that row."""
    with closing(DuckDBLog(folder)) as log:
        memory = log.get([3])[0].id
    content = (folder / "keys").read_bytes()
    flip(folder / "keys", content.index(memory.bytes) + len(memory.bytes))


@pytest.mark.parametrize("change", [change_row, change_key])
def test_a_log_that_was_changed_before_the_snapshot_ends_the_process_and_is_read_only_at_the_next_start(
    written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    folder, _ = written
    snapshot = only(folder)
    change(folder)
    ended, statuses = threading.Event(), []

    def end(status: int) -> None:
        statuses.append(status)
        ended.set()

    monkeypatch.setattr(snapshot_policy, "READ_DELAY", 0.0)
    monkeypatch.setattr("actors.store.snapshot_policy.os._exit", end)
    with kept(folder):
        assert ended.wait(BOUND)
        assert statuses == [EXIT_UNCERTAIN]
        assert only(folder) == snapshot, "it may be the last readable copy"
    with open_hub(folder) as hub:
        hub.replayed.get(timeout=BOUND)
        assert "event 3" in hub.store.ask(ReadStatus(), timeout=BOUND).read_only
        assert [one.seq for one in hub.log.read() if one.actor == SPARE] == [3]
        with pytest.raises(StorageFault, match="repair NEW_FOLDER"):
            Kept(hub).append(stored("one more"))
    assert only(folder) == snapshot


def test_a_command_that_reads_a_damaged_log_opens_it_again_read_only_and_answers(
    written: tuple[Path, dict[str, str]],
) -> None:
    folder, _ = written
    change_row(folder)
    with open_store(StoreLocation(folder)) as store:
        memories = [line for line in store.call("store/export")["lines"] if "content" in line]
        assert len(memories) == 12
        with pytest.raises(StorageFault, match="repair NEW_FOLDER"):
            store.call("memory/delete", id=memories[0]["id"])


def test_a_hub_that_reads_a_damaged_log_ends_so_that_the_next_one_answers(
    written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = written
    change_row(folder)
    statuses: list[int] = []
    monkeypatch.setattr("actors.store.snapshot_policy.os._exit", statuses.append)
    with kept(folder) as store, pytest.raises(StorageFault, match="event 3"):
        anyio.run(dispatch.call, Context(store.hub), BY_METHOD["store/export"], {})
    assert statuses == [EXIT_UNCERTAIN]
    assert (folder / "damaged").exists()


# ── what is read later ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed store with a snapshot of many arrays in many pieces."""
    monkeypatch.setattr(snapshot_io, "PIECE", 2_000)
    with kept(tmp_path) as store:
        fill(store)
        assert store.snapshot()
    return tmp_path


def test_what_is_read_later_changes_nothing(spread: Path) -> None:
    with kept(spread) as store:
        ids = [store.append(stored(f"later {n}", session="talk", position=n)) for n in range(12, 20)]
        store.append(ev.MemoryForgotten(memory=ids[3]))
        store.append(ev.MemoryErased(memory=ids[4], reason="a test"))
        told = store.digests()
        assert told[1] == digests(rebuild(store.hub.log.read()))


def test_a_snapshot_is_also_read_where_preadv_is_missing(spread: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = KeyRing.of((spread / "keys").read_bytes(), None)
    path = only(spread)
    monkeypatch.delattr("os.preadv")
    monkeypatch.setattr("actors.runtime.snapshot_io.sys.platform", "win32")
    assert Snapshots(spread, keys).problems() == []
    flip(next(one for one in path.iterdir() if one.name != MANIFEST), -1)
    assert Snapshots(spread, keys).problems() != []


def test_nothing_is_read_before_somebody_wants_it_but_that_it_is_sound(
    spread: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(DuckDBLog(spread)) as log:
        verified, restored = [], []
        monkeypatch.setattr(EncryptedReader, "verify", noting(verified, EncryptedReader.verify))
        monkeypatch.setattr(EncryptedReader, "restore", noting(restored, EncryptedReader.restore))
        loaded = Snapshots(spread, log.keys).load(log, OWNERS)
        assert loaded is not None
        assert len(verified) >= len(OWNERS)
        before = in_arrays(restored)
        fetch_all(loaded)
        assert in_arrays(restored) > before


def test_a_snapshot_that_is_changed_while_it_is_read_ends_the_process(
    spread: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(status: int) -> NoReturn:
        raise SystemExit(status)

    monkeypatch.setattr("actors.runtime.snapshot_io.os._exit", end)
    with closing(DuckDBLog(spread)) as log:
        loaded = Snapshots(spread, log.keys).load(log, OWNERS)
        assert loaded is not None
        path = only(spread) / "comparator"
        path.write_bytes(bytes(path.stat().st_size))
        with pytest.raises(SystemExit, match=str(EXIT_UNCERTAIN)):
            fetch_all(loaded)
    with kept(spread) as store:
        assert none_is_left(spread), "the next start proves it again"
        assert store.digests()[1] == digests(rebuild(store.hub.log.read()))


def fetch_all(loaded: Loaded) -> None:
    for array in loaded.arrays:
        array.fetch()


def in_arrays(restored: list[Any]) -> int:
    """Count the pieces that aren't of what is read at once."""
    return sum(piece.segment > 0 for _, piece, _ in restored)


def noting(noted: list[Any], what: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*arguments: Any) -> Any:
        noted.append(arguments)
        return what(*arguments)

    return wrapped


# ── erasure ─────────────────────────────────────────────────────────────────────────────────────────


def traces(memory: ev.MemoryStored) -> list[bytes]:
    """Return what must not be left of a memory: its text, and its vectors."""
    vectors = [memory.fingerprint.take(key, Dense).vector for key in ("e1_semantic", "e7_code", "e10_multimodal")]
    return [b"third flowerpot", memory.content, memory.sha256, *vectors, *(vector[100:132] for vector in vectors)]


def held_by(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def unsealed(folder: Path) -> bytes:
    """Return all plain bytes of the snapshot of a closed store."""
    log = DuckDBLog(folder)
    path = only(folder)
    plain = log.keys.open(UUID(path.name), snapshot_files.CONTEXT, (path / MANIFEST).read_bytes())
    log.close()
    manifest = msgspec.msgpack.decode(plain, type=Manifest)
    cipher = AESGCM(manifest.secret)
    whole = b""
    for number, (name, part) in enumerate(manifest.parts.items()):
        sealed = (path / name).read_bytes()
        for piece in part.pieces():
            nonce = number.to_bytes(4, "little") + piece.number.to_bytes(8, "little")
            told = cipher.decrypt(nonce, sealed[piece.offset : piece.offset + piece.length], None)
            size = piece.end - piece.start
            whole += lz4.block.decompress(told, uncompressed_size=size) if piece.compressed else told
    return whole


@pytest.mark.requirement("INTEG-001/delete/hard")
def test_nothing_of_an_erased_memory_is_in_any_file_before_or_after_a_restart_or_in_a_later_snapshot(
    tmp_path: Path,
) -> None:
    with kept(tmp_path) as store:
        fill(store)
        secret = store.append(SECRET)
        store.append(stored("the last word"))
        assert store.snapshot()
    assert all(trace in unsealed(tmp_path) for trace in (SECRET.content, *traces(SECRET)[3:6]))
    with kept(tmp_path) as store:
        before = only(tmp_path)
        store.append(ev.MemoryErased(memory=secret))
        assert none_is_left(tmp_path)
        assert not store.hub.log.keys.has(UUID(before.name))
        assert [trace for trace in traces(SECRET) if trace in held_by(tmp_path)] == []
        assert store.snapshot()
    assert [trace for trace in traces(SECRET) if trace in unsealed(tmp_path)] == []
    with kept(tmp_path) as store:
        assert store.text(secret) is None
        assert [trace for trace in traces(SECRET) if trace in held_by(tmp_path)] == []
        assert store.digests()[1] == digests(rebuild(store.hub.log.read()))


def test_an_erasure_that_a_crash_cut_off_is_finished_at_the_start_and_takes_the_snapshot_with_it(
    tmp_path: Path,
) -> None:
    with kept(tmp_path) as store:
        fill(store)
        secret = store.append(SECRET)
        assert store.snapshot()
    path = only(tmp_path)
    log = DuckDBLog(tmp_path)
    log.append([draft(ev.MemoryErased(memory=secret))])
    log.close()
    with kept(tmp_path) as store:
        assert not path.exists()
        assert not store.hub.log.keys.has(UUID(path.name))
        assert not store.hub.log.keys.has(secret)
        assert store.text(secret) is None
        assert store.digests()[1] == digests(rebuild(store.hub.log.read()))


def test_an_erasure_while_a_snapshot_is_written_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, may_go_on = threading.Event(), threading.Event()
    sync = snapshot_files.SnapshotDraft.sync

    def held(self: snapshot_files.SnapshotDraft) -> None:
        reached.set()
        assert may_go_on.wait(BOUND)
        sync(self)

    monkeypatch.setattr(snapshot_files.SnapshotDraft, "sync", held)
    with kept(tmp_path) as store:
        fill(store)
        secret = store.append(SECRET)
        taken = store.hub.store.ask(TakeSnapshot(), block=False)
        assert reached.wait(BOUND)
        store.append(ev.MemoryErased(memory=secret))
        assert none_is_left(tmp_path)
        may_go_on.set()
        assert taken.get(timeout=BOUND) is False
        assert none_is_left(tmp_path)


@pytest.mark.parametrize("cut_off", [False, True], ids=["at once", "at the next start"])
def test_the_key_of_a_goal_goes_with_its_last_member(tmp_path: Path, *, cut_off: bool) -> None:
    with kept(tmp_path) as store:
        one, two, *_ = fill(store)
        found = store.append(goal(uuid4(), (one, two)))
        store.append(ev.MemoryErased(memory=one))
        seq = store.hub.log.head.seq - 1
        assert isinstance(store.hub.log.get([seq])[0].event, ev.GoalDiscovered)
        if not cut_off:
            store.append(ev.MemoryErased(memory=two))
            assert not store.hub.log.keys.has(found)
            live = store.digests()[1]
    if cut_off:
        log = DuckDBLog(tmp_path)
        log.append([draft(ev.MemoryErased(memory=two))])
        log.close()
        with kept(tmp_path) as store:
            live = store.digests()[1]
    with kept(tmp_path) as store:
        assert not store.hub.log.keys.has(found)
        assert isinstance(store.hub.log.get([seq])[0].event, ev.Shredded)
        assert store.digests()[1] == live == digests(rebuild(store.hub.log.read()))
