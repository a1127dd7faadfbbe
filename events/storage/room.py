"""Whether an append finds room, asked before anything is written: a write that fails midway ends the process."""

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from events.storage.database import DATABASE
from events.storage.log import LogFullError

_RESERVE: Final = 64 * 2**20
"""Bytes of free disk space that an append leaves: DuckDB needs room to close the file."""
_COPIES: Final = 4
"""Room for a batch, in its own size: in the write-ahead log, in the main file, and as much again for overhead."""
_GRANT: Final = 2**20
"""Bytes of appends between two trial allocations."""
_REFUSALS: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.ENOSPC})
"""Errors of a quota, of a limit on the size of files, and of a disk that is full all the same."""


def check_free(folder: Path, size: int, wal: int = 0) -> None:
    """Raise `LogFullError` if the disk has too little free space for `size` bytes of events and a write-ahead log."""
    free, needed = shutil.disk_usage(folder).free, _RESERVE + _COPIES * size + wal
    if free < needed:
        raise LogFullError(f"the disk has {free:,} bytes left, and {needed:,} are needed to store {size:,} safely")


class Room:
    """The room that appends to the log of one folder have.

    Free space doesn't show a quota, nor a limit on the size of files. A trial finds both: it allocates room for the
    next appends in a temporary file. macOS and Windows have no such call, so there only free space is checked.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._granted = 0
        """Bytes that may be appended before the next trial."""

    def take(self, size: int) -> None:
        """Raise `LogFullError` if appending `size` bytes might fail for want of room."""
        wal = self._size(f"{DATABASE}.wal")
        # A checkpoint writes the contents of the write-ahead log to the main file before it deletes that log.
        check_free(self._folder, size, wal)
        if size > self._granted:
            self._try(_COPIES * (size + _GRANT) + wal)
            self._granted = size + _GRANT
        self._granted -= size

    def _try(self, length: int) -> None:
        """Allocate `length` bytes where the largest file would grow, and give them back."""
        if not hasattr(os, "posix_fallocate"):
            return
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                os.posix_fallocate(file.fileno(), max(self._size(DATABASE), self._size(f"{DATABASE}.wal")), length)
        except OSError as error:
            if error.errno in _REFUSALS:
                raise LogFullError(f"the system grants no {length:,} bytes more: {error.strerror}") from error

    def _size(self, name: str) -> int:
        path = self._folder / name
        return path.stat().st_size if path.exists() else 0
