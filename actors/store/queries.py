"""Queries of the store, and what a memory corrects: they read the catalog and the log, and change nothing."""

from collections.abc import Iterator
from typing import assert_never
from uuid import UUID

from msgspec.structs import replace

from actors.runtime.faults import NotFoundFault, StorageFault
from actors.runtime.settings import ModelProfile
from actors.store import messages as msg
from actors.text.statements.labels import find_correction_in
from events.storage.log import Envelope, Log
from events.vocabulary import MemoriesMoved, MemoryErased, MemoryStored, MemorySuperseded, SpacesDeclared
from events.vocabulary.codec import decompress
from projections.memories.catalog import Catalog
from projections.memories.entries import Entry
from projections.projection import MemoryState

ID_DIGITS = 32


def answer(message: msg.Query, log: Log, catalog: Catalog, declared: SpacesDeclared | None) -> object:
    """Answer as the messages say; an unknown memory is a `NotFoundFault`, what can't be read a `LogError`."""
    match message:
        case msg.Describe(memories=memories, own=own):
            read = catalog.get if own else catalog.resolve
            return tuple(read(_known(catalog, memory)) for memory in memories)
        case msg.FindMemories(memories=memories):
            return tuple(catalog.get(memory) if memory in catalog else None for memory in memories)
        case msg.FindCopies(memory=memory):
            body = _live_entry(catalog, memory).body
            copies = () if body is None else catalog.by_sha(body.sha256, body.namespace, body.image)
            return tuple(map(catalog.get, copies))
        case msg.FindImported(files=files):
            return tuple(map(catalog.get, catalog.imported_from(files)))
        case msg.FindByPrefix(digits=digits):
            shift, first = 4 * (ID_DIGITS - len(digits)), int(digits, 16)
            return tuple(memory for memory in catalog if memory.int >> shift == first)
        case msg.ReadUsages(memories=memories):
            return catalog.usages(memories)
        case msg.ReadLive(memories=memories):
            seqs = dict.fromkeys(_live_entry(catalog, memory).seq for memory in memories)
            found = {envelope.seq: envelope for envelope in log.get(seqs)}
            return tuple(found[seq] for seq in seqs)
        case msg.ReadHistory(memory=memory):
            return tuple(log.get(catalog.get(_known(catalog, memory)).events))
        case msg.ReadEvents(seqs=seqs):
            return tuple(log.get(seqs))
        case msg.ReadLater(stored_until=seq, moves=moves):
            moved = _moved_after(log, catalog, seq) if moves else ()
            return tuple(sorted((*_erased_after(log, catalog, seq), *moved), key=lambda one: one.seq))
        case msg.ReadStatus():
            return _status(log, catalog, declared)
        case _:
            assert_never(message)


def _known(catalog: Catalog, memory: UUID) -> UUID:
    if memory not in catalog:
        raise NotFoundFault(f"Memory not found: {memory}", id=str(memory))
    return memory


def _live_entry(catalog: Catalog, memory: UUID) -> Entry:
    entry = catalog.resolve(_known(catalog, memory))
    if entry.state is not MemoryState.LIVE:
        raise NotFoundFault(f"Memory is {entry.state.value}: {entry.id}", id=str(entry.id))
    return entry


def _erased_after(log: Log, catalog: Catalog, seq: int) -> tuple[Envelope, ...]:
    gone = {entry.id: entry for entry in catalog.erased() if entry.seq <= seq}
    later = log.get([event for entry in gone.values() for event in entry.events if event > seq])
    # The erasure of a memory is an event of its survivor too, which may have been stored before it.
    return tuple(one for one in later if isinstance(one.event, MemoryErased) and one.event.memory in gone)


def _moved_after(log: Log, catalog: Catalog, seq: int) -> Iterator[Envelope]:
    stored = {entry.id: entry for entry in catalog.moved() if entry.seq <= seq}
    for one in log.get({event for entry in stored.values() for event in entry.events if event > seq}):
        if isinstance(one.event, MemoriesMoved):
            memories = tuple(memory for memory in one.event.memories if memory in stored)
            yield replace(one, event=replace(one.event, run=None, memories=memories))


