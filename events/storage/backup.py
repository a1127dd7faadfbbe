"""Copies of a store that stand by themselves, putting one back, and setting damaged files aside.

A backup is a store folder like any other, with `backup.json` beside its files, which says what they should
be. It is behind the same passphrase. It holds no key of a memory that was erased before it was
made; an erasure doesn't reach into backups that were made before it.
"""

import ctypes
import hashlib
import os
import shutil
import sys
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from events.storage.chain import GENESIS, linked
from events.storage.database import NAME, PAGE, connect, insert, kept_from_others, pages, parser
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import DurableFile, HeadFile, sync_folder
from events.storage.log import Head, LogError
from events.verify.examination import Progress
from events.verify.verification import verify

_FILES: Final = (NAME, "keys", "head")
_MANIFEST: Final = "backup.json"
_EXCHANGE: Final = 2
"""The flag of `renameat2` on Linux, and of `renamex_np` on macOS, that makes two names change places."""
_HERE: Final = -100
"""Linux's AT_FDCWD: paths are relative to the working folder."""


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a backup says about itself."""

    format: int
    made_at: datetime
    seq: int
    """The last event in it."""
    files: dict[str, str]
    """SHA-256 (hex) of each file."""


def back_up(log: DuckDBLog, target: Path, progress: Progress | None = None) -> Head:
    """Copy a log, which may be written to meanwhile, as it stands now; return where the copy ends.

    Args:
        log: Its chain is checked on the way.
        target: A folder that doesn't exist yet; it has this name only once it is complete.
        progress: Is told how many events were copied, of how many.

    Raises:
        LogCorruptError: the log is damaged; `events.verify.verification` tells what can be saved.
        LogError: the target exists, or can't be written.
    """
    beside = target.with_name(f"{target.name}.partial-{_now()}")
    try:
        if target.exists():
            raise LogError(f"{target} exists already")
        beside.mkdir(mode=0o700, parents=True)
        head = _copy_log(log, beside, progress)
        _write(beside / _MANIFEST, msgspec.json.encode(_described(beside, head.seq)))
        sync_folder(beside)
        beside.rename(target)
        sync_folder(target.parent)
    except (OSError, ValueError, duckdb.Error) as error:  # the second of a path that can't be one
        raise LogError(f"the backup can't be written: {error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return head


def restore(backup: Path, folder: Path, passphrase: str | None = None, *, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store, and return where the store that was there is now, if there was one.

    The backup is checked whole and copied before anything is touched. Whenever this is killed, `folder`
    is what it was or what the backup is.

    Args:
        backup: What `back_up` made.
        folder: Of the store to be.
        passphrase: The one that the backup is behind.
        replace: Whether a store that is there may be renamed to `<folder>.replaced-<UTC time>`.

    Raises:
        LogError: the backup is damaged or isn't one, or `folder` isn't empty, or can't be written.
        LogInUseError: somebody has one of them open.
        PassphraseError: the passphrase is wrong, or missing, or the backup has none.
    """
    folder = folder.resolve()  # a link stays one, and `.` has a name to which others can be put beside
    manifest = _checked(backup, passphrase)
    now = _now()
    beside = folder.with_name(f"{folder.name}.restoring-{now}")
    with kept_from_others(folder):
        occupied = folder.exists() and any(folder.iterdir())
        if occupied and not replace:
            raise LogError(f"{folder} isn't empty, and nothing was said about replacing it")
        try:
            try:
                _copy_backup(backup, beside, manifest)
                if occupied:
                    _exchange(beside, folder)
                else:
                    beside.rename(folder)
            except BaseException:
                shutil.rmtree(beside, ignore_errors=True)  # it hasn't taken the folder's place
                raise
            replaced = beside.rename(folder.with_name(f"{folder.name}.replaced-{now}")) if occupied else None
            sync_folder(folder.parent)
        except OSError as error:
            raise LogError(f"the backup can't be put in place: {error}") from error
    return replaced


