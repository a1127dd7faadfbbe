"""What is known of each memory besides its embeddings: its content, its circumstances and its life so far."""

from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from events.codec import decompress
from events.log import Envelope
from events.values import JohariRow, Learning, Modality
from events.vocabulary import (
    MemoriesLinked,
    MemoryErased,
    MemoryFaded,
    MemoryForgotten,
    MemoryIgnited,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
    PurposesRealigned,
)
from projections.projection import State, digest_of, is_shredded_memory


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What was stored and never changes; an erased memory has none."""

    sha256: bytes
    created_at: datetime
    namespace: str
    session: str | None
    position: int
    modality: Modality
    importance: float
    tags: tuple[str, ...]
    rationale: str | None
    memory_type: str | None
    metadata: dict[str, Any]
    content: bytes
    """Compressed."""
    passages: tuple[tuple[int, int], ...]
    """The characters [start, end) of each window."""
    johari: tuple[JohariRow, ...]
    learning: Learning

    @property
    def text(self) -> str:
        """The content."""
        return decompress(self.content)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as the log tells of it up to now."""

    id: UUID
    seq: int
    stored_at: datetime
    body: Body | None
    state: State = State.LIVE
    state_since: datetime | None = None
    """When it was last forgotten, restored or erased."""
    reason: str | None = None
    """Why it was forgotten or erased."""
    purpose: tuple[float, ...] = ()
    """Its alignment with the North Star as it was last measured, space by space; empty once it is erased."""
    access_count: int = 0
    last_accessed: datetime | None = None
    events: tuple[int, ...]
    """Sequence numbers of the events that touched it, ascending."""


class Catalog:
    """All memories by id and by content. An event about a memory that was never stored is a KeyError."""

    def __init__(self) -> None:
        self._entries: dict[UUID, Entry] = {}
        self._by_sha: dict[tuple[str, bytes], tuple[UUID, ...]] = {}
        self._live = 0

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoryStored() as stored:
                self._store(envelope, stored)
            case MemoriesLinked() as linked:
                for memory in dict.fromkeys((linked.source, *linked.targets)):
                    self._touch(memory, envelope)
            case MemoryRecalled() as recalled:
                for memory in recalled.memories:
                    count = self.get(memory).access_count + 1
                    self._touch(memory, envelope, access_count=count, last_accessed=envelope.at)
            case MemoryIgnited(memory=memory) | MemoryFaded(memory=memory):
                self._touch(memory, envelope)
            case PurposesRealigned() as realigned:
                self._realign(envelope, realigned)
            case MemoryForgotten(memory=memory, reason=reason):
                self._move(memory, envelope, State.LIVE, State.FORGOTTEN, reason)
            case MemoryRestored(memory=memory):
                self._move(memory, envelope, State.FORGOTTEN, State.LIVE, None)
            case MemoryErased(memory=memory, reason=reason):
                self._erase(memory, envelope, reason)
            case event if is_shredded_memory(event):
                self._entries[envelope.id] = _blank(envelope.id, envelope.seq, envelope.at, (envelope.seq,))
            case _:
                pass

    def get(self, memory: UUID) -> Entry:
        """Return what is known of a memory, erased ones included; an unknown id is a KeyError."""
        return self._entries[memory]

    def __contains__(self, memory: UUID) -> bool:
        return memory in self._entries

    def by_sha(self, sha256: bytes, namespace: str) -> tuple[UUID, ...]:
        """Return the live memories with this content in this namespace, the oldest first."""
        same = self._by_sha.get((namespace, sha256), ())
        return tuple(memory for memory in same if self._entries[memory].state is State.LIVE)

    def count(self) -> int:
        """Return how many memories are live."""
        return self._live

    def states(self) -> Counter[State]:
        """Return how many memories are in each state."""
        return Counter(entry.state for entry in self._entries.values())

    def namespaces(self) -> Counter[str]:
        """Return how many live memories each namespace holds."""
        live = (entry.body for entry in self._entries.values() if entry.state is State.LIVE)
        return Counter(body.namespace for body in live if body is not None)

    def digest(self) -> bytes:
        """Return the SHA-256 of all entries in the order of their arrival."""
        return digest_of(msgspec.msgpack.encode(list(self._entries.values()), order="deterministic"))

    def _store(self, envelope: Envelope, stored: MemoryStored) -> None:
        body = Body(
            sha256=stored.sha256,
            created_at=stored.created_at,
            namespace=stored.namespace,
            session=stored.session,
            position=stored.position,
            modality=stored.modality,
            importance=stored.importance,
            tags=stored.tags,
            rationale=stored.rationale,
            memory_type=stored.memory_type,
            metadata=stored.metadata,
            content=stored.content,
            passages=tuple((passage.start, passage.end) for passage in stored.passages),
            johari=stored.johari,
            learning=stored.learning,
        )
        self._entries[envelope.id] = Entry(
            id=envelope.id,
            seq=envelope.seq,
            stored_at=envelope.at,
            body=body,
            purpose=stored.purpose,
            events=(envelope.seq,),
        )
        key = (stored.namespace, stored.sha256)
        self._by_sha[key] = (*self._by_sha.get(key, ()), envelope.id)
        self._live += 1

    def _realign(self, envelope: Envelope, realigned: PurposesRealigned) -> None:
        for memory, purpose in zip(realigned.memories, realigned.rows(), strict=True):
            if self.get(memory).state is State.ERASED:
                self._touch(memory, envelope)
            else:
                self._touch(memory, envelope, purpose=purpose)

    def _touch(self, memory: UUID, envelope: Envelope, **changes: Any) -> None:
        entry = self.get(memory)
        self._entries[memory] = msgspec.structs.replace(entry, events=(*entry.events, envelope.seq), **changes)

    def _move(self, memory: UUID, envelope: Envelope, source: State, target: State, reason: str | None) -> None:
        """Move a memory between live and forgotten; if it isn't in `source`, the event leaves only its number."""
        if self.get(memory).state is source:
            self._touch(memory, envelope, state=target, state_since=envelope.at, reason=reason)
            self._live += 1 if target is State.LIVE else -1
        else:
            self._touch(memory, envelope)

    def _erase(self, memory: UUID, envelope: Envelope, reason: str | None) -> None:
        entry = self.get(memory)
        if entry.body is not None:
            key = (entry.body.namespace, entry.body.sha256)
            self._by_sha[key] = tuple(other for other in self._by_sha[key] if other != memory)
            if not self._by_sha[key]:
                del self._by_sha[key]
        self._live -= entry.state is State.LIVE
        blank = _blank(memory, entry.seq, entry.stored_at, (*entry.events, envelope.seq))
        self._entries[memory] = msgspec.structs.replace(blank, state_since=envelope.at, reason=reason)


def _blank(memory: UUID, seq: int, stored_at: datetime, events: tuple[int, ...]) -> Entry:
    """Return all that may be known of an erased memory: the same whether its body was ever read or not."""
    return Entry(id=memory, seq=seq, stored_at=stored_at, body=None, state=State.ERASED, events=events)
