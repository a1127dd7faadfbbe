"""Projections as compressed and encrypted files in pieces, so that no actor is busy for longer than a few pieces.

The plain content of a file is a safetensors file (`projections.storage.snapshot`).
"""

import gc
import os
import shutil
import sys
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from io import FileIO
from itertools import groupby
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
from projections.storage.snapshot import StateError, Tensor, dump, load, parse

PIECE: Final = 1 << 18
"""Bytes that are compressed and encrypted together: one item of an array costs a read of so many."""
SLICE: Final = 8
"""Pieces that are written between two messages of an actor: some 3 ms."""
KEY: Final = 32
"""Bytes of the key of a snapshot."""
TAG: Final = 16
"""Bytes of the authentication tag of each piece (AES-GCM)."""
SPARE: Final = 256 << 20
"""Bytes of free disk space that a snapshot leaves to the log."""
_VERIFIED_TOGETHER: Final = 16
"""Pieces of one task of the thread pool."""


class Piece(NamedTuple):
    """A range of bytes of one segment, and where it stands in the file."""

    number: int
    segment: int
    start: int
    end: int
    offset: int
    length: int

    @property
    def compressed(self) -> bool:
        """Whether it is compressed; one that compression doesn't shorten is stored as it is."""
        return self.length < self.end - self.start + TAG


