"""Commits appends that wait at the same time together, and publishes their events to the owners of projections."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NoReturn

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER, ActorRef
from actors.runtime.faults import DISK_FULL, StorageFault
from actors.runtime.messages import Appended, AppendRejected
from actors.store.log.commit import PendingAppend, unreadable
from actors.store.log.erasures import Erasures, erasure_of_derived
from actors.store.log.following import Following, away_fault
from actors.store.queries import request_result
from events.storage.log import Envelope, Log, LogAwayError, LogError, LogFullError, LogUncertainError

if TYPE_CHECKING:
    from actors.runtime.metrics import Latencies
    from actors.store.snapshot_policy import SnapshotPolicy
    from projections.registry import StoreProjections

CHECKPOINT = 48 << 20
"""Bytes of events after which the write-ahead log is folded, some 4,000 memories. DuckDB holds them in memory until
then, half as many bytes again. A checkpoint takes .1 to .3 s, for which appends wait."""


class Flush(msgspec.Struct, frozen=True):
    """Sent by the store to itself: commit the pending appends."""


class Committer:
    """Holds the appends that wait for the next commit. Used by the thread of the store's actor.

    Args:
        log: The store is its only writer in this process.
        latencies: Records commit times.
        snapshots: Of the store; None for a store without.
        store: Receives a `Flush` for each turn.
        apply: Folds an event into the store's own projections.
        projections: Returns these projections.
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
        self._latencies = latencies
        self._snapshots = snapshots
        self._store = store
        self._apply = apply
        self._projections = projections
        self.owners: Sequence[ActorRef] = ()
        self.pending: list[PendingAppend] = []
        self._flush_told = False
        self.erasures = Erasures(log, snapshots)
        self.shared = Following(log, self._fold_others, self._answer_late, store)

    def take_turn(self) -> StorageFault | None:
        """Take the turn to append to a shared log until the next flush; return why nothing can be appended."""
        fault = self.shared.begin()
        if fault is None and not self._flush_told:
            self._flush_told = True
            self._store.tell(Flush())
        return fault

    def flush(self) -> None:
        """Commit the pending appends, notify the owners of projections, then resolve the replies.

        This order gives read-your-writes, since inboxes are FIFO.
        """
        self._flush_told = False
        pending, self.pending = self.pending, []
        drafts = [draft for one in pending for draft in one.drafts]
        drafts += erasure_of_derived(drafts, self._projections().derived)
        if not drafts:
            self.shared.give_back()
            return
        try:
            with self._latencies.timed("commit"):
                envelopes = self._log.append(drafts)
        except LogFullError as error:
            LOGGER.error("nothing was stored: %s", error)
            self.refuse(pending, StorageFault(DISK_FULL))
        except LogAwayError as error:
            self.refuse(pending, away_fault(error))
        except LogUncertainError:
            self.shared.keep(pending)
        except (LogError, OSError):
            self._exit_uncertain()
        else:
            self._publish(pending, envelopes)

    def _publish(self, pending: Sequence[PendingAppend], envelopes: tuple[Envelope, ...]) -> None:
        """Fold committed events, carry out the erasures among them, and answer once they are read back."""
        for envelope in envelopes:
            self._apply(envelope)
        remaining = iter(envelopes)
        appended = [(one, tuple(islice(remaining, len(one.drafts)))) for one in pending]
        try:
            self.erasures.carry_out(envelopes)
            faults = unreadable(self._log, [events[0] for one, events in appended if one.read_back])
        except LogAwayError:
            self.shared.keep(pending, envelopes)
            appended, faults = [], {}
        except (LogError, OSError):
            self._exit_uncertain()
        outcomes = [
            faults.get(events[0].seq) or request_result(self._projections().catalog, events) for _, events in appended
        ]
        # After the read-back, which the work of the other actors would delay.
        self.tell(Appended(envelopes=envelopes))
        if self._snapshots is not None:
            self._snapshots.on_append(self._log.head)
        for (one, _), outcome in zip(appended, outcomes, strict=True):
            one.answer(outcome)
        self.begin_erasures()
        self.checkpoint(CHECKPOINT)

    def checkpoint(self, least: int) -> None:
        """Fold the log's write-ahead log if at least `least` bytes of events are in it."""
        try:
            self._log.checkpoint(least)
        except LogError as error:  # nothing is lost; if the log can't be used any more, the next append says so
            LOGGER.warning("the write-ahead log was not folded: %s", error)

    def begin_erasures(self) -> None:
        """Let the next flush erase what was derived from memories that had been erased before."""
        if self._projections().derived.orphans():
            self.take_turn()

    def _exit_uncertain(self) -> NoReturn:
        """End the process: it is unknown whether the rows are on the disk, or keys destroyed.

        The next start replays the log, and a proxy without an answer sends its requests to the next hub.
        """
        LOGGER.critical("a commit failed with an unknown outcome; stopping", exc_info=True)
        os._exit(EXIT_UNCERTAIN)

    def _fold_others(self, envelopes: tuple[Envelope, ...]) -> None:
        """Fold events of other hubs, and carry out the erasures among them."""
        for envelope in envelopes:
            self._apply(envelope)
        self.tell(Appended(envelopes=envelopes, foreign=True))
        if self._snapshots is not None:
            self._snapshots.on_append(self._log.head)
        self.erasures.carry_out(envelopes)

    def _answer_late(self, one: PendingAppend, outcome: tuple[Envelope, ...] | StorageFault) -> None:
        """Answer an append during which the server of the log was lost."""
        if isinstance(outcome, StorageFault):
            self.refuse([one], outcome)
            return
        faults = unreadable(self._log, outcome[:1] if one.read_back else ())
        one.answer(faults.get(outcome[0].seq) or request_result(self._projections().catalog, outcome))

    def refuse(self, pending: Sequence[PendingAppend], fault: StorageFault) -> None:
        """Answer appends of which nothing was written, and notify the owners of projections."""
        for owner in self.owners:
            owner.tell(AppendRejected(correlations=tuple(one.drafts[0].correlation_id for one in pending)))
        for one in pending:
            one.answer(fault)

    def tell(self, appended: Appended) -> None:
        """Send events to every owner of projections."""
        for owner in self.owners:
            owner.tell(appended)
