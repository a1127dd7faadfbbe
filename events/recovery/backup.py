"""Backups: copying a store, restoring a copy, and setting damaged files aside.

A backup is a store folder with a manifest, `backup.json`, and behind the same passphrase. It holds no key of a memory
that was erased before; a later erasure doesn't reach it.
"""

import hashlib
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import duckdb
import msgspec

from events.crypto.images import IMAGES, ImageFiles
from events.crypto.keys import KeyRing
from events.recovery.salvage import DAMAGED
from events.storage import replacement
from events.storage.chain import GENESIS, Row, StoredLog, verify_chain
from events.storage.database import DATABASE, PAGE, caching_parser, connect, exclusive, insert
from events.storage.durable import HeadFile, copy_file, sync_folder, write_durably
from events.storage.format import FORMAT, MANIFEST, check_format, write_format
from events.storage.log import Head, LogError
from events.storage.replacement import FILES
from events.verify.examination import Progress
from events.verify.verification import verify
from events.wording import reason


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The description of a backup."""

    format: int
    made_at: datetime
    seq: int
    """Of the last event."""
    files: dict[str, str]
    """SHA-256 (hex) by file."""


def back_up(log: StoredLog, target: Path, progress: Progress | None = None) -> Head:
    """Copy a log, which is verified on the way, as it stands at the end of the copy. Return the head of the copy.

    Appends may go on. `target` has its name only once it is complete.

    Raises:
        LogCorruptError: the log is damaged; `events.verify.verification` says what can be saved.
        LogError: the target exists, or can't be written.
    """
    with new_store(target) as partial:
        head = write_log(partial, _verified_rows(log), log.head.seq, lambda: log.keys, progress, log.images)
        write_manifest(partial, head.seq)
    return head


def copy_unverified(log: StoredLog, folder: Path, progress: Progress | None) -> None:
    """Copy a log as it is, right or wrong, into an empty folder, where it can be checked as a store."""
    head = log.head
    write_log(folder, log.rows(1, head.seq), head.seq, lambda: log.keys, progress, log.images)
    with closing(HeadFile(folder / "head", log.keys.chain)) as file:
        file.write(head)


def write_manifest(folder: Path, seq: int, number: int = FORMAT) -> None:
    """Make a folder with the files of a store, up to event `seq`, a backup (`OSError`)."""
    manifest = _Manifest(number, datetime.now(UTC), seq, _digests(folder))
    write_durably(folder / MANIFEST, msgspec.json.encode(manifest))


def is_backup(folder: Path) -> bool:
    """Tell whether a folder is a backup."""
    return (folder / MANIFEST).exists()


@contextmanager
def new_store(target: Path) -> Generator[Path, None, None]:
    """Yield a new folder that becomes `target` once the body succeeds, and is deleted if it fails (`LogError`)."""
    partial = replacement.partial_folder(target)
    try:
        if target.exists():
            raise LogError(f"{target} exists already")
        replacement.remove_partial(target.parent)
        try:
            with replacement.building(partial):
                yield partial
                sync_folder(partial)
                partial.rename(target)
                sync_folder(target.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except (OSError, ValueError, duckdb.Error) as error:  # ValueError: the path holds a null byte
        raise LogError(f"{target} can't be written: {reason(error)}") from error


def _verified_rows(log: StoredLog) -> Iterator[Row]:
    """Yield all rows, also those that are appended meanwhile: they tell of the keys that are destroyed meanwhile."""
    start = GENESIS
    while start != (end := log.head):
        yield from verify_chain(start, end, log.rows(start.seq + 1, end.seq), log.keys)
        start = end


def write_log(
    folder: Path,
    rows: Iterable[Row],
    last: int,
    read_keys: Callable[[], KeyRing],
    progress: Progress | None,
    images: ImageFiles | None,
) -> Head:
    """Write chained rows, up to about event `last`, and the images as the log of a new folder; return its head.

    The keys are read last, so that an erasure during the copy holds for the copy too.
    """
    rows = iter(rows)
    head = GENESIS
    with closing(connect(folder / DATABASE)) as database:
        parse = caching_parser(database)
        while page := list(islice(rows, PAGE)):
            insert(database, page, parse)
            head = page[-1].head
            if progress is not None:
                progress(head.seq, last)
        if images is not None:
            images.copy(folder)
        keys = read_keys()
        content = keys.content()
        database.execute("CHECKPOINT log")
    (folder / DATABASE).chmod(0o600)
    write_durably(folder / "keys", content)
    write_format(folder)
    with closing(HeadFile(folder / "head", keys.chain)) as file:
        file.write(head)
    return head


def restore(backup: Path, folder: Path, passphrase: str | None = None, *, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store; return where the store is now that was there, if there was one.

    The backup is verified and copied before anything changes. A crash leaves the old store or the backup in `folder`,
    from the next time on that it is opened (`events.storage.replacement`).
    With `replace`, an existing store is renamed to `<folder>.replaced-<UTC time>`.

    Raises:
        LogError: the backup is damaged or isn't one, or `folder` isn't empty, or can't be written.
        LogInUseError: one of them is open.
    """
    folder = folder.resolve()  # a symbolic link stays, and `.` gets a name
    manifest = _checked(backup, passphrase)
    now = replacement.timestamp()
    new = replacement.new_folder(folder, now)
    try:
        replacement.finish(folder)
        with exclusive(folder):
            if folder.exists() and any(folder.iterdir()) and not replace:
                raise LogError(f"{folder} isn't empty; with --replace it is renamed, and the backup takes its place")
            with replacement.building(new):
                try:
                    _copy_backup(backup, new, manifest)
                except BaseException:
                    shutil.rmtree(new, ignore_errors=True)
                    raise
                return replacement.replace(folder, now)
    except OSError as error:
        raise LogError(f"the backup can't be put in place: {reason(error)}") from error


