"""The kinds of files that are mutated, how each is read, and what may come of it."""

import json
import random
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

import lz4.block
import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.runtime.snapshot_io import EncryptedReader, Part, _nonce, read
from actors.store import snapshot_files
from actors.store.snapshot_files import MANIFEST, Snapshots, UnusableError
from benchmarks.fuzz.mutations import mutate_bytes, mutate_value
from events.crypto.keys import KeyRing, KeyUnreadableError
from events.recovery.opening import open_log
from events.storage.chain import Row, _context, _digest, read_row
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import parse_slots
from events.storage.log import Envelope, LogCorruptError, LogDamagedError, LogError
from events.verify.verification import verify
from events.vocabulary import EventLost, Shredded
from events.vocabulary.codec import UnknownKindError, decode, is_sealed
from projections.storage.snapshot import StateError

SNAPSHOT_ERRORS: Final = (UnusableError, StateError, InvalidTag, OSError, LogError)
"""That a start handles by reading the log."""
COMPRESSED: Final = frozenset({"memory_stored.3"})
"""Kinds whose maps are compressed."""
_LENGTH: Final = 8
_LOG_FILES: Final = ("log.duckdb", "log.duckdb.wal", "keys", "head", "format")


class Wrong(Exception):
    """A file was read as something that was never written."""


class Reader(NamedTuple):
    """How one kind of file is mutated and read."""

    share: float
    """Of all files."""
    refusals: tuple[type[Exception], ...]
    """Errors that a start or a command handles."""
    read: "Callable[[Sample, random.Random], str | None]"
    """Mutates and reads one; returns in a word what came of it."""


class Sample:
    """What is mutated: the files of sound stores, and their decoded contents.

    `stores` are one that was closed and one that was killed, by these names; `work` is an empty folder.
    """

    def __init__(self, stores: dict[str, Path], work: Path) -> None:
        self.work, self.killed = work, stores["killed"]
        closed = shutil.copytree(stores["closed"], work / "closed")
        self.key_file = (closed / "keys").read_bytes()
        self.head_file = (closed / "head").read_bytes()
        self.keys = KeyRing.of(self.key_file)
        self.events = events_of(shutil.copytree(self.killed, work / "truth"))
        with closing(DuckDBLog(closed)) as log:
            self.rows = list(log.rows(1, log.head.seq))
        self.snapshots = Snapshots(closed, self.keys)
        (self.folder,) = (path for path in (closed / "snapshot").iterdir() if path.is_dir())
        self.manifest = self.snapshots.manifest(self.folder)
        self.sealed_manifest = (self.folder / MANIFEST).read_bytes()
        self.parts = {name: (self.folder / name).read_bytes() for name in self.manifest.parts}
        self.pool = ThreadPoolExecutor(1)

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


def _keys(sample: Sample, rng: random.Random) -> None:
    ring = KeyRing.of(mutate_bytes(sample.key_file, rng))
    list(ring.damaged())
    for row in sample.rows:
        sealed = (row.id, _context(row.id, row.kind), row.data)
        with suppress(KeyUnreadableError):
            changed = is_sealed(row.kind) and ring.open(*sealed) != sample.keys.open(*sealed)
            if changed and not ring.is_destroyed(row.id):
                raise Wrong(f"event {row.seq}")


def _head(sample: Sample, rng: random.Random) -> None:
    right = parse_slots(sample.head_file, sample.keys.chain)
    for found in parse_slots(mutate_bytes(sample.head_file, rng), sample.keys.chain):
        if found is not None and found not in right:
            raise Wrong(str(found))


def _manifest(sample: Sample, rng: random.Random) -> None:
    content = mutate_bytes(sample.sealed_manifest, rng)
    _open_manifest(sample, content)
    if content != sample.sealed_manifest:
        raise Wrong("a manifest that was changed")


def _forged_manifest(sample: Sample, rng: random.Random) -> None:
    packed = msgspec.msgpack.encode(sample.manifest)
    plain = _mutated(packed, msgspec.msgpack.decode(packed), rng)
    _open_manifest(sample, sample.keys.seal(UUID(sample.folder.name), snapshot_files.CONTEXT, plain))


def _open_manifest(sample: Sample, content: bytes) -> None:
    (sample.folder / MANIFEST).write_bytes(content)
    snapshot_files.open_parts(sample.snapshots.manifest(sample.folder), sample.folder)


def _part(sample: Sample, rng: random.Random) -> None:
    number, name = rng.choice(list(enumerate(sample.parts)))
    content = mutate_bytes(sample.parts[name], rng)
    _load(sample, content, number, sample.manifest.parts[name])
    if content != sample.parts[name]:
        raise Wrong("a part that was changed")


