"""Folders of new stores: how one is built under another name, and how it replaces a store.

A store is replaced in two renames, of which a crash can't leave only the first.

The new folder is `<name>.restoring-<time>`. The first rename makes the old one `<name>.replaced-<time>`, the second one
gives its name to the new one. While both exist, the replacement isn't finished; the next `DuckDBLog` that opens the
store finishes it. One step, by `renameat2`, isn't available on every system.
"""

import os
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from events.storage.database import DATABASE
from events.storage.durable import sync_folder

FILES: Final = (DATABASE, "keys", "head")
"""Of a store. The head file is moved last: with it, a log never begins in place of one that was moved in part."""

if os.name == "posix":
    import fcntl

_PARTIAL: Final = ".partial-"
_NEW: Final = ".restoring-"
_OLD: Final = ".replaced-"
_TIME: Final = "%Y%m%dT%H%M%S.%fZ"
_STAMP: Final = re.compile(r"\d{8}T\d{6}\.\d{6}Z")


def timestamp() -> str:
    """Return the present time as folders have it in their names."""
    return datetime.now(UTC).strftime(_TIME)


def is_timestamp(name: str) -> bool:
    """Tell whether `timestamp` may have returned a name."""
    return _STAMP.fullmatch(name) is not None


def time_of(stamp: str) -> datetime:
    """Return the time that `timestamp` returned as a name."""
    return datetime.strptime(stamp, _TIME).replace(tzinfo=UTC)


def partial_folder(target: Path) -> Path:
    """Return where a folder is to be built that gets its name once it is complete."""
    return target.with_name(target.name + _PARTIAL + timestamp())


@contextmanager
def building(folder: Path) -> Generator[None, None, None]:
    """Create a folder that no other process takes for the leftover of a crash while inside (`OSError`)."""
    folder.mkdir(mode=0o700, parents=True)
    with _locked(folder):
        yield


def remove_partial(parent: Path) -> None:
    """Delete the incomplete folders of processes that ended while they built them."""
    for folder in parent.glob(f"*{_PARTIAL}*"):
        if is_timestamp(folder.name.rpartition(_PARTIAL)[2]):
            _remove_leftover(folder)


def new_folder(folder: Path, time: str) -> Path:
    """Return where the new folder is to be made."""
    return folder.with_name(folder.name + _NEW + time)


def replace(folder: Path, time: str) -> Path | None:
    """Put the new folder of this time in the place of `folder`; return where the old one is, if there was one.

    Raises:
        OSError: nothing was renamed, and the new folder is deleted; or the next `finish` does the rest.
    """
    new, old = new_folder(folder, time), folder.with_name(folder.name + _OLD + time)
    occupied = folder.exists() and any(folder.iterdir())
    try:
        (folder if occupied else new).rename(old if occupied else folder)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise
    sync_folder(folder.parent)
    finish(folder)
    return old if occupied else None


def replaced(folder: Path) -> list[Path]:
    """Return the stores that others took the place of, the oldest first."""
    return [folder.with_name(folder.name + _OLD + time) for time in _times(folder, _OLD)]


def finish(folder: Path) -> None:
    """Do the second rename of a replacement that was interrupted, and delete the new folder of one that never began."""
    folder = folder.resolve()
    begun = _times(folder, _OLD)
    for time in _times(folder, _NEW):
        new = new_folder(folder, time)
        if time not in begun:
            _remove_leftover(new)
        elif new.is_dir():
            _put_in_place(new, folder)


def _times(folder: Path, mark: str) -> list[str]:
    """Return the times in the names of the folders that have this one's name, a mark and a time, ascending."""
    names = (one.name.rpartition(mark) for one in folder.parent.glob(f"*{mark}*"))
    return sorted(time for name, _, time in names if name == folder.name and is_timestamp(time))


def _put_in_place(new: Path, folder: Path) -> None:
    """Rename a new folder, or move its files where the folder was made since, for a lock or a socket."""
    if not folder.exists():
        new.rename(folder)
    elif not (folder / "head").exists():
        # The format is moved first: without it, what was moved so far would be taken for a store of the first format.
        for file in sorted(new.iterdir(), key=lambda one: (one.name == "head", one.name != "format")):
            file.rename(folder / file.name)
        sync_folder(folder)
    with suppress(OSError):  # it is gone; or it stays, since another log was begun
        new.rmdir()
    sync_folder(folder.parent)


def _remove_leftover(folder: Path) -> None:
    """Delete a folder, unless a process is building it or the platform has no locks to tell."""
    with suppress(OSError), _locked(folder) as locked:
        if locked:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Generator[bool, None, None]:
    """Lock a folder under any name that it gets (`OSError`); yield False where the platform has no such locks."""
    if os.name != "posix":
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    finally:
        os.close(descriptor)
