"""Snapshots on disk: at most one that counts, disposable, and believed only as far as it proves itself.

A snapshot is a folder `snapshot/<id>`: one file for each owner of projections, and a manifest. The files are encrypted
with a key that stands in the manifest, and the manifest with a key in the log's key ring, under the snapshot's id. So
whoever changes a byte is noticed, a passphrase on the ring holds for the snapshot too, and to destroy its key is to
erase it.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID, uuid4

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.runtime.actor import LOGGER
from actors.runtime.snapshot_io import EncryptedReader, EncryptedWriter, Part, check, read
from events.crypto.keys import KeyRing, KeyUnreadableError
from events.storage.durable import sync_folder
from events.storage.log import Head, Log
from events.verify.examination import Problem
from projections.registry import ProjectionSet
from projections.storage.lazy_array import LazyArray
from projections.storage.snapshot import code

FORMAT: Final = 3
"""Of the files and the manifest; another one for whatever changes how these are read, such as the size of pieces."""
MANIFEST: Final = "manifest"
UNFINISHED: Final = ".tmp"
"""Ends the name of one that is being written, or was when its process ended."""
NOTHING_LOST: Final = "nothing, a start takes longer"
_CONTEXT: Final = b"context-graph snapshot"
_THREADS: Final = min(4, os.cpu_count() or 1)
"""That read a snapshot: decryption leaves Python's lock alone."""

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot is of, and what it takes to read it."""

    format: int
    code: bytes
    """`projections.storage.snapshot.code` of the program that wrote it."""
    head: Head
    """Where the log stood."""
    secret: bytes
    """The key of all files."""
    parts: dict[str, Part]
    """By owner, in the order in which the files were numbered."""


class Loaded(NamedTuple):
    """A snapshot that is used."""

    head: Head
    """Where it stands."""
    folds: dict[str, ProjectionSet]
    """What each owner knew then."""
    later: list[LazyArray]
    """Of which this is read when it is wanted, or as soon as somebody has the time."""


class UnfitError(Exception):
    """A snapshot can't be used, for the reason told."""


class OtherVersionError(UnfitError):
    """A snapshot is sound, but not of this program."""


class SnapshotDraft:
    """A snapshot that is being written. Its key is nowhere but here until it is finished."""

    def __init__(self, folder: Path, head: Head, owners: Iterable[str]) -> None:
        """Create its files.

        Raises:
            OSError: they can't be.
        """
        self.id = uuid4()
        self.head = head
        self.folder = folder / f"{self.id.hex}{UNFINISHED}"
        self.secret = AESGCM.generate_key(256)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.folder.mkdir(mode=0o700)
        self.sheets = [EncryptedWriter(self.folder / owner, self.secret, number) for number, owner in enumerate(owners)]
        self.parts: dict[str, Part] = {}
        self._waiting = {sheet.name for sheet in self.sheets}

    @property
    def complete(self) -> bool:
        """Whether all owners are done with it, well or not."""
        return not self._waiting

    @property
    def given_up(self) -> bool:
        """Whether it will never be complete."""
        return any(sheet.withdrawn.is_set() for sheet in self.sheets)

    def take(self, sheet: EncryptedWriter, part: Part | None) -> bool:
        """Note that a sheet is filled, or was given up; return whether it was the last one."""
        self._waiting.discard(sheet.name)
        if part is None:
            self.withdraw()
        else:
            self.parts[sheet.name] = part
        return not self._waiting

    def withdraw(self) -> None:
        """Let whoever still fills a sheet stop."""
        for sheet in self.sheets:
            sheet.withdrawn.set()

    def sync(self) -> None:
        """Wait until all sheets are on the disk, which takes seconds (`OSError`); any thread may call this."""
        for sheet in self.sheets:
            os.fsync(sheet.file.fileno())

    def close(self) -> None:
        """Let go of the files, once nobody fills them any more."""
        for sheet in self.sheets:
            sheet.file.close()


