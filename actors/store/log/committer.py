"""Commits appends that wait at the same time together, and publishes their events to the owners of projections."""

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from time import monotonic
from typing import NoReturn
from uuid import UUID

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER, ActorRef
from actors.runtime.faults import DISK_FULL, SERVER_FULL, StorageFault
from actors.runtime.messages import Appended, AppendRejected
from actors.runtime.metrics import Latencies
from actors.store.log.commit import PendingAppend, unreadable
from actors.store.log.erasures import Erasures, erasure_of_derived
from actors.store.log.following import RETRY_AFTER_MS, FollowLog, away_fault
from actors.store.messages import RequestResult
from actors.store.queries import request_result
from actors.store.snapshot_policy import SnapshotPolicy
from events.storage.log import (
    Envelope,
    Log,
    LogAwayError,
    LogDamagedError,
    LogError,
    LogFullError,
    LogUncertainError,
    SharedLog,
)
from projections.registry import StoreProjections

CHECKPOINT = 48 << 20
"""Bytes of events after which the write-ahead log is folded, some 4,000 memories. DuckDB holds them in memory until
then, half as many bytes again. A checkpoint takes .1 to .3 s, for which appends wait."""

UNCERTAIN = 10.0
"""Seconds that a request waits to learn whether its commit, during which the server was lost, was made."""


class Flush(msgspec.Struct, frozen=True):
    """Sent by the store to itself: commit the pending appends."""


