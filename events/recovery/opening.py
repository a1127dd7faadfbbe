"""Opening the log of a folder as far as it can be trusted: for writing, or read-only with the reason in words."""

from collections.abc import Callable
from contextlib import nullcontext
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

_BACKUP: Final = "this is a backup and therefore read-only; to go on with it, run: context-graph restore BACKUP"
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
    """Open the log in a folder; a backup read-only, and a damaged one too, as far as it can be proved.

    Args:
        folder: Of the store, which is created if there is none.
        passphrase: Of its keys.
        until: When, by the monotonic clock, not to wait any longer for another process that has it open.
        upgrades: Whether a store of an earlier format is copied and upgraded; otherwise it is opened read-only.
        spare: Reads the snapshot, which shows a missing end and holds what takes the place of lost events.
        notify: Receives a sentence about an upgrade.

    Raises:
        LogInUseError: Another process still has it open.
        PassphraseError: The passphrase is wrong, or missing, or given for a store without one.
        LogError: Nothing can be read, or a later version wrote it.
    """
    read_only = _BACKUP if is_backup(folder) else None
    found = format_of(folder) if (folder / DATABASE).exists() else FORMAT
    if found < FORMAT and not upgrades:
        read_only = read_only or _EARLIER.format(found)
    marked = damage = marked_damage(folder)
    copied = found >= FORMAT
    while True:
        try:
            if marked is not None and not verify(folder, passphrase, spare=spare).problems:
                unmark_damaged(folder)
                damage = None
            marked = None
            if not copied and read_only is None and damage is None:
                read_only, damage = _copy(folder, passphrase, found, notify)
                copied = True
            reason = describe_damage(damage) if damage else read_only
            with exclusive(folder) if reason else nullcontext():  # what is read is a copy of the files
                return DuckDBLog(folder, passphrase, read_only=reason, spare=spare)
        except LogInUseError:
            if monotonic() >= until:
                raise
            sleep(LOCK_POLL)
        except PassphraseError:
            raise
        except LogError as error:
            if damage is not None:  # nothing can be read
                raise LogError(damage) from error
            if not isinstance(error, LogDamagedError):
                raise
            damage = str(error)


def _copy(
    folder: Path, passphrase: str | None, found: int, notify: Callable[[str], object]
) -> tuple[str | None, str | None]:
    """Copy a store before its upgrade; return why it must be opened read-only instead, and its damage."""
    try:
        copy = copy_before(folder, "upgrade", passphrase)
    except (LogInUseError, PassphraseError):
        raise
    except LogError as error:
        return _NO_COPY.format(error), None
    if copy is None:
        problems = verify(folder, passphrase).problems
        return None, f"{problems[0].file}: {problems[0].what}" if problems else "its copy isn't sound"
    notify(_COPIED.format(found, copy, copy, folder))
    return None, None
