"""What is known of each memory besides its embeddings: its content, its circumstances and its life so far."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from events.codec import decompress
from events.log import Envelope
from events.values import JohariRow, Learning, Modality
from events.vocabulary import (
    ConsolidationUndone,
    Event,
    MemoriesLinked,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    MemoryErased,
    MemoryFaded,
    MemoryForgotten,
    MemoryIgnited,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
    PurposesRealigned,
)
from projections.presence import Change, Presence
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
    """When its state last changed."""
    reason: str | None = None
    """Why it can't be found."""
    run: UUID | None = None
    """Of the consolidator, which pruned or merged it."""
    merged_into: UUID | None = None
    lineage: tuple[UUID, ...] = ()
    """What it absorbed and answers for, the oldest first; their tags and accesses count as its own."""
    kept: bool = False
    """Whether somebody brought this very memory back; then no run hides it again."""
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
        self._presence = Presence()
        self._live = 0

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        changes = self._presence.apply(envelope)
        match envelope.event:
            case MemoryStored() as stored:
                self._store(envelope, stored)
            case MemoryRecalled() as recalled:
                for memory in recalled.memories:
                    count = self._entries[memory].access_count + 1
                    self._touch(memory, envelope, access_count=count, last_accessed=envelope.at)
            case PurposesRealigned() as realigned:
                self._realign(envelope, realigned)
            case event if is_shredded_memory(event):
                self._entries[envelope.id] = _blank(envelope.id, envelope.seq, envelope.at, (envelope.seq,))
            case event:
                for memory in dict.fromkeys((*_named(event), *_concerned(changes))):
                    self._touch(memory, envelope)
        reasons = _reasons(envelope.event)
        for change in changes:
            self._move(change, envelope.at, reasons, wanted=_wanted_back(envelope.event))

    def get(self, memory: UUID) -> Entry:
        """Return what is known of a memory, whatever its state; an unknown id is a KeyError.

        What it absorbed is counted in as long as it answers for that, and no longer.
        """
        entry = self._entries[memory]
        absorbed = [self._entries[one] for one in self._presence.absorbed(memory)]
        return _united(entry, sorted(absorbed, key=lambda one: one.seq)) if absorbed else entry

    def resolve(self, memory: UUID) -> Entry:
        """Return what is known of the memory that answers for this one: itself, unless it was absorbed."""
        return self.get(self._presence.root(memory))

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
        """Return the SHA-256 of all entries in the order of their arrival, and of what absorbed what."""
        entries = msgspec.msgpack.encode(list(self._entries.values()), order="deterministic")
        return digest_of(entries, self._presence.digest())

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
            if self._entries[memory].state is State.ERASED:
                self._touch(memory, envelope)
            else:
                self._touch(memory, envelope, purpose=purpose)

    def _touch(self, memory: UUID, envelope: Envelope, **changes: Any) -> None:
        entry = self._entries[memory]
        self._entries[memory] = msgspec.structs.replace(entry, events=(*entry.events, envelope.seq), **changes)

    def _move(self, change: Change, at: datetime, reasons: Mapping[UUID, str | None], *, wanted: bool) -> None:
        """Write down the new state of a memory; one that can't be read was erased before, whatever happens to it."""
        memory = change.memory
        entry = self._entries[memory]
        life: dict[str, Any] = {"state": change.after, "state_since": at, "reason": reasons.get(memory)}
        if change.after is State.LIVE and wanted:
            life["kept"] = True
        if entry.body is not None:
            self._live += (change.after is State.LIVE) - (change.before is State.LIVE)
            life |= {"run": self._presence.run_of(memory), "merged_into": self._presence.survivor(memory)}
        if change.after is State.ERASED:
            self._drop(entry)
            entry = _blank(memory, entry.seq, entry.stored_at, entry.events)
        elif entry.body is None:
            return
        self._entries[memory] = msgspec.structs.replace(entry, **life)

    def _drop(self, entry: Entry) -> None:
        """Let nobody find an entry by its content any more."""
        if entry.body is not None:
            key = (entry.body.namespace, entry.body.sha256)
            self._by_sha[key] = tuple(other for other in self._by_sha[key] if other != entry.id)
            if not self._by_sha[key]:
                del self._by_sha[key]


def _blank(memory: UUID, seq: int, stored_at: datetime, events: tuple[int, ...]) -> Entry:
    """Return all that may be known of an erased memory: the same whether its body was ever read or not."""
    return Entry(id=memory, seq=seq, stored_at=stored_at, body=None, state=State.ERASED, events=events)


def _named(event: Event) -> Iterator[UUID]:
    """Yield the memories that an event is about, recalls and measurements apart."""
    match event:
        case (
            MemoryForgotten(memory=memory)
            | MemoryRestored(memory=memory)
            | MemoryErased(memory=memory)
            | MemoryIgnited(memory=memory)
            | MemoryFaded(memory=memory)
        ):
            yield memory
        case MemoriesLinked(source=source, targets=targets):
            yield from (source, *targets)
        case MemoriesMerged(survivor=survivor, absorbed=absorbed):
            yield from (survivor, *absorbed)
        case MemoriesPruned(pruned=pruned):
            yield from (one.memory for one in pruned)
        case MemoriesReplayed(memories=memories) | ConsolidationUndone(memories=memories):
            yield from memories
        case _:
            pass


def _concerned(changes: tuple[Change, ...]) -> Iterator[UUID]:
    """Yield the memories that changed their state, and those that answered for them until then."""
    for change in changes:
        yield change.memory
        if change.left is not None:
            yield change.left


def _wanted_back(event: object) -> bool:
    """Tell whether somebody brought single memories back, which means more than that a whole run was undone."""
    return isinstance(event, MemoryRestored) or (isinstance(event, ConsolidationUndone) and bool(event.memories))


def _reasons(event: Event) -> dict[UUID, str | None]:
    """Return why the memories that an event takes away are gone."""
    match event:
        case MemoryForgotten(memory=memory, reason=reason) | MemoryErased(memory=memory, reason=reason):
            return {memory: reason}
        case MemoriesMerged(survivor=survivor, absorbed=absorbed):
            return dict.fromkeys(absorbed, f"merged into {survivor}")
        case MemoriesPruned(pruned=pruned):
            return {one.memory: f"pruned: salience {one.salience.total:.2f}" for one in pruned}
        case _:
            return {}


def _united(entry: Entry, absorbed: list[Entry]) -> Entry:
    """Return an entry with the tags and accesses of what it absorbed, the oldest first, and its own tags before."""
    every = (entry, *absorbed)
    tags = dict.fromkeys(tag for one in every if one.body is not None for tag in one.body.tags)
    body = None if entry.body is None else msgspec.structs.replace(entry.body, tags=tuple(tags))
    return msgspec.structs.replace(
        entry,
        body=body,
        access_count=sum(one.access_count for one in every),
        last_accessed=max((one.last_accessed for one in every if one.last_accessed is not None), default=None),
        lineage=tuple(one.id for one in absorbed),
    )