class Part(msgspec.Struct, frozen=True):
    """The layout of one actor's file."""

    segments: tuple[int, ...]
    """Plain bytes of header and values, and of each array."""
    sealed: tuple[int, ...]
    """Encrypted bytes of each piece."""

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces in the order of the file."""
        offset = 0
        for number, (piece, length) in enumerate(zip(_ranges(self.segments), self.sealed, strict=True)):
            yield Piece(number, *piece, offset, length)
            offset += length

    def size(self) -> int:
        """Return the bytes of the file."""
        return sum(self.sealed)

    def check(self) -> None:
        """Check that every piece can be what was written; a forged layout is a `StateError`."""
        if not self.segments or min(self.segments) < 0:
            raise StateError("its layout has no header, or a negative length")
        plain = (end - start for _, start, end in _ranges(self.segments))
        try:
            fits = all(TAG <= sealed <= size + TAG for size, sealed in zip(plain, self.sealed, strict=True))
        except ValueError:  # more or fewer pieces than their sum needs
            fits = False
        if not fits:
            raise StateError("its layout isn't that of its pieces")


class EncryptedWriter:
    """A file of a snapshot that an actor writes.

    Args:
        secret: The AES-256 key of all files of the snapshot, in memory alone until all of them are written.
        number: Of the file among these, part of each nonce.
        cancelled: Set when the snapshot is cancelled; no further slice is written then.
    """

    def __init__(self, path: Path, secret: bytes, number: int, cancelled: Event) -> None:
        self.name = path.name
        self._folder = path.parent
        self.file = FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._cipher = AESGCM(secret)
        self._number = number
        self._cancelled = cancelled

    def fill(self, projections: ProjectionSet) -> Generator[None, None, Part]:
        """Write the projections (`OSError`), and yield after each slice; no event may be applied to them meanwhile."""
        segments = dump(projections)
        sizes = tuple(map(len, segments))
        room = memoryview(bytearray(PIECE + TAG))
        lengths: list[int] = []
        for count, (segment, start, end) in enumerate(_ranges(sizes)):
            if not count % SLICE:
                yield
                self._check()
            plain = segments[segment][start:end]
            shorter = cast("bytes", lz4.block.compress(plain, store_size=False))
            content = shorter if len(shorter) < len(plain) else plain
            sealed = room[: len(content) + TAG]
            self._cipher.encrypt_into(_nonce(self._number, count), content, None, sealed)
            if self.file.write(sealed) != len(sealed):
                raise OSError(f"a write to {self.name} was incomplete")
            lengths.append(len(sealed))
        return Part(sizes, tuple(lengths))

    def _check(self) -> None:
        if self._cancelled.is_set():
            raise OSError("the snapshot was cancelled")
        if shutil.disk_usage(self._folder).free < SPARE:
            raise OSError("the disk is nearly full")


class EncryptedReader:
    """A file of a snapshot, open as long as any array of it isn't read.

    Raises:
        OSError: the file can't be read, or has another length.
        StateError: neither layout nor key can be those of a snapshot.
    """

    def __init__(self, path: Path, secret: bytes, number: int, part: Part) -> None:
        part.check()
        if len(secret) != KEY:
            raise StateError("its key has another length")
        self._file = FileIO(path)
        weakref.finalize(self, self._file.close)
        self._turn = threading.Lock()
        self._cipher = AESGCM(secret)
        self._number = number
        if os.fstat(self._file.fileno()).st_size != part.size():
            raise OSError(f"{path.name} has another length")

    def verify(self, pieces: Iterable[Piece]) -> None:
        """Check the authentication tags of these pieces (`OSError`, `InvalidTag`)."""
        for piece in pieces:
            self._decrypt(piece, _buffers.content[: piece.length - TAG])

    def restore(self, piece: Piece, plain: memoryview) -> None:
        """Decrypt and decompress a piece into `plain` (`OSError`, `InvalidTag`, `StateError`)."""
        if not piece.compressed:
            self._decrypt(piece, plain)
            return
        content = _buffers.content[: piece.length - TAG]
        self._decrypt(piece, content)
        try:
            plain[:] = cast("bytes", lz4.block.decompress(content, uncompressed_size=len(plain)))
        except (lz4.block.LZ4BlockError, ValueError) as error:
            raise StateError(f"a piece isn't compressed as it should be: {error}") from error

    def _decrypt(self, piece: Piece, content: memoryview) -> None:
        sealed = _buffers.sealed[: piece.length]
        if self._read_at(piece.offset, sealed) != len(sealed):
            raise OSError("the file was cut off")
        self._cipher.decrypt_into(_nonce(self._number, piece.number), sealed, None, content)

    def _read_at(self, offset: int, buffer: memoryview) -> int:
        """Read into a buffer from an offset on; threads read side by side but on Windows, which has no `preadv`."""
        if sys.platform != "win32":
            return os.preadv(self._file.fileno(), [buffer], offset)
        with self._turn:
            self._file.seek(offset)
            return self._file.readinto(buffer)


class _Buffers(threading.local):
    """Buffers of a thread for one piece: fresh memory for each takes longer than all the rest."""

    def __init__(self) -> None:
        self.sealed = memoryview(bytearray(PIECE + TAG))
        self.content = memoryview(bytearray(PIECE + TAG))


_buffers = _Buffers()


def read(reader: EncryptedReader, part: Part, pool: Executor) -> tuple[ProjectionSet, list[LazyArray]]:
    """Return the projections of a file, whose every piece was verified, and their arrays, which are read on first use.

    Raises:
        OSError: the file can't be read.
        InvalidTag: a piece was changed.
        StateError: it isn't the state of this program's projections.
    """
    pieces = list(part.pieces())
    tasks = [pieces[start : start + _VERIFIED_TOGETHER] for start in range(0, len(pieces), _VERIFIED_TOGETHER)]
    for _ in pool.map(reader.verify, tasks):
        pass
    by_segment = {segment: list(group) for segment, group in groupby(pieces, lambda piece: piece.segment)}
    head = bytearray(part.segments[0])
    for piece in by_segment.get(0, []):
        reader.restore(piece, memoryview(head)[piece.start : piece.end])
    values, tensors = parse(memoryview(head))
    lengths = [tensor.data_offsets[1] - tensor.data_offsets[0] for tensor in tensors.values()]
    if lengths != list(part.segments[1:]):
        raise StateError("its arrays aren't those that its header names")
    arrays = {
        name: _lazy(reader, tensor, part.segments[segment], by_segment.get(segment, []))
        for segment, (name, tensor) in enumerate(tensors.items(), start=1)
    }
    return load(values, arrays), list(arrays.values())


def _lazy(reader: EncryptedReader, tensor: Tensor, length: int, pieces: list[Piece]) -> LazyArray:
    room = _room(length)

    def restore(number: int) -> None:
        piece = pieces[number]
        try:
            reader.restore(piece, room.data[piece.start : piece.end])
        except (OSError, InvalidTag, StateError) as error:
            # The piece was sound when it was verified at the start, and actors use this snapshot already.
            LOGGER.critical("a snapshot was changed while it was read; stopping: %r", error)
            os._exit(EXIT_UNCERTAIN)

    return LazyArray(room, tensor.numpy_dtype, tensor.shape, PIECE, restore)


def check(path: Path, secret: bytes, number: int, part: Part) -> None:
    """Verify every piece of a file; raises what `read` raises."""
    EncryptedReader(path, secret, number, part).verify(part.pieces())


def _ranges(segments: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    for segment, length in enumerate(segments):
        for start in range(0, length, PIECE):
            yield segment, start, min(start + PIECE, length)


def _room(length: int) -> npt.NDArray[np.uint8]:
    """Return room for an array and for a quarter more; unused pages take no memory.

    numpy would ask for huge pages: in a virtual machine whose host had to provide them, 1 GB took 4 s of kernel time,
    and 1.6 s in small pages.
    """
    return np.frombuffer(mmap(-1, max(1, length + length // 4)), np.uint8)


def _nonce(number: int, count: int) -> bytes:
    """Return the nonce of a piece, unique under the key of its snapshot: the numbers of file and piece."""
    return number.to_bytes(4, "little") + count.to_bytes(8, "little")


@contextmanager
def garbage_collector_paused() -> Generator[None, None, None]:
    """Pause the garbage collector, which would search millions of new objects again and again, none of them garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
