"""Two small things that a crash can't tear: a private file with synchronous writes, and the head of a log in one."""

import os
import struct
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final
from zlib import crc32

from events.storage.log import Head, LogError

_sync = getattr(os, "fdatasync", os.fsync)
"""macOS has no fdatasync."""

_SECTOR: Final = 512
"""Bytes that a disk writes as one: whatever lies within one of them is written whole or not at all."""

_SLOT: Final = struct.Struct("<q32s")
_CRC: Final = struct.Struct("<I")


class DurableFile:
    """A file that only its owner may read, whose every `write` has reached the disk when it returns."""

    def __init__(self, path: Path) -> None:
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._file = os.fdopen(descriptor, "r+b", buffering=0)
        if is_new:
            sync_folder(path.parent)

    def read(self) -> bytes:
        """Return the whole file."""
        self._file.seek(0)
        return self._file.read()

    def write(self, pieces: Mapping[int, bytes]) -> None:
        """Put bytes at offsets, and wait once for the disk."""
        self.put(pieces)
        self.sync()

    def put(self, pieces: Mapping[int, bytes]) -> None:
        """Put bytes at offsets, where every process sees them; the disk may have them later."""
        for offset, data in pieces.items():
            self._file.seek(offset)
            if self._file.write(data) != len(data):
                raise OSError(f"the disk took only a part of a write to {self._file.name}")

    def sync(self) -> None:
        """Wait until the disk has what was put."""
        _sync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        self._file.close()


class HeadFile:
    """The last head that was acknowledged, kept outside the log, whose chain can't see a missing end of its own.

    Two slots, a sector apart, are written in turn: when a crash tears one, the other still holds the head before it.
    Nobody waits for the disk to have a head: whatever it stands for is in the log by then, which goes on to its own end
    when it is opened. But a slot is written only once the other is on the disk, or one power cut could tear both.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            LogError: neither slot can be read.
        """
        self._file = DurableFile(path)
        content = self._file.read()
        slots = slots_of(content)
        heads = [head for head in slots if head is not None]
        if content and not heads:
            self._file.close()
            raise LogError(f"{path} is damaged: it no longer says which event was acknowledged last")
        self.acknowledged: Head | None = max(heads, key=lambda head: head.seq, default=None)
        """What was acknowledged last; None when nothing ever was."""
        self._slot = slots.index(self.acknowledged) if heads else 1
        self._disk = ThreadPoolExecutor(1, "head")
        self._on_its_way: Future[None] | None = None

    def write(self, head: Head) -> None:
        """Record that everything up to this head, which is on the disk, is about to be acknowledged.

        Raises:
            OSError: the disk doesn't take it, or didn't take the one before.
        """
        slot = 1 - self._slot
        body = _SLOT.pack(head.seq, head.hash)
        self._settle()
        self._file.put({slot * _SECTOR: body + _CRC.pack(crc32(body))})
        self._slot = slot
        self.acknowledged = head
        self._on_its_way = self._disk.submit(self._file.sync)

    def close(self) -> None:
        """Let go of the file once the disk has it (`OSError`); a second call does nothing."""
        try:
            self._settle()
        finally:
            self._disk.shutdown()
            self._file.close()

    def _settle(self) -> None:
        if self._on_its_way is not None:
            on_its_way, self._on_its_way = self._on_its_way, None
            on_its_way.result()


def slots_of(content: bytes) -> list[Head | None]:
    """Return what the two slots of a head file say; None for one that was never written, or is damaged."""
    return [_parse(content[start : start + _SECTOR]) for start in (0, _SECTOR)]


def stray_bytes(content: bytes) -> bool:
    """Tell whether a head file holds anything outside its slots, where nothing is ever written."""
    used = _SLOT.size + _CRC.size
    return any(content[used:_SECTOR]) or any(content[_SECTOR + used :])


def _parse(sector: bytes) -> Head | None:
    body, check = sector[: _SLOT.size], sector[_SLOT.size : _SLOT.size + _CRC.size]
    if len(check) < _CRC.size or _CRC.unpack(check) != (crc32(body),):
        return None
    return Head(*_SLOT.unpack(body))


def sync_folder(folder: Path) -> None:
    """Make a new file's name as durable as its content; Windows does so by itself and can't be asked."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
