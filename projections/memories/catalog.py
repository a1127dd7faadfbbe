"""What is known of each memory besides its embeddings: its content, its circumstances and its life so far."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import numpy as np

from events.storage.log import Envelope
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
from events.vocabulary.codec import decompress
from events.vocabulary.values import JohariRow, Learning, Modality
from projections.memories.lifecycle import Change, Lifecycle
from projections.memories.requests import Requests
from projections.projection import MemoryState, digest_of, is_shredded_memory
from projections.storage.arrays import Growing
from projections.storage.blobs import Blobs


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


class _Named(msgspec.Struct, frozen=True):
    """The part of a `Body` by which it is found."""

    sha256: bytes
    namespace: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as the log tells of it up to now."""

    id: UUID
    seq: int
    stored_at: datetime
    body: Body | None
    state: MemoryState = MemoryState.LIVE
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


_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_bodies = msgspec.msgpack.Decoder(Body)
_names = msgspec.msgpack.Decoder(_Named)


class Catalog:
    """All memories by id and by content. An event about a memory that was never stored is a KeyError.

    Bodies are kept as bytes, in a fifth of the room that their 150 objects take, and read when they are asked for. Each
    memory has a row, in the order of arrival.
    """

    _entries: dict[UUID, Entry]
    """Each without its body."""
    _live: Counter[str]
    """How many live memories each namespace holds."""

    def __init__(self) -> None:
        self._entries = {}
        self._ids: list[UUID] = []
        self._rows: dict[UUID, int] = {}
        self._bodies = Blobs()
        """Empty once a memory is erased."""
        self._marks = Growing(np.uint64)
        """The first bytes of the hash of each content: few have the same; 0 once a memory is erased."""
        self._presence = Lifecycle()
        self._requests = Requests()
        self._live = Counter()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        self._requests.apply(envelope)
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
                self._add(_blank(envelope.id, envelope.seq, envelope.at, (envelope.seq,)), b"", 0)
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
        entry = self._whole(memory)
        absorbed = [self._whole(one) for one in self._presence.absorbed(memory)]
        return _united(entry, sorted(absorbed, key=lambda one: one.seq)) if absorbed else entry

    def resolve(self, memory: UUID) -> Entry:
        """Return what is known of the memory that answers for this one: itself, unless it was absorbed."""
        return self.get(self._presence.root(memory))

    def __contains__(self, memory: UUID) -> bool:
        return memory in self._entries

    def requested(self, correlation: UUID) -> tuple[int, ...]:
        """Return the sequence numbers of what a request appended that stored, deleted or restored something."""
        return self._requests.of(correlation)

    def by_sha(self, sha256: bytes, namespace: str) -> tuple[UUID, ...]:
        """Return the live memories with this content in this namespace, the oldest first."""
        rows = np.flatnonzero(self._marks.array == _mark(sha256)).tolist()
        wanted = _Named(sha256, namespace)
        same = [row for row in rows if _names.decode(self._bodies.at(row)) == wanted]
        memories = [self._ids[row] for row in same]
        return tuple(memory for memory in memories if self._entries[memory].state is MemoryState.LIVE)

    def count(self) -> int:
        """Return how many memories are live."""
        return self._live.total()

    def states(self) -> Counter[MemoryState]:
        """Return how many memories are in each state."""
        return Counter(entry.state for entry in self._entries.values())

    def erased(self) -> tuple[Entry, ...]:
        """Return what is known of the erased memories, the one stored first first."""
        return tuple(entry for entry in self._entries.values() if entry.state is MemoryState.ERASED)

    def namespaces(self) -> Counter[str]:
        """Return how many live memories each namespace holds."""
        return +self._live

    def digest(self) -> bytes:
        """Return the SHA-256 of all entries in the order of their arrival, and of what absorbed what."""
        entries, lengths = _encoder.encode(list(self._entries.values())), self._bodies.lengths
        return digest_of(entries, lengths, self._bodies.all(), self._presence.digest(), self._requests.digest())

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        self._ids = list(self._entries)
        self._rows = {memory: row for row, memory in enumerate(self._ids)}

    def _whole(self, memory: UUID) -> Entry:
        entry, body = self._entries[memory], self._bodies.at(self._rows[memory])
        return msgspec.structs.replace(entry, body=_bodies.decode(body)) if body else entry

    def _add(self, entry: Entry, body: bytes, mark: int) -> None:
        self._rows[entry.id] = len(self._ids)
        self._ids.append(entry.id)
        self._entries[entry.id] = entry
        self._bodies.append(body)
        self._marks.append(mark)

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
        entry = Entry(
            id=envelope.id,
            seq=envelope.seq,
            stored_at=envelope.at,
            body=None,
            purpose=stored.purpose,
            events=(envelope.seq,),
        )
        self._add(entry, _encoder.encode(body), _mark(stored.sha256))
        self._live[stored.namespace] += 1

    def _realign(self, envelope: Envelope, realigned: PurposesRealigned) -> None:
        for memory, purpose in zip(realigned.memories, realigned.rows(), strict=True):
            if self._entries[memory].state is MemoryState.ERASED:
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
        if change.after is MemoryState.LIVE and wanted:
            life["kept"] = True
        row = self._rows[memory]
        body = self._bodies.at(row)
        if body:
            self._live[_names.decode(body).namespace] += (change.after is MemoryState.LIVE) - (
                change.before is MemoryState.LIVE
            )
            life |= {"run": self._presence.run_of(memory), "merged_into": self._presence.survivor(memory)}
        if change.after is MemoryState.ERASED:
            self._bodies.clear(row)
            self._marks.array[row] = 0
            entry = _blank(memory, entry.seq, entry.stored_at, entry.events)
        elif not body:
            return
        self._entries[memory] = msgspec.structs.replace(entry, **life)


def _mark(sha256: bytes) -> int:
    return int.from_bytes(sha256[:8]) or 1


def _blank(memory: UUID, seq: int, stored_at: datetime, events: tuple[int, ...]) -> Entry:
    """Return all that may be known of an erased memory: the same whether its body was ever read or not."""
    return Entry(id=memory, seq=seq, stored_at=stored_at, body=None, state=MemoryState.ERASED, events=events)


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
