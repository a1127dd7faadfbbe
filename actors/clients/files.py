"""Reading and replacing configuration files: atomic, with a backup, and not over a change made meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from events.storage.durable import replace_file

BACKUP = ".before-context-graph"
"""Suffix of the copy of a file as it was before the first entry was added."""


class ConfigurationError(Exception):
    """A configuration file cannot be read or changed; nothing was."""

    def __init__(self, problem: str, line: int | None = None, file: str = "") -> None:
        self.problem, self.line, self.file = problem, line, file
        where = f", line {line}" if line is not None else ""
        super().__init__(f"{file}{where}: {problem}" if file else problem)


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Name a file in those errors of a block that name none."""
    try:
        yield
    except ConfigurationError as error:
        raise ConfigurationError(error.problem, error.line, error.file or str(file)) from None


def line_of(text: str, position: int) -> int:
    """Return the line of a position, from 1."""
    return text.count("\n", 0, position) + 1


class Change(NamedTuple):
    """A file as it is and as it is to be; None where there is none."""

    file: Path
    before: str | None
    after: str | None
    keeps_backup: bool = False
    """Whether the present text is kept beside the file."""

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff."""
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        old, new = (str(self.file) if text is not None else os.devnull for text in (self.before, self.after))
        return unified_diff(before, after, old, new, lineterm="")


def read(file: Path) -> str | None:
    """Return the text of a file, line ends included; None without one (`ConfigurationError` if it can't be read)."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", file=str(file)) from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = line_of(data[: error.start].decode(), error.start)
        raise ConfigurationError("not UTF-8", line, str(file)) from None


def apply(change: Change) -> None:
    """Write, replace or delete a file. A symbolic link stays, and its target changes.

    Raises:
        ConfigurationError: The file is no longer as it was read, or cannot be written; it stays as it is.
    """
    target = Path(os.path.realpath(change.file))
    if read(target) != change.before:
        raise ConfigurationError("another program changed it meanwhile; try again", file=str(change.file))
    try:
        if change.after is None:
            target.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if change.before is not None else 0o600
        kept = change.before if change.keeps_backup else None
        for file, text in ((backup_of(change.file), kept), (target, change.after)):
            if text is not None:
                replace_file(file, text.encode())
                file.chmod(mode)
        if change.after == read(backup_of(change.file)):
            backup_of(change.file).unlink()
    except OSError as error:
        raise ConfigurationError(f"cannot be written: {error.strerror}", file=str(change.file)) from error


def backup_of(file: Path) -> Path:
    """Return the path of a file's backup."""
    return file.with_name(file.name + BACKUP)
