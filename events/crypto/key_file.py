"""Replacing a key file by another one, so that a crash leaves one of the two, complete."""

import os
from pathlib import Path

from events.storage.durable import sync_folder, write_durably


def replace_keys(path: Path, content: bytes) -> None:
    """Replace the key file by one with other content, and overwrite the old one with zeros (`OSError`).

    What a crash leaves besides is removed by `remove_leftovers`.
    """
    remove_leftovers(path)
    new_file, old_file = _leftovers(path)
    write_durably(new_file, content)
    os.link(path, old_file)
    sync_folder(path.parent)
    new_file.replace(path)
    sync_folder(path.parent)
    remove_leftovers(path)


def remove_leftovers(path: Path) -> None:
    """Overwrite and delete the files that an interrupted replacement left beside the keys."""
    for leftover in _leftovers(path):
        if not leftover.exists():
            continue
        if not leftover.samefile(path):  # else interrupted before the replacement: both are names of the present keys
            write_durably(leftover, bytes(leftover.stat().st_size))
        leftover.unlink()
        sync_folder(path.parent)


def _leftovers(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.new"), path.with_name(f"{path.name}.old")
