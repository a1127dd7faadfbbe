"""Opening the log of a folder as far as it can be trusted: for writing, or read-only with the reason in words."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from events.recovery.backup import is_backup
from events.recovery.safety_copy import copy_before
from events.recovery.salvage import Spare, describe_damage, marked_damage, unmark_damaged
from events.storage.database import DATABASE, exclusive
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import LogDamagedError, LogError, LogInUseError, PassphraseError
from events.verify.verification import verify

LOCK_POLL: Final = 0.1
"""Seconds between two attempts to open a log that is in use."""

_BACKUP: Final = (
    "this is a backup and therefore read-only; to go on with it, run: context-graph restore BACKUP --data NEW_FOLDER"
)
_EARLIER: Final = (
    "an earlier version wrote this store, in format {}, and this command changes nothing; it copies and upgrades it: "
    "context-graph upgrade"
)
_NO_COPY: Final = (
    "an earlier version wrote this store, and no copy of it can be made before it is upgraded ({}); it is read-only "
    "until then"
)
_COPIED: Final = (
    "an earlier version wrote this store, in format {}; it is upgraded now, and its copy as it was is {}; to go back, "
    "run: context-graph restore {} --data {} --replace"
)


def open_log(
    folder: Path,
    passphrase: str | None,
    until: float = 0.0,
    *,
    upgrades: bool = True,
    spare: Spare | None = None,
    notify: Callable[[str], object] = lambda _: None,
) -> DuckDBLog:
    """Open the log in a folder, or create one; a backup read-only, and a damaged one too, as far as it can be proved.

    A store of an earlier format is copied and upgraded, of which `notify` receives a sentence, or else opened
    read-only. `until` is when, by the monotonic clock, not to wait any longer for another process that has it open.
    `spare` reads the snapshot, which shows a missing end and holds what takes the place of lost events.

    Raises:
        LogInUseError: Another process still has it open.
        LogError: Nothing can be read, or a later version wrote it.
    """
    while True:
        try:
            return _open(folder, passphrase, upgrades=upgrades, spare=spare, notify=notify)
        except LogInUseError:
            if monotonic() >= until:
                raise
            sleep(LOCK_POLL)


def _open(
    folder: Path, passphrase: str | None, *, upgrades: bool, spare: Spare | None, notify: Callable[[str], object]
) -> DuckDBLog:
    damage = marked_damage(folder)
    if damage is not None and not verify(folder, passphrase, spare=spare).problems:
        unmark_damaged(folder)
        damage = None
    found = format_of(folder) if (folder / DATABASE).exists() else FORMAT
    read_only = _BACKUP if is_backup(folder) else None
    if found < FORMAT and not upgrades:
        read_only = read_only or _EARLIER.format(found)
    if damage is None and read_only is None:
        try:
            if found < FORMAT:
                read_only = _copy(folder, passphrase, found, notify)
            if read_only is None:
                return DuckDBLog(folder, passphrase, spare=spare)
        except LogDamagedError as error:
            damage = str(error)
    try:
        with exclusive(folder):  # what is read is a copy of the files
            reason = describe_damage(damage) if damage else read_only
            return DuckDBLog(folder, passphrase, read_only=reason, spare=spare)
    except (LogInUseError, PassphraseError):
        raise
    except LogError as error:
        if damage is None:
            raise
        raise LogError(damage) from error


def _copy(folder: Path, passphrase: str | None, found: int, notify: Callable[[str], object]) -> str | None:
    """Copy a store before its upgrade (`LogDamagedError`); return why it must be opened read-only instead."""
    try:
        copy = copy_before(folder, "upgrade", passphrase)
    except (LogInUseError, PassphraseError, LogDamagedError):
        raise
    except LogError as error:
        return _NO_COPY.format(error)
    notify(_COPIED.format(found, copy, copy, folder))
    return None
