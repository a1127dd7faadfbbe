"""The bytes of a DuckDB 2.0 file and of its WAL, checked without DuckDB, which reads only what a query needs.

A file is three headers of 4,096 bytes and then blocks of 262,144, each of which begins with the
checksum of its rest. A WAL is a header and then entries, each after its size and checksum. The
checksum is an XOR over all 64-bit words, each times an odd number, so that a change within one word always
shows (duckdb `src/common/checksum.cpp`, `src/storage/wal_replay.cpp`).
"""

import os
import struct
from collections.abc import Iterator
from io import FileIO
from typing import Final, NamedTuple

import numpy as np

_HEADER: Final = 4_096
_HEADERS: Final = 3
_BLOCK: Final = 262_144
_WORD: Final = struct.Struct("<Q")
_DATABASE: Final = struct.Struct("<8x4Q")
"""Of a database header: how often it was written (after the checksum), two pointers, how many blocks there are."""
_IDENTIFIER: Final = slice(124, 140)
"""Where the main header keeps the random id that a WAL repeats."""

_FACTOR: Final = 0xBF58476D1CE4E5B9
_REST_FACTOR: Final = 0xC6A4A7935BD1E995
_REST_SEED: Final = 0xE17A1465
_MASK: Final = 2**64 - 1

_ENTRY: Final = struct.Struct("<QQ")
"""Size and checksum of a WAL entry."""


class Damage(NamedTuple):
    """A place whose bytes aren't what was written."""

    where: str
    unused: bool = False
    """Whether nothing that counts is kept there."""


class Wal(NamedTuple):
    """What the bytes of a WAL say."""

    damage: str | None
    whole: int
    """Bytes before the first entry that is damaged or was never finished."""


def checksum(data: bytes) -> int:
    """Return DuckDB's checksum of a buffer."""
    words = len(data) // 8 * 8
    products = np.frombuffer(data[:words], "<u8") * np.uint64(_FACTOR)
    result = 5381 ^ int(np.bitwise_xor.reduce(products))
    return result ^ _rest(data[words:]) if len(data) > words else result


def check_file(file: FileIO, free: int) -> Iterator[Damage]:
    """Yield each header and block that doesn't match its checksum.

    The file may be written meanwhile: what doesn't match is read a second time before it counts.

    Args:
        file: Read with `pread`, a block at a time; neither moved nor closed.
        free: Blocks that DuckDB says are free (`free_blocks`).
    """
    counts = [count for index in (1, 2) if (count := _count(file, index)) is not None]
    names = ("the main header", "the first database header", "the second database header")
    for index, name in enumerate(names):
        if not _matches(file, index * _HEADER, _HEADER) and not _matches(file, index * _HEADER, _HEADER):
            yield Damage(name)
    blocks = max(counts)[1] if counts else 0
    size = os.fstat(file.fileno()).st_size - _HEADERS * _HEADER
    # DuckDB cuts blocks off that are free, and counts them still.
    if size < (blocks - free) * _BLOCK or size % _BLOCK:
        yield Damage(f"the end: {blocks * _BLOCK - size} bytes are cut off")
    for index in range(size // _BLOCK):
        offset = _HEADERS * _HEADER + index * _BLOCK
        if not _matches(file, offset, _BLOCK) and not _matches(file, offset, _BLOCK):
            unused = index >= blocks and bool(counts)
            if not (unused and not any(_pread(file, _BLOCK, offset))):  # a hole that a crash left
                yield Damage(f"block {index}", unused)


def check_wal(content: bytes, file: FileIO) -> Wal:
    """Look through a WAL; one that a crash cut off in the middle of an entry isn't damaged.

    Args:
        content: Of the WAL.
        file: The main file that it belongs to.
    """
    start = _after_header(content, file)
    if start is None:
        return Wal("its header isn't that of this log", 0)
    while len(content) - start >= _ENTRY.size:
        size, stored = _ENTRY.unpack_from(content, start)
        end = start + _ENTRY.size + size
        if end > len(content):
            break
        if checksum(content[start + _ENTRY.size : end]) != stored:
            return Wal(f"the entry at byte {start} doesn't match its checksum", start)
        start = end
    return Wal(None, start)


def _after_header(content: bytes, file: FileIO) -> int | None:
    """Return where the first entry begins, or None if what stands before it isn't what DuckDB writes.

    The header is a record of four fields: the kind of entry (98, version), the version (2), the id of the
    main file as 16 numbers, and how often that had been written, now or one checkpoint ago.
    """
    counts = [count[0] for index in (1, 2) if (count := _count(file, index)) is not None]
    identifier = b"".join(map(_number, _pread(file, _HEADER, 0)[_IDENTIFIER]))
    latest = max(counts, default=0)
    for written in (latest, latest - 1):
        header = b"d\0be\0\2f\0\x10" + identifier + b"g\0" + _number(max(written, 0)) + b"\xff\xff"
        if content.startswith(header):
            return len(header)
    return None if content else 0


def _count(file: FileIO, index: int) -> tuple[int, int] | None:
    """Return how often a database header was written, and the blocks it counts; None if it is damaged."""
    content = _pread(file, _HEADER, index * _HEADER)
    if not _is_whole(content):
        return None
    written, _, _, blocks = _DATABASE.unpack_from(content)
    return written, blocks


def _matches(file: FileIO, offset: int, size: int) -> bool:
    return _is_whole(_pread(file, size, offset))


def _is_whole(content: bytes) -> bool:
    return len(content) >= _HEADER and _WORD.unpack_from(content)[0] == checksum(content[_WORD.size :])


def _pread(file: FileIO, size: int, offset: int) -> bytes:
    return os.pread(file.fileno(), size, offset)


def _number(value: int) -> bytes:
    """Write a number as LEB128, seven bits a byte."""
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def _rest(data: bytes) -> int:
    """Return what DuckDB adds for the up to seven bytes after the last whole word (MurmurHash64A)."""
    mixed = (_REST_SEED ^ (len(data) * _REST_FACTOR)) & _MASK
    mixed = ((mixed ^ int.from_bytes(data, "little")) * _REST_FACTOR) & _MASK
    mixed = ((mixed ^ (mixed >> 47)) * _REST_FACTOR) & _MASK
    return mixed ^ (mixed >> 47)
