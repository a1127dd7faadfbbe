"""Files that a crash can't tear: a private file with synchronous writes, and the head file of a log."""

import logging
import os
import shutil
import stat
import struct
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from hmac import compare_digest
from io import FileIO
from pathlib import Path
from typing import Final
from zlib import crc32

from events.crypto.chain_key import TAG, ChainKey
from events.storage.log import Head, LogDamagedError, LogError

LOGGER = logging.getLogger("context-graph")

_sync = getattr(os, "fdatasync", os.fsync)
"""macOS has no fdatasync."""

SECTOR: Final = 512
"""Bytes that a disk writes atomically."""

_SLOT: Final = struct.Struct("<q32s")
_CRC: Final = struct.Struct("<I")


def is_in_place(path: Path, opened: os.stat_result) -> bool:
    """Return whether a path still leads to the file or folder that was opened there: not if one above was moved."""
    try:
        return os.path.samestat(path.stat(), opened)
    except OSError:
        return False


def _open(path: Path) -> FileIO:
    """Open or create a file that only its owner may read."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    return FileIO(path, "r+b", opener=lambda name, _: os.open(name, flags, 0o600))


class DurableFile:
    """A file that only its owner may read, opened or created."""

    def __init__(self, path: Path) -> None:
        is_new = not path.exists()
        self._file = _open(path)
        if is_new:
            sync_folder(path.parent)

    def read(self) -> bytes:
        """Return the whole file."""
        self._file.seek(0)
        return self._file.read()

    def write(self, pieces: Mapping[int, bytes]) -> None:
        """Write bytes at offsets, and wait until the disk has them."""
        self.write_unsynced(pieces)
        self.sync()

    def write_unsynced(self, pieces: Mapping[int, bytes]) -> None:
        """Write bytes at offsets. Every process sees them at once; a power cut may lose them.

        A file that was deleted meanwhile is written anew; one that was replaced is an OSError.
        """
        if not os.fstat(self._file.fileno()).st_nlink:
            self._recreate()
        for offset, data in pieces.items():
            self._file.seek(offset)
            if self._file.write(data) != len(data):
                raise OSError(f"a write to {self._file.name} was incomplete")

    def sync(self) -> None:
        """Wait until the disk has all that was written."""
        _sync(self._file.fileno())

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()

    def _recreate(self) -> None:
        """Write the content of the deleted file, which is readable as long as it is open, under its name again."""
        path, content = Path(self._file.name), self.read()
        if path.exists():
            raise OSError(f"{path} was replaced by another file while it was in use")
        LOGGER.warning("%s was deleted while it was in use; it is written again", path)
        deleted, self._file = self._file, _open(path)
        deleted.close()
        self._file.write(content)
        self.sync()
        sync_folder(path.parent)


class HeadFile:
    """The last acknowledged head, outside of the log: a chain can't show that its own end is missing.

    Two slots in two sectors are written in turn, so when a crash tears one, the other holds the head before it. An
    append doesn't wait for the disk to have its head: the log has the event by then. A slot is written only when the
    other one is on the disk; otherwise one power cut could tear both.
    """

    def __init__(self, path: Path, chain: ChainKey | None = None) -> None:
        """Open or create the file (`LogDamagedError`: neither slot can be read)."""
        self._file = DurableFile(path)
        content = self._file.read()
        self._chain = chain
        slots = parse_slots(content, chain)
        heads = [head for head in slots if head is not None]
        if content and not heads:
            self._file.close()
            raise LogDamagedError(f"{path} is damaged: it no longer says which event was acknowledged last")
        self.acknowledged: Head | None = latest_head(slots)
        """The last acknowledged head; None in a new file."""
        self._slot = slots.index(self.acknowledged) if heads else 1
        self._disk = ThreadPoolExecutor(1, "head")
        self._pending_sync: Future[None] | None = None

    def write(self, head: Head) -> None:
        """Record that the events up to this head are about to be acknowledged (`OSError`, also of the last sync)."""
        slot = 1 - self._slot
        self._await_sync()
        self._file.write_unsynced({slot * SECTOR: _encode(head, self._chain)})
        self._slot = slot
        self.acknowledged = head
        self._pending_sync = self._disk.submit(self._file.sync)

    def authenticate(self, chain: ChainKey) -> None:
        """Put the tags of a new chain key beside the heads, which stay readable without it (`OSError`)."""
        self._await_sync()
        self._chain = chain
        if self.acknowledged is not None:
            for slot in (1 - self._slot, self._slot):
                self._file.write({slot * SECTOR: _encode(self.acknowledged, chain)})

    def close(self) -> None:
        """Close the file once the disk has it (`OSError`); a second call does nothing."""
        try:
            self._await_sync()
        finally:
            self._disk.shutdown()
            self._file.close()

    def _await_sync(self) -> None:
        pending, self._pending_sync = self._pending_sync, None
        if pending is not None:
            pending.result()


def parse_slots(content: bytes, chain: ChainKey | None = None) -> list[Head | None]:
    """Return the heads in the two slots of a head file; None for an empty or damaged slot.

    With the chain key, a head without its tag counts as damaged; without, tags are not checked.
    """
    return [_parse(content[start : start + SECTOR], chain) for start in (0, SECTOR)]


def latest_head(slots: Iterable[Head | None]) -> Head | None:
    """Return the head that was acknowledged last, of two with one number that in the later slot; None without any."""
    heads = sorted((head for head in slots if head is not None), key=lambda head: head.seq)
    return heads[-1] if heads else None


def check_files(folder: Path, names: Iterable[str]) -> None:
    """Raise `LogDamagedError` if a file is missing where events were acknowledged; opening would create it."""
    head = folder / "head"
    slots = parse_slots(head.read_bytes()) if head.exists() else []
    if not any(slot and slot.seq for slot in slots):
        return
    for name in names:
        if not (folder / name).exists():
            raise LogDamagedError(
                f"{folder / name} is missing, but events were acknowledged: put it back, or replace the store "
                "with a backup by: context-graph restore BACKUP --replace"
            )


def check_private(folder: Path) -> None:
    """Raise `LogError` if a folder can't be written to, belongs to another user, or others may write in it or above."""
    if not os.access(folder, os.W_OK):
        raise LogError(f"{folder} can't be written to, which even reading a store needs: give --data a copy")
    if os.name != "posix":  # Windows has other rights
        return
    found, user = folder.stat(), os.geteuid()
    if found.st_uid != user:
        raise LogError(f"{folder} belongs to user {found.st_uid}: run this as that user, or: chown -R {user} {folder}")
    if _others_may_write(found):
        raise LogError(f"others may write in {folder}; change that by: chmod go-w {folder}")
    parent = folder.resolve().parent
    if _others_may_write(above := parent.stat()) and not above.st_mode & stat.S_ISVTX:
        raise LogError(f"others may write in {parent} and replace {folder}; change that by: chmod go-w {parent}")


