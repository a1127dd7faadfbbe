"""Projections as compressed and encrypted files, piece by piece: nobody who waits for an actor waits for all of it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor
from io import FileIO
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple, cast

import lz4.block
import msgspec
import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from projections.owned import Folds
from projections.snapshot import Packed, pack, unpack

PIECE: Final = 1 << 20
"""Bytes that are sealed at once: a core's cache holds them."""
SLICE: Final = 2
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


class Sheet:
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

    def fill(self, folds: Folds) -> Generator[None, None, Part]:
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


def read(path: Path, secret: bytes, number: int, part: Part, pool: Executor) -> Folds:
    """Return what was written to a sheet, once every piece has proved to be what it was.

    Raises:
        OSError: the file can't be read, or isn't as long as it was.
        InvalidTag: a piece isn't what it was.
        UnpackError: it holds something else than projections.
    """
    cipher = AESGCM(secret)
    segments = [_room(length) for length in (part.inline, *part.arrays)]
    with path.open("rb", buffering=0) as file:
        if os.fstat(file.fileno()).st_size != part.size():
            raise OSError(f"{path.name} isn't as long as it was")

        def restore(pieces: list[Piece]) -> None:
            room, told = memoryview(bytearray(PIECE + TAG)), memoryview(bytearray(PIECE))
            for piece in pieces:
                sealed, plain = room[: piece.length], segments[piece.segment].data[piece.start : piece.end]
                if os.preadv(file.fileno(), [sealed], piece.offset) != len(sealed):
                    raise OSError(f"{path.name} isn't as long as it was")
                shorter = told[: piece.length - TAG] if piece.compressed else plain
                cipher.decrypt_into(_nonce(number, piece.number), sealed, None, shorter)
                if piece.compressed:
                    plain[:] = cast("bytes", lz4.block.decompress(shorter, uncompressed_size=len(plain)))

        pieces = list(part.pieces())
        for _ in pool.map(restore, [pieces[start : start + 16] for start in range(0, len(pieces), 16)]):
            pass
    return unpack(segments[0].data, segments[1:])


def check(path: Path, secret: bytes, number: int, part: Part) -> None:
    """Read what was written to a sheet and keep nothing of it; raises what `read` does."""
    cipher, room = AESGCM(secret), memoryview(bytearray(PIECE + TAG))
    with path.open("rb", buffering=0) as file:
        if os.fstat(file.fileno()).st_size != part.size():
            raise OSError(f"{path.name} isn't as long as it was")
        for piece in part.pieces():
            sealed = room[: piece.length]
            if file.readinto(sealed) != len(sealed):
                raise OSError(f"{path.name} isn't as long as it was")
            cipher.decrypt(_nonce(number, piece.number), sealed, None)


def _stretches(inline: int, arrays: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Yield which segment each piece belongs to, and from where to where in it."""
    for segment, length in enumerate((inline, *arrays)):
        for start in range(0, length, PIECE):
            yield segment, start, min(start + PIECE, length)


def _segment(packed: Packed, number: int) -> memoryview:
    return memoryview(packed.inline) if number == 0 else packed.arrays[number - 1]


def _room(length: int) -> npt.NDArray[np.uint8]:
    """Return the beginning of an array a quarter longer; what isn't used of it takes no memory."""
    return np.zeros(length + length // 4, np.uint8)[:length]


def _nonce(number: int, count: int) -> bytes:
    """Return what no two pieces under one key share, and what ties each to its place."""
    return number.to_bytes(4, "little") + count.to_bytes(8, "little")