def _status(log: Log, catalog: Catalog, declared: SpacesDeclared | None) -> msg.Status:
    states = catalog.states()
    lost = sum(entry.is_lost for entry in catalog.erased())
    states[MemoryState.ERASED] -= lost
    return msg.Status(
        memories={state.value: states[state] for state in MemoryState} | {"lost": lost},
        namespaces=dict(catalog.namespaces()),
        head=log.head,
        declared=declared,
        read_only=log.read_only,
    )


def find_request(log: Log, catalog: Catalog, key: UUID) -> msg.RequestResult | None:
    """Return what an earlier request with this key appended, if there was one."""
    events = tuple(log.get(catalog.requested(key)))
    return request_result(catalog, events, repeated=True) if events else None


def request_result(
    catalog: Catalog, events: tuple[Envelope, ...], similar: tuple[msg.Similar, ...] = (), *, repeated: bool = False
) -> msg.RequestResult:
    """Return the result of a request, with the oldest live memory of the same content."""
    first = events[0]
    oldest = None
    if isinstance(first.event, MemoryStored):
        oldest = next(catalog.by_sha(first.event.sha256, first.event.namespace, first.event.image), None)
    twin = None if oldest == first.id else oldest
    return msg.RequestResult(events=events, duplicate_of=twin, repeated=repeated, similar=similar)


def same_models(declared: SpacesDeclared, wanted: SpacesDeclared) -> bool:
    """Tell whether a store was made with these models, rather than with some that they can follow (`StorageFault`)."""
    pairs = list(zip(wanted.spaces, declared.spaces, strict=True))
    if wanted.profile != declared.profile or not all(new.can_follow(old) for new, old in pairs):
        raise other_models(declared, wanted)
    return all(new.sha256 == old.sha256 for new, old in pairs)


def other_models(declared: SpacesDeclared, wanted: SpacesDeclared) -> StorageFault:
    """Return the fault of a store that was made with other models."""
    ours = {space.key: space for space in declared.spaces}
    changed = [space.key for space in wanted.spaces if not ((old := ours.get(space.key)) and space.can_follow(old))]
    filled = f"fills {', '.join(changed) or 'the spaces'} differently, and vectors of two models never meet"
    model = wanted.profile if wanted.profile in [*ModelProfile] else "MODEL"
    remake = f"make a store with the new models by: context-graph reembed NEW_FOLDER --embedder {model}"
    if declared.profile == wanted.profile:
        return StorageFault(
            f"the profile '{wanted.profile}' of this store has other model files now, with which it {filled}. "
            f"Bring the former files back, or {remake}",
            spaces=changed,
        )
    return StorageFault(
        f"this store was made with the profile '{declared.profile}'; '{wanted.profile}' {filled}. Choose the former "
        f"by --embedder or CONTEXT_GRAPH_EMBEDDER (of a model's folder the name counts too), or {remake}",
        spaces=changed,
    )


def compare_alike(message: msg.Append, catalog: Catalog) -> tuple[list[MemorySuperseded], list[msg.Similar]]:
    """Return what a new memory supersedes by its text, and what else it is alike; all of it still holds.

    Only a statement of the same speaker is superseded. A copy of the new memory is neither. Of several copies of
    another text only the first is returned.
    """
    superseded: list[MemorySuperseded] = []
    similar: list[msg.Similar] = []
    stored = message.event
    if not (message.alike and isinstance(stored, MemoryStored)):
        return superseded, similar
    later, said_by = decompress(stored.content), stored.metadata.get("speaker")
    for memory, similarity in message.alike:
        earlier, speaker = catalog.utterance(memory) or (None, None)
        if earlier is None:
            continue
        found = find_correction_in(earlier, later, speaker, similarity) if speaker == said_by else None
        if found:
            superseded.append(
                MemorySuperseded(memory=memory, by=message.id, rule=found.rule, was=found.was, now=found.now)
            )
        elif earlier not in {later, *(one.text for one in similar)}:
            similar.append(msg.Similar(memory=memory, text=earlier, similarity=similarity))
    return superseded, similar
