"""Messages of the store."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Self, TypeAlias
from uuid import UUID, uuid4

from actors.runtime.actor import ActorRef
from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Message
from events.storage.log import Envelope, Head
from events.vocabulary import Event, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.memories.entries import Entry, Usage


class GoneError(Exception):
    """Memories that an append requires were deleted meanwhile."""

    def __init__(self, memories: tuple[UUID, ...]) -> None:
        super().__init__(f"{len(memories)} memories are gone")
        self.memories = memories


class Status(Answer, frozen=True, kw_only=True):
    """Counts of memories, the head of the log, the declared models, and whether it may be written."""

    memories: dict[str, int]
    """By state; `lost` are those whose event was damaged on the disk."""
    namespaces: dict[str, int]
    """Live memories by namespace."""
    head: Head
    declared: SpacesDeclared | None
    read_only: str | None
    """Why nothing may be written, in words."""


class Replay(Message[Head], frozen=True, kw_only=True):
    """Read the whole log once and send it to every actor with projections."""

    owners: tuple[ActorRef, ...]
    """Actors with projections. From now on they receive each event before its append is acknowledged."""


class Declare(Message[Envelope | None], frozen=True, kw_only=True):
    """Record which models fill the spaces; a `StorageFault` if the store was made with others."""

    profile: str
    spaces: tuple[SpaceModel, ...]
    at: datetime | None = None
    """When the store that this one takes over from began; None for a store of its own, which begins now."""


class Reserve(Message[None], frozen=True, kw_only=True):
    """Create the keys of coming memories ahead of their append, since writing keys waits for the disk."""

    ids: tuple[UUID, ...]


class Append(Message[Envelope], frozen=True, kw_only=True):
    """Append an event and its consequences, all or none.

    The answer, the first event's `Envelope`, follows when they are durable and were sent to every actor with
    projections. A `StorageFault` if the event reads back differently.
    """

    id: UUID
    event: Event
    consequences: tuple[Event, ...] = ()
    actor: str
    correlation_id: UUID
    read_back: bool = False
    """Whether the first is read again, through another cursor than the one that wrote it, before anybody is told."""
    once: bool = False
    """Whether the correlation id is an idempotency key (`AppendMemories`)."""
    live: tuple[UUID, ...] = ()
    """Memories that must be live at the time of writing; else nothing is written, and `GoneError` names the others."""
    at: datetime | None = None
    """When an imported event happened, or the memories that a cause was found in; None for now.

    It is kept if no event of this log is later, else the time of the log's last event.
    """
    alike: tuple[tuple[UUID, float], ...] = ()
    """Memories whose statements a new one may correct, with their similarity in E1, calibrated (`AppendMemories`)."""

    @classmethod
    def of(
        cls,
        events: Iterable[Event],
        actor: str,
        correlation_id: UUID | None = None,
        live: Sequence[UUID] = (),
        at: datetime | None = None,
    ) -> Self:
        """Return the append of at least one event, under new ids; without a correlation id, of a new request."""
        first, *rest = events
        request = correlation_id or uuid4()
        return cls(
            id=uuid4(),
            event=first,
            consequences=tuple(rest),
            actor=actor,
            correlation_id=request,
            live=tuple(live),
            at=at,
        )


class Similar(Answer, frozen=True, kw_only=True):
    """A memory that may be about the same matter as a new one, and says something else."""

    memory: UUID
    text: str
    similarity: float
    """In E1, calibrated."""


class RequestResult(Answer, frozen=True, kw_only=True):
    """The events that a request appended, now or when it came for the first time."""

    events: tuple[Envelope, ...]
    """At least one: the first event, then its consequences."""
    duplicate_of: UUID | None = None
    """The oldest live memory with the same content and namespace, if the first event stored another one."""
    repeated: bool = False
    similar: tuple[Similar, ...] = ()
    """Of the memories that a new one is alike, those that still hold."""


class AppendMemories(Message[list[RequestResult | Fault]], frozen=True, kw_only=True):
    """Append memories with their consequences by one commit; answers a future of a result or a fault for each.

    What a memory corrects, of those that it is alike, is superseded by it.

    An append with `once` whose correlation id stands in the log already appends nothing, and is answered with the
    events that stand there.
    """

    appends: tuple[Append, ...]
    """At least one."""


class Describe(Message[tuple[Entry, ...]], frozen=True, kw_only=True):
    """Read the catalog's entries, for a merged memory that of its survivor; an unknown id is a `NotFoundFault`."""

    memories: tuple[UUID, ...]
    own: bool = False
    """Whether to return a merged memory's own entry."""


class FindRequests(Message[tuple[RequestResult | None, ...]], frozen=True, kw_only=True):
    """Answers for each idempotency key what the request with it stored, deleted or restored; None for an unknown key.

    Imports are known for ever, other requests as long as they are among the latest ten thousand.
    """

    keys: tuple[UUID, ...]


class FindMemories(Message[tuple[Entry | None, ...]], frozen=True, kw_only=True):
    """Read the catalog's own entry of each memory in any state; None for an unknown id."""

    memories: tuple[UUID, ...]


class FindCopies(Message[tuple[Entry, ...]], frozen=True, kw_only=True):
    """Read the entries of the live memories with the content and namespace of a live one, itself included."""

    memory: UUID


class FindImported(Message[tuple[Entry, ...]], frozen=True, kw_only=True):
    """Read the entries of memories that were imported from files, live ones that no later one took the place of."""

    files: tuple[str, ...]
    """As their importer names them (`projections.memories.entries.IMPORTED_FROM`)."""


class FindByPrefix(Message[tuple[UUID, ...]], frozen=True, kw_only=True):
    """Read the ids of all memories, in any state, that begin with some hexadecimal digits, in the order of arrival."""

    digits: str
    """Lower case, without hyphens."""


class ReadUsages(Message[tuple[Usage | None, ...]], frozen=True, kw_only=True):
    """Read what the salience of memories depends on; None for an erased one. An unknown id is a `KeyError`."""

    memories: tuple[UUID, ...]


class ReadLive(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read live memories from the log, each once; of a merged memory its survivor, any other is a `NotFoundFault`."""

    memories: tuple[UUID, ...]


class ReadHistory(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read all events about a memory, in order."""

    memory: UUID


class ReadEvents(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read the events with these sequence numbers, in order."""

    seqs: tuple[int, ...]


class ReadLater(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read the erasures after an event of memories stored until it, in order."""

    stored_until: int
    """Sequence number of that event."""
    moves: bool
    """Whether to read the moves of such memories between namespaces too.

    Each `MemoriesMoved` names these memories only and no run, which may have begun after the event.
    """


class ReadDigests(Message[tuple[int, dict[str, str]]], frozen=True, kw_only=True):
    """Read the sequence number of the last event, and the digest of each projection after it.

    Digests are hexadecimal, by the names of `projections.registry`.
    """


class TakeSnapshot(Message[bool], frozen=True, kw_only=True):
    """Write a snapshot for a fast start; the answer is whether it was written."""

    after: int = 1
    """Minimum of events since the last snapshot."""


class ReadStatus(Message[Status], frozen=True, kw_only=True):
    """Read the store's status."""


Query: TypeAlias = (
    Describe
    | FindMemories
    | FindCopies
    | FindImported
    | FindByPrefix
    | ReadUsages
    | ReadLive
    | ReadHistory
    | ReadEvents
    | ReadLater
    | ReadStatus
)
"""What reads the catalog and the log, and changes nothing."""

StoreMessage: TypeAlias = (
    Replay | Declare | Reserve | Append | AppendMemories | FindRequests | ReadDigests | TakeSnapshot | Query
)
