"""A log that other hubs append to as well: their events are folded before this hub's, in the order of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

import msgspec
import pykka

from actors.runtime.actor import LOGGER, ActorRef
from actors.runtime.faults import StorageFault
from events.storage.log import Envelope, Listener, Log, LogAwayError, LogError, SharedLog

if TYPE_CHECKING:
    from uuid import UUID

    from actors.store.log.commit import PendingAppend

POLL: Final = 1.0
"""Seconds after which the follower looks for events without a notification, and between two attempts to connect."""

UNCERTAIN: Final = 10.0
"""Seconds that a request waits to learn whether its commit, during which the server was lost, was made."""

RETRY_AFTER_MS: Final = 2_000
"""What a refused client is told to wait: a server that was restarted is back by then."""


class FollowLog(msgspec.Struct, frozen=True):
    """Told to the store by the follower: the server answers, and other hubs may have appended events."""


class LogLost(msgspec.Struct, frozen=True):
    """Told to the store by the follower: the server doesn't answer."""

    error: LogError


FollowerMessage: TypeAlias = FollowLog | LogLost


class Following:
    """What a store knows and does where it shares its log. Used by the thread of the store's actor.

    Args:
        log: Of all hubs, or one that isn't shared: then this does nothing.
        fold: Folds events of other hubs.
        answer: Answers an append of this hub whose outcome was unknown, with its events or why it failed.
        store: Receives `FollowerMessage`s.
    """

    def __init__(
        self,
        log: Log,
        fold: Callable[[tuple[Envelope, ...]], None],
        answer: Callable[[PendingAppend, tuple[Envelope, ...] | StorageFault], None],
        store: ActorRef,
    ) -> None:
        self._log = log if isinstance(log, SharedLog) else None
        self._fold = fold
        self._answer = answer
        self._store = store
        self._uncertain: list[PendingAppend] = []
        self._uncertain_until = 0.0
        self._found: dict[UUID, Envelope] = {}
        """Events of uncertain appends that are in the log."""
        self._away: LogError | None = None
        self._stopped = Event()
        self._listener: Listener | None = None
        self._thread: Thread | None = None

    @property
    def shared(self) -> bool:
        """Whether other hubs append to the log."""
        return self._log is not None

    @property
    def absence(self) -> StorageFault | None:
        """Why nothing can be appended while the server is away; None while it answers."""
        return None if self._away is None else away_fault(self._away)

    def start(self) -> None:
        """Start to follow, once the log is replayed."""
        if self._log is not None:
            with suppress(LogAwayError):  # then the thread tries again
                self._listener = self._log.listen()
            self._thread = Thread(target=self._run, args=(self._log,), name="follower", daemon=True)
            self._thread.start()

    def begin(self) -> StorageFault | None:
        """Take the turn to append, after all events of other hubs; return why that is impossible."""
        if self._log is None or self._log.in_turn:
            return None
        try:
            while events := self._log.follow():
                self._take(events)
            self._take(self._log.begin())
        except LogAwayError as error:
            return away_fault(error)
        self._settle()
        return None

    def give_back(self) -> None:
        """End the turn without an append; without a turn nothing happens."""
        if self._log is not None:
            self._log.give_back()

    def lead(self) -> bool:
        """Tell whether this hub is the one that consolidates the log, as it becomes if there is no other."""
        listener = self._listener
        try:
            return listener is not None and listener.lead()
        except LogAwayError:
            return False

    def on_message(self, message: FollowerMessage) -> None:
        """Handle a message of the follower."""
        match message:
            case FollowLog():
                self._follow()
            case LogLost(error=error):
                self._lost(error)
            case _:
                assert_never(message)

    def _follow(self) -> None:
        """Fold the next events of other hubs, and settle the appends of unknown outcome."""
        if self._log is None:
            return
        try:
            events = self._log.follow()
            self._take(events)
        except LogAwayError as error:
            self._lost(error)
            return
        self._away = None
        if events:
            self._store.tell(FollowLog())
            return
        if self._uncertain and self.begin() is None:
            self._log.give_back()

    def _lost(self, error: LogError) -> None:
        """Note that the server doesn't answer; fail what has waited too long for its outcome."""
        if self._away is None:
            LOGGER.warning("the log can't be used, searches go on without it: %s", error)
        self._away = error
        if self._uncertain and monotonic() > self._uncertain_until:
            self._fail_uncertain()

    def keep(self, pending: Sequence[PendingAppend], committed: Iterable[Envelope] = ()) -> None:
        """Keep appends during which the server was lost, until the log tells what became of them.

        Args:
            pending: The appends.
            committed: Those of their events that are known to be in the log.
        """
        if not self._uncertain:
            self._uncertain_until = monotonic() + UNCERTAIN
        self._uncertain += pending
        self._found |= {event.id: event for event in committed}

    def stop(self) -> None:
        """End the thread, and fail the appends of unknown outcome."""
        self._stopped.set()
        if self._listener is not None:
            self._listener.wake()
        if self._thread is not None:
            self._thread.join()
        self._fail_uncertain()

    def _take(self, events: tuple[Envelope, ...]) -> None:
        if not events:
            return
        if self._uncertain:
            ids = {draft.id for one in self._uncertain for draft in one.drafts}
            self._found |= {event.id: event for event in events if event.id in ids}
        self._fold(events)

    def _settle(self) -> None:
        """Answer the appends of unknown outcome: their transaction has ended, and all events of the log are known."""
        uncertain, self._uncertain = self._uncertain, []
        found, self._found = self._found, {}
        for one in uncertain:
            events = tuple(found[draft.id] for draft in one.drafts if draft.id in found)
            self._answer(one, events or away_fault("the connection was lost before the commit"))

    def _fail_uncertain(self) -> None:
        uncertain, self._uncertain = self._uncertain, []
        for one in uncertain:
            fault = StorageFault(
                "Storage failed: the log's server was lost during the commit, and it is unknown whether this was "
                "stored; look for it before you send it again",
                retry_after_ms=RETRY_AFTER_MS,
                outcome="unknown",
            )
            self._answer(one, fault)

    def _run(self, log: SharedLog) -> None:
        while not self._stopped.is_set():
            try:
                self._listener = listener = self._listener or log.listen()
                try:
                    while not self._stopped.is_set():
                        self._tell(FollowLog())
                        listener.wait(POLL)
                finally:
                    self._listener = None
                    listener.close()
            except LogError as error:
                self._tell(LogLost(error))
                self._stopped.wait(POLL)

    def _tell(self, message: FollowerMessage) -> None:
        with suppress(pykka.ActorDeadError):
            self._store.tell(message)


def away_fault(why: object) -> StorageFault:
    """Return the fault of an append that the server of the log didn't take."""
    return StorageFault(
        f"Storage failed: nothing was written, since the log can't be used ({why}); searches go on, try again later",
        retry_after_ms=RETRY_AFTER_MS,
    )
