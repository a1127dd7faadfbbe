"""The catalog of all memories: content, metadata, state and history, without embeddings."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import msgspec
import numpy as np

from events.storage.log import Envelope
from events.vocabulary import EventLost, MemoriesMoved, MemoryRecalled, MemoryStored, MemoryTagged, PurposesRealigned
from events.vocabulary.values import Image
from projections.memories.entries import (
    Body,
    Entry,
    StoredEntries,
    Usage,
    Worth,
    erased_entry,
    imported_file,
    merged_entry,
)
from projections.memories.lifecycle import (
    Lifecycle,
    StateChange,
    changed,
    concerned,
    reasons_of,
    restores_single_memories,
)
from projections.memories.placement import Placement
from projections.memories.requests import Requests
from projections.memories.supersessions import Supersessions
from projections.memories.tags import EditedTags
from projections.projection import MemoryState, digest_of, is_shredded_memory
from projections.storage.arrays import Blobs, GrowableArray

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_body_decoder = msgspec.msgpack.Decoder(Body)
_worth_decoder = msgspec.msgpack.Decoder(Worth)


class Catalog:
    """All memories by id and by content. An event about a memory that was never stored is a KeyError.

    Each memory has a row, in the order of arrival. Bodies stay encoded until they are read, since that takes a fifth of
    the memory of their 150 objects.
    """

    _ids: list[UUID]
    _changed: dict[UUID, Entry]
    """The entries, without bodies, of memories that an event concerned after they were stored."""
    _live: Counter[str]
    """Number of live memories by namespace."""

    def __init__(self) -> None:
        self._changed = {}
        self._stored = StoredEntries()
        self._ids = []
        self._rows: dict[UUID, int] = {}
        self._bodies = Blobs()
        """Encoded; empty once a memory is erased."""
        self._marks = GrowableArray(np.uint64)
        """The first 8 bytes of each content's SHA-256, a prefilter for duplicates; 0 once a memory is erased."""
        self._files = GrowableArray(np.uint64)
        """The first 8 bytes of the name of the file that each was imported from; 0 for none."""
        self._lifecycle = Lifecycle()
        self._supersessions = Supersessions()
        self._placement = Placement()
        self._tags = EditedTags()
        self._requests = Requests()
        self._live = Counter()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        self._requests.apply(envelope)
        self._placement.apply(envelope)
        changes = self._lifecycle.apply(envelope)
        self._supersessions.apply(envelope)
        match envelope.event:
            case MemoryStored() as stored:
                self._store(envelope, stored)
            case MemoryRecalled() as recalled:
                for memory in recalled.memories:
                    count = self._entry(memory).access_count + 1
                    self._touch(memory, envelope, access_count=count, last_accessed=envelope.at)
            case PurposesRealigned() as realigned:
                for memory, purpose in zip(realigned.memories, realigned.rows(), strict=True):
                    erased = self._state(memory) is MemoryState.ERASED
                    self._touch(memory, envelope, purpose=() if erased else purpose)
            case MemoriesMoved() as moved:
                self._move(envelope, moved)
            case MemoryTagged(memory=memory) as edit if self._state(memory) is not MemoryState.ERASED:
                self._tags.edit(edit, envelope.seq)
                self._touch(memory, envelope)
            case event if is_shredded_memory(event):
                entry = erased_entry(envelope.id, envelope.seq, envelope.at, (envelope.seq,))
                reason = f"lost, because the store was damaged: {event.why}" if isinstance(event, EventLost) else None
                self._add(entry, b"")
                self._changed[envelope.id] = msgspec.structs.replace(entry, reason=reason)
            case event:
                for memory in dict.fromkeys((*concerned(event), *changed(changes))):
                    self._touch(memory, envelope)
        if changes:
            reasons = reasons_of(envelope.event)
            for change in changes:
                self._change_state(change, envelope, reasons.get(change.memory))

    def get(self, memory: UUID) -> Entry:
        """Return the entry of a memory in any state, including what it has absorbed; an unknown id is a KeyError."""
        entry = self._with_body(memory)
        absorbed = [self._with_body(one) for one in self._lifecycle.absorbed(memory)]
        if absorbed:
            entry = merged_entry(entry, sorted(absorbed, key=lambda one: one.seq))
        return self._with_versions(entry) if self._supersessions else entry

    def resolve(self, memory: UUID) -> Entry:
        """Return the entry of a memory, or of its last survivor if it is merged."""
        return self.get(self._lifecycle.root(memory))

    def utterance(self, memory: UUID) -> tuple[str, object] | None:
        """Return the text of a memory and its speaker, if it is live and no later one took its place."""
        if self._state(memory) is not MemoryState.LIVE or self._successor(memory) is not None:
            return None
        said = _body_decoder.decode(self._bodies.at(self._rows[memory]))
        return said.text, said.metadata.get("speaker")

    def __contains__(self, memory: UUID) -> bool:
        return memory in self._rows

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._ids)

    def requested(self, correlation: UUID) -> tuple[int, ...]:
        """Return the sequence numbers of what a request appended that stored, deleted or restored something."""
        return self._requests.of(correlation)

    def by_sha(self, sha256: bytes, namespace: str, image: Image | None = None) -> Iterator[UUID]:
        """Yield the live memories with this content and image in this namespace, the oldest first."""
        for row in np.flatnonzero(self._marks.array == _prefix(sha256)).tolist():
            memory, body = self._ids[row], _body_decoder.decode(self._bodies.at(row))
            is_same = (body.sha256, body.image) == (sha256, image) and self._state(memory) is MemoryState.LIVE
            if is_same and self._placement.of(memory, body.namespace) == namespace:
                yield memory

    def imported_from(self, files: Iterable[str]) -> Iterator[UUID]:
        """Yield the memories that were imported from files, if they are live and no later one took their place."""
        wanted = set(files)
        marks = np.array([_prefix(file.encode()) for file in wanted], np.uint64)
        for row in np.flatnonzero(np.isin(self._files.array, marks)).tolist():
            memory = self._ids[row]
            if self._state(memory) is MemoryState.LIVE and self._successor(memory) is None:
                body = _body_decoder.decode(self._bodies.at(row))
                if imported_file(body.metadata) in wanted:
                    yield memory

    def states(self) -> Counter[MemoryState]:
        """Return the number of memories in each state."""
        unchanged = Counter({MemoryState.LIVE: len(self._ids) - len(self._changed)})
        return unchanged + Counter(entry.state for entry in self._changed.values())

    def erased(self) -> tuple[Entry, ...]:
        """Return the entries of erased memories in the order in which they were stored."""
        found = (entry for entry in self._changed.values() if entry.state is MemoryState.ERASED)
        return tuple(sorted(found, key=lambda entry: entry.seq))

    def as_stored(self) -> Iterator[tuple[Entry, Body]]:
        """Yield every memory that isn't erased, without what it absorbed, and its body as it was stored."""
        for row, memory in enumerate(self._ids):
            if encoded := self._bodies.at(row):
                yield self._entry(memory), _body_decoder.decode(encoded)

    def moved(self) -> tuple[Entry, ...]:
        """Return the entries, without bodies, of memories that were moved to another namespace once."""
        return tuple(map(self._entry, self._placement))

    def namespaces(self) -> Counter[str]:
        """Return the number of live memories in each namespace that has any."""
        return +self._live

    def usages(self, memories: Iterable[UUID]) -> tuple[Usage | None, ...]:
        """Return what the salience of memories depends on, including what they absorbed; None for an erased one."""
        return tuple(self._usage(memory) for memory in memories)

    def digest(self) -> bytes:
        """Return the SHA-256 of all entries and bodies in the order of arrival, of merges and of requests."""
        entries, lengths = _encoder.encode(list(map(self._entry, self._ids))), self._bodies.lengths
        bodies = self._bodies.concatenated()
        folds = (self._lifecycle, self._placement, self._tags, self._supersessions, self._requests)
        return digest_of(entries, lengths, bodies, *(fold.digest() for fold in folds))

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        self._rows = {memory: row for row, memory in enumerate(self._ids)}

    def _entry(self, memory: UUID) -> Entry:
        return self._changed.get(memory) or self._stored.at(self._rows[memory], memory)

    def _with_body(self, memory: UUID) -> Entry:
        entry, encoded = self._entry(memory), self._bodies.at(self._rows[memory])
        if not encoded:
            return entry
        body = _body_decoder.decode(encoded)
        if not self._placement.contains(body.namespace, memory):
            body = msgspec.structs.replace(body, namespace=self._placement.of(memory, body.namespace))
        if memory in self._tags:
            body = msgspec.structs.replace(body, tags=self._tags.of(memory, body.tags))
        return msgspec.structs.replace(entry, body=body)

    def _usage(self, memory: UUID) -> Usage | None:
        entry = self._entry(memory)
        parts = (memory, *self._lifecycle.absorbed(memory))
        worths = [_worth_decoder.decode(body) for one in parts if (body := self._bodies.at(self._rows[one]))]
        if not worths:
            return None
        return Usage(
            importance=max(worth.importance for worth in worths),
            created_at=max(worth.created_at for worth in worths),
            stored_at=max(self._entry(one).stored_at for one in parts),
            accesses=sum(self._entry(one).access_count for one in parts),
            alignment=sum(entry.purpose) / len(entry.purpose) if entry.purpose else 0.0,
            memories=parts,
        )

    def _with_versions(self, entry: Entry) -> Entry:
        earlier = (
            one
            for one in self._supersessions.earlier(entry.id, self._lifecycle)
            if self._state(one) is not MemoryState.ERASED and one != entry.id
        )
        return msgspec.structs.replace(
            entry,
            superseded_by=self._successor(entry.id),
            reinstated=self._supersessions.is_reinstated(entry.id),
            supersedes=tuple(sorted(earlier, key=self._rows.__getitem__)),
        )

    def _successor(self, memory: UUID) -> UUID | None:
        """Return the latest live memory that took the place of this one."""
        return self._supersessions.successor(memory, self._lifecycle, lambda one: self._state(one) is MemoryState.LIVE)

    def _state(self, memory: UUID) -> MemoryState:
        return MemoryState.LIVE if (entry := self._changed.get(memory)) is None else entry.state

    def _add(self, entry: Entry, body: bytes, mark: int = 0, file: int = 0) -> None:
        self._rows[entry.id] = len(self._ids)
        self._ids.append(entry.id)
        self._stored.append(entry)
        self._bodies.append(body)
        self._marks.append(mark)
        self._files.append(file)

    def _store(self, envelope: Envelope, stored: MemoryStored) -> None:
        seq = envelope.seq
        entry = Entry(id=envelope.id, seq=seq, stored_at=envelope.at, body=None, purpose=stored.purpose, events=(seq,))
        file = imported_file(stored.metadata)
        marks = _prefix(stored.sha256), 0 if file is None else _prefix(file.encode())
        self._add(entry, _encoder.encode(Body.of(stored)), *marks)
        self._live[stored.namespace] += 1

    def _move(self, envelope: Envelope, moved: MemoriesMoved) -> None:
        for memory in moved.memories:
            live = self._state(memory) is MemoryState.LIVE
            self._live[moved.source] -= live
            self._live[moved.target] += live
            self._touch(memory, envelope)

    def _touch(self, memory: UUID, envelope: Envelope, **changes: Any) -> None:
        entry = self._entry(memory)
        self._changed[memory] = msgspec.structs.replace(entry, events=(*entry.events, envelope.seq), **changes)

    def _change_state(self, change: StateChange, envelope: Envelope, reason: str | None) -> None:
        """Record the new state of a memory; a shredded one stays erased, since it will be erased later in the log."""
        memory, row = change.memory, self._rows[change.memory]
        entry, body = self._entry(memory), self._bodies.at(row)
        is_live = change.after is MemoryState.LIVE
        fields: dict[str, Any] = {"state": change.after, "state_since": envelope.at, "reason": reason}
        if is_live and restores_single_memories(envelope.event):
            fields["protected"] = True
        if body:
            namespace = self._placement.of(memory, _body_decoder.decode(body).namespace)
            self._live[namespace] += is_live - (change.before is MemoryState.LIVE)
            fields |= {"run": self._lifecycle.run_of(memory), "merged_into": self._lifecycle.survivor(memory)}
        if change.after is MemoryState.ERASED:
            self._bodies.clear(row)
            self._marks.array[row] = self._files.array[row] = 0
            self._stored.clear(row)
            edits = self._tags.erase(memory)
            known = tuple(seq for seq in entry.events if seq not in edits)
            entry = erased_entry(memory, entry.seq, entry.stored_at, known)
        elif not body:
            return
        self._changed[memory] = msgspec.structs.replace(entry, **fields)


def _prefix(value: bytes) -> int:
    return int.from_bytes(value[:8]) or 1
