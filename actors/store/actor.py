"""The store: the only writer of the log. Whatever waits together is committed together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID, uuid4

import msgspec
import pykka

from actors.base import EXIT_UNCERTAIN, LOGGER, Actor
from actors.faults import NotFoundFault, StorageFault
from actors.messages.base import Appended
from actors.messages.store import (
    Append,
    Declare,
    Describe,
    FindContent,
    GoneError,
    Read,
    ReadEvents,
    ReadHistory,
    ReadStatus,
    Replay,
    Status,
    StoreMessage,
)
from events.log import Draft, Envelope, Head, Log, LogError
from events.vocabulary import MemoryErased, SpacesDeclared
from projections.catalog import Catalog, Entry
from projections.projection import State

if TYPE_CHECKING:
    from actors.metrics import Latencies

REPLAY_BATCH = 256
"""Events that go to the owners of projections in one message."""


class Flush(msgspec.Struct, frozen=True):
    """Told by the store to itself: commit what has gathered."""


def _batches(envelopes: Iterator[Envelope]) -> Iterable[tuple[Envelope, ...]]:
    while batch := tuple(islice(envelopes, REPLAY_BATCH)):
        yield batch


class Store(Actor):
    """Owns the log and the `Catalog` projection.

    Args:
        log: where events go; this actor is its only writer.
        latencies: where commit times are recorded.
        clock: what tells when something happened, in UTC.
    """

    def __init__(self, log: Log, latencies: Latencies, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self._log = log
        self._clock = clock
        self._owners: Sequence[pykka.ActorRef[Any]] = ()
        self._latencies = latencies
        self._catalog = Catalog()
        self._declared: SpacesDeclared | None = None
        self._pending: list[tuple[list[Draft], pykka.Future[Envelope]]] = []

    def on_stop(self) -> None:
        """Commit what still waits, and let go of the log's files."""
        self._flush()
        self._log.close()

    def on_receive(self, message: StoreMessage | Flush) -> Any:
        """Route a message."""
        match message:
            case Append():
                return self._append(message)
            case Flush():
                return self._flush()
            case Read(memory=memory):
                return self._read(memory)
            case Describe(memories=memories, own=own):
                return tuple(self._entry(memory) if own else self._survivor(memory) for memory in memories)
            case FindContent(sha256=sha256, namespace=namespace):
                return next(iter(self._catalog.by_sha(sha256, namespace)), None)
            case ReadHistory(memory=memory):
                return tuple(self._log.get(self._entry(memory).events))
            case ReadEvents(seqs=seqs):
                return tuple(self._log.get(seqs))
            case ReadStatus():
                return self._status()
            case Declare():
                return self._declare(message)
            case Replay(owners=owners):
                self._owners = owners
                return self._replay()
            case _:
                assert_never(message)

    def _append(self, message: Append) -> pykka.Future[Envelope]:
        """Queue events. All that is already in the inbox joins them in one commit."""
        if message.live:
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
        if not self._pending:
            self.actor_ref.tell(Flush())
        future: pykka.Future[Envelope] = pykka.ThreadingFuture()
        self._pending.append((drafts, future))
        return future

    def _check_live(self, memories: tuple[UUID, ...]) -> None:
        """Refuse an append that was decided when memories could still be found which were deleted since."""
        self._flush()
        gone = tuple(memory for memory in memories if self._catalog.get(memory).state is not State.LIVE)
        if gone:
            raise GoneError(gone)

    def _flush(self) -> None:
        """Commit what is pending, tell the owners, then acknowledge: read-your-writes, since inboxes are FIFO."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        try:
            with self._latencies.timed("commit"):
                envelopes = self._log.append([draft for drafts, _ in pending for draft in drafts])
            erased = [envelope.event.memory for envelope in envelopes if isinstance(envelope.event, MemoryErased)]
            if erased:
                self._log.shred(erased)
        except LogError:
            # Nobody knows whether the rows are there. Whoever waits is told, and the next start replays the truth.
            LOGGER.critical("a commit failed with an unknown outcome; stopping", exc_info=True)
            for _, future in pending:
                fault = StorageFault("Storage failed: the log could not be written; the outcome is unknown")
                future.set_exception((StorageFault, fault, None))
            os._exit(EXIT_UNCERTAIN)
        self._fold(envelopes)
        appended = iter(envelopes)
        for drafts, future in pending:
            future.set(next(islice(appended, len(drafts))))

    def _fold(self, envelopes: tuple[Envelope, ...], *, replayed: bool = False) -> None:
        for envelope in envelopes:
            self._catalog.apply(envelope)
            if isinstance(envelope.event, SpacesDeclared):
                self._declared = envelope.event
        for owner in self._owners:
            owner.tell(Appended(envelopes=envelopes, replayed=replayed))

    def _replay(self) -> Head:
        """Fold the whole log, and finish erasures that a crash cut off between the event and the key."""
        erased: list[UUID] = []
        for batch in _batches(self._log.read()):
            self._fold(batch, replayed=True)
            erased += [envelope.event.memory for envelope in batch if isinstance(envelope.event, MemoryErased)]
        if erased:
            self._log.shred(erased)
        return self._log.head

    def _declare(self, message: Declare) -> pykka.Future[Envelope] | None:
        """Accept the models that this store was made with, or the first that it sees."""
        wanted = SpacesDeclared(profile=message.profile, spaces=message.spaces)
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

    def _entry(self, memory: UUID) -> Entry:
        if memory not in self._catalog:
            raise NotFoundFault(f"Memory not found: {memory}", id=str(memory))
        return self._catalog.get(memory)

    def _survivor(self, memory: UUID) -> Entry:
        """Return what is known of a memory, or of the one that absorbed it."""
        return self._catalog.resolve(self._entry(memory).id)

    def _read(self, memory: UUID) -> Envelope:
        return self._log.get([self._entry(memory).seq])[0]

    def _status(self) -> Status:
        states = self._catalog.states()
        return Status(
            live=states[State.LIVE],
            forgotten=states[State.FORGOTTEN],
            pruned=states[State.PRUNED],
            merged=states[State.MERGED],
            erased=states[State.ERASED],
            namespaces=dict(self._catalog.namespaces()),
            head=self._log.head,
            declared=self._declared,
        )