def _others_may_write(found: os.stat_result) -> bool:
    others = stat.S_IWOTH | (stat.S_IWGRP if found.st_gid != os.getegid() else 0)
    return bool(found.st_mode & others)


def has_stray_bytes(content: bytes) -> bool:
    """Tell whether a head file holds anything outside its slots, where nothing is ever written."""
    used = _SLOT.size + _CRC.size + TAG
    return any(content[used:SECTOR]) or any(content[SECTOR + used :])


def _encode(head: Head, chain: ChainKey | None) -> bytes:
    body = _SLOT.pack(head.seq, head.hash)
    return body + _CRC.pack(crc32(body)) + (b"" if chain is None else chain.head_tag(body))


def _parse(sector: bytes, chain: ChainKey | None) -> Head | None:
    body, check = sector[: _SLOT.size], sector[_SLOT.size : _SLOT.size + _CRC.size]
    if len(check) < _CRC.size or _CRC.unpack(check) != (crc32(body),):
        return None
    tag = sector[_SLOT.size + _CRC.size :][:TAG]
    if chain is not None and not compare_digest(tag, chain.head_tag(body)):
        return None
    return Head(*_SLOT.unpack(body))


def replace_file(path: Path, content: bytes) -> None:
    """Write a private file so that a reader, or a crash, finds the former content or all of this; the last writer wins.

    Raises:
        OSError: The folder can't be written.
    """
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink()
        raise
    sync_folder(path.parent)


def write_durably(path: Path, content: bytes) -> None:
    """Write the first bytes of a private file, made if need be; the disk has them when this returns (`OSError`)."""
    with closing(DurableFile(path)) as file:
        file.write({0: content})


def copy_file(source: Path, target: Path) -> None:
    """Copy a file to one that only its owner may read, on the disk when this returns (`OSError`)."""
    shutil.copyfile(source, target)
    target.chmod(0o600)
    with target.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; Windows does so by itself."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
