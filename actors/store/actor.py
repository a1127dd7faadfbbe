"""The store: the only writer of the log. Whatever waits together is committed together."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID, uuid4

import msgspec
import pykka

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER
from actors.runtime.faults import DISK_FULL, NotFoundFault, StorageFault
from actors.runtime.messages import (
    Appended,
    AppendRejected,
    LoadSnapshot,
    ProjectionMessage,
    ReadDigest,
    SnapshotWritten,
    WriteNextSlice,
    WriteSnapshot,
)
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply, gather
from actors.store.messages import (
    Append,
    AppendMemories,
    Declare,
    FindRequests,
    GoneError,
    ReadDigests,
    Replay,
    RequestResult,
    Reserve,
    StoreMessage,
    TakeSnapshot,
)
from actors.store.queries import answer
from actors.store.replay import paced
from actors.store.snapshot_files import Snapshots
from actors.store.snapshot_policy import MIN_EVENTS, IdleReached, SnapshotBroken, SnapshotPolicy, SnapshotSynced
from events.storage.log import Draft, Envelope, Head, Log, LogError, LogFullError
from events.vocabulary import MemoryErased, MemoryStored, SpacesDeclared
from projections.memories.catalog import Catalog
from projections.projection import MemoryState
from projections.registry import StoreProjections

if TYPE_CHECKING:
    from actors.runtime.metrics import Latencies

OWN = "store"
"""How the store calls itself among the owners."""


class Flush(msgspec.Struct, frozen=True):
    """Told by the store to itself: commit what has gathered."""


class _Pending(NamedTuple):
    """An append that waits for the next commit."""

    drafts: list[Draft]
    read_back: bool
    is_memory: bool
    """Whether its result is a `RequestResult`, or a fault as a value: one of several in `AppendMemories`."""
    reply: Reply[Any]

    def answer(self, outcome: RequestResult | StorageFault) -> None:
        """Resolve the reply."""
        if self.is_memory:
            self.reply.set(outcome)
        elif isinstance(outcome, StorageFault):
            self.reply.set_exception((StorageFault, outcome, None))
        else:
            self.reply.set(outcome.events[0])


Kept: TypeAlias = SnapshotWritten | IdleReached | SnapshotSynced | SnapshotBroken
"""What the store is told about its snapshots."""


class Store(ProjectionActor[StoreProjections]):
    """Owns the log, the `Catalog`, and which sealed events were made of which memories.

    Args:
        log: where events go; this actor is its only writer.
        latencies: where commit times are recorded.
        clock: what tells when something happened, in UTC.
        frozen: whether the log is the past of another one: then nothing is ever appended.
        snapshots: where what is known is written down for a fast start; None for never.
    """

    def __init__(
        self,
        log: Log,
        latencies: Latencies,
        clock: Callable[[], datetime],
        *,
        frozen: bool = False,
        snapshots: Snapshots | None = None,
    ) -> None:
        super().__init__(StoreProjections())
        self._log = log
        self._frozen = frozen
        self._keeper = None if snapshots is None else SnapshotPolicy(snapshots, self.actor_ref)
        self._replayed = False
        self._clock = clock
        self._owners: Sequence[pykka.ActorRef[Any]] = ()
        self._latencies = latencies
        self._pending: list[_Pending] = []

    @property
    def _catalog(self) -> Catalog:
        return self._projections.catalog

    @property
    def _declared(self) -> SpacesDeclared | None:
        return self._projections.declaration.latest

    def on_stop(self) -> None:
        """Commit what still waits, and let go of the log's files."""
        self._flush()
        if self._keeper is not None:
            self._keeper.stop()
        try:
            self._log.close()
        except LogError as error:  # all of it is on the disk, in two files instead of one
            LOGGER.warning("the log was left as it is, to be folded together later: %s", error)

    def on_receive(self, message: StoreMessage | Flush | Kept | ProjectionMessage) -> Any:
        """Route a message."""
        match message:
            case Append():
                return self._append(message)
            case AppendMemories(appends=appends):
                return gather([self._append_memory(append) for append in appends], list)
            case FindRequests(keys=keys):
                self._flush()  # events of the request may be pending
                return tuple(map(self._find_request, keys))
            case Reserve(ids=ids):
                with suppress(LogError):  # their append tries it again, and tells whoever waits for it
                    self._log.reserve(ids)
                return None
            case Flush():
                return self._flush()
            case Declare():
                return self._declare(message)
            case Replay(owners=owners):
                self._owners = owners
                return self._replay()
            case ReadDigests():
                return self._digests()
            case TakeSnapshot(after=after):
                return self._take_snapshot(after)
            case SnapshotWritten() | IdleReached() | SnapshotSynced() | SnapshotBroken():
                return self._keep(message)
            case ReadDigest() | WriteSnapshot() | WriteNextSlice() | LoadSnapshot() | AppendRejected():
                return self._on_projection_message(message)
            case _:
                return answer(message, self._log, self._catalog, self._declared)

    def _append_memory(self, message: Append) -> Reply[RequestResult | StorageFault]:
        """Queue a memory, unless an earlier request with the same key stored it."""
        if message.once:
            if any(one.drafts[0].correlation_id == message.correlation_id for one in self._pending):
                self._flush()
            if found := self._find_request(message.correlation_id):
                reply: Reply[RequestResult | StorageFault] = Reply()
                reply.set(found)
                return reply
        return self._append(message, is_memory=True)

    def _find_request(self, key: UUID) -> RequestResult | None:
        events = tuple(self._log.get(self._catalog.requested(key)))
        return self._result(events, repeated=True) if events else None

    def _result(self, events: tuple[Envelope, ...], *, repeated: bool = False) -> RequestResult:
        """Return the result of a request, with the oldest live memory of the same content."""
        first = events[0]
        oldest = None
        if isinstance(first.event, MemoryStored):
            oldest = next(iter(self._catalog.by_sha(first.event.sha256, first.event.namespace)), None)
        return RequestResult(events=events, duplicate_of=None if oldest == first.id else oldest, repeated=repeated)

    def _append(self, message: Append, *, is_memory: bool = False) -> Reply[Any]:
        """Queue events. Messages in the inbox by then join them in one commit."""
        if message.live and not self._frozen:
            self._check_live(message.live)
        now = self._clock()
        drafts = [
            Draft(
                id=uuid4() if index else message.id,
                at=now,
                actor=message.actor,
                correlation_id=message.correlation_id,
                causation_id=message.id if index else None,
                event=event,
            )
            for index, event in enumerate((message.event, *message.consequences))
        ]
        pending = _Pending(drafts, message.read_back, is_memory, Reply())
        if self._frozen:
            self._refuse([pending], StorageFault("the past can't be changed"))
            return pending.reply
        if not self._pending:
            self.actor_ref.tell(Flush())
        self._pending.append(pending)
        return pending.reply

    def _check_live(self, memories: tuple[UUID, ...]) -> None:
        """Refuse an append that was decided when memories could still be found which were deleted since."""
        self._flush()
        gone = tuple(memory for memory in memories if self._catalog.get(memory).state is not MemoryState.LIVE)
        if gone:
            raise GoneError(gone)

    def _flush(self) -> None:
        """Commit what is pending, tell the owners, then acknowledge: read-your-writes, since inboxes are FIFO."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        try:
            with self._latencies.timed("commit"):
                envelopes = self._log.append([draft for one in pending for draft in one.drafts])
            for envelope in envelopes:
                self._apply(envelope)
            self._shred([envelope.event.memory for envelope in envelopes if isinstance(envelope.event, MemoryErased)])
        except LogFullError as error:
            LOGGER.error("nothing was stored: %s", error)
            self._refuse(pending, StorageFault(DISK_FULL))
            return
        except (LogError, OSError):
            # Nobody knows whether the rows are there. The next start replays the truth, and a window that got no answer
            # asks the next hub, which knows.
            LOGGER.critical("a commit failed with an unknown outcome; stopping", exc_info=True)
            os._exit(EXIT_UNCERTAIN)
        remaining = iter(envelopes)
        appended = [(one, tuple(islice(remaining, len(one.drafts)))) for one in pending]
        unreadable = self._read_back([events[0] for one, events in appended if one.read_back])
        outcomes = [
            unreadable[events[0].seq]
            if events[0].seq in unreadable
            else self._result(events)
            if one.is_memory
            else RequestResult(events=events)
            for one, events in appended
        ]
        # Not before the read-back: the projections of other actors share the processor with it.
        self._tell(Appended(envelopes=envelopes))
        if self._keeper is not None:
            self._keeper.happened(self._log.head)
        for one, outcome in zip(pending, outcomes, strict=True):
            one.answer(outcome)

    def _read_back(self, written: Sequence[Envelope]) -> dict[int, StorageFault]:
        """Read events again, and return a fault for each that reads otherwise than it was written, by number."""
        read: dict[int, Envelope | LogError] = {}
        try:
            read = {envelope.seq: envelope for envelope in self._log.get([one.seq for one in written])}
        except LogError:  # of one of them: the others can be read
            read = {one.seq: self._read(one.seq) for one in written}
        return {one.seq: _unlike(one, read.get(one.seq)) for one in written if read.get(one.seq) != one}

    def _read(self, seq: int) -> Envelope | LogError:
        try:
            return self._log.get([seq])[0]
        except LogError as error:
            return error

    def _refuse(self, waiting: Sequence[_Pending], fault: StorageFault) -> None:
        """Tell whoever waits, and owners who wait for what they appended to come back, that nothing was written."""
        for owner in self._owners:
            owner.tell(AppendRejected(correlations=tuple(one.drafts[0].correlation_id for one in waiting)))
        for one in waiting:
            one.answer(fault)

    def _shred(self, erased: list[UUID]) -> None:
        """Destroy the keys of erased memories, of what was made of them alone, and of whatever holds them besides."""
        shredded = [*erased, *self._folds.derived.pop_orphans()]
        if shredded:
            self._log.shred(shredded)
            if self._keeper is not None:
                self._keeper.erase()

    def _tell(self, appended: Appended) -> None:
        for owner in self._owners:
            owner.tell(appended)

    def _replay(self) -> Head:
        """Fold the log, and finish erasures that a crash cut off between the event and the key."""
        erased: list[UUID] = []
        after = 0 if self._keeper is None else self._keeper.load(self._log, self._tellers())
        for batch, folded in paced(self._log.read(after)):
            for envelope in batch:
                self._apply(envelope)
            self._tell(Appended(envelopes=batch, replayed=True, applied=folded))
            erased += [envelope.event.memory for envelope in batch if isinstance(envelope.event, MemoryErased)]
        if not self._frozen:
            self._shred(erased)
        self._replayed = True
        return self._log.head

    def _tellers(self) -> dict[str, Callable[[Any], object]]:
        """Return how to tell each owner something at the present cut: the store itself hears of it at once."""
        others = {owner.actor_class.__name__.lower(): owner.tell for owner in self._owners}
        return {**others, OWN: self._on_projection_message}

    def _digests(self) -> Reply[tuple[int, dict[str, str]]]:
        """Cut through all owners between two events."""
        seq = self._log.head.seq
        replies: list[Reply[dict[str, str]]] = []
        for tell in self._tellers().values():
            replies.append(Reply())
            tell(ReadDigest(reply=replies[-1]))
        return gather(replies, lambda found: (seq, dict(chain.from_iterable(one.items() for one in found))))

    def _take_snapshot(self, after: int) -> Reply[bool]:
        if self._keeper is None or not self._replayed:
            taken: Reply[bool] = Reply()
            taken.set(value=False)
            return taken
        return self._keeper.begin(self._log.head, self._tellers(), after)

    def _keep(self, message: Kept) -> None:
        """Go on with a snapshot."""
        if self._keeper is None:
            return
        match message:
            case SnapshotWritten():
                self._keeper.on_written(message)
            case SnapshotSynced():
                self._keeper.on_synced(message)
            case IdleReached():
                if self._keeper.is_idle():
                    self._take_snapshot(MIN_EVENTS)
            case SnapshotBroken(error=error):
                LOGGER.critical("what was read from a snapshot doesn't follow from the log; stopping: %s", error)
                self._keeper.erase()
                os._exit(EXIT_UNCERTAIN)

    def _declare(self, message: Declare) -> Reply[Any] | None:
        """Accept the models that this store was made with, or the first that it sees."""
        wanted = SpacesDeclared(profile=message.profile, spaces=message.spaces)
        if self._declared is None and self._frozen:
            raise NotFoundFault("Nothing was stored yet then")
        if self._declared is None:
            return self._append(Append(id=uuid4(), event=wanted, actor="store", correlation_id=uuid4()))
        if self._declared != wanted:
            ours = {space.key: space for space in self._declared.spaces}
            changed = [space.key for space in wanted.spaces if ours.get(space.key) != space]
            raise StorageFault(
                f"this store was made with the profile '{self._declared.profile}'; '{wanted.profile}' fills "
                f"{', '.join(changed) or 'the spaces'} differently, and vectors of two models never meet. "
                f"Make a store with the new models by: context-graph reembed NEW_FOLDER --embedder {message.profile}",
                spaces=changed,
            )
        return None


def _unlike(written: Envelope, read: Envelope | LogError | None) -> StorageFault:
    """Return the fault of an event that doesn't read as it was written."""
    what = read if isinstance(read, LogError) else f"verification of {written.id} read something else than was written"
    return StorageFault(f"Storage failed: {what}")