def quarantine(folder: Path) -> Path:
    """Move the files of a store to `<folder>/quarantine-<UTC time>/` and return that; nothing is deleted.

    The head file is moved last: as long as it is there, no log is created in place of one that was moved in part.

    Raises:
        LogInUseError: the store is open.
        LogError: there is nothing to move, or it can't be moved.
    """
    check_format(folder)
    with exclusive(folder):
        found = [
            path
            for name in (f"{DATABASE}*", "snapshot", IMAGES, "keys*", DAMAGED, "format", "head")
            for path in folder.glob(name)
        ]
        if not found:
            raise LogError(f"there is no store in {folder}")
        target = folder / f"quarantine-{replacement.timestamp()}"
        try:
            target.mkdir(mode=0o700)
            for path in found:
                path.rename(target / path.name)
            sync_folder(target)
            sync_folder(folder)
        except OSError as error:
            raise LogError(f"the store can't be set aside: {reason(error)}") from error
        return target


def _copy_backup(backup: Path, target: Path, manifest: _Manifest) -> None:
    """Copy the files of a backup into an empty folder, and compare them with its manifest."""
    for name in FILES:
        copy_file(backup / name, target / name)
    ImageFiles(backup, KeyRing).copy(target)
    if _digests(target) != manifest.files:
        raise LogError(f"the copy of {backup} isn't what the backup is")
    write_format(target, manifest.format)
    sync_folder(target)


def _checked(backup: Path, passphrase: str | None) -> _Manifest:
    try:
        check_format(backup)
        manifest = msgspec.json.decode((backup / MANIFEST).read_bytes(), type=_Manifest)
        found = _digests(backup)
        if manifest.files.keys() != found.keys():
            other = ", ".join(sorted(manifest.files.keys() ^ found.keys()))
            raise LogError(f"{backup} isn't a backup: its {MANIFEST} names other files than it has: {other}")
    except (OSError, msgspec.DecodeError) as error:
        raise LogError(f"{backup} isn't a backup: {reason(error)}") from error
    report = verify(backup, passphrase)
    if report.problems:
        reasons = "; ".join(f"{problem.file}: {problem.what}" for problem in report.problems[:3])
        raise LogError(f"{backup} is damaged: {reasons}")
    changed = [name for name in found if found[name] != manifest.files[name]]
    if changed or report.head.seq != manifest.seq:
        raise LogError(f"{backup} isn't what it was when it was made: {', '.join(changed) or DATABASE} changed")
    return manifest


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 (hex) of each file that a backup holds."""
    files: dict[str, str] = {}
    for name in (*FILES, *(f"{IMAGES}/{path.name}" for path in ImageFiles(folder, KeyRing).files())):
        with (folder / name).open("rb") as file:
            files[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return files