class Snapshots:
    """The snapshots of one store; used by its writer's thread alone.

    Args:
        folder: Of the store.
        keys: Of its log.
    """

    def __init__(self, folder: Path, keys: KeyRing) -> None:
        self._folder = folder / "snapshot"
        self._keys = keys
        code()  # as it is now: whoever replaces this program's files while it runs writes another version of them

    def begin(self, head: Head, owners: Iterable[str]) -> SnapshotDraft:
        """Create the files of a new one (`OSError`)."""
        return SnapshotDraft(self._folder, head, owners)

    def finish(self, draft: SnapshotDraft) -> None:
        """Let a snapshot that is complete and on the disk take the place of all others (`OSError`)."""
        manifest = Manifest(
            format=FORMAT,
            code=code(),
            head=draft.head,
            secret=draft.secret,
            parts={sheet.name: draft.parts[sheet.name] for sheet in draft.sheets},
        )
        before = self._kept()
        self._keys.create([draft.id])
        sealed = self._keys.seal(draft.id, _CONTEXT, _encoder.encode(manifest))
        descriptor = os.open(draft.folder / MANIFEST, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(sealed)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(draft.folder)
        draft.folder.rename(self._folder / draft.id.hex)
        sync_folder(self._folder)
        self._remove(path for path in before if path != draft.folder)

    def load(self, log: Log, owners: Iterable[str]) -> Loaded | None:
        """Return the newest snapshot; None without one that can be used.

        Those that can't be are deleted, and the reason is logged.
        """
        found: list[tuple[Manifest, Path]] = []
        self._remove(path for path in self._kept() if path.suffix == UNFINISHED)
        for path in self._kept():
            try:
                found.append((self._manifest(path), path))
            except (UnfitError, OSError) as unfit:
                self._refuse(path, unfit)
        found.sort(key=lambda one: one[0].head.seq)
        self._remove(path for _, path in found[:-1])
        for manifest, path in found[-1:]:
            try:
                with _no_collections():
                    return self._read(manifest, path, log, tuple(owners))
            except Exception as unfit:  # noqa: BLE001 -- whatever it is: the log has it all
                self._refuse(path, unfit)
        return None

    def problems(self) -> list[Problem]:
        """Check the snapshot byte by byte, and delete nothing; any thread may call this.

        One of another version is none: it is sound, and nobody will use it.
        """
        found: list[Problem] = []
        for path in self._kept():
            if path.suffix == UNFINISHED:
                continue
            try:
                manifest = self._manifest(path)
                for number, (name, part) in enumerate(manifest.parts.items()):
                    check(path / name, manifest.secret, number, part)
            except OtherVersionError:
                continue
            except (UnfitError, InvalidTag, OSError) as error:
                if path.exists():  # else it was replaced meanwhile
                    what = str(error) or "its content isn't what was written"
                    found.append(Problem(f"snapshot/{path.name}", None, what, NOTHING_LOST))
        return found

    def discard(self, draft: SnapshotDraft) -> None:
        """Delete what was written of a snapshot that was given up (`OSError`)."""
        if draft.folder.exists():
            self._remove([draft.folder])

    def erase(self) -> None:
        """Destroy all snapshots, and what is left of unfinished ones (`OSError`)."""
        self._remove(self._kept())

    def _manifest(self, path: Path) -> Manifest:
        try:
            plain = self._keys.open(UUID(path.name), _CONTEXT, (path / MANIFEST).read_bytes())
            if plain is None:
                raise UnfitError("its key was destroyed")
            manifest = msgspec.msgpack.decode(plain, type=Manifest)
        except (KeyUnreadableError, msgspec.DecodeError, ValueError) as error:
            raise UnfitError(f"its manifest can't be read: {error}") from error
        if (manifest.format, manifest.code) != (FORMAT, code()):
            raise OtherVersionError("another version of this program wrote it")
        return manifest

    def _read(self, manifest: Manifest, path: Path, log: Log, owners: tuple[str, ...]) -> Loaded:
        if manifest.head.seq > log.head.seq or log.head_at(manifest.head.seq) != manifest.head:
            raise UnfitError("it is of another log")
        if set(manifest.parts) != set(owners):
            raise UnfitError("others own projections now")
        loaded = Loaded(manifest.head, {}, [])
        with ThreadPoolExecutor(_THREADS) as pool:
            for number, (name, part) in enumerate(manifest.parts.items()):
                folds, later = read(EncryptedReader(path / name, manifest.secret, number, part), part, pool)
                loaded.folds[name] = folds
                loaded.later.extend(later)
        return loaded

    def _kept(self) -> list[Path]:
        return sorted(self._folder.iterdir()) if self._folder.is_dir() else []

    def _refuse(self, path: Path, why: Exception) -> None:
        LOGGER.warning("snapshot %s can't be used (%s); all is read from the log", path.name, why or type(why).__name__)
        try:
            self._remove([path])
        except OSError as error:
            LOGGER.warning("nor can it be deleted: %s", error)

    def _remove(self, paths: Iterable[Path]) -> None:
        """Destroy the keys first: then it is erased, whatever becomes of the files."""
        paths = list(paths)
        self._keys.destroy([id_ for path in paths if (id_ := _id(path)) is not None])
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        if paths:
            sync_folder(self._folder)


def _id(path: Path) -> UUID | None:
    try:
        return UUID(path.stem)
    except ValueError:
        return None


@contextmanager
def _no_collections() -> Generator[None, None, None]:
    """Let the garbage collector wait while millions of objects arrive, none of them garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
