"""What the store is asked, and answers."""

from typing import Any, TypeAlias
from uuid import UUID

import pykka

from actors.messages.base import Message
from events.log import Head
from events.values import SpaceModel
from events.vocabulary import Event, SpacesDeclared


class Replay(Message, frozen=True, kw_only=True):
    """Read the whole log once and tell it to every owner; answers its `Head`."""

    owners: tuple[pykka.ActorRef[Any], ...]
    """Actors that own projections. From here on they hear of every event before its append is acknowledged."""


class Declare(Message, frozen=True, kw_only=True):
    """Record which models fill the spaces, or raise `StorageFault` if the store was made with others."""

    profile: str
    spaces: tuple[SpaceModel, ...]


class Append(Message, frozen=True, kw_only=True):
    """Append an event and its consequences, all or none.

    Answers a future of the first one's `Envelope`, set once they are durable and every owner was told.
    """

    id: UUID
    event: Event
    consequences: tuple[Event, ...] = ()
    actor: str
    correlation_id: UUID


class Read(Message, frozen=True, kw_only=True):
    """Read a memory back from the log, through another cursor than the one that wrote it; answers its `Envelope`."""

    memory: UUID


class Describe(Message, frozen=True, kw_only=True):
    """Answers the catalog's `Entry` for each id; an unknown id is a `NotFoundFault` that names it."""

    memories: tuple[UUID, ...]


class FindContent(Message, frozen=True, kw_only=True):
    """Answers the id of the oldest live memory with this content in this namespace, or None."""

    sha256: bytes
    namespace: str


class ReadHistory(Message, frozen=True, kw_only=True):
    """Answers every `Envelope` that touched a memory, in order."""

    memory: UUID


class ReadStatus(Message, frozen=True, kw_only=True):
    """Answers `Status`."""


class Status(Message, frozen=True, kw_only=True):
    """What the store holds."""

    live: int
    forgotten: int
    erased: int
    namespaces: dict[str, int]
    head: Head
    declared: SpacesDeclared | None


StoreMessage: TypeAlias = Replay | Declare | Append | Read | Describe | FindContent | ReadHistory | ReadStatus
