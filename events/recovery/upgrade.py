"""Upgrading a store of an earlier version, with a copy of it first.

A start upgrades a store by itself, after such a copy (`events.recovery.opening`); commands that only read or copy leave
it as it is. Programs of that earlier version refuse an upgraded store.
"""

from contextlib import closing
from pathlib import Path

import msgspec

from events.crypto.keys import KeyRing
from events.crypto.passphrase import change_passphrase
from events.recovery.safety_copy import copy_before, size_of
from events.recovery.salvage import Spare, acknowledged
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, check_format, format_of
from events.storage.log import LogDamagedError, LogError
from events.verify.examination import Progress
from events.verify.verification import verify
from events.wording import reason


class Upgrade(msgspec.Struct, frozen=True):
    """What an upgrade changes, or has changed."""

    found: int
    format: int
    changes: tuple[str, ...]
    """In words; nothing for a store of this version."""
    size: int
    """Bytes of the store, and of its copy."""
    copy: Path | None = None
    """Of the store as it was; None if nothing was done."""


def plan(folder: Path, passphrase: str | None) -> Upgrade:
    """Return what an upgrade would change, and change nothing.

    Raises:
        LogError: a later version wrote the store, or its keys can't be read.
    """
    check_format(folder)
    try:
        keys, found = KeyRing.of((folder / "keys").read_bytes(), passphrase), format_of(folder)
        size = size_of(folder)
    except OSError as error:
        raise LogError(f"the store can't be read: {reason(error)}") from error
    head = acknowledged(folder, keys.chain)
    changes: list[str] = []
    if found < FORMAT:
        changes.append(
            f"format {found} becomes {FORMAT}: programs that know only earlier ones refuse the store by name"
        )
    if keys.chain is None and head is not None and head.seq:
        changes.append(
            f"events after {head.seq} get keyed hashes: `keys` and `head` are replaced, and an event says so"
        )
    if keys.header.by_scrypt:
        changes.append("Argon2id derives the key from the passphrase instead of scrypt: `keys` is replaced")
    return Upgrade(found, FORMAT, tuple(changes), size)


def upgrade(
    folder: Path, passphrase: str | None, progress: Progress | None = None, spare: Spare | None = None
) -> Upgrade:
    """Copy a store that is of an earlier version, upgrade it, and verify it.

    A crash leaves the store as it was or upgraded in part, which the next start or upgrade ends, and the copy.

    Raises:
        LogInUseError: the store is open.
        LogError: the store is damaged, a later version wrote it, or it or its copy can't be written.
    """
    planned = plan(folder, passphrase)
    if not planned.changes:
        return planned
    try:
        copy = copy_before(folder, "upgrade", passphrase, progress)
    except LogDamagedError as error:
        raise LogError(f"{folder} stays as it is ({error}): run context-graph repair NEW_FOLDER first") from error
    with closing(DuckDBLog(folder, passphrase, spare=spare)):
        pass
    if passphrase is not None and KeyRing.of((folder / "keys").read_bytes(), passphrase).header.by_scrypt:
        change_passphrase(folder / "keys", passphrase, passphrase)
    problems = verify(folder, passphrase, progress).problems
    if problems:
        raise LogError(
            f"after the upgrade {problems[0].file} isn't sound ({problems[0].what}); the store as it was is in {copy}: "
            f"context-graph restore {copy} --replace"
        )
    return msgspec.structs.replace(planned, copy=copy)
