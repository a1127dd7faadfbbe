"""A copy of a damaged DuckDB file that DuckDB reads row by row.

DuckDB refuses a block of 262,144 bytes whole if one byte of it has changed, and a memory takes some 8,000. The copy
gets new checksums on the blocks that hold rows, so that only the changed row is lost: its hash and its encryption show
the change. The blocks with DuckDB's metadata keep their checksums, since DuckDB follows the pointers in them.
"""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import numpy.typing as npt

_HEADER: Final = 4_096
_HEADERS: Final = 3
"""Headers before the first block."""
_BLOCK: Final = 262_144
_WORD: Final = np.dtype("<u8")
_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)
_SEED: Final = np.uint64(5381)


def mend(path: Path, metadata: Collection[int]) -> None:
    """Correct the checksum of every block of a closed DuckDB 2.0 file but those that hold metadata.

    A block begins with the XOR of all its further 64-bit words, each multiplied by an odd number (DuckDB,
    `src/common/checksum.cpp`).

    Args:
        path: The file, which is changed in place.
        metadata: Block numbers from `metadata_blocks`.
    """
    for number, block in enumerate(_pieces(path, _HEADERS * _HEADER, _BLOCK)):
        if number not in metadata:
            _correct(block)


def mend_headers(path: Path) -> None:
    """Correct the checksums of the headers, most of whose bytes are unused; DuckDB checks the fields by itself."""
    for header in _pieces(path, 0, _HEADER)[:_HEADERS]:
        _correct(header)


def _pieces(path: Path, offset: int, size: int) -> npt.NDArray[np.uint64]:
    """Map the file from an offset on as pieces of a size in bytes, shape (pieces, words)."""
    words = np.memmap(path, _WORD, "r+", offset=offset)
    width = size // _WORD.itemsize
    return words[: len(words) // width * width].reshape(-1, width)


def _correct(piece: npt.NDArray[np.uint64]) -> None:
    checksum = _SEED ^ np.bitwise_xor.reduce(piece[1:] * _FACTOR)
    if piece[0] != checksum:
        piece[0] = checksum


def metadata_blocks(cursor: duckdb.DuckDBPyConnection) -> frozenset[int]:
    """Return the numbers of the blocks that hold DuckDB's metadata."""
    cursor.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('log')")
    return frozenset(number for (number,) in cursor.fetchall())


def copy_database(path: Path, target: Path) -> None:
    """Copy the file and its write-ahead log."""
    shutil.copyfile(path, target)
    wal = path.with_name(f"{path.name}.wal")
    if wal.exists():
        shutil.copyfile(wal, target.with_name(f"{target.name}.wal"))
