"""Projections as compressed and encrypted files in pieces, so that no actor is busy for longer than a few pieces.

The plain content of a file is a safetensors file (`projections.storage.snapshot`).
"""

import os
import shutil
import sys
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple, cast

import lz4.block
import msgspec
import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from projections.registry import ProjectionSet
from projections.storage.snapshot import StateError, dump

PIECE: Final = 1 << 18
"""Bytes that are compressed and encrypted together: one item of an array costs a read of so many."""
SLICE: Final = 8
"""Pieces that are written between two messages of an actor: some 3 ms."""
KEY: Final = 32
"""Bytes of the key of a snapshot."""
TAG: Final = 16
"""Bytes of the authentication tag of each piece (AES-GCM)."""
_BLOCK: Final = 16
"""Bytes that AES encrypts together."""
_FIRST: Final = 2
"""Number of the first block of a message under AES-GCM."""
SPARE: Final = 256 << 20
"""Bytes of free disk space that a snapshot leaves to the log."""


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
        """Whether it is compressed; one that compression doesn't halve is stored as it is, and may stay on the disk."""
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
    """

    def __init__(self, path: Path, secret: bytes, number: int) -> None:
        self.name = path.name
        self._folder = path.parent
        self.file = FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self.withdrawn = Event()
        """Set when the snapshot is cancelled."""
        self._cipher = AESGCM(secret)
        self._number = number

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
            content = shorter if 2 * len(shorter) <= len(plain) else plain
            sealed = room[: len(content) + TAG]
            self._cipher.encrypt_into(_nonce(self._number, count), content, None, sealed)
            if self.file.write(sealed) != len(sealed):
                raise OSError(f"a write to {self.name} was incomplete")
            lengths.append(len(sealed))
        return Part(sizes, tuple(lengths))

    def _check(self) -> None:
        if self.withdrawn.is_set():
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
        self._secret = secret
        self._number = number
        if os.fstat(self._file.fileno()).st_size != part.size():
            raise OSError(f"{path.name} has another length")

    def verify(self, pieces: Iterable[Piece]) -> None:
        """Check the authentication tags of these pieces (`OSError`, `InvalidTag`)."""
        for piece in pieces:
            self._decrypt(piece, _buffers.content[: piece.length - TAG])

    def restore(self, piece: Piece, plain: memoryview) -> None:
        """Decrypt and decompress a piece into `plain`, which is zero (`OSError`, `InvalidTag`, `StateError`)."""
        if not piece.compressed:
            self._decrypt(piece, plain)
            return
        content = _buffers.content[: piece.length - TAG]
        self._decrypt(piece, content)
        try:
            found = cast("bytes", lz4.block.decompress(content, uncompressed_size=len(plain)))
            if len(found) != len(plain) or found.strip(b"\0"):  # pages that stay zero take no memory
                plain[:] = found
        except (lz4.block.LZ4BlockError, ValueError) as error:
            raise StateError(f"a piece isn't compressed as it should be: {error}") from error

    def peek(self, spans: Sequence[tuple[Piece, int, int]]) -> npt.NDArray[np.uint8]:
        """Return the bytes from start to end of pieces that aren't compressed, one after the other (`OSError`).

        AES-GCM encrypts in counter mode (NIST SP 800-38D), so that a part of a piece can be decrypted without the rest.
        The tag of the piece was verified when the snapshot was opened, and isn't again.
        """
        counted = Cipher(AES(self._secret), CTR(bytes(_BLOCK))).decryptor()
        found = memoryview(bytearray(sum(end - start for _, start, end in spans)))
        at = 0
        for piece, start, end in spans:
            block, before = divmod(start - piece.start, _BLOCK)
            sealed = _buffers.sealed[: before + end - start]
            if self._read_at(piece.offset + block * _BLOCK, sealed) != len(sealed):
                raise OSError("the file was cut off")
            counted.reset_nonce(_nonce(self._number, piece.number) + (_FIRST + block).to_bytes(4))
            counted.update_into(sealed, _buffers.content)
            found[at : at + end - start] = _buffers.content[before : len(sealed)]
            at += end - start
        return np.frombuffer(found, np.uint8)

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


def check(path: Path, secret: bytes, number: int, part: Part) -> None:
    """Verify every piece of a file; raises what `read` raises."""
    EncryptedReader(path, secret, number, part).verify(part.pieces())


def _ranges(segments: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    for segment, length in enumerate(segments):
        for start in range(0, length, PIECE):
            yield segment, start, min(start + PIECE, length)


def _nonce(number: int, count: int) -> bytes:
    """Return the nonce of a piece, unique under the key of its snapshot: the numbers of file and piece."""
    return number.to_bytes(4, "little") + count.to_bytes(8, "little")
