"""A copy of a damaged DuckDB 2.0 file that DuckDB reads row by row.

DuckDB refuses a block of 262,144 bytes whole if one byte of it has changed, and a memory takes some 8,000; of a
write-ahead log it refuses all. The copy gets new checksums, so that only the changed row is lost: its hash and its
encryption show the change.

A block, or an entry of the write-ahead log, carries the XOR of its 64-bit words, each multiplied by an odd number, and
a hash of the bytes that are left over (DuckDB, `src/common/checksum.cpp`, `src/storage/wal_replay.cpp`).
"""

import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt

from events.storage.database import connect
from events.storage.log import LogError

_Result = TypeVar("_Result")

_HEADER: Final = 4_096
_HEADERS: Final = 3
"""Headers before the first block."""
_BLOCK: Final = 262_144
_WORD: Final = np.dtype("<u8")
_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)
_SEED: Final = np.uint64(5381)
_REST_FACTOR: Final = 0xC6A4A7935BD1E995
_REST_SEED: Final = 0xE17A1465
_MASK: Final = 2**64 - 1

_WAL_HEADER_END: Final = b"\xff\xff"
_ENTRY: Final = struct.Struct("<QQ")
"""Size and checksum of an entry of the write-ahead log."""
_SIZE: Final = re.compile(rb"(?=[\s\S]{3}\0{5})")
"""Where the size of an entry below 16 MB may begin; the checksum decides."""
_FLUSH: Final = b"d\0d"
"""How the last entry of a transaction begins: field 100 holds the type, 100."""

_PROBE: Final = """
import sys
from pathlib import Path
from events.storage.database import connect
connect(Path(sys.argv[1]), read_only=True).execute("SELECT count(hash) FROM log.main.log")
"""


def open_mended(path: Path, copy: Path) -> duckdb.DuckDBPyConnection:
    """Copy a database with its write-ahead log, mend the copy as far as necessary, and open it read-only.

    Args:
        path: The database, which stays as it is.
        copy: Where the copy is made.

    Raises:
        LogError: DuckDB can't read even the mended copy.
    """
    if not path.is_file():
        raise LogError(f"{path} is missing, or no file")
    shutil.copyfile(path, copy)
    metadata = _first([lambda: _metadata_blocks(copy), lambda: _after_headers(copy), lambda: _after_all(copy)])
    _mend_blocks(copy, metadata)
    wal, wal_copy = _wal(path), _wal(copy)
    if not wal.is_file():
        return connect(copy, read_only=True)

    def open_with(content: bytes) -> duckdb.DuckDBPyConnection:
        wal_copy.write_bytes(content)
        return connect(copy, read_only=True)

    content = wal.read_bytes()
    entries = _wal_entries(content)
    mended = (_joined(content, entries), _joined(content, _undamaged(entries)), content[: _whole(content)], b"")

    def rows(wal: bytes) -> int:
        """Return how many rows there are: DuckDB ends its replay without a word at an entry that it can't decode."""
        try:
            with closing(open_with(wal)) as database:
                return database.execute("SELECT count(*) FROM log.main.log").fetchall()[0][0]
        except (LogError, duckdb.Error):
            return -1

    return _first([lambda: open_with(content), lambda: open_with(max(mended, key=rows))])


def _first(attempts: list[Callable[[], _Result]]) -> _Result:
    """Return the result of the first attempt that succeeds; the error of the last one is a `LogError`."""
    *others, last = attempts
    for attempt in others:
        try:
            return attempt()
        except (LogError, duckdb.Error):
            continue
    try:
        return last()
    except duckdb.Error as error:
        raise LogError(f"DuckDB can't read the log: {error}") from error


def _metadata_blocks(copy: Path) -> frozenset[int]:
    """Return the numbers of the blocks with DuckDB's metadata, whose pointers it follows."""
    with closing(connect(copy, read_only=True)) as database:
        database.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('log')")
        return frozenset(number for (number,) in database.fetchall())


def _after_headers(copy: Path) -> frozenset[int]:
    """Mend the headers, most of whose bytes are unused; DuckDB checks their fields by itself."""
    for header in _pieces(copy, 0, _HEADER)[:_HEADERS]:
        _correct(header)
    return _metadata_blocks(copy)


def _after_all(copy: Path) -> frozenset[int]:
    """Mend metadata too, most of whose bytes are unused; another process tries first, since a pointer may be wrong."""
    _mend_blocks(copy, ())
    probe = subprocess.run([sys.executable, "-P", "-c", _PROBE, copy], capture_output=True, check=False)
    if probe.returncode:
        raise LogError(
            "DuckDB can't read log.duckdb, though all checksums were corrected: it is another file, or DuckDB's own "
            "metadata are damaged; `context-graph restore` puts a backup back"
        )
    return frozenset()


