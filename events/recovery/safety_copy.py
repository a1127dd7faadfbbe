"""Verified copies of a store that is closed, byte by byte, before something is done to it or made of it.

They are backups of the format that the store has, so the program that wrote the store can restore them. They stand
beside the folder, with the backups after sleep, and only the latest before each operation is kept: a copy holds what is
erased after it was made.
"""

import errno
import os
import shutil
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

from events.crypto.images import ImageFiles
from events.crypto.keys import KeyRing
from events.recovery.backup import is_backup, new_store, write_manifest
from events.storage import replacement
from events.storage.database import DATABASE, QUERY_ERRORS, connect, exclusive
from events.storage.format import check_format, format_of
from events.storage.log import Head, LogDamagedError, LogError
from events.storage.room import check_free
from events.verify.examination import Progress
from events.verify.verification import verify
from events.wording import reason

_BEFORE: Final = "before-"
_FILES: Final = (DATABASE, f"{DATABASE}.wal", "keys", "head", "format")
_CHUNK: Final = 2**30
_UNSUPPORTED: Final = frozenset({errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})
"""Errors of `copy_file_range` where two file systems, or an older one, can't do it."""


class SafetyCopy(NamedTuple):
    """A copy, and what it was made before."""

    folder: Path
    operation: str


def backups_folder(folder: Path) -> Path:
    """Return the folder of the automatic backups of a store."""
    folder = folder.resolve()
    return folder.with_name(f"{folder.name}.backups")


def size_of(folder: Path) -> int:
    """Return how many bytes a copy of a store takes, if the file system can't share them."""
    paths = [*(folder / name for name in _FILES), *ImageFiles(folder, KeyRing).files()]
    return sum(path.stat().st_size for path in paths if path.exists())


def safety_copies(folder: Path) -> list[SafetyCopy]:
    """Return the copies of a store, by operation."""
    found: list[SafetyCopy] = []
    with suppress(FileNotFoundError):
        for one in sorted(backups_folder(folder).iterdir()):
            operation, _, time = one.name.removeprefix(_BEFORE).rpartition("-")
            if one.name.startswith(_BEFORE) and replacement.is_timestamp(time) and is_backup(one):
                found.append(SafetyCopy(one, operation))
    return found


def copy_before(folder: Path, operation: str, passphrase: str | None, progress: Progress | None = None) -> Path:
    """Copy a store before an operation, and return the verified copy; delete the one before the last such operation.

    Raises:
        LogInUseError, PassphraseError, LogDamagedError: as in `copy_store`.
        LogError: the copy can't be written, or there is too little room for it.
    """
    target = backups_folder(folder) / f"{_BEFORE}{operation}-{replacement.timestamp()}"
    earlier = [one.folder for one in safety_copies(folder) if one.operation == operation]
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_free(target.parent, size_of(folder))
        copy_store(folder, target, passphrase, progress)
        for one in earlier:
            shutil.rmtree(one)
    except OSError as error:
        raise LogError(f"no copy of {folder} can be made: {reason(error)}") from error
    return target


def copy_store(folder: Path, target: Path, passphrase: str | None, progress: Progress | None) -> Head:
    """Copy a store in the format that it has, and verify the copy; return its head.

    `target` has its name only once it is complete.

    Raises:
        LogInUseError: the store is open.
        LogDamagedError: the store is damaged.
        LogError: the target exists, or can't be written.
    """
    check_format(folder)
    with exclusive(folder), new_store(target) as partial:
        for name in _FILES:
            if (folder / name).exists():
                _clone(folder / name, partial / name)
        ImageFiles(folder, KeyRing).copy(partial)
        try:
            with closing(connect(partial / DATABASE)) as database:  # a backup has no write-ahead log
                database.execute("CHECKPOINT log")
        except (LogError, *QUERY_ERRORS) as error:
            raise LogDamagedError(str(error).replace(str(partial), str(folder))) from error
        report = verify(partial, passphrase, progress)
        if report.problems:
            file, what = report.problems[0].file, report.problems[0].what
            raise LogDamagedError(f"{file}: {what}; `context-graph verify` tells what is lost")
        write_manifest(partial, report.head.seq, format_of(partial))
    return report.head


def _clone(source: Path, target: Path) -> None:
    """Copy a file; Linux shares its blocks where the file system can (Btrfs, XFS, ZFS)."""
    with (
        source.open("rb") as reader,
        os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as writer,
    ):
        try:
            while os.copy_file_range(reader.fileno(), writer.fileno(), _CHUNK):
                pass
        except (AttributeError, OSError) as error:  # the platform lacks it, or it can't do it between these two files
            if isinstance(error, OSError) and error.errno not in _UNSUPPORTED:
                raise
            reader.seek(0)
            writer.seek(0)
            shutil.copyfileobj(reader, writer)
            writer.flush()
        os.fsync(writer.fileno())
