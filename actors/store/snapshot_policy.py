"""When the store has what is known written down, and what it does about it until then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event, Thread, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
import pykka

from actors.runtime.actor import LOGGER
from actors.runtime.messages import LoadSnapshot, SnapshotWritten, WriteSnapshot
from actors.runtime.reply import Reply
from actors.store.snapshot_files import SnapshotDraft, Snapshots
from events.storage.chain import GENESIS, linked
from events.storage.log import Head, Log, LogError

if TYPE_CHECKING:
    from events.storage.duckdb_log import DuckDBLog
    from projections.storage.lazy_array import LazyArray

QUIET = 60.0
"""Seconds without an event after which a snapshot is taken."""

WORTH = 1_000
"""Events that must have come since the last one, for that."""

LEISURE = 5.0
"""Seconds until what nobody has wanted of a snapshot is read: whoever waits for the start has the cores first."""

BREATH = 0.005
"""Seconds between two pages of the log that are checked: whoever wants a core meanwhile gets one."""


class IdleReached(msgspec.Struct, frozen=True):
    """Told to the store by a timer: nothing may have happened for a while."""


class SnapshotSynced(msgspec.Struct, frozen=True):
    """Told to the store by a thread: all sheets of a snapshot are on the disk, or can't be."""

    draft: SnapshotDraft
    error: OSError | None


class SnapshotBroken(msgspec.Struct, frozen=True):
    """Told to the store by a thread: the log isn't what the snapshot was taken of."""

    error: LogError


class SnapshotPolicy:
    """Takes snapshots for the store, in whose thread it lives; each is given up as soon as anything happens.

    Args:
        snapshots: Where they are kept.
        store: Whom its threads tell.
    """

    def __init__(self, snapshots: Snapshots, store: pykka.ActorRef[Any]) -> None:
        self.snapshots = snapshots
        self._store = store
        self._at = 0
        self._draft: SnapshotDraft | None = None
        self._taken: Reply[bool] = Reply()
        self._thread: Thread | None = None
        self._timer: Timer | None = None
        self._heard = 0.0
        self._checked = Event()
        self._checker: Thread | None = None

    def thaw(self, log: Log, owners: Mapping[str, Callable[[LoadSnapshot], object]]) -> int:
        """Let every owner know what a snapshot holds; return the event up to which it goes, 0 without one.

        What nobody wants at once is read in a thread of its own, where the chain up to there is checked then: no start
        waits for either.
        """
        found = self.snapshots.load(log, owners)
        if found is None:
            return 0
        for name, tell in owners.items():
            tell(LoadSnapshot(projections=found.folds[name]))
        self._at = found.head.seq
        self._checker = Thread(target=self._check, args=(log, found.head, found.later), name="chain", daemon=True)
        self._checker.start()
        return found.head.seq

    def happened(self, head: Head) -> None:
        """Wait for quiet, once enough has come to be worth a snapshot."""
        self._heard = monotonic()
        if self._timer is None and head.seq - self._at >= WORTH:
            self._arm(QUIET)

    def is_quiet(self) -> bool:
        """Tell whether nothing has happened for a while; if something has, wait again."""
        self._timer = None
        left = self._heard + QUIET - monotonic()
        if left > 0:
            self._arm(left)
        return left <= 0

    def begin(self, head: Head, owners: Mapping[str, Callable[[WriteSnapshot], object]], after: int) -> Reply[bool]:
        """Let every owner write down what it knows, unless that isn't worth it; answer whether all did, in the end.

        Args:
            head: Where the log stands.
            owners: How each is told, by name.
            after: Events that must have come since the last one.
        """
        if self._draft is not None and not self._draft.given_up:
            return self._taken
        taken: Reply[bool] = Reply()
        if self._draft is not None or head.seq - self._at < after:
            taken.set(value=False)
            return taken
        try:
            self._draft = self.snapshots.begin(head, owners)
        except OSError as error:
            LOGGER.warning("no snapshot can be written: %s", error)
            taken.set(value=False)
            return taken
        self._taken = taken
        for sheet in self._draft.sheets:
            owners[sheet.name](WriteSnapshot(writer=sheet, store=self._store))
        return taken

    def take(self, message: SnapshotWritten) -> None:
        """Note what an owner made of its sheet; the last one ends it, well or not."""
        draft = self._draft
        if draft is None or message.writer not in draft.sheets or not draft.take(message.writer, message.part):
            return
        if draft.given_up:
            self._end(draft, taken=False)
            return
        self._thread = Thread(target=self._sync, args=(draft,), name="snapshot", daemon=True)
        self._thread.start()

    def finish(self, message: SnapshotSynced) -> None:
        """Let a snapshot that is on the disk count."""
        draft = message.draft
        if draft is not self._draft:
            return
        self._join()
        if message.error is not None or draft.given_up:
            self._end(draft, taken=False)
            return
        try:
            self.snapshots.finish(draft)
        except OSError as error:
            LOGGER.warning("the snapshot was not finished: %s", error)
            self._end(draft, taken=False)
        else:
            self._at = draft.head.seq
            self._end(draft, taken=True)

    def erase(self) -> None:
        """Destroy what was written down, also what is being written (`OSError`)."""
        if self._draft is not None:
            self._draft.withdraw()
        self.snapshots.erase()
        self._at = 0

    def stop(self) -> None:
        """Leave no thread behind."""
        self._checked.set()
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._checker is not None:
            self._checker.join()
        self._join()
        if self._draft is not None:
            self._draft.withdraw()
            if self._draft.complete:
                self._draft.close()

    def _end(self, draft: SnapshotDraft, *, taken: bool) -> None:
        draft.close()
        self._draft = None
        if not taken:
            with suppress(OSError):  # whatever is left of it is swept away at the next start, and nobody can read it
                self.snapshots.discard(draft)
        self._taken.set(value=taken)

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _arm(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._tell, (IdleReached(),))
        self._timer.daemon = True
        self._timer.start()

    def _tell(self, message: object) -> None:
        with suppress(pykka.ActorDeadError):
            self._store.tell(message)

    def _sync(self, draft: SnapshotDraft) -> None:
        try:
            draft.sync()
        except OSError as error:
            self._tell(SnapshotSynced(draft, error))
        else:
            self._tell(SnapshotSynced(draft, None))

    def _check(self, log: DuckDBLog, head: Head, later: list[LazyArray]) -> None:
        from events.storage.database import PAGE, pages  # noqa: PLC0415 -- only a log on disk has a snapshot

        if self._checked.wait(LEISURE):
            return
        while later and not self._checked.is_set():
            later.pop(0).fetch()
        try:
            with log.cursor() as cursor:
                for row in linked(GENESIS, head, pages(cursor, 1, head.seq)):
                    if row.seq % PAGE == 0 and self._checked.wait(BREATH):
                        return
        except LogError as error:
            self._tell(SnapshotBroken(error))
