"""Messages of the store."""

from typing import Any, TypeAlias
from uuid import UUID

import pykka

from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Message
from events.storage.log import Envelope, Head
from events.vocabulary import Event, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.memories.catalog import Entry


class GoneError(Exception):
    """Memories that an append requires were deleted meanwhile."""

    def __init__(self, memories: tuple[UUID, ...]) -> None:
        super().__init__(f"{len(memories)} memories are gone")
        self.memories = memories


class Status(Answer, frozen=True, kw_only=True):
    """Counts of memories, the head of the log, and the declared models."""

    live: int
    forgotten: int
    pruned: int
    merged: int
    erased: int
    namespaces: dict[str, int]
    head: Head
    declared: SpacesDeclared | None


class Replay(Message[Head], frozen=True, kw_only=True):
    """Read the whole log once and send it to every actor with projections."""

    owners: tuple[pykka.ActorRef[Any], ...]
    """Actors with projections. From now on they receive each event before its append is acknowledged."""


class Declare(Message[Envelope | None], frozen=True, kw_only=True):
    """Record which models fill the spaces; a `StorageFault` if the store was made with others."""

    profile: str
    spaces: tuple[SpaceModel, ...]


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
    """Whether the first event is read back through another cursor before it is sent to any actor."""
    live: tuple[UUID, ...] = ()
    """Memories that must be live at the time of writing; else nothing is written, and `GoneError` names the others."""


class AppendTogether(Message[list[Envelope | Fault]], frozen=True, kw_only=True):
    """Append several in one commit; one result for each, as of `Append`."""

    appends: tuple[Append, ...]
    """At least one."""


class Read(Message[Any], frozen=True, kw_only=True):
    """Read the `Envelope` of a memory from the log."""

    memory: UUID


class Describe(Message[tuple[Entry, ...]], frozen=True, kw_only=True):
    """Read the catalog's entries, for a merged memory that of its survivor.

    Raises:
        NotFoundFault: An id is unknown; the message names it.
    """

    memories: tuple[UUID, ...]
    own: bool = False
    """Whether to return a merged memory's own entry."""


class FindContent(Message[tuple[UUID | None, ...]], frozen=True, kw_only=True):
    """Find the oldest live memory with each content in its namespace; None without one."""

    contents: tuple[tuple[bytes, str], ...]
    """SHA-256 and namespace of each."""


class FindRequest(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read the events of a recent request that stored, deleted or restored something, in order."""

    correlation: UUID


class ReadHistory(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read all events about a memory, in order."""

    memory: UUID


class ReadEvents(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read the events with these sequence numbers, in order."""

    seqs: tuple[int, ...]


class ReadErased(Message[tuple[Envelope, ...]], frozen=True, kw_only=True):
    """Read the erasures after an event of memories stored until it, in order."""

    stored_until: int
    """Sequence number of that event."""


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


StoreMessage: TypeAlias = (
    Replay
    | Declare
    | Reserve
    | Append
    | AppendTogether
    | Read
    | Describe
    | FindContent
    | FindRequest
    | ReadHistory
    | ReadEvents
    | ReadErased
    | ReadStatus
    | ReadDigests
    | TakeSnapshot
)
