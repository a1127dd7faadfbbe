"""Replacing the folder of a store by another one in two renames, of which a crash can't leave only the first.

The new folder is `<name>.restoring-<time>`. The first rename makes the old one `<name>.replaced-<time>`, the second one
gives its name to the new one. As long as both folders of one time exist, the replacement isn't finished; the next
`DuckDBLog` that opens the store finishes it. `renameat2` could exchange two folders in one step, but not every file
system and no portable API offers it.
"""

import shutil
from pathlib import Path
from typing import Final

from events.storage.database import DATABASE
from events.storage.durable import sync_folder

FILES: Final = (DATABASE, "keys", "head")
"""Of a store. The head file comes last: without it, a log never begins in place of one that was moved in part."""

_NEW: Final = "restoring"
_OLD: Final = "replaced"


def new_folder(folder: Path, time: str) -> Path:
    """Return where the new folder is to be made."""
    return folder.with_name(f"{folder.name}.{_NEW}-{time}")


def replace(folder: Path, time: str) -> Path | None:
    """Put the new folder of this time in the place of `folder`; return where the old one is, if there was one.

    Raises:
        OSError: nothing was renamed, and the new folder is deleted; or the next `finish` does the rest.
    """
    new, old = new_folder(folder, time), folder.with_name(f"{folder.name}.{_OLD}-{time}")
    occupied = folder.exists() and any(folder.iterdir())
    try:
        if occupied:
            folder.rename(old)
        else:
            new.rename(folder)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise
    sync_folder(folder.parent)
    if not occupied:
        return None
    finish(folder)
    return old


def finish(folder: Path) -> None:
    """Do the second rename of a replacement that was interrupted; without one, do nothing."""
    folder = folder.resolve()
    for old in folder.parent.glob(f"*.{_OLD}-*"):
        name, found, time = old.name.rpartition(f".{_OLD}-")
        new = new_folder(folder, time)
        if not found or name != folder.name or not new.is_dir() or (folder / FILES[-1]).exists():
            continue
        if folder.exists():  # a process has made it since, for its lock or its socket
            for file in FILES:
                if (new / file).exists():
                    (new / file).rename(folder / file)
            sync_folder(folder)
            new.rmdir()
        else:
            new.rename(folder)
        sync_folder(folder.parent)