def _forged_part(sample: Sample, rng: random.Random) -> None:
    """Change the header or the values of a part, whose first piece they are."""
    number, name = rng.choice(list(enumerate(sample.parts)))
    part = sample.manifest.parts[name]
    head = bytearray(part.segments[0])
    path = sample.work / "part"
    path.write_bytes(sample.parts[name])
    EncryptedReader(path, sample.manifest.secret, number, part).restore(next(part.pieces()), memoryview(head))
    end = _LENGTH + int.from_bytes(head[:_LENGTH], "little")
    header, values = json.loads(head[_LENGTH:end]), bytes(head[end:])
    match rng.randrange(3):
        case 0:
            changed = mutate_bytes(bytes(head), rng)
        case 1:
            changed = _head_of(mutate_value(header, rng), values)
        case _:
            kind, plain = msgspec.msgpack.decode(values)
            values = _packed(mutate_value([kind, plain], rng))
            header["values"] = {"dtype": "U8", "shape": [len(values)], "data_offsets": [0, len(values)]}
            changed = _head_of(header, values)
    sealed = AESGCM(sample.manifest.secret).encrypt(_nonce(number, 0), changed, None)
    forged = Part((len(changed), *part.segments[1:]), (len(sealed), *part.sealed[1:]))
    _load(sample, sealed + sample.parts[name][part.sealed[0] :], number, forged)


def _head_of(header: Any, values: bytes) -> bytes:
    encoded = json.dumps(header, default=repr).encode("utf-8", "replace")
    return len(encoded).to_bytes(_LENGTH, "little") + encoded + values


def _load(sample: Sample, content: bytes, number: int, part: Part) -> None:
    path = sample.work / "part"
    path.write_bytes(content)
    _, arrays = read(EncryptedReader(path, sample.manifest.secret, number, part), part, sample.pool)
    for array in arrays:
        array.fetch()
        _ = array.array


def _row(sample: Sample, rng: random.Random) -> None:
    row = rng.choice(sample.rows)
    name = rng.choice(("data", "hash", "prev_hash", "kind"))
    value = getattr(row, name)
    changed = row._replace(**{name: mutate_bytes(value, rng) if isinstance(value, bytes) else f"{value}x"})
    if read_row(changed, sample.keys) != read_row(row, sample.keys):
        raise Wrong(f"event {row.seq}")


def _forged_row(sample: Sample, rng: random.Random) -> None:
    row = rng.choice(sample.rows)
    context = _context(row.id, row.kind)
    plain = sample.keys.open(row.id, context, row.data) if is_sealed(row.kind) else row.data
    if plain is None:
        return
    value = msgspec.to_builtins(decode(row.kind, plain), builtin_types=(bytes,))
    plain = _mutated(plain, value, rng, compressed=row.kind in COMPRESSED)
    data = sample.keys.seal(row.id, context, plain) if is_sealed(row.kind) else plain
    changed: Row = row._replace(data=data)
    read_row(changed._replace(hash=_digest(changed, sample.keys)), sample.keys)


def _store(sample: Sample, rng: random.Random) -> str:
    """Change a file of a whole store, verify it and open it as a start does."""
    folder = sample.work / "store"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sample.killed, folder)
    path = folder / rng.choice(_LOG_FILES)
    path.write_bytes(mutate_bytes(path.read_bytes(), rng))
    lost = [seq for bad in verify(folder).bad for seq in range(bad.first, bad.last + 1)]
    found = events_of(folder)
    shown = {one.seq for one in found if isinstance(one.event, EventLost)}
    if shown != set(lost):
        raise Wrong(f"verify says that {lost[:5]} are lost, and opening {sorted(shown)[:5]}")
    truth = {one.seq: one for one in sample.events}
    for one in found:
        if one.seq not in shown and truth.get(one.seq) != one and not isinstance(one.event, Shredded):
            raise Wrong(f"event {one.seq}")
    return "opened"


def events_of(folder: Path) -> list[Envelope]:
    """Open a log as a start does, and read all of it."""
    with closing(open_log(folder, None)) as log:
        try:
            return list(log.read())
        except LogDamagedError as error:
            log.salvage(str(error))
            return list(log.read())


def _mutated(plain: bytes, value: Any, rng: random.Random, *, compressed: bool = False) -> bytes:
    """Change the bytes of a value, or the value that they hold."""
    if rng.random() < 0.3:
        return mutate_bytes(plain, rng)
    packed = _packed(mutate_value(value, rng))
    return lz4.block.compress(packed) if compressed else packed


def _packed(value: Any) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except (OverflowError, RecursionError):  # a number that msgpack can't hold
        return msgspec.msgpack.encode(None)


READERS: Final = {
    "keys": Reader(30, (LogError,), _keys),
    "head": Reader(10, (LogError,), _head),
    "manifest": Reader(5, SNAPSHOT_ERRORS, _manifest),
    "manifest, sealed again": Reader(15, SNAPSHOT_ERRORS, _forged_manifest),
    "snapshot": Reader(10, SNAPSHOT_ERRORS, _part),
    "snapshot, sealed again": Reader(20, SNAPSHOT_ERRORS, _forged_part),
    "row": Reader(5, (LogCorruptError, UnknownKindError), _row),
    "row, sealed again": Reader(15, (LogCorruptError, UnknownKindError), _forged_row),
    "store": Reader(0.2, (LogError,), _store),
}
"""The kinds of files, by name."""
