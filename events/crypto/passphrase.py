"""Setting, changing and removing the passphrase of a store's keys."""

import os
from contextlib import closing
from pathlib import Path

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.crypto.wrapping import KeyWrapping
from events.storage.database import exclusive
from events.storage.durable import DurableFile, sync_folder
from events.storage.log import LogError


def change_passphrase(path: Path, old: str | None, new: str | None) -> None:
    """Replace the key file by one behind another passphrase and master key, and overwrite the old file with zeros.

    A crash leaves one of the two files at `path`, complete. What else it leaves is removed by the next change, or when
    the log is opened.

    Args:
        path: Of the key file of a store that isn't open.
        old: The present passphrase; None if there is none.
        new: The next one; None for none.

    Raises:
        PassphraseError: `old` is wrong, or missing, or there is none; or `new` is empty.
        LogInUseError: the log is open.
        LogError: the keys can't be read or written.
    """
    with exclusive(path.parent):
        try:
            remove_leftovers(path)
            ring = KeyRing.of(path.read_bytes(), old)
            content = ring.rewrapped(None if new is None else KeyWrapping.create(new))
            new_file, old_file = _leftovers(path)
            with closing(DurableFile(new_file)) as file:
                file.write({0: content})
            os.link(path, old_file)
            sync_folder(path.parent)
            new_file.replace(path)
            sync_folder(path.parent)
            remove_leftovers(path)
        except (OSError, KeyUnreadableError) as error:
            raise LogError(f"the passphrase can't be changed: {error}") from error


def remove_leftovers(path: Path) -> None:
    """Overwrite and delete the files that an interrupted change of the passphrase left beside the keys."""
    for leftover in _leftovers(path):
        if not leftover.exists():
            continue
        if not leftover.samefile(path):  # else interrupted before the replacement: both are names of the present keys
            with closing(DurableFile(leftover)) as file:
                file.write({0: bytes(leftover.stat().st_size)})
        leftover.unlink()
        sync_folder(path.parent)


def _leftovers(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.new"), path.with_name(f"{path.name}.old")
