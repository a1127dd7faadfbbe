"""Whether a store can be trusted: its database, its chain, its keys and its head file. Nothing is changed.

Every row is read and verified through the hash chain, and every sealed event is decrypted (AES-GCM), so a changed byte
of an event is named, or DuckDB refuses to read it, which is named too. Bytes that no row depends on aren't read: unused
blocks, a spare header, the primary key's index. A change there may stay unnoticed; it alters no event.
What a damaged store has lost is what opening it loses (`events.recovery.salvage`): all of that is named, and
only that.
"""

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import duckdb
import msgspec

from events.crypto.chain_key import ChainKey
from events.crypto.images import ImageFiles
from events.crypto.keys import KeyRing
from events.recovery.salvage import Salvage, Spare, readable_keys
from events.storage.database import DATABASE, connect
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import SECTOR, has_stray_bytes, latest_head, parse_slots
from events.storage.format import check_format, is_format_damaged
from events.storage.log import Head, LogError, LogInUseError, PassphraseError
from events.verify.examination import Examination, Progress
from events.verify.report import NAMED, BadRange, Problem, Report, name_losses
from events.wording import reason

EVERYTHING: Final = "every event"


def verify(
    folder: Path, passphrase: str | None = None, progress: Progress | None = None, spare: Spare | None = None
) -> Report:
    """Check the store in a folder, which must not be open. What is lost of a damaged one is what opening it shows.

    Raises:
        LogInUseError: it is open.
        LogError: there is no store, or its files can't be read.
    """
    problems: list[Problem] = []
    if not (folder / DATABASE).exists() and not (folder / "head").exists():
        raise LogError(f"there is no store in {folder}")
    with ExitStack() as stack:
        try:
            check_format(folder)
            if is_format_damaged(folder):
                problems.append(
                    Problem("format", None, "it isn't as it was written", "nothing, the next start mends it")
                )
            cursor = _open(folder, stack, problems)
            keys = _keys(folder, passphrase, problems)
            acknowledged = _acknowledged(folder, keys.chain if keys else None, problems)
        except OSError as error:
            raise LogError(f"the store can't be read: {reason(error)}") from error
        images = ImageFiles(folder, lambda: keys) if keys else None
        witness = spare.head(folder, keys) if spare and keys else None
        report = Examination(cursor, keys, acknowledged, problems, images=images, witness=witness).run(progress)
        if cursor is not None and not report.bad:
            return report
        return _as_opened(folder, passphrase, report, spare)


def _as_opened(folder: Path, passphrase: str | None, report: Report, spare: Spare | None) -> Report:
    """Return a report whose lost events are those that opening the store loses, instead of all that DuckDB refuses.

    Where nothing can be opened, it stays as it is.
    """
    try:
        with closing(Salvage(folder, readable_keys(folder, passphrase), spare)) as found:
            bad, spared, readable = found.bad, found.spared, found.report
    except LogError:
        return report
    if bad == report.bad and not spared:
        return report
    files = [
        msgspec.structs.replace(one, lost="" if one.lost in {EVERYTHING, NAMED} else one.lost)
        for one in report.problems
        if one.seq is None
    ]
    wal = f"{DATABASE}.wal"
    hidden = _numbers(report.bad) - _numbers((*bad, *spared))
    if hidden and all(one.file != wal for one in files):
        what = f"DuckDB leaves out events {min(hidden)} to {max(hidden)}, which a mended copy shows"
        files.append(Problem(wal if (folder / wal).exists() else DATABASE, None, what, ""))
    return msgspec.structs.replace(
        readable, acknowledged=report.acknowledged, problems=name_losses(files, bad, spared), bad=bad, spared=spared
    )


def _numbers(ranges: Iterable[BadRange]) -> set[int]:
    return {seq for one in ranges for seq in range(one.first, one.last + 1)}


def examine(log: DuckDBLog, progress: Progress | None = None) -> Report:
    """Check the store of an open log (`LogError`: it is closed, or its files can't be read).

    Appends may go on; they aren't checked. Rows that DuckDB has in memory are read from there.
    """
    problems: list[Problem] = []
    end = log.head
    try:
        content = (log.folder / "head").read_bytes()
    except OSError as error:
        raise LogError(f"the head can't be read: {reason(error)}") from error
    if not any(parse_slots(content, log.keys.chain)) and end.seq:
        problems.append(Problem("head", None, "neither slot can be read", "what was acknowledged last"))
    _check_keys(log.keys, problems)
    if not log.keys.matches_file():
        problems.append(Problem("keys", None, "the file isn't what was read from it or written to it", ""))
    with log.cursor() as cursor:
        return Examination(cursor, log.keys, end, problems, last=end.seq, images=log.images).run(progress)


def _open(folder: Path, stack: ExitStack, problems: list[Problem]) -> duckdb.DuckDBPyConnection | None:
    path = folder / DATABASE
    if not path.exists():
        problems.append(Problem(DATABASE, None, "the file is missing", EVERYTHING))
        return None
    try:
        return stack.enter_context(closing(connect(path, read_only=True)))
    except LogInUseError:
        raise
    except LogError as error:
        why = error
    copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / DATABASE
    shutil.copyfile(path, copy)
    try:
        database = stack.enter_context(closing(connect(copy, read_only=True)))
    except LogError:
        problems.append(Problem(DATABASE, None, f"DuckDB can't open it ({why})", EVERYTHING))
        return None
    problems.append(Problem(f"{DATABASE}.wal", None, f"DuckDB can't replay it ({why})", ""))
    return database


def _keys(folder: Path, passphrase: str | None, problems: list[Problem]) -> KeyRing | None:
    path = folder / "keys"
    if not path.exists():
        problems.append(Problem("keys", None, "the file is missing", "every memory"))
        return None
    content = path.read_bytes()
    try:
        keys = KeyRing.of(content, passphrase)
    except LogError as error:
        if isinstance(error, PassphraseError):
            raise
        problems.append(Problem("keys", None, str(error), "every memory"))
        return None
    _check_keys(keys, problems)
    if rest := len(content) - len(keys.content()):
        problems.append(Problem("keys", None, f"{rest} bytes at the end are no whole record", ""))
    return keys


def _check_keys(keys: KeyRing, problems: list[Problem]) -> None:
    problems += [
        Problem("keys", None, f"copy {index + 1} of the header is damaged", "") for index in keys.header.damaged()
    ]
    problems += [
        Problem("keys", None, f"record {number}, of event {id_}, isn't as it was written", "")
        for number, id_ in keys.damaged()
    ]


def _acknowledged(folder: Path, chain: ChainKey | None, problems: list[Problem]) -> Head | None:
    """Return the last head that the head file has; `Examination` compares it with the rows."""
    path = folder / "head"
    if not path.exists():
        problems.append(Problem("head", None, "the file is missing", "where the log should end"))
        return None
    content = path.read_bytes()
    slots = parse_slots(content, chain)
    head = latest_head(slots)
    if content and head is None:
        problems.append(Problem("head", None, "neither slot can be read", "where the log should end"))
    elif head is not None and head.seq and None in slots and len(content) > SECTOR:
        problems.append(Problem("head", None, f"slot {slots.index(None) + 1} is damaged", ""))
    if has_stray_bytes(content):
        problems.append(Problem("head", None, "there is something between its slots", ""))
    return head
