"""When the store takes snapshots, and the threads that write, read and verify them."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event, Thread
from typing import Final, TypeAlias

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER, ActorRef, Debounce, tell_unless_stopped
from actors.runtime.messages import LoadSnapshot, Message, SnapshotWritten, WriteSnapshot
from actors.runtime.reply import Reply, answered
from actors.store.snapshot_draft import SnapshotDraft
from actors.store.snapshot_files import Snapshots
from events.recovery.salvage import mark_damaged
from events.storage.chain import GENESIS, StoredLog, check_key, verify_chain
from events.storage.log import Head, Log, LogAwayError, LogCorruptError, LogError
from events.verify.erasures import UNEXPLAINED, ErasureCheck
from events.vocabulary.codec import is_sealed
from projections.storage.lazy_array import LazyArray

IDLE: Final = 60.0
"""Seconds without an event after which a snapshot is taken."""

MIN_EVENTS: Final = 1_000
"""Events since the last snapshot that an idle store waits for."""

READ_DELAY: Final = 5.0
"""Seconds after a start until the log is verified and the unread arrays are read: the models load first."""

AWAY_PAUSE: Final = 1.0
"""Seconds between two attempts to verify a log whose server is away."""

PAGE: Final = 256
PAGE_PAUSE: Final = 0.005
"""Seconds after so many rows of the log that are verified, in which other threads get the processor.

