"""The number of a store's format: an earlier version of the program refuses a store that it can't know.

A store without the file `format` is of the first format. `FORMAT` must be above that of the last release once an
earlier version would take something for damage: a new kind of event, another layout of a file, a new kind of file. A
new field of an event is no reason: an earlier version reads over it.
"""

import re
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec

from events.storage.durable import replace_file
from events.storage.log import LogError
from events.wording import reason

FORMAT: Final = 2
"""Of the stores and backups that this version writes.

2: Argon2id derives keys from passphrases; the events `MemoryTagged`, `RequestsCounted` and `SimilaritiesCalibrated`;
`image` in `MemoryStored`, and the files of images. 1: the file `format`, and all before it.
"""

MANIFEST: Final = "backup.json"
"""The file that makes a folder a backup, whose format it has."""

_FILE: Final = "format"
_LONGEST: Final = 16
"""Bytes in which earlier versions look for the number."""
_COPY: Final = re.compile(rb"(\d+) ([0-9a-f]{8})\n")


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
        found = max(format_of(folder), _backup_format_of(folder))
    except OSError as error:
        raise LogError(f"the format of {folder} can't be read: {reason(error)}") from error
    if found > FORMAT:
        raise NewerFormatError(
            f"{folder} was written by a later version of context-graph: its format is {found}, and this version knows "
            f"formats up to {FORMAT}; upgrade this program, nothing in the store was changed"
        )


def write_format(folder: Path, number: int = FORMAT) -> None:
    """Give a store a format, this version's by default, unless it has a later one; mend its file (`OSError`)."""
    path = folder / _FILE
    number = max(number, format_of(folder)) if path.exists() else number
    if not path.exists() or path.read_bytes() != _encode(number):
        replace_file(path, _encode(number))  # an empty file, left by a crash, would hold no number


def format_of(folder: Path) -> int:
    """Return the format of a store (`OSError`; `LogError`: its file holds no number)."""
    path = folder / _FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return 1
    number, copy = content[:_LONGEST].strip(), _COPY.fullmatch(content[_LONGEST:])
    if copy is not None and crc32(copy[1]) == int(copy[2], 16):
        number = copy[1]
    if not number.isdigit():
        raise LogError(f"{path} holds no number; delete it if no later version of context-graph has used the store")
    return int(number)


def is_format_damaged(folder: Path) -> bool:
    """Tell whether the file of a store's format isn't as it was written, though its number can be read (`OSError`)."""
    path, number = folder / _FILE, format_of(folder)
    return path.exists() and path.read_bytes() not in {_encode(number), b"%d\n" % number}


def _encode(number: int) -> bytes:
    """Return the file: the number where the first versions look for it, and a copy with its CRC-32."""
    text = b"%d" % number
    return text.ljust(_LONGEST - 1) + b"\n" + b"%s %08x\n" % (text, crc32(text))


def _backup_format_of(folder: Path) -> int:
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=_Manifest).format
    except (FileNotFoundError, msgspec.DecodeError):  # what reads the whole manifest reports the error
        return 1
