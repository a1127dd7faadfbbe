"""Appends that wait for the next commit: their drafts, their replies, and how they are read back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from actors.runtime.faults import StorageFault
from actors.runtime.reply import Reply
from actors.store.messages import Append, RequestResult, Similar
from events.storage.log import Draft, Envelope, Log, LogAwayError, LogError
from events.vocabulary import SpacesDeclared


class PendingAppend(NamedTuple):
    """An append that waits for the next commit."""

    drafts: list[Draft]
    read_back: bool
    is_memory: bool
    """Whether the reply is a `RequestResult`, or a fault as a value: one of several in `AppendMemories`."""
    reply: Reply[Any]
    similar: tuple[Similar, ...] = ()
    """As in the `RequestResult`."""

    def answer(self, outcome: RequestResult | StorageFault) -> None:
        """Resolve the reply."""
        if self.is_memory:
            self.reply.set(outcome)
        elif isinstance(outcome, StorageFault):
            self.reply.set_exception((StorageFault, outcome, None))
        else:
            self.reply.set(outcome.events[0])


def pending_append(message: Append, at: datetime, *, is_memory: bool) -> PendingAppend:
    """Return an append with its drafts: the first event, then its consequences."""
    drafts = [
        Draft(
            id=uuid4() if index else message.id,
            at=at,
            actor=message.actor,
            correlation_id=message.correlation_id,
            causation_id=message.id if index else None,
            event=event,
        )
        for index, event in enumerate((message.event, *message.consequences))
    ]
    return PendingAppend(drafts, message.read_back, is_memory, Reply())


def event_time(message: Append, now: datetime, pending: Sequence[PendingAppend], log: Log) -> datetime:
    """Return the time of an event: now, or when an imported one happened, but never before the log's last event.

    The declaration of the models, with which a log begins, doesn't count: a new store takes over the times of another.
    """
    if message.at is None:
        return now
    last: Draft | None = pending[-1].drafts[-1] if pending else None
    if last is None and (seq := log.head.seq):
        last = log.get([seq])[0]
    return min(now, message.at if last is None or isinstance(last.event, SpacesDeclared) else max(message.at, last.at))


def unreadable(log: Log, written: Sequence[Envelope]) -> dict[int, StorageFault]:
    """Read events again, through another cursor than the one that wrote them (`LogAwayError`).

    Return a fault for each event that reads otherwise than it was written, by sequence number.
    """
    read: dict[int, Envelope | LogError] = {}
    try:
        read = {envelope.seq: envelope for envelope in log.get([one.seq for one in written])}
    except LogAwayError:
        raise
    except LogError:  # of one of them: the others can be read
        read = {one.seq: _read(log, one.seq) for one in written}
    return {one.seq: _fault(one, read.get(one.seq)) for one in written if read.get(one.seq) != one}


def _read(log: Log, seq: int) -> Envelope | LogError:
    try:
        return log.get([seq])[0]
    except LogError as error:
        return error


def _fault(written: Envelope, read: Envelope | LogError | None) -> StorageFault:
    what = read if isinstance(read, LogError) else f"verification of {written.id} read something else than was written"
    return StorageFault(f"Storage failed: {what}")
