"""A copy of a damaged DuckDB 2.0 file that DuckDB reads row by row.

DuckDB refuses a block of 262,144 bytes whole if one byte of it has changed, and a memory takes some 8,000; of a
write-ahead log it refuses all. A single changed byte is put back where the checksum tells it (`checksums`). What else
is damaged gets a new checksum, so that only the changed row is lost: its hash and its encryption show the change. They
show a wrong repair too, which is then one more row lost, and never a wrong one.
"""

import shutil
import subprocess
import sys
from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import numpy.typing as npt

from events.recovery.checksums import WORD, checksum, restored
from events.recovery.write_ahead_log import HEADER, best_form
from events.storage.database import QUERY_ERRORS, connect, count_rows
from events.storage.log import LogError

_HEADERS: Final = 3
"""Headers before the first block."""
_BLOCK: Final = 262_144

_PROBE: Final = """
import sys
from pathlib import Path
from events.storage.database import connect
connect(Path(sys.argv[1]), read_only=True).execute("SELECT count(hash) FROM log.main.log")
"""


def open_mended(path: Path, copy: Path) -> duckdb.DuckDBPyConnection:
    """Copy a database with its write-ahead log, mend the copy as far as needed, and open it read-only (`LogError`).

    Only opening tells what DuckDB can read: the copy is opened for its metadata, before and after the headers are
    corrected, and once with each form of the write-ahead log (`best_form`).
    """
    if not path.is_file():
        raise LogError(f"{path} is missing, or no file")
    shutil.copyfile(path, copy)
    _restore(copy)
    if (metadata := _metadata_blocks(copy)) is None:
        for header in _pieces(copy, 0, HEADER)[:_HEADERS]:  # most bytes are unused; DuckDB checks the fields by itself
            _correct(header)
        metadata = _metadata_blocks(copy)
    _mend_blocks(copy, metadata or ())
    if metadata is None:
        _probe(copy)
    wal, wal_copy = _wal(path), _wal(copy)
    if not wal.is_file():
        return connect(copy, read_only=True)

    def open_with(content: bytes) -> duckdb.DuckDBPyConnection:
        wal_copy.write_bytes(content)
        return connect(copy, read_only=True)

    def rows(content: bytes) -> int:
        try:
            with closing(open_with(content)) as database:
                return count_rows(database)
        except (LogError, *QUERY_ERRORS):
            return -1

    with copy.open("rb") as file:
        headers = file.read(_HEADERS * HEADER)
    return open_with(best_form(wal.read_bytes(), headers, rows))


def _restore(copy: Path) -> None:
    """Put the changed byte of a header or block back where its checksum tells that; leave others as they are."""
    for piece in (*_pieces(copy, 0, HEADER)[:_HEADERS], *_pieces(copy, _HEADERS * HEADER, _BLOCK)):
        if checksum(piece[1:]) != int(piece[0]) and (data := restored(piece[1:].tobytes(), int(piece[0]))) is not None:
            piece[1:] = np.frombuffer(data, WORD)
            _correct(piece)


def _metadata_blocks(copy: Path) -> frozenset[int] | None:
    """Return the numbers of the blocks with DuckDB's metadata, whose pointers it follows; None if it can't tell."""
    with suppress(LogError, *QUERY_ERRORS), closing(connect(copy, read_only=True)) as database:
        database.execute("SELECT DISTINCT block_id FROM pragma_metadata_info('log')")
        return frozenset(number for (number,) in database.fetchall())
    return None


def _probe(copy: Path) -> None:
    """Read a copy in another process first, since a pointer in its mended metadata may be wrong (`LogError`)."""
    probe = subprocess.run([sys.executable, "-P", "-c", _PROBE, copy], capture_output=True, check=False)
    if probe.returncode:
        raise LogError(
            "DuckDB can't read log.duckdb, though all checksums were corrected: it is another file, or DuckDB's own "
            "metadata are damaged; `context-graph restore` puts a backup back"
        )


def _mend_blocks(copy: Path, metadata: Collection[int]) -> None:
    """Correct the checksum of each block but those with metadata."""
    for number, block in enumerate(_pieces(copy, _HEADERS * HEADER, _BLOCK)):
        if number not in metadata:
            _correct(block)


def _pieces(path: Path, offset: int, size: int) -> npt.NDArray[np.uint64]:
    """Map the file from an offset on as pieces of a size in bytes, shape (pieces, words)."""
    count = max(0, path.stat().st_size - offset) // size
    shape = (count, size // WORD.itemsize)
    return np.memmap(path, WORD, "r+", offset, shape) if count else np.empty(shape, WORD)


def _correct(piece: npt.NDArray[np.uint64]) -> None:
    correct = checksum(piece[1:])
    if int(piece[0]) != correct:
        piece[0] = correct


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")
