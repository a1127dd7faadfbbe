"""Projections as compressed and encrypted files, piece by piece: nobody who waits for an actor waits for all of it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor
from io import FileIO
from mmap import mmap
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple, cast

import lz4.block
import msgspec
import numpy as np
import numpy.typing as npt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER
from projections.registry import ProjectionSet
from projections.storage.lazy_array import LazyArray
from projections.storage.snapshot import Packed, pack, unpack

PIECE: Final = 1 << 18
"""Bytes that are sealed at once: who wants one item of an array waits for so many."""
SLICE: Final = 8
"""Pieces between two messages: some 3 ms."""
TAG: Final = 16
"""Bytes that each piece grows by (AES-GCM)."""
SPARE: Final = 256 << 20
"""Bytes of the disk that are left alone: the log needs them more."""


class Piece(NamedTuple):
    """A stretch of a segment, and where in the file it stands."""

    number: int
    segment: int
    start: int
    end: int
    offset: int
    length: int

    @property
    def compressed(self) -> bool:
        """Whether it is; one that wouldn't get shorter stands as it is."""
        return self.length < self.end - self.start + TAG


class Part(msgspec.Struct, frozen=True):
    """What one owner put in its file: the lengths of its pickle and of its arrays, and those of the sealed pieces."""

    inline: int
    arrays: tuple[int, ...]
    sealed: tuple[int, ...]

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces in the order of the file."""
        offset = 0
        stretches = _stretches(self.inline, self.arrays)
        for number, (stretch, length) in enumerate(zip(stretches, self.sealed, strict=True)):
            yield Piece(number, *stretch, offset, length)
            offset += length

    def size(self) -> int:
        """Return the bytes of the file."""
        return sum(self.sealed)


class EncryptedWriter:
    """A file that an owner is to fill, encrypted with a key that only lives in memory until all owners are done.

    Args:
        path: Of the file, which is created.
        secret: An AES-256 key for all files of one snapshot.
        number: Of the file among these.
    """

    def __init__(self, path: Path, secret: bytes, number: int) -> None:
        self.name = path.name
        self.file = FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self.withdrawn = Event()
        """Set by whoever no longer wants it."""
        self._cipher = AESGCM(secret)
        self._number = number

    def fill(self, folds: ProjectionSet) -> Generator[None, None, Part]:
        """Write the projections, a slice at a time; nothing may be applied to them meanwhile.

        Raises:
            OSError: the disk doesn't take it, or it was withdrawn.
        """
        packed = pack(folds)
        inline, arrays = len(packed.inline), tuple(array.nbytes for array in packed.arrays)
        room = memoryview(bytearray(PIECE + TAG))
        lengths: list[int] = []
        for count, (segment, start, end) in enumerate(_stretches(inline, arrays)):
            if not count % SLICE:
                yield
                self._check()
            plain = _segment(packed, segment)[start:end]
            shorter = cast("bytes", lz4.block.compress(plain, store_size=False))
            told = shorter if len(shorter) < len(plain) else plain
            sealed = room[: len(told) + TAG]
            self._cipher.encrypt_into(_nonce(self._number, count), told, None, sealed)
            if self.file.write(sealed) != len(sealed):
                raise OSError(f"the disk took only a part of a write to {self.name}")
            lengths.append(len(sealed))
        return Part(inline, arrays, tuple(lengths))

    def _check(self) -> None:
        if self.withdrawn.is_set():
            raise OSError("it was withdrawn")
        room = os.fstatvfs(self.file.fileno())
        if room.f_bavail * room.f_frsize < SPARE:
            raise OSError("the disk is nearly full")


class EncryptedReader:
    """The file of a sheet, open until nobody wants anything of it any more.

    Args:
        path: Of the file.
        secret: What it is encrypted with.
        number: Of the file among those of its snapshot.
        part: What it holds.

    Raises:
        OSError: it can't be read, or isn't as long as it was.
    """

    def __init__(self, path: Path, secret: bytes, number: int, part: Part) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)
        self._name = path.name
        self._cipher = AESGCM(secret)
        self._number = number
        if os.fstat(self._descriptor).st_size != part.size():
            raise self._changed()

    def prove(self, pieces: Iterable[Piece]) -> None:
        """Make sure that these pieces are what they were (`OSError`, `InvalidTag`)."""
        for piece in pieces:
            self._decrypt(piece, _told.room[: piece.length - TAG])

    def restore(self, piece: Piece, plain: memoryview) -> None:
        """Put a piece where it belongs (`OSError`, `InvalidTag`)."""
        if not piece.compressed:
            self._decrypt(piece, plain)
            return
        told = _told.room[: piece.length - TAG]
        self._decrypt(piece, told)
        plain[:] = cast("bytes", lz4.block.decompress(told, uncompressed_size=len(plain)))

    def _decrypt(self, piece: Piece, told: memoryview) -> None:
        sealed = _sealed.room[: piece.length]
        if os.preadv(self._descriptor, [sealed], piece.offset) != len(sealed):
            raise self._changed()
        self._cipher.decrypt_into(_nonce(self._number, piece.number), sealed, None, told)

    def _changed(self) -> OSError:
        return OSError(f"{self._name} isn't as long as it was")


class _Room(threading.local):
    """Memory that a thread uses for one piece after the other: fresh memory takes longer than all the rest."""

    def __init__(self) -> None:
        self.room = memoryview(bytearray(PIECE + TAG))


_sealed, _told = _Room(), _Room()


def read(sealed: EncryptedReader, part: Part, pool: Executor) -> tuple[ProjectionSet, list[LazyArray]]:
    """Return what was written to a sheet, once every piece has proved to be what it was, and what comes later of it.

    Raises:
        OSError: the file can't be read, or isn't as long as it was.
        InvalidTag: a piece isn't what it was.
        UnpackError: it holds something else than projections.
    """
    pieces = list(part.pieces())
    for _ in pool.map(sealed.prove, [pieces[start : start + 16] for start in range(0, len(pieces), 16)]):
        pass
    by_segment: dict[int, list[Piece]] = {segment: [] for segment in range(1 + len(part.arrays))}
    for piece in pieces:
        by_segment[piece.segment].append(piece)
    lengths = (part.inline, *part.arrays)
    inline, *arrays = (_later(sealed, length, by_segment[segment]) for segment, length in enumerate(lengths))
    return unpack(inline.fetch().data, arrays), arrays


def _later(sealed: EncryptedReader, length: int, pieces: list[Piece]) -> LazyArray:
    room = _room(length)

    def restore(number: int) -> None:
        piece = pieces[number]
        try:
            sealed.restore(piece, room.data[piece.start : piece.end])
        except (OSError, InvalidTag) as error:
            # It has proved itself, and changed since. The next start won't use it, but this one already did.
            LOGGER.critical("a snapshot was changed while it was read; stopping: %r", error)
            os._exit(EXIT_UNCERTAIN)

    return LazyArray(room, length, PIECE, restore)


def check(path: Path, secret: bytes, number: int, part: Part) -> None:
    """Read what was written to a sheet and keep nothing of it; raises what `read` does."""
    EncryptedReader(path, secret, number, part).prove(part.pieces())


def _stretches(inline: int, arrays: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Yield which segment each piece belongs to, and from where to where in it."""
    for segment, length in enumerate((inline, *arrays)):
        for start in range(0, length, PIECE):
            yield segment, start, min(start + PIECE, length)


def _segment(packed: Packed, number: int) -> memoryview:
    return memoryview(packed.inline) if number == 0 else packed.arrays[number - 1]


def _room(length: int) -> npt.NDArray[np.uint8]:
    """Return the beginning of an array a quarter longer; what isn't used of it takes no memory.

    Not by numpy, which asks for huge pages: a virtual machine that has to get them from its host first took 4 s of the
    kernel's time for 1 GB, and 1.6 s in small pages.
    """
    return np.frombuffer(mmap(-1, max(1, length + length // 4)), np.uint8)[:length]


def _nonce(number: int, count: int) -> bytes:
    """Return what no two pieces under one key share, and what ties each to its place."""
    return number.to_bytes(4, "little") + count.to_bytes(8, "little")
