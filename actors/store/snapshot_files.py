"""Snapshots on disk: at most one is valid, each is disposable, and none is used before it is verified.

One that can't be used stays until the whole log was read, of which it may hold the last readable copy. One that doesn't
follow from the log is set aside: nothing reads it, and only an erasure deletes it.

A snapshot is a folder `snapshot/<id>` with one file for each actor that owns projections, and a manifest. The files are
encrypted with a key in the manifest, and the manifest with a key of the log's key ring under the id of the snapshot.
So every changed byte is detected, a passphrase on the key ring protects the snapshot too, and to destroy that key is to
erase the snapshot (crypto-shredding).
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from logging import INFO, WARNING
from pathlib import Path
from time import time
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from cryptography.exceptions import InvalidTag

from actors.runtime.actor import LOGGER
from actors.runtime.snapshot_io import EncryptedReader, Part, check, garbage_collector_paused, read
from actors.store.snapshot_draft import UNFINISHED, SnapshotDraft
from events.crypto.keys import Keys, KeyUnreadableError
from events.storage.durable import sync_folder, write_durably
from events.storage.log import Head, Log, LogError
from events.verify.report import Problem
from projections.registry import ProjectionSet
from projections.storage.lazy_array import LazyArray
from projections.storage.snapshot import SCHEMA, StateError

MANIFEST: Final = "manifest"
NOTHING_LOST: Final = "nothing, a start takes longer"
CONTEXT: Final = b"context-graph snapshot"
ASIDE: Final = ".aside"
"""Suffix of the folder of a snapshot that doesn't follow from the log."""
_OTHER_LOG: Final = "it holds events that the log doesn't have, or has otherwise"
_BEYOND: Final = "nothing of the log; `context-graph repair NEW_FOLDER` adds the memories that it alone holds"
_THREADS: Final = min(4, os.cpu_count() or 1)
"""Threads that verify a snapshot: decryption releases Python's lock."""

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")


class _Version(msgspec.Struct, frozen=True):
    """What can be read of a manifest of any version; the first had no number."""

    schema: int = 0
    head: Head | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a snapshot, and the key of its files."""

    schema: int
    """`projections.storage.snapshot.SCHEMA` of the program that wrote it."""
    head: Head
    """Of the log when the snapshot was taken."""
    secret: bytes
    """The key of all files."""
    parts: dict[str, Part]
    """By actor, in the order in which the files are numbered."""


class Loaded(NamedTuple):
    """A snapshot in use."""

    head: Head
    """Of the log when the snapshot was taken."""
    projections: dict[str, ProjectionSet]
    """By actor."""
    arrays: list[LazyArray]
    """Their arrays, which are read on first use."""


class UnusableError(Exception):
    """A snapshot can't be used."""


class OtherSchemaError(UnusableError):
    """A snapshot is of another schema, though it may be sound."""


class OtherLogError(UnusableError):
    """A sound snapshot holds events that the log doesn't have."""


