"""Following a log that other hubs append to as well: a thread tells the store of their events, and of a lost server.

The hub that consolidates holds a lock of the server, which its session loses when it ends or is stopped. The next hub
that gets the lock appends `ConsolidatorChanged` before its first run. That event fences: the store of every hub, which
folds all events before it appends, then refuses the decisions of a run that began before.
"""

import os
import platform
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, TypeAlias
from uuid import uuid4

import msgspec

from actors.runtime.actor import ActorRef, tell_unless_stopped
from actors.runtime.faults import StorageFault
from events.storage.log import Listener, LogAwayError, LogDamagedError, LogError, SharedLog
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, ConsolidatorChanged, Event
from projections.mind.runs import ConsolidatorLease

POLL: Final = 1.0
"""Seconds after which the follower looks for events without a notification, and between two attempts to connect."""

RETRY_AFTER_MS: Final = 2_000
"""What a refused client is told to wait: a server that was restarted is back by then."""


class FollowLog(msgspec.Struct, frozen=True):
    """Told to the store by the follower: the server answers, and other hubs may have appended events."""


class LogLost(msgspec.Struct, frozen=True):
    """Told to the store by the follower: the server doesn't answer."""

    error: LogError


FollowerMessage: TypeAlias = FollowLog | LogLost


class Follower:
    """A thread that waits for events of other hubs, on a connection of its own. The store's actor uses it."""

    def __init__(self, log: SharedLog, store: ActorRef) -> None:
        self.hub: Final = uuid4()
        """Identifies this hub among those that follow the log."""
        self._log = log
        self._store = store
        self._stopped = threading.Event()
        self._listener: Listener | None = None
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Start to follow, once the log is replayed."""
        with suppress(LogAwayError):  # then the thread tries again
            self._listener = self._log.listen()
        self._thread.start()

    def lead(self) -> bool:
        """Tell whether this hub is the one that consolidates the log, as it becomes if there is no other."""
        listener = self._listener
        try:
            return listener is not None and listener.lead()
        except LogAwayError:
            return False

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        if self._listener is not None:
            self._listener.wake()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listener = listener = self._listener or self._log.listen()
                try:
                    while not self._stopped.is_set():
                        tell_unless_stopped(self._store, FollowLog())
                        listener.wait(POLL)
                finally:
                    self._listener = None
                    listener.close()
            except LogError as error:
                tell_unless_stopped(self._store, LogLost(error))
                self._stopped.wait(POLL)


def away_fault(why: object) -> StorageFault:
    """Return the fault of an append that the server of the log didn't take."""
    advice = "`context-graph doctor` says what to do" if isinstance(why, LogDamagedError) else "try again later"
    return StorageFault(
        f"Storage failed: nothing was written, since the log can't be used ({why}); searches go on, {advice}",
        retry_after_ms=RETRY_AFTER_MS,
    )


def check_runs(
    events: Sequence[Event], lease: ConsolidatorLease, follower: Follower | None
) -> ConsolidatorChanged | StorageFault | None:
    """Decide about an append to a log. The turn is taken, so the lease is up to date.

    Without a follower the log isn't shared, and every run is allowed.

    Returns:
        What must be appended before them, why they can't be appended, or None where nothing speaks against them.
    """
    if follower is None:
        return None
    started = {event.run for event in events if isinstance(event, ConsolidationStarted)}
    finished = {event.run for event in events if isinstance(event, ConsolidationFinished)}
    if not all(lease.may_finish(run) for run in finished - started):
        return StorageFault("Storage failed: another hub has taken over the consolidation; this run changes nothing")
    if started <= finished:  # decided at once: nothing can come between
        return None
    if not follower.lead():
        leader = f" ({lease.latest.host})" if lease.latest is not None else ""
        return StorageFault(f"Storage failed: another hub{leader} consolidates this log; ask it for the run")
    if lease.latest is not None and lease.latest.hub == follower.hub:
        return None
    epoch = 1 + (lease.latest.epoch if lease.latest is not None else 0)
    return ConsolidatorChanged(epoch=epoch, hub=follower.hub, host=f"{platform.node()}, process {os.getpid()}")
