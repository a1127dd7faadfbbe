"""Automatic backups: a verified copy of the store after each deep sleep, of which the latest are kept.

They are beside the store's folder, in `<name>.backups`, so that nothing that replaces or moves the folder takes them
along. They are off until somebody asks for them: a backup keeps what is erased later (`events.recovery.backup`). Those
of another store that was at the path before are never deleted.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import datetime
from pathlib import Path

from actors.runtime.actor import LOGGER
from actors.runtime.settings import passphrase
from actors.runtime.types import JsonObject
from events.recovery.backup import back_up, is_backup
from events.recovery.safety_copy import SafetyCopy, backups_folder, safety_copies
from events.storage import replacement
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import latest_head, parse_slots
from events.storage.log import Log, LogError
from events.verify.verification import verify


class Backups:
    """Makes and keeps the backups of one store."""

    def __init__(self, folder: Path) -> None:
        self._store = folder.resolve()
        self._folder = backups_folder(self._store)
        self._setting = self._folder / "keep"
        self._failed: str | None = None
        self._tried: datetime | None = None

    def state(self) -> JsonObject:
        """Return how many backups are kept, those that exist, the oldest first, and why the last one wasn't made.

        `before` are the copies that were made before operations, and the stores that `restore --replace` renamed.
        """
        made = self._made()
        before = [
            *safety_copies(self._store),
            *(SafetyCopy(one, "restore") for one in replacement.replaced(self._store)),
        ]
        return {
            "folder": str(self._folder),
            "keep": self._keep(),
            "made": [str(one) for one in made],
            "megabytes": _megabytes(*made),
            "before": [
                {"operation": one.operation, "folder": str(one.folder), "megabytes": _megabytes(one.folder)}
                for one in before
            ],
            "failed": self._failed,
        }

    def keep(self, count: int) -> None:
        """Set how many backups are kept, 0 for making none; the next backup deletes what is too many (`OSError`)."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._setting.write_text(f"{count}\n", encoding="utf-8")
        self._failed = self._tried = None

    def make_if_due(self, log: Log, slept_at: datetime | None, check_cancelled: Callable[[], None]) -> None:
        """Make a backup if there is none since the last deep sleep began; a failure is logged, and in the state.

        A log on a server, or one that is read-only, isn't copied. `check_cancelled` raises what ends the copy.
        """
        keep = self._keep()
        if not keep or slept_at is None or slept_at == self._tried:
            return
        if not isinstance(log, DuckDBLog) or log.read_only is not None:
            return
        if any(replacement.time_of(one.name) > slept_at for one in self._made()):
            return
        try:
            self._make(log, keep, check_cancelled)
            self._failed = None
        except (LogError, OSError) as error:
            LOGGER.warning("no backup was made after sleep: %s", error)
            self._failed = str(error)
        self._tried = slept_at

    def _make(self, log: DuckDBLog, keep: int, check_cancelled: Callable[[], None]) -> None:
        target = self._folder / replacement.timestamp()
        back_up(log, target, lambda _done, _total: check_cancelled())
        with ExitStack() as unverified:
            unverified.callback(self._delete, target)
            if problems := verify(target, passphrase(), lambda _done, _total: check_cancelled()).problems:
                raise LogError(f"the copy is damaged: {problems[0].file}: {problems[0].what}")
            unverified.pop_all()
        for old in [one for one in self._made() if _is_of(log, one)][:-keep]:
            self._delete(old)

    def _made(self) -> list[Path]:
        with suppress(FileNotFoundError):
            return sorted(
                one for one in self._folder.iterdir() if replacement.is_timestamp(one.name) and is_backup(one)
            )
        return []

    def _keep(self) -> int:
        with suppress(FileNotFoundError, ValueError):
            return max(0, int(self._setting.read_text(encoding="utf-8")))
        return 0

    def _delete(self, backup: Path) -> None:
        doomed = replacement.partial_folder(backup)  # a crash leaves nothing that looks like a backup
        backup.rename(doomed)
        shutil.rmtree(doomed)


def _is_of(log: Log, backup: Path) -> bool:
    """Return whether a log holds what a backup does; not if another store was at its path, or a later state of it."""
    with suppress(OSError, LogError):
        head = latest_head(parse_slots((backup / "head").read_bytes()))
        return head is not None and log.head_at(head.seq) == head
    return False


def _megabytes(*folders: Path) -> float:
    total = 0
    for file in (Path(root, name) for folder in folders for root, _, names in os.walk(folder) for name in names):
        with suppress(FileNotFoundError):  # a backup may be deleted meanwhile
            total += file.stat().st_size
    return round(total / 2**20, 1)