class Snapshots:
    """The snapshots of one store. Only the thread of the store's actor may change them."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self.folder = folder / "snapshot"
        self._keys = keys
        self._unusable: list[Path] = []
        """Found by `load`."""

    def finish(self, draft: SnapshotDraft) -> None:
        """Make a snapshot valid whose files are on the disk, once all others are erased (`OSError`)."""
        manifest = Manifest(
            schema=SCHEMA,
            head=draft.head,
            secret=draft.secret,
            parts={writer.name: draft.parts[writer.name] for writer in draft.writers},
        )
        self._keys.create([draft.id])
        write_durably(draft.folder / MANIFEST, self._keys.seal(draft.id, CONTEXT, _encoder.encode(manifest)))
        sync_folder(draft.folder)
        self._erase(path for path in self._folders("", UNFINISHED) if path != draft.folder)
        draft.folder.rename(self.folder / draft.id.hex)
        sync_folder(self.folder)

    def load(self, log: Log, owners: Iterable[str]) -> Loaded | None:
        """Return the snapshot, or None; why one can't be used is logged, and `sweep` erases it."""
        with suppress(OSError):  # the server that has their keys may be away; a later start deletes them
            self._erase(self._folders(UNFINISHED))
        for path in self._folders(""):
            try:
                with garbage_collector_paused():
                    return self._read(self.manifest(path), path, log, {*owners})
            except OtherLogError as error:
                self._set_aside(path, error)
            except (UnusableError, StateError, InvalidTag, OSError, LogError) as error:
                self._reject(path, error)
        return None

    def sweep(self) -> None:
        """Erase the snapshots that `load` couldn't use, now that the whole log was read and is intact."""
        paths, self._unusable = self._unusable, []
        try:
            self._erase(path for path in paths if path.exists())  # an erasure may have been faster
        except OSError as undeletable:
            LOGGER.warning("a snapshot can't be deleted: %s", undeletable)

    def newest(self) -> tuple[Head, float] | None:
        """Return the head of the newest snapshot that can be read, and its age in seconds; delete nothing."""
        for manifest, path in self._readable():
            with suppress(OSError):
                return manifest.head, max(time() - (path / MANIFEST).stat().st_mtime, 0.0)
        return None

    def heads(self) -> list[Head]:
        """Return where the log ended when each snapshot was taken, also of one of another schema; delete nothing."""
        found: list[Head] = []
        for path in self._folders(""):
            with suppress(KeyUnreadableError, msgspec.DecodeError, ValueError, RecursionError, OSError):
                plain = self._keys.open(UUID(path.stem), CONTEXT, (path / MANIFEST).read_bytes())
                head = None if plain is None else msgspec.msgpack.decode(plain, type=_Version).head
                found += [] if head is None else [head]
        return found

    def recover(self, suffix: str = "") -> Iterator[Loaded]:
        """Yield the snapshots that can be read, the newest first; delete nothing. `ASIDE`: those set aside."""
        for manifest, path in self._readable(suffix):
            with suppress(StateError, InvalidTag, OSError):
                yield open_parts(manifest, path)

    def problems(self) -> list[Problem]:
        """Verify the snapshot byte by byte, and delete nothing; any thread may call this.

        One of another schema is no problem: the next start erases it.
        """
        found: list[Problem] = []
        for path in self._folders("", ASIDE):
            if path.suffix == ASIDE:
                found.append(Problem(f"snapshot/{path.name}", None, _OTHER_LOG, _BEYOND))
                continue
            try:
                manifest = self.manifest(path)
                for number, (name, part) in enumerate(manifest.parts.items()):
                    check(path / name, manifest.secret, number, part)
            except OtherSchemaError:
                continue
            except (UnusableError, StateError, InvalidTag, OSError) as error:
                if path.exists():  # else a newer one has replaced it meanwhile
                    found.append(Problem(f"snapshot/{path.name}", None, _reason(error), NOTHING_LOST))
        return found

    def discard(self, draft: SnapshotDraft) -> None:
        """Delete the files of a snapshot that was cancelled (`OSError`)."""
        if draft.folder.exists():
            self._erase([draft.folder])

    def erase(self) -> None:
        """Erase all snapshots, unfinished ones too (`OSError`)."""
        self._erase(self._folders())

    def manifest(self, path: Path) -> Manifest:
        """Return the manifest of a snapshot (`UnusableError`, `OSError`)."""
        try:
            plain = self._keys.open(UUID(path.stem), CONTEXT, (path / MANIFEST).read_bytes())
            if plain is None:
                raise UnusableError("its key was destroyed")
            schema = msgspec.msgpack.decode(plain, type=_Version).schema
            if schema != SCHEMA:
                raise OtherSchemaError(f"its schema is {schema or 'an earlier one'}, not {SCHEMA}")
            manifest = msgspec.msgpack.decode(plain, type=Manifest)
        except (KeyUnreadableError, msgspec.DecodeError, ValueError, RecursionError) as error:
            raise UnusableError(f"its manifest can't be read: {error}") from error
        if not all(name.isidentifier() for name in manifest.parts):
            raise UnusableError("its files have other names than actors")
        return manifest

    def _read(self, manifest: Manifest, path: Path, log: Log, owners: set[str]) -> Loaded:
        if manifest.head.seq > log.head.seq or log.head_at(manifest.head.seq) != manifest.head:
            raise OtherLogError(_OTHER_LOG)
        if manifest.parts.keys() != owners:
            raise UnusableError("other actors own projections now")
        return open_parts(manifest, path)

    def _readable(self, suffix: str = "") -> list[tuple[Manifest, Path]]:
        """Return the manifests that can be read and their folders, the newest first."""
        found: list[tuple[Manifest, Path]] = []
        for path in self._folders(suffix):
            with suppress(UnusableError, OSError):
                found.append((self.manifest(path), path))
        return sorted(found, key=lambda one: one[0].head.seq, reverse=True)

    def _folders(self, *suffixes: str) -> list[Path]:
        """Return the folders with one of these suffixes; without any, all."""
        found = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        return [path for path in found if not suffixes or path.suffix in suffixes]

    def _reject(self, path: Path, error: Exception) -> None:
        level = INFO if isinstance(error, OtherSchemaError) else WARNING  # each upgrade may bring another schema
        LOGGER.log(level, "snapshot %s can't be used (%s); all is read from the log", path.name, _reason(error))
        self._unusable.append(path)

    def _set_aside(self, path: Path, error: Exception) -> None:
        LOGGER.warning("snapshot %s can't be used (%s); it is set aside; lost: %s", path.name, error, _BEYOND)
        with suppress(OSError):  # the next start tries again
            path.rename(path.with_suffix(ASIDE))

    def _erase(self, paths: Iterable[Path]) -> None:
        """Destroy the keys of snapshots, then delete their files: they are unreadable from the first step on."""
        paths = list(paths)
        for path in paths:
            with suppress(ValueError):  # no snapshot has this name
                self._keys.destroy([UUID(path.stem)])
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        if paths:
            sync_folder(self.folder)


def open_parts(manifest: Manifest, path: Path) -> Loaded:
    """Verify and open the files of a snapshot (`OSError`, `InvalidTag`, `StateError`)."""
    loaded = Loaded(manifest.head, {}, [])
    with ThreadPoolExecutor(_THREADS) as pool:
        for number, (name, part) in enumerate(manifest.parts.items()):
            reader = EncryptedReader(path / name, manifest.secret, number, part)
            loaded.projections[name], arrays = read(reader, part, pool)
            loaded.arrays.extend(arrays)
    return loaded


def _reason(error: Exception) -> str:
    return str(error) or "its content was changed"
