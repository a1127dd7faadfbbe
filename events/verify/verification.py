"""Whether a store can still be trusted, byte for byte; nothing is repaired, and nothing changed.

After the first problem it goes on with whatever can still be read, so that a person hears all
that is lost, and only that.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import msgspec

from events.crypto.keys import KeyRing
from events.storage.database import NAME, connect, free_blocks
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import slots_of, stray_bytes
from events.storage.log import Head, LogError, LogInUseError, PassphraseError
from events.verify.blocks import Damage, check_file, check_wal
from events.verify.examination import Examination, Problem, Progress, Report

_WALS: Final = (f"{NAME}.wal", f"{NAME}.wal.checkpoint")
"""The second exists while DuckDB folds the first into the main file."""


def verify(folder: Path, passphrase: str | None = None, progress: Progress | None = None) -> Report:
    """Check the store in a folder, which nobody may have open.

    Raises:
        LogInUseError: somebody has it open.
        PassphraseError: the passphrase is wrong, or missing, or given for a store that has none.
        LogError: there is no store, or its files can't be read at all.
    """
    problems: list[Problem] = []
    if not (folder / NAME).exists() and not (folder / "head").exists():
        raise LogError(f"there is no store in {folder}")
    with ExitStack() as opened:
        try:
            outlasting = opened.enter_context(ExitStack())  # closing any descriptor gives up the lock
            cursor, file, cut = _open(folder, opened, outlasting, problems)
            keys = _keys(folder, passphrase, problems)
            acknowledged = _acknowledged(folder, problems)
        except OSError as error:
            raise LogError(f"the store can't be read: {error}") from error
        if file is not None:
            problems += _damage(check_file(file, free_blocks(cursor)))
        report = Examination(cursor, keys, acknowledged, problems).run(progress)
    if acknowledged is not None and report.head.seq < acknowledged.seq:
        report = msgspec.structs.replace(report, problems=(*cut, *report.problems))
    return report


def examine(log: DuckDBLog, progress: Progress | None = None) -> Report:
    """Check the store of an open log, which goes on meanwhile; what is appended while this runs isn't looked at.

    The WAL is left out: as long as the log is open, what stands in it is in memory too, and is read there.

    Raises:
        LogError: the log is closed, or its files can't be read at all.
    """
    problems: list[Problem] = []
    end = log.head
    try:
        content = (log.folder / "head").read_bytes()
    except OSError as error:
        raise LogError(f"the head can't be read: {error}") from error
    if not any(slots_of(content)) and end.seq:
        problems.append(Problem("head", None, "neither slot can be read", "what was acknowledged last"))
    _check_keys(log.keys, problems)
    if not log.keys.is_as_written():
        problems.append(Problem("keys", None, "the file isn't what was read from it or written to it", ""))
    with log.cursor() as cursor:
        problems += _damage(check_file(log.file, free_blocks(cursor)))
        return Examination(cursor, log.keys, end, problems, end.seq).run(progress)


class _Opened(NamedTuple):
    cursor: duckdb.DuckDBPyConnection | None
    file: FileIO | None
    """The bytes of the main file."""
    cut: list[Problem]
    """WALs that end in the middle of an entry: damage only if something that was acknowledged is missing."""


def _open(folder: Path, opened: ExitStack, outlasting: ExitStack, problems: list[Problem]) -> _Opened:
    """Attach what can be attached."""
    path = folder / NAME
    if not path.exists():
        problems.append(Problem(NAME, None, "the file is missing", "everything in it"))
        return _Opened(None, None, [])
    refusal: LogError | None = None
    database: duckdb.DuckDBPyConnection | None = None
    try:
        database = opened.enter_context(closing(connect(path, read_only=True)))
    except LogInUseError:
        raise
    except LogError as error:
        refusal = error
    file = outlasting.enter_context(path.open("rb", buffering=0))
    wals = {name: (folder / name).read_bytes() for name in _WALS if (folder / name).exists()}
    checked = {name: check_wal(content, file) for name, content in wals.items()}
    problems += [Problem(name, None, wal.damage, "") for name, wal in checked.items() if wal.damage is not None]
    if database is None and wals:
        # DuckDB refuses all of the log for one damaged entry: what comes before it is read from a copy without it.
        aside = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        shutil.copyfile(path, aside / NAME)
        for name, content in wals.items():
            (aside / name).write_bytes(content[: checked[name].whole])
        try:
            database = opened.enter_context(closing(connect(aside / NAME, read_only=True)))
        except LogError as error:
            refusal = error
    if database is None:
        problems.append(Problem(NAME, None, f"DuckDB can't open it ({refusal})", "every event"))
    cut = [
        Problem(name, None, f"it is cut off within the entry at byte {checked[name].whole}", "the events named here")
        for name, content in wals.items()
        if checked[name].damage is None and checked[name].whole < len(content)
    ]
    return _Opened(database, file, cut)


def _keys(folder: Path, passphrase: str | None, problems: list[Problem]) -> KeyRing | None:
    path = folder / "keys"
    if not path.exists():
        problems.append(Problem("keys", None, "the file is missing", "every memory"))
        return None
    content = path.read_bytes()
    try:
        keys = KeyRing.of(content, passphrase)
    except PassphraseError:
        raise
    except LogError as error:
        problems.append(Problem("keys", None, str(error), "every memory"))
        return None
    _check_keys(keys, problems)
    if rest := len(content) - len(keys.content()):
        problems.append(Problem("keys", None, f"{rest} bytes at the end are no whole record", ""))
    return keys


def _check_keys(keys: KeyRing, problems: list[Problem]) -> None:
    broken = keys.wrapping.damaged() if keys.wrapping else []
    problems += [Problem("keys", None, f"copy {index + 1} of the header is damaged", "") for index in broken]
    problems += [
        Problem("keys", None, f"record {number}, of event {id_}, isn't as it was written", "")
        for number, id_ in keys.damaged()
    ]


def _acknowledged(folder: Path, problems: list[Problem]) -> Head | None:
    """Read both slots of the head file; what is behind or wrong is seen when the rows are."""
    path = folder / "head"
    if not path.exists():
        problems.append(Problem("head", None, "the file is missing", "where the log should end"))
        return None
    content = path.read_bytes()
    slots = slots_of(content)
    heads = sorted((head for head in slots if head is not None), key=lambda head: head.seq)
    if content and not heads:
        problems.append(Problem("head", None, "neither slot can be read", "where the log should end"))
    elif slots.count(None) and heads and heads[0].seq and len(content) > 512:
        problems.append(Problem("head", None, f"slot {slots.index(None) + 1} is damaged", ""))
    if stray_bytes(content):
        problems.append(Problem("head", None, "there is something between its slots", ""))
    return heads[-1] if heads else None


def _damage(found: Iterator[Damage]) -> Iterator[Problem]:
    for damage in found:
        what = f"{damage.where}, which nothing uses," if damage.unused else damage.where
        yield Problem(NAME, None, f"{what} doesn't match its checksum", "")