There is neither delay nor pause once an append waits for the verification.
"""


class IdleReached(msgspec.Struct, frozen=True):
    """Told to the store by a timer: no event may have come for `IDLE` seconds."""


class SnapshotSynced(msgspec.Struct, frozen=True):
    """Told to the store by a thread: the disk has all files of a snapshot, or an error occurred."""

    draft: SnapshotDraft
    error: OSError | None


class LogVerified(msgspec.Struct, frozen=True):
    """Told to the store by a thread: the log before the snapshot is intact."""


class SnapshotBroken(Message[None], frozen=True):
    """Sent to the store by a thread or a request that read the log: it is damaged."""

    error: LogError


SnapshotEvent: TypeAlias = SnapshotWritten | IdleReached | SnapshotSynced | SnapshotBroken | LogVerified


class SnapshotPolicy:
    """Takes and loads snapshots in the thread of the store's actor. Any event cancels a snapshot that is being written.

    `exits_on_damage` tells whether a damaged log ends the process.
    """

    def __init__(self, snapshots: Snapshots, store: ActorRef, *, exits_on_damage: bool) -> None:
        self.snapshots = snapshots
        self._exits_on_damage = exits_on_damage
        self._store = store
        self._last_seq = 0
        self._draft: SnapshotDraft | None = None
        self._reply: Reply[bool] = Reply()
        self._sync_thread: Thread | None = None
        self.idle = Debounce(store, IdleReached())
        self._stopped = Event()
        self._hurried = Event()
        self._verifier: Thread | None = None
        self.verified = True
        """Whether the log before the snapshot is known to be intact or damaged; no append is acknowledged before."""

    def load(self, log: Log, owners: Mapping[str, Callable[[LoadSnapshot], object]]) -> int:
        """Send the projections of the snapshot to their owners; return the event up to which it goes, 0 without one.

        A thread reads the rest of the arrays, and verifies the chain up to there, after the start.
        """
        loaded = self.snapshots.load(log, owners)
        if loaded is None:
            return 0
        for name, tell in owners.items():
            tell(LoadSnapshot(projections=loaded.projections[name]))
        self._last_seq = loaded.head.seq
        self.verified = False
        self._verifier = Thread(target=self._verify, args=(log, loaded.head, loaded.arrays), name="chain", daemon=True)
        self._verifier.start()
        return loaded.head.seq

    def on_damage(self, error: LogError) -> None:
        """Let the next start read what can be proved of the log, without the snapshot, which stays; end the process."""
        mark_damaged(self.snapshots.folder.parent, str(error))
        self.verified = True
        if self._exits_on_damage:
            LOGGER.critical("the log is damaged; stopping, the next start reads what is left: %s", error)
            os._exit(EXIT_UNCERTAIN)

    def verify_now(self) -> None:
        """Verify the log without delay."""
        self._hurried.set()

    def on_append(self, head: Head) -> None:
        """Start or extend the idle interval once a snapshot is worth its cost."""
        if head.seq - self._last_seq >= MIN_EVENTS:
            self.idle.trigger(IDLE)

    def begin(self, head: Head, owners: Mapping[str, Callable[[WriteSnapshot], object]], after: int) -> Reply[bool]:
        """Begin a snapshot, unless fewer than `after` events came since the last; the reply says if it was taken."""
        if self._draft is not None and not self._draft.cancelled:
            return self._reply
        if self._draft is not None or head.seq - self._last_seq < after:
            return answered(result=False)
        try:
            self._draft = SnapshotDraft(self.snapshots.folder, head, owners)
        except OSError as error:
            LOGGER.warning("no snapshot can be written: %s", error)
            return answered(result=False)
        self._reply = Reply()
        for writer in self._draft.writers:
            owners[writer.name](WriteSnapshot(writer=writer, store=self._store))
        return self._reply

    def on_verified(self) -> None:
        """Acknowledge appends from now on: the log before the snapshot is intact."""
        self.verified = True
        self.snapshots.sweep()

    def on_written(self, message: SnapshotWritten) -> None:
        """Record the end of an owner's file; after the last one, sync or discard them all."""
        draft = self._draft
        if draft is None or message.writer not in draft.writers:
            return
        draft.add(message.writer, message.part)
        if not draft.complete:
            return
        if draft.cancelled:
            self._end(draft, taken=False)
            return
        self._sync_thread = Thread(target=self._sync, args=(draft,), name="snapshot", daemon=True)
        self._sync_thread.start()

    def on_synced(self, message: SnapshotSynced) -> None:
        """Make a snapshot valid whose files are on the disk."""
        draft = message.draft
        if draft is not self._draft:
            return
        self._join()
        if message.error is not None or draft.cancelled:
            self._end(draft, taken=False)
            return
        try:
            self.snapshots.finish(draft)
        except OSError as error:
            LOGGER.warning("the snapshot was not finished: %s", error)
            self._end(draft, taken=False)
        else:
            self._last_seq = draft.head.seq
            self._end(draft, taken=True)

    def erase(self) -> None:
        """Erase all snapshots, and cancel the one that is being written (`OSError`)."""
        if self._draft is not None:
            self._draft.cancel()
        self.snapshots.erase()
        self._last_seq = 0

    def stop(self) -> None:
        """Stop all threads."""
        self._stopped.set()
        self._hurried.set()
        self.idle.cancel()
        if self._verifier is not None:
            self._verifier.join()
        self._join()
        if self._draft is not None:
            self._draft.cancel()
            if self._draft.complete:
                self._draft.close()

    def _end(self, draft: SnapshotDraft, *, taken: bool) -> None:
        draft.close()
        self._draft = None
        if not taken:
            with suppress(OSError):  # its key was never stored, and the next start deletes what is left
                self.snapshots.discard(draft)
        self._reply.set(value=taken)

    def _join(self) -> None:
        if self._sync_thread is not None:
            self._sync_thread.join()
            self._sync_thread = None

    def _sync(self, draft: SnapshotDraft) -> None:
        error = None
        try:
            draft.sync()
        except OSError as failed:
            error = failed
        tell_unless_stopped(self._store, SnapshotSynced(draft, error))

    def _verify(self, log: StoredLog, head: Head, arrays: list[LazyArray]) -> None:
        self._hurried.wait(READ_DELAY)
        verified = False
        while not verified and not self._stopped.is_set():
            try:
                self._verify_chain(log, head)
                verified = not self._stopped.is_set()
            except LogAwayError:  # which says nothing about the log: it is read again from its beginning
                self._stopped.wait(AWAY_PAUSE)
            except LogError as error:
                tell_unless_stopped(self._store, SnapshotBroken(error=error))
                return
        if verified:
            tell_unless_stopped(self._store, LogVerified())
        while arrays and not self._stopped.is_set():
            arrays.pop(0).fetch()

    def _verify_chain(self, log: StoredLog, head: Head) -> None:
        """Verify the log up to the head of the snapshot; returns early when the store stops."""
        check = ErasureCheck()
        keys = log.keys
        for row in verify_chain(GENESIS, head, log.rows(1, head.seq), keys):
            if self._stopped.is_set():
                return
            check.observe_row(row, keys)
            if is_sealed(row.kind):
                check_key(row, keys)
            if row.seq % PAGE == 0:
                self._hurried.wait(PAGE_PAUSE)
        # An erasure that explains a destroyed key may be among later rows, also such as this hub doesn't know yet.
        for row in log.rows(head.seq + 1, log.head.seq + PAGE):
            check.observe_row(row, keys)
        if unexplained := check.unexplained():
            raise LogCorruptError(unexplained[0], UNEXPLAINED)
