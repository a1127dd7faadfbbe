"""Replacing the folder of a store by another one in two renames, of which a crash can't leave only the first.

The new folder is `<name>.restoring-<time>`. The first rename makes the old one `<name>.replaced-<time>`, the second one
gives its name to the new one. While both exist, the replacement isn't finished; the next `DuckDBLog` that opens the
store finishes it. One step, by `renameat2`, isn't available on every system.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from events.storage.database import DATABASE
from events.storage.durable import sync_folder

FILES: Final = (DATABASE, "keys", "head")
"""Of a store. The head file is moved last: with it, a log never begins in place of one that was moved in part."""

_NEW: Final = ".restoring-"
_OLD: Final = ".replaced-"


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


def finish(folder: Path) -> None:
    """Do the second rename of a replacement that was interrupted, if there is one."""
    folder = folder.resolve()
    for old in folder.parent.glob(f"*{_OLD}*"):
        name, _, time = old.name.rpartition(_OLD)
        new = new_folder(folder, time)
        if name != folder.name or not new.is_dir():
            continue
        if not folder.exists():
            new.rename(folder)
        elif not (folder / "head").exists():  # the folder was made since, for a lock or a socket
            for file in FILES:
                if (new / file).exists():
                    (new / file).rename(folder / file)
            sync_folder(folder)
        with suppress(OSError):  # it is gone; or it stays, since another log was begun
            new.rmdir()
        sync_folder(folder.parent)