class Committer:
    """Commits what waits at the same time by one transaction. Used by the thread of the store's actor.

    A batch passes through these steps:

    1. `take_turn`: of a shared log, the events of other hubs are folded, and no other hub appends until the flush. The
       store is sent a `Flush`.
    2. `pending`: the store adds appends, decided by that state, until it receives the `Flush`.
    3. `flush`: they are committed, or refused.
    4. `_publish`: the events are folded, erased keys destroyed, memories read back; the owners of projections are told
       of the events, and the appends are answered.

    While the server of a shared log is lost, the turn isn't taken (`outage`). A batch that was being committed then
    waits in `_uncertain` until step 1 succeeds again.

    Between batches, `follow` folds the events of other hubs; `store` receives `FollowLog` while there are more.
    `projections` returns those of the store at present, which a snapshot replaces.
    """

    def __init__(
        self,
        log: Log,
        latencies: Latencies,
        snapshots: SnapshotPolicy | None,
        store: ActorRef,
        apply: Callable[[Envelope], None],
        projections: Callable[[], StoreProjections],
    ) -> None:
        self._log = log
        self._shared = log if isinstance(log, SharedLog) else None
        self._latencies = latencies
        self._snapshots = snapshots
        self._store = store
        self._apply = apply
        self._projections = projections
        self.owners: Sequence[ActorRef] = ()
        self.pending: list[PendingAppend] = []
        self._flush_told = False
        self.erasures = Erasures(log, snapshots)
        self._away: LogError | None = None
        """Why the log can't be used, until its server answers again."""
        self._unreached: LogError | None = None
        """Why the latest attempt to take the turn failed, until the server is reached again."""
        self._uncertain: list[PendingAppend] = []
        """During whose commit the server was lost."""
        self._uncertain_until = 0.0
        self._found: dict[UUID, Envelope] = {}
        """Events of uncertain appends that are in the log."""

    def take_turn(self) -> StorageFault | None:
        """Fold the events of other hubs, then take the turn to append until the next flush, or return why not.

        After an attempt that failed, the follower must reach the server first: each one may take seconds, for which all
        that the store is asked waits.
        """
        if self._shared is not None and not self._shared.in_turn:
            if self._unreached is not None:
                return away_fault(self._unreached)
            try:
                while events := self._shared.follow():
                    self._fold_others(events)
                self._fold_others(self._shared.begin())
                self._settle_uncertain()
            except (LogAwayError, LogDamagedError) as error:
                self._shared.give_back()
                self._unreached = error
                return away_fault(error)
        if not self._flush_told:
            self._flush_told = True
            self._store.tell(Flush())
        return None

    def flush(self) -> None:
        """Commit the pending appends, and answer them."""
        self._flush_told = False
        pending, self.pending = self.pending, []
        drafts = [draft for one in pending for draft in one.drafts]
        drafts += erasure_of_derived(drafts, self._projections().derived)
        if not drafts:
            if self._shared is not None:
                self._shared.give_back()
            return
        try:
            with self._latencies.timed("commit"):
                envelopes = self._log.append(drafts)
        except LogFullError as error:
            LOGGER.error("nothing was stored: %s", error)
            self.refuse(pending, StorageFault(DISK_FULL if self._shared is None else SERVER_FULL))
        except LogAwayError as error:
            self.refuse(pending, away_fault(error))
        except LogUncertainError:
            self._keep_uncertain(pending)
        except (LogError, OSError):
            self._exit_uncertain()
        else:
            self._publish(pending, envelopes)

    def _publish(self, pending: Sequence[PendingAppend], envelopes: tuple[Envelope, ...]) -> None:
        """Fold committed events, carry out the erasures among them, and answer once they are read back.

        The owners are told before the answers. As inboxes are FIFO, a client reads its own writes.
        """
        for envelope in envelopes:
            self._apply(envelope)
        remaining = iter(envelopes)
        appended = [(one, tuple(islice(remaining, len(one.drafts)))) for one in pending]
        try:
            self.erasures.carry_out(envelopes)
            outcomes = self._outcomes(appended)
        except LogAwayError:
            self._keep_uncertain(pending, envelopes)  # committed, but not read back
            appended, outcomes = [], []
        except (LogError, OSError):
            self._exit_uncertain()
        # After the read-back, which the work of the other actors would delay.
        self._notify(Appended(envelopes=envelopes))
        for (one, _), outcome in zip(appended, outcomes, strict=True):
            one.answer(outcome)
        self.begin_erasures()
        self.checkpoint(CHECKPOINT)

    def _outcomes(
        self, appended: Sequence[tuple[PendingAppend, tuple[Envelope, ...]]]
    ) -> list[RequestResult | StorageFault]:
        """Return what committed appends are answered, once those that ask for it are read back (`LogAwayError`)."""
        faults = unreadable(self._log, [events[0] for one, events in appended if one.read_back])
        catalog = self._projections().catalog
        return [faults.get(events[0].seq) or request_result(catalog, events, one.similar) for one, events in appended]

    def refuse(self, pending: Sequence[PendingAppend], fault: StorageFault) -> None:
        """Answer appends of which nothing was written, and notify the owners of projections."""
        for owner in self.owners:
            owner.tell(AppendRejected(correlations=tuple(one.drafts[0].correlation_id for one in pending)))
        for one in pending:
            one.answer(fault)

    def _notify(self, appended: Appended) -> None:
        self.tell(appended)
        if self._snapshots is not None:
            self._snapshots.on_append(self._log.head)

    def tell(self, appended: Appended) -> None:
        """Send events to every owner of projections."""
        for owner in self.owners:
            owner.tell(appended)

    def begin_erasures(self) -> None:
        """Let the next flush erase what was derived from memories that had been erased before."""
        if self._projections().derived.orphans():
            self.take_turn()

    def checkpoint(self, least: int) -> None:
        """Fold the log's write-ahead log if at least `least` bytes of events are in it."""
        try:
            self._log.checkpoint(least)
        except LogError as error:  # nothing is lost; if the log can't be used any more, the next append says so
            LOGGER.warning("the write-ahead log was not folded: %s", error)

    def _exit_uncertain(self) -> NoReturn:
        """End the process: it is unknown whether the rows are on the disk, or keys destroyed.

        The next start replays the log, and a proxy without an answer sends its requests to the next hub.
        """
        LOGGER.critical("a commit failed with an unknown outcome; stopping", exc_info=True)
        os._exit(EXIT_UNCERTAIN)

    def follow(self) -> None:
        """Fold the next events of other hubs; after the last one, learn what became of uncertain appends."""
        if self._shared is None:
            return
        try:
            events = self._shared.follow()
            self._fold_others(events)
        except (LogAwayError, LogDamagedError) as error:
            self.on_server_lost(error)
            return
        self._away = self._unreached = None
        if events:
            self._store.tell(FollowLog())
        elif self._uncertain:
            self.take_turn()

    def _fold_others(self, envelopes: tuple[Envelope, ...]) -> None:
        """Fold events of other hubs, and of uncertain appends, and carry out the erasures among them."""
        if not envelopes:
            return
        ids = {draft.id for one in self._uncertain for draft in one.drafts}
        self._found |= {envelope.id: envelope for envelope in envelopes if envelope.id in ids}
        for envelope in envelopes:
            self._apply(envelope)
        self._notify(Appended(envelopes=envelopes, foreign=True))
        self.erasures.carry_out(envelopes)

    @property
    def outage(self) -> StorageFault | None:
        """Why nothing can be appended while the server is away; None while it answers."""
        return None if self._away is None else away_fault(self._away)

    def on_server_lost(self, error: LogError) -> None:
        """Note that the server doesn't answer; fail what has waited too long for its outcome."""
        if self._away is None:
            LOGGER.warning("the log can't be used, searches go on without it: %s", error)
        self._away = error
        if self._unreached is not None:
            self._unreached = error  # what refusals say
        if self._uncertain and monotonic() > self._uncertain_until:
            self.fail_uncertain()

    def _keep_uncertain(self, pending: Sequence[PendingAppend], committed: Iterable[Envelope] = ()) -> None:
        """Keep appends during which the server was lost, until the log tells what became of them.

        `committed` are those of their events that are known to be in the log.
        """
        if not self._uncertain:
            self._uncertain_until = monotonic() + UNCERTAIN
        self._uncertain += pending
        self._found |= {event.id: event for event in committed}

    def _settle_uncertain(self) -> None:
        """Answer the uncertain appends: their transaction has ended, and all events of the log are known.

        Raises:
            LogAwayError: the server can't be reached; those that aren't answered stay uncertain.
        """
        while self._uncertain:
            one = self._uncertain[0]
            events = tuple(self._found[draft.id] for draft in one.drafts if draft.id in self._found)
            if events:
                (outcome,) = self._outcomes([(one, events)])
                one.answer(outcome)
            else:
                self.refuse([one], away_fault("the connection was lost before the commit"))
            del self._uncertain[0]
        self._found = {}

    def fail_uncertain(self) -> None:
        """Refuse the uncertain appends; the log isn't asked any more what became of them."""
        if not self._uncertain:
            return
        uncertain, self._uncertain = self._uncertain, []
        fault = StorageFault(
            "Storage failed: the log's server was lost during the commit, and it is unknown whether this was "
            "stored; look for it before you send it again",
            retry_after_ms=RETRY_AFTER_MS,
            outcome="unknown",
        )
        self.refuse(uncertain, fault)
