"""The number of a store's format: an earlier version of the program refuses a store that it can't know.

A store without the file `format` is of the first format. Raise `FORMAT` with every change that an earlier version
would take for damage: a new kind of event, a new field in one, another layout of a file.
"""

from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from events.storage.durable import DurableFile
from events.storage.log import LogError

FORMAT: Final = 1
"""Of the stores and backups that this version writes."""

MANIFEST: Final = "backup.json"
"""The file that makes a folder a backup, whose format it has."""

_FILE: Final = "format"
_LONGEST: Final = 16


class _Manifest(msgspec.Struct):
    format: int


class NewerFormatError(LogError):
    """A later version wrote the store; nothing says that it is damaged."""


def check_format(folder: Path) -> None:
    """Check that this version knows the format of a store or a backup.

    Raises:
        NewerFormatError: A later version wrote it.
        LogError: The file holds no number, or can't be read.
    """
    try:
        found = max(_format_of(folder), _backup_format_of(folder))
    except OSError as error:
        raise LogError(f"the format of {folder} can't be read: {error}") from error
    if found > FORMAT:
        raise NewerFormatError(
            f"{folder} was written by a later version of context-graph: its format is {found}, and this version knows "
            f"formats up to {FORMAT}; upgrade this program, nothing in the store was changed"
        )


def write_format(folder: Path) -> None:
    """Give a store the format of this version (`OSError`)."""
    if not (folder / _FILE).exists() or _format_of(folder) < FORMAT:
        with closing(DurableFile(folder / _FILE)) as file:
            file.write({0: b"%d\n" % FORMAT})


def _format_of(folder: Path) -> int:
    path = folder / _FILE
    try:
        text = path.read_bytes()[:_LONGEST].strip()
    except FileNotFoundError:
        return 1
    if not text.isdigit():
        raise LogError(f"{path} holds no number; delete it if no later version of context-graph has used the store")
    return int(text)


def _backup_format_of(folder: Path) -> int:
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=_Manifest).format
    except (FileNotFoundError, msgspec.DecodeError):  # whoever needs the whole manifest says what is wrong with it
        return 1
