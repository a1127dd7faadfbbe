"""What is left of a memory that was erased: in no file of its folder anything that it said."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from events.crypto import wrapping
from events.fingerprint import Fingerprint
from events.recovery.backup import back_up
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogCorruptError
from events.verify.verification import verify
from events.vocabulary import MemoryErased, Shredded
from events.vocabulary.codec import compress
from tests.events.log_suite import fill
from tests.events.samples import draft, stored

WORDS = ("Schroedinger", "Quetzalcoatlus", "Übermaßregelung", "日本語の猫", "hunter2-Zk9")
SECRET = " and ".join(WORDS) + ". The cat, the very same cat, sat on the mat, and sat on the mat again."
MEMORY = stored(SECRET, tags=("tag-Xylophon",), rationale="since Brontosaurus said so", metadata={"who": "Ozymandias"})
ASIDE = ("tag-Xylophon", "Brontosaurus", "Ozymandias")


def traces() -> dict[str, bytes]:
    """Return what must be found nowhere: words, runs of the compressed content, and pieces of every embedding."""
    found = {word: word.encode() for word in (*WORDS, *ASIDE)}
    found |= {f"{word} in UTF-16": word.encode("utf-16-le") for word in WORDS}
    packed = compress(SECRET)
    found |= {f"compressed content at {at}": packed[at : at + 8] for at in range(4, len(packed) - 8)}
    for number, embedding in enumerate(MEMORY.fingerprint.embeddings):
        for field in (held for held in msgspec.structs.asdict(embedding).values() if isinstance(held, bytes)):
            for at in range(0, len(field) - 12, max(12, len(field) // 20)):
                found[f"embedding {number} at {at}"] = field[at : at + 12]
    return found


TRACES = traces()


def left(folder: Path, needles: dict[str, bytes] = TRACES) -> list[tuple[str, str]]:
    """Return what of a memory is found in which file."""
    contents = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [(name, what) for name, content in contents.items() for what, needle in needles.items() if needle in content]


def test_the_search_would_find_every_trace(tmp_path: Path):
    (tmp_path / "log").write_bytes(msgspec.msgpack.encode(MEMORY) + SECRET.encode("utf-16-le"))
    assert {what for _, what in left(tmp_path)} == set(TRACES)
    assert len(TRACES) > 300
    assert len(msgspec.structs.asdict(Fingerprint(MEMORY.fingerprint.embeddings))["embeddings"]) == 13


@pytest.fixture(params=[None, "open sesame"], ids=["without a passphrase", "with one"])
def passphrase(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str | None]:
    monkeypatch.setattr(wrapping, "_MEMORY", 2**4)
    return request.param


def test_nothing_of_an_erased_memory_is_left_in_any_file(tmp_path: Path, passphrase: str | None):
    folder = tmp_path / "store"
    log = DuckDBLog(folder, passphrase)
    fill(log, 2)
    memory, kept = log.append([draft(MEMORY), draft(stored("kept"))])
    record = (folder / "keys").read_bytes()[-128:-64]
    assert record.startswith(memory.id.bytes)
    key = {"the key": record[16:48], "a piece of the key": record[24:40]}
    assert left(folder, key) == [("keys", "the key"), ("keys", "a piece of the key")]

    log.append([draft(MemoryErased(memory=memory.id, reason="it was asked for"))])
    log.shred([memory.id])
    needles = TRACES | key
    assert (folder / "log.duckdb.wal").stat().st_size > 0
    assert left(folder, needles) == []  # while it stands in the WAL
    log.checkpoint()
    assert left(folder, needles) == []  # once it is folded into the main file
    back_up(log, tmp_path / "backup")
    assert left(tmp_path / "backup", needles) == []
    log.close()
    assert left(folder, needles) == []

    for place in (folder, tmp_path / "backup"):
        report = verify(place, passphrase)
        assert (report.problems, report.shredded, report.sealed) == ((), 1, 1)
        again = DuckDBLog(place, passphrase)
        events = [envelope.event for envelope in again.read(after=2)]
        assert events == [
            Shredded(kind="memory_stored.3"),
            kept.event,
            MemoryErased(memory=memory.id, reason="it was asked for"),
        ]
        assert again.get([3])[0].at == memory.at
        again.close()


def test_the_key_of_another_memory_does_not_open_it(tmp_path: Path):
    log = DuckDBLog(tmp_path)
    memory, _ = log.append([draft(MEMORY), draft(stored("kept"))])
    log.shred([memory.id])
    log.close()
    keys = bytearray((tmp_path / "keys").read_bytes())
    keys[-112:-64] = keys[-48:]  # somebody puts the other's key in its place
    (tmp_path / "keys").write_bytes(keys)
    again = DuckDBLog(tmp_path)
    with pytest.raises(LogCorruptError, match="is damaged"):
        list(again.read())
    again.close()
    assert verify(tmp_path).first_bad == 1
