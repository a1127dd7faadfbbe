"""The store: the only writer of the log. Appends that wait at the same time share one commit."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER
from actors.runtime.faults import Fault, NotFoundFault, StorageFault
from actors.runtime.messages import Appended, ProjectionMessage, SnapshotWritten
from actors.runtime.metrics import Latencies
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply, answered, gather
from actors.store import messages as msg
from actors.store.log.commit import event_time, pending_append
from actors.store.log.committer import Committer, Flush
from actors.store.log.following import Follower, FollowerMessage, FollowLog, LogLost, away_fault, check_runs
from actors.store.log.replay import fold_log, read_digests
from actors.store.queries import answer, compare_alike, find_request, same_models
from actors.store.snapshot_files import Snapshots
from actors.store.snapshot_policy import (
    MIN_EVENTS,
    IdleReached,
    LogVerified,
    SnapshotBroken,
    SnapshotEvent,
    SnapshotPolicy,
    SnapshotSynced,
)
from events.recovery.salvage import describe_damage
from events.storage.log import Envelope, Head, Log, LogAwayError, LogDamagedError, LogError, SharedLog
from events.vocabulary import ConsolidatorChanged, SpacesDeclared
from projections.memories.catalog import Catalog
from projections.projection import MemoryState
from projections.registry import StoreProjections

OWN = "store"
"""The name of the store among the actors that own projections."""


class Store(ProjectionActor[StoreProjections]):
    """Owns the log, the `Catalog`, and which sealed events were derived from which memories.

    `read_only` is why every append is refused, in words; `snapshots` are the files of projections for a fast start. A
    damaged log ends the process (`exits_on_damage`), or else all is refused that would be written.
    """

    def __init__(
        self,
        log: Log,
        latencies: Latencies,
        clock: Callable[[], datetime],
        *,
        read_only: str | None = None,
        snapshots: Snapshots | None = None,
        exits_on_damage: bool = True,
    ) -> None:
        super().__init__(StoreProjections())
        self._log = log
        self._read_only = read_only
        self._snapshots = snapshots and SnapshotPolicy(snapshots, self.actor_ref, exits_on_damage=exits_on_damage)
        self._replayed = False
        self._held: list[tuple[msg.Append | msg.AppendMemories, Reply[object]]] = []
        """Appends that came before the log was verified."""
        self._clock = clock
        self._commits = Committer(
            log, latencies, self._snapshots, self.actor_ref, self._apply, lambda: self._projections
        )
        self._follower = Follower(log, self.actor_ref) if isinstance(log, SharedLog) else None

    @property
    def _catalog(self) -> Catalog:
        return self._projections.catalog

    def on_stop(self) -> None:
        """Commit the pending appends and close the log."""
        if self._snapshots is not None:
            self._snapshots.verified = True
        self._release(unverified=True)
        self._commits.flush()
        if self._follower is not None:
            self._follower.stop()
        self._commits.fail_uncertain()
        if self._snapshots is not None:
            self._snapshots.stop()
        try:
            self._log.close()
        except LogError as error:  # nothing is lost: the next start merges the write-ahead log
            LOGGER.warning("the log was closed without a checkpoint; the next start makes up for it: %s", error)

    def on_receive(
        self, message: msg.StoreMessage | Flush | FollowerMessage | SnapshotEvent | ProjectionMessage
    ) -> object:
        """Route a message."""
        match message:
            case msg.Append() | msg.AppendMemories():
                return self._on_append(message)
            case msg.FindRequests(keys=keys):
                self._commits.flush()  # events of the request may be pending
                self._commits.follow()  # or another hub may have appended them
                return tuple(find_request(self._log, self._catalog, key) for key in keys)
            case msg.Reserve(ids=ids):
                with suppress(LogError):  # the append makes missing keys, and reports the error
                    self._log.reserve(ids)
                return None
            case Flush():
                return self._commits.flush()
            case FollowLog() | LogLost():
                return self._on_follower(message)
            case msg.Declare():
                return self._declare(message)
            case msg.Replay(owners=owners):
                self._commits.owners = owners
                return self._replay()
            case msg.ReadDigests():
                return read_digests(self._log.head.seq, self._tellers().values())
            case msg.TakeSnapshot(after=after):
                return self._take_snapshot(after)
            case SnapshotWritten() | IdleReached() | SnapshotSynced() | SnapshotBroken() | LogVerified():
                return self._on_snapshot_event(message)
            case ProjectionMessage():
                return self._on_projection_message(message)
            case _:
                return answer(message, self._log, self._catalog, self._projections.declaration.latest)

    def _on_follower(self, message: FollowerMessage) -> None:
        """Take notice of the server; if it is away, refuse the appends that wait for the verification of the log."""
        if isinstance(message, FollowLog):
            self._commits.follow()
        else:
            self._commits.on_server_lost(message.error)
        if self._commits.outage is not None:
            self._release()

    def _on_append(self, message: msg.Append | msg.AppendMemories) -> Reply[object]:
        """Queue an append; while the log isn't verified, hold it, unless its server is away."""
        if self._snapshots is not None and not self._snapshots.verified and self._commits.outage is None:
            self._snapshots.verify_now()
            self._held.append((message, Reply()))
            return self._held[-1][1]
        if isinstance(message, msg.Append):
            return self._append(message)
        return gather([self._append_memory(append) for append in message.appends], list)

    def _release(self, *, unverified: bool = False) -> None:
        """Queue the appends that were held; of an unverified log, memories are refused."""
        held, self._held = self._held, []
        for message, reply in held:
            try:
                if unverified and isinstance(message, msg.AppendMemories):
                    raise StorageFault("Storage failed: the store is closing")
                reply.set(self._on_append(message))
            except (Fault, msg.GoneError) as error:
                reply.set_exception((type(error), error, None))

    def _append_memory(self, message: msg.Append) -> Reply[msg.RequestResult | StorageFault]:
        """Queue a memory, unless an earlier request with the same key stored it."""
        if message.once and self._take_turn() is None:
            if any(one.drafts[0].correlation_id == message.correlation_id for one in self._commits.pending):
                self._commits.flush()
            try:
                found = find_request(self._log, self._catalog, message.correlation_id)
            except LogAwayError as error:
                return answered(result=away_fault(error))
            if found:
                return answered(result=found)
            if message.id in self._catalog:
                return answered(result=StorageFault(f"Storage failed: memory {message.id} exists already"))
        return self._append(message, is_memory=True)

    def _append(self, message: msg.Append, *, is_memory: bool = False) -> Reply[Any]:
        """Queue events. Messages in the inbox by then join them in one commit."""
        fault = self._take_turn() or self._check_live(message.live) or self._check_consolidator(message)
        if fault is not None:
            pending = pending_append(message, self._clock(), is_memory=is_memory)
            self._commits.refuse([pending], fault)
            return pending.reply
        # In this turn: another hub may have superseded them too.
        superseded, similar = compare_alike(message, self._catalog)
        message = msgspec.structs.replace(message, consequences=(*message.consequences, *superseded))
        at = event_time(message, self._clock(), self._commits.pending, self._log)
        pending = pending_append(message, at, is_memory=is_memory)._replace(similar=tuple(similar))
        self._commits.pending.append(pending)
        return pending.reply

    def _check_consolidator(self, message: msg.Append) -> StorageFault | None:
        """Return why a consolidation run can't be begun or finished here; let this hub take over if it can."""
        events = (message.event, *message.consequences)
        checked = check_runs(events, self._projections.lease, self._follower)
        if not isinstance(checked, ConsolidatorChanged):
            return checked
        change = msg.Append.of([checked], "store", message.correlation_id)
        self._commits.pending.append(pending_append(change, self._clock(), is_memory=False))
        self._commits.flush()
        return self._take_turn()

    def _take_turn(self) -> StorageFault | None:
        """Take the turn to append to a shared log until the next flush; return why nothing can be appended."""
        if self._read_only:
            return StorageFault(f"Storage failed: {self._read_only}")
        unverified = self._snapshots is not None and not self._snapshots.verified
        return (self._commits.outage if unverified else None) or self._commits.take_turn()

    def _check_live(self, memories: tuple[UUID, ...]) -> StorageFault | None:
        """Raise `GoneError` if a memory that an append depends on was deleted after the append was decided.

        The flush of pending deletions ends the turn. It is taken again, or the reason is returned why it can't be.
        """
        if not memories:
            return None
        self._commits.flush()
        fault = self._take_turn()
        gone = tuple(memory for memory in memories if self._catalog.get(memory).state is not MemoryState.LIVE)
        if gone:
            raise msg.GoneError(gone)
        return fault

    def _replay(self) -> Head:
        """Apply the log, and finish erasures that a crash cut off between the event and the key."""
        after = 0
        if self._snapshots is not None and self._read_only is None:
            after = self._snapshots.load(self._log, self._tellers())
        try:
            erased, read_only = fold_log(self._log, after, self._fold, salvages=not after and self._read_only is None)
        except LogDamagedError as error:
            if self._snapshots is not None and after:
                self._snapshots.on_damage(error)
            raise
        except LogAwayError:
            LOGGER.critical("the log can't be reached any more; stopping, the next start replays it", exc_info=True)
            os._exit(EXIT_UNCERTAIN)
        self._read_only = self._read_only or read_only
        self._commits.erasures.due += erased
        if self._read_only is None:
            if self._snapshots is not None and not after:
                self._snapshots.snapshots.sweep()
            self._commits.erasures.carry_out(())
            self._commits.begin_erasures()
            if self._log.images is not None:
                with suppress(OSError):  # the next start tries again
                    self._log.images.sweep(self._catalog)
        if self._follower is not None:
            self._follower.start()
        self._replayed = True
        return self._log.head

    def _fold(self, batch: Sequence[Envelope], folded: Reply[None]) -> None:
        for envelope in batch:
            self._apply(envelope)
        self._commits.tell(Appended(envelopes=tuple(batch), replayed=True, applied=folded))

    def _tellers(self) -> dict[str, Callable[[Any], object]]:
        """Return how to send each owner a message at the present cut; the store itself handles its own at once."""
        others = {owner.actor_class.__name__.lower(): owner.tell for owner in self._commits.owners}
        return {**others, OWN: self._on_projection_message}

    def _take_snapshot(self, after: int) -> Reply[bool]:
        if self._snapshots is None or not self._replayed or self._read_only:
            return answered(result=False)
        return self._snapshots.begin(self._log.head, self._tellers(), after)

    def _on_snapshot_event(self, message: SnapshotEvent) -> None:
        """Continue a snapshot or the verification of the log."""
        if self._snapshots is None:
            return
        match message:
            case SnapshotWritten():
                self._snapshots.on_written(message)
            case SnapshotSynced():
                self._snapshots.on_synced(message)
                self._commits.checkpoint(1)  # nobody waits: events would have cancelled the snapshot
            case IdleReached():
                if self._snapshots.idle.elapsed():
                    self._take_snapshot(MIN_EVENTS)
            case SnapshotBroken(error=error):
                self._snapshots.on_damage(error)
                self._read_only = describe_damage(str(error))
                self._release()
            case LogVerified():
                self._snapshots.on_verified()
                self._release()

    def _declare(self, message: msg.Declare) -> Reply[object] | None:
        """Log the models of a new store; of another one, check that they are those it was made with."""
        wanted = SpacesDeclared(profile=message.profile, spaces=message.spaces)
        if self._take_turn() is None:  # another hub may have declared them meanwhile
            self._commits.flush()
        declared = self._projections.declaration.latest
        if declared is not None and (self._read_only is not None or same_models(declared, wanted)):
            return None
        if self._read_only is not None:
            raise NotFoundFault("Nothing was stored yet then")
        return self._append(msg.Append.of([wanted], "store", at=message.at))