def _mend_blocks(copy: Path, metadata: Collection[int]) -> None:
    """Correct the checksum of each block but those with metadata."""
    for number, block in enumerate(_pieces(copy, _HEADERS * _HEADER, _BLOCK)):
        if number not in metadata:
            _correct(block)


def _pieces(path: Path, offset: int, size: int) -> npt.NDArray[np.uint64]:
    """Map the file from an offset on as pieces of a size in bytes, shape (pieces, words)."""
    count = max(0, path.stat().st_size - offset) // size
    shape = (count, size // _WORD.itemsize)
    return np.memmap(path, _WORD, "r+", offset, shape) if count else np.empty(shape, _WORD)


def _correct(piece: npt.NDArray[np.uint64]) -> None:
    checksum = _SEED ^ np.bitwise_xor.reduce(piece[1:] * _FACTOR)
    if piece[0] != checksum:
        piece[0] = checksum


class _WalEntry(NamedTuple):
    """An entry of the write-ahead log."""

    body: bytes
    damaged: bool


def _wal_entries(content: bytes) -> list[_WalEntry]:
    """Return the entries of a write-ahead log; the size of a damaged one may be what changed."""
    entries: list[_WalEntry] = []
    start = _wal_start(content)
    while len(content) - start >= _ENTRY.size:
        end = _entry_end(content, start)
        damaged = end is None
        if end is None:
            end = _end_of_damaged(content, start)
        if end is None:
            break
        entries.append(_WalEntry(content[start + _ENTRY.size : end], damaged))
        start = end
    return entries


def _wal_start(content: bytes) -> int:
    return content.find(_WAL_HEADER_END) + len(_WAL_HEADER_END)


def _whole(content: bytes) -> int:
    """Return how many bytes of a write-ahead log precede its first damaged entry."""
    start = _wal_start(content)
    while (end := _entry_end(content, start)) is not None:
        start = end
    return start


def _entry_end(content: bytes, start: int) -> int | None:
    """Return where an intact entry ends; None where none begins."""
    if len(content) - start <= _ENTRY.size:
        return None
    size, stored = _ENTRY.unpack_from(content, start)
    end = start + _ENTRY.size + size
    if not size or end > len(content) or _checksum(content[start + _ENTRY.size : end]) != stored:
        return None
    return end


def _end_of_damaged(content: bytes, start: int) -> int | None:
    """Return where a damaged entry ends: where its size says, if an intact one follows or none; or before the next."""
    end = start + _ENTRY.size + _ENTRY.unpack_from(content, start)[0]
    if end == len(content) or (end < len(content) and _entry_end(content, end) is not None):
        return end
    for found in _SIZE.finditer(content, start + _ENTRY.size):
        if _entry_end(content, found.start()) is not None:
            return found.start()
    return end if end <= len(content) else None


def _undamaged(entries: list[_WalEntry]) -> list[_WalEntry]:
    """Leave out the transactions with a damaged entry, which DuckDB can't replay though its checksum is corrected."""
    kept: list[_WalEntry] = []
    transaction: list[_WalEntry] = []
    for entry in entries:
        transaction.append(entry)
        if entry.body.startswith(_FLUSH):
            kept += [] if any(one.damaged for one in transaction) else transaction
            transaction = []
    return kept


def _joined(content: bytes, entries: list[_WalEntry]) -> bytes:
    """Return a write-ahead log of these entries behind the header of another."""
    parts = (_ENTRY.pack(len(entry.body), _checksum(entry.body)) + entry.body for entry in entries)
    return content[: _wal_start(content)] + b"".join(parts)


def _checksum(data: bytes) -> int:
    """Return DuckDB's checksum of a buffer; the last bytes, fewer than a word, are hashed by MurmurHash64A."""
    words = np.frombuffer(data[: len(data) // 8 * 8], _WORD)
    result = int(_SEED ^ np.bitwise_xor.reduce(words * _FACTOR))
    rest = data[len(words) * 8 :]
    if not rest:
        return result
    mixed = (_REST_SEED ^ (len(rest) * _REST_FACTOR)) & _MASK
    mixed = ((mixed ^ int.from_bytes(rest, "little")) * _REST_FACTOR) & _MASK
    mixed = ((mixed ^ (mixed >> 47)) * _REST_FACTOR) & _MASK
    return result ^ mixed ^ (mixed >> 47)


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")