def quarantine(folder: Path) -> Path:
    """Move the files of a store to `<folder>/quarantine-<UTC time>/` and return that; nothing is deleted.

    The head goes last: as long as it is there, no log is begun in place of one that was moved half.

    Raises:
        LogInUseError: somebody has the store open.
        LogError: there is nothing to move, or it can't be moved.
    """
    with kept_from_others(folder):
        return _set_aside(folder)


def _set_aside(folder: Path) -> Path:
    found = [*folder.glob(f"{NAME}*"), *folder.glob("snapshot"), *folder.glob("keys*"), *folder.glob("head")]
    if not found:
        raise LogError(f"there is no store in {folder}")
    aside = folder / f"quarantine-{_now()}"
    try:
        aside.mkdir(mode=0o700)
        for path in found:
            path.rename(aside / path.name)
        sync_folder(aside)
        sync_folder(folder)
    except OSError as error:
        raise LogError(f"the store can't be set aside: {error}") from error
    return aside


def _copy_backup(backup: Path, target: Path, manifest: _Manifest) -> None:
    """Copy the files of a backup into a new folder, and make sure of them."""
    target.mkdir(mode=0o700, parents=True)
    for name in _FILES:
        shutil.copyfile(backup / name, target / name)
        (target / name).chmod(0o600)
        _sync(target / name)
    if _described(target, manifest.seq).files != manifest.files:
        raise LogError(f"the copy of {backup} isn't what the backup is")
    sync_folder(target)


def _copy_log(log: DuckDBLog, folder: Path, progress: Progress | None) -> Head:
    head = log.head
    with closing(connect(folder / NAME)) as database, log.cursor() as cursor:
        rows = linked(GENESIS, head, pages(cursor, 1, head.seq))
        parse = parser(database)
        while page := list(islice(rows, PAGE)):
            insert(database, page, parse)
            if progress is not None:
                progress(page[-1].seq, head.seq)
        database.execute("CHECKPOINT log")
    # Last, so that what is erased while the rows are copied is erased in the copy too.
    _write(folder / "keys", log.keys.content())
    with closing(HeadFile(folder / "head")) as file:
        file.write(head)
    return head


def _checked(backup: Path, passphrase: str | None) -> _Manifest:
    """Return what a backup says about itself if all of it holds."""
    try:
        manifest = msgspec.json.decode((backup / _MANIFEST).read_bytes(), type=_Manifest)
        if manifest.files.keys() != set(_FILES):
            raise LogError(f"{backup} isn't a backup: its {_MANIFEST} names other files")
        described = _described(backup, manifest.seq)
    except (OSError, msgspec.DecodeError) as error:
        raise LogError(f"{backup} isn't a backup: {error}") from error
    changed = [name for name in _FILES if described.files[name] != manifest.files[name]]
    report = verify(backup, passphrase)
    if report.problems:
        told = "; ".join(f"{problem.file}: {problem.what}" for problem in report.problems[:3])
        raise LogError(f"{backup} is damaged: {told}")
    if changed or report.head.seq != manifest.seq:
        raise LogError(f"{backup} isn't what it was when it was made: {', '.join(changed) or NAME} changed")
    return manifest


def _described(folder: Path, seq: int) -> _Manifest:
    files: dict[str, str] = {}
    for name in _FILES:
        with (folder / name).open("rb") as file:
            files[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return _Manifest(1, datetime.now(UTC), seq, files)


def _write(path: Path, content: bytes) -> None:
    with closing(DurableFile(path)) as file:
        file.write({0: content})


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _exchange(one: Path, other: Path) -> None:
    """Let two folders change places in one step, so that at no moment either name leads nowhere."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = libc.renamex_np(*names, _EXCHANGE)
    else:
        failed = libc.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)
    if failed:
        raise OSError(ctypes.get_errno(), f"{os.strerror(ctypes.get_errno())}; rename {other} away and try again")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
