"""Another passphrase for a store's keys, the first one, or none any more."""

import os
from contextlib import ExitStack, closing
from pathlib import Path

from events.crypto.keys import KeyRing, KeyUnreadableError
from events.crypto.wrapping import Wrapping
from events.storage.database import NAME, connect
from events.storage.durable import DurableFile, sync_folder
from events.storage.log import LogError


def change_passphrase(path: Path, old: str | None, new: str | None) -> None:
    """Write the key file anew behind another passphrase, and overwrite the old one with zeros.

    Whenever this is killed, `path` is one of the two, and whole; the next change, or the next who opens the
    log, clears away what is left. The master key is drawn anew too.

    Args:
        path: Of the key file of a store that nobody has open.
        old: The present passphrase; None if there is none.
        new: The one to be; None for none.

    Raises:
        PassphraseError: `old` is wrong, or missing, or there is none; or `new` is empty.
        LogInUseError: somebody has the log open.
        LogError: the keys can't be read or written.
    """
    with ExitStack() as held:
        database = path.with_name(NAME)
        if database.exists():
            held.enter_context(closing(connect(database, read_only=True)))  # keeps everybody from opening it
        try:
            clear_leftovers(path)
            ring = KeyRing.of(path.read_bytes(), old)
            content = ring.rewrapped(None if new is None else Wrapping.create(new))
            coming, going = _beside(path)
            with closing(DurableFile(coming)) as file:
                file.write({0: content})
            os.link(path, going)
            sync_folder(path.parent)
            coming.replace(path)
            sync_folder(path.parent)
            clear_leftovers(path)
        except (OSError, KeyUnreadableError) as error:
            raise LogError(f"the passphrase can't be changed: {error}") from error


def clear_leftovers(path: Path) -> None:
    """Overwrite and remove what a change of the passphrase that was killed left beside the keys."""
    for leftover in _beside(path):
        if not leftover.exists():
            continue
        if not leftover.samefile(path):  # killed before the new file took its place: both are names of the keys
            with closing(DurableFile(leftover)) as file:
                file.write({0: bytes(leftover.stat().st_size)})
        leftover.unlink()
        sync_folder(path.parent)


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.new"), path.with_name(f"{path.name}.old")
