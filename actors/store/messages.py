"""What the store is asked, and answers."""

from typing import Any, TypeAlias
from uuid import UUID

import pykka

from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Message
from events.storage.log import Envelope, Head
from events.vocabulary import Event, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.memories.entries import Entry


class GoneError(Exception):
    """What should have been decided about some memories can't be, since they were deleted meanwhile."""

    def __init__(self, memories: tuple[UUID, ...]) -> None:
        super().__init__(f"{len(memories)} memories are gone")
        self.memories = memories


class Status(Answer, frozen=True, kw_only=True):
    """What the store holds."""

    live: int
    forgotten: int
    pruned: int
    merged: int
    erased: int
    namespaces: dict[str, int]
    head: Head
    declared: SpacesDeclared | None


class Replay(Message[Head], frozen=True, kw_only=True):
    """Read the whole log once and tell it to every owner; answers its `Head`."""

    owners: tuple[pykka.ActorRef[Any], ...]
    """Actors that own projections. From here on they hear of every event before its append is acknowledged."""


class Declare(Message[Envelope | None], frozen=True, kw_only=True):
    """Record which models fill the spaces, or raise `StorageFault` if the store was made with others."""

    profile: str
    spaces: tuple[SpaceModel, ...]


class Reserve(Message[None], frozen=True, kw_only=True):
    """Told while memories are on their way: make their keys, which takes the disk its time, before they are here."""

    ids: tuple[UUID, ...]


class Append(Message[Envelope], frozen=True, kw_only=True):
    """Append an event and its consequences, all or none.

    Answers a future of the first one's `Envelope`, set once they are durable and every owner was told; a `StorageFault`
    if it was wanted back and reads otherwise than it was written.
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
    """Memories that must still be found when it is written; else nothing is, and `GoneError` names those that can't."""


class RequestResult(Answer, frozen=True, kw_only=True):
    """The events that a request appended, now or when it came for the first time."""

    events: tuple[Envelope, ...]
    """At least one: the first event, then its consequences."""
    duplicate_of: UUID | None = None
    """The oldest live memory with the same content and namespace, if the first event stored another one."""
    repeated: bool = False
    """Whether an earlier request with the same key had appended them."""


class AppendMemories(Message[list[RequestResult | Fault]], frozen=True, kw_only=True):
    """Append memories with their consequences by one commit; answers a future of a result or a fault for each.

    An append with `once` whose correlation id stands in the log already appends nothing, and is answered with the
    events that stand there.
    """

    appends: tuple[Append, ...]
    """At least one."""


class Read(Message[Any], frozen=True, kw_only=True):
    """Read a memory from the log; answers its `Envelope`."""

    memory: UUID


class Describe(Message[tuple[Entry, ...]], frozen=True, kw_only=True):
    """Answers the catalog's `Entry` for each id, of a merged memory that of its survivor.

    An unknown id is a `NotFoundFault` that names it.
    """

    memories: tuple[UUID, ...]
    own: bool = False
    """Whether a merged memory's own entry is wanted."""


class FindRequests(Message[tuple[RequestResult | None, ...]], frozen=True, kw_only=True):
    """Answers for each idempotency key what the request with it stored, deleted or restored; None for an unknown key.

    Imports are known for ever, other requests as long as they are among the latest ten thousand.
    """

    keys: tuple[UUID, ...]


class ReadLive(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read live memories from the log, each once; of a merged memory its survivor, any other is a `NotFoundFault`."""

    memories: tuple[UUID, ...]


class ReadHistory(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Answers every `Envelope` that touched a memory, in order."""

    memory: UUID


class ReadEvents(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Answers every `Envelope` with one of these sequence numbers, in order."""

    seqs: tuple[int, ...]


class ReadErased(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Answers the `Envelope` of each erasure after an event of a memory that was stored until then, in order."""

    stored_until: int
    """Sequence number of that event."""


class ReadDigests(Message[tuple[int, dict[str, str]]], frozen=True, kw_only=True):
    """Answers a future of the number of the last event, and of the digest of each projection as it stands after it.

    Digests are in hexadecimal, by the names of `projections.registry`.
    """


class TakeSnapshot(Message[bool], frozen=True, kw_only=True):
    """Write down what is known, for a fast start; answers a future of whether it was."""

    after: int = 1
    """Events that must have come since the last one, or it isn't worth it."""


class ReadStatus(Message[Status], frozen=True, kw_only=True):
    """Answers `Status`."""


StoreMessage: TypeAlias = (
    Replay
    | Declare
    | Reserve
    | Append
    | AppendMemories
    | Read
    | Describe
    | FindRequests
    | ReadLive
    | ReadHistory
    | ReadEvents
    | ReadErased
    | ReadStatus
    | ReadDigests
    | TakeSnapshot
)
