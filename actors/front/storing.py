"""Operations that keep, forget and bring back memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from uuid import UUID, uuid4, uuid5

import anyio

from actors.faults import Fault, InvalidParamsFault, NotFoundFault, StorageFault
from actors.front.access import Access, Progress, check_live, correlation, erased, silent, told_from_thread
from actors.front.answers import memories
from actors.front.once import KEY, used_otherwise
from actors.front.parsing import invalid, parse
from actors.front.schemas import (
    InjectContext,
    MemoryDelete,
    MemoryInject,
    MemoryInjectBatch,
    MemoryRestore,
    StoreMemory,
)
from actors.messages.embedder import EmbeddedMemory, EmbedMemory
from actors.messages.store import Append, FindContent, Read
from actors.messages.workspace import Judge, Judgement
from events.codec import compress, decompress
from events.fingerprint import Fingerprint
from events.log import Envelope
from events.vocabulary import Event, MemoriesLinked, MemoryErased, MemoryForgotten, MemoryRestored, MemoryStored
from projections.catalog import Entry
from projections.links import CAUSES, LINK_TO
from projections.projection import State, is_shredded_memory

AT_ONCE = 8
"""Items of a batch that are under way together: enough to share forward passes and commits, and few enough that the
first of a hundred long ones is stored, and told, long before the last."""

LINK_WEIGHT = 1.0
"""Of an edge that an agent drew."""

KEPT = ("namespace", "session", "modality", "tags", "rationale", "memory_type", "metadata")
"""Parameters that are stored as they are."""


class Storing(Access):
    """Keeping memories, and letting go of them."""

    async def store_memory(self, params: StoreMemory, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory (seed 001); `duplicate_of` names the oldest live memory of the same content."""
        return memories.kept(*await self._store(params, progress))

    async def inject_context(self, params: InjectContext, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory and say what it taught (seed 004)."""
        memory, stored, milliseconds, twin = await self._store(params, progress)
        kept = memories.kept(memory, stored, milliseconds, twin)
        return (
            kept
            | {"rationale": params.rationale, "utl": memories.learning(stored.learning)}
            | memories.circumstances(stored.learning)
        )

    async def memory_inject(self, params: MemoryInject, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory and summarise it space by space (seed 000)."""
        memory, stored, _, twin = await self._store(params.kept(), progress)
        return memories.injected(memory, stored, twin)

    async def memory_inject_batch(self, params: MemoryInjectBatch, progress: Progress = silent) -> dict[str, Any]:
        """Store up to 100 memories side by side; what is wrong with one is told of that one (seed 000).

        Turns of one session are stored in their order, one after the other.
        """
        reports: list[dict[str, Any]] = [{}] * len(params.items)
        sound: list[tuple[int, MemoryInject]] = []
        for index, item in enumerate(params.items):
            try:
                sound.append((index, _item(item)))
            except Fault as fault:
                reports[index] = memories.item(index, fault=fault)
        await self.ready(progress)
        done = len(params.items) - len(sound)
        key = KEY.get()
        slot = anyio.CapacityLimiter(AT_ONCE)

        async def keep(chain: list[tuple[int, MemoryInject]]) -> None:
            nonlocal done
            async with slot:
                for index, one in chain:
                    KEY.set(key and uuid5(key, str(index)))
                    try:
                        memory, _, _, twin = await self._store(one.kept(), silent)
                        reports[index] = memories.item(index, memory, twin=twin)
                    except Fault as fault:
                        reports[index] = memories.item(index, fault=fault)
                    done += 1
                    await progress(done, len(params.items), "memories stored")

        async with anyio.create_task_group() as group:
            for chain in _chains(sound):
                group.start_soon(keep, chain)
        succeeded = sum(report["success"] for report in reports)
        return {"succeeded": succeeded, "failed": len(reports) - succeeded, "results": reports}

    async def memory_delete(self, params: MemoryDelete, _progress: Progress = silent) -> dict[str, Any]:
        """Forget a memory, or erase it for good."""
        await self.replayed()
        (entry,) = await self.describe(params.id)
        if before := await self.done_before():
            return _deleted(params, entry, before)
        if entry.state is State.ERASED or (params.soft and entry.state is State.FORGOTTEN):
            raise NotFoundFault(f"Memory is already {entry.state.value}: {params.id}", id=str(params.id))
        gone = (*entry.lineage, entry.id)
        if params.soft:
            await self.append(MemoryForgotten(memory=entry.id, reason=params.reason))
        else:
            # Whoever destroys a memory means what it says, and that stands in those which it absorbed as well.
            await self.append(*(MemoryErased(memory=memory, reason=params.reason) for memory in gone))
        return memories.deleted(params.id, gone, soft=params.soft)

    async def memory_restore(self, params: MemoryRestore, _progress: Progress = silent) -> dict[str, Any]:
        """Bring back a memory that was forgotten or pruned."""
        await self.replayed()
        (entry,) = await self.describe(params.id)
        answer = {"fingerprintId": str(params.id), "restored": True}
        if before := await self.done_before():
            if [envelope.event for envelope in before] != [MemoryRestored(memory=entry.id)]:
                raise used_otherwise()
            return answer
        if entry.state is State.ERASED:
            raise erased(entry)
        if entry.state is State.LIVE:
            raise invalid("id", f"memory {params.id} is not forgotten: there is nothing to restore", id=str(params.id))
        await self.append(MemoryRestored(memory=entry.id))
        return answer

    async def _store(
        self, params: StoreMemory | InjectContext, progress: Progress
    ) -> tuple[UUID, MemoryStored, float, UUID | None]:
        """Store a memory; return its id, what was stored, the milliseconds of its embedding and an equal memory."""
        created_at = self.moment(params.created_at, "created_at")
        await self.ready(progress)
        if before := await self.done_before():
            return await self._stored_before(params, before)
        targets = await self._survivors(params.link_to)
        linked = await self._fingerprints(targets)
        sha256 = hashlib.sha256(params.content.encode()).digest()
        twin = await self.ask(self.hub.store, FindContent(sha256=sha256, namespace=params.namespace))
        embedded: EmbeddedMemory = await self.embed(
            EmbedMemory(
                content=params.content,
                modality=params.modality,
                created_at=created_at,
                namespace=params.namespace,
                session=params.session,
                linked=linked,
                on_progress=told_from_thread(progress, "windows embedded"),
            )
        )
        memory = uuid4()
        judgement: Judgement = await self.ask(
            self.hub.workspace,
            Judge(
                memory=memory,
                content=params.content,
                fingerprint=embedded.fingerprint,
                namespace=params.namespace,
                created_at=created_at,
            ),
        )
        stored = MemoryStored(
            content=compress(params.content),
            sha256=sha256,
            created_at=created_at,
            fingerprint=embedded.fingerprint,
            passages=embedded.passages,
            namespace=params.namespace,
            session=params.session,
            position=embedded.position,
            modality=params.modality,
            importance=_importance(params),
            tags=params.tags,
            rationale=params.rationale,
            memory_type=params.memory_type,
            metadata=params.metadata,
            purpose=judgement.purpose,
            north_star=judgement.north_star,
            johari=judgement.johari,
            learning=judgement.learning,
        )
        await self._append(memory, stored, tuple(_links(memory, targets, judgement)))
        return memory, stored, embedded.milliseconds, twin

    async def _stored_before(
        self, params: StoreMemory | InjectContext, before: tuple[Envelope, ...]
    ) -> tuple[UUID, MemoryStored, float, UUID | None]:
        """Return what `_store` returned when this was done first; nothing was embedded for it this time."""
        first = before[0]
        if is_shredded_memory(first.event):
            raise NotFoundFault(f"Memory was stored by this request, and erased since: {first.id}", id=str(first.id))
        targets = tuple(entry.id for entry in await self.describe(*params.link_to))
        linked = {target for one in before[1:] for target in _asked_for(one.event)}
        stored = first.event
        if (
            not isinstance(stored, MemoryStored)
            or linked not in ({*targets}, {*params.link_to})
            or (params.created_at is not None and self.moment(params.created_at, "created_at") != stored.created_at)
            or any(getattr(params, name) != getattr(stored, name) for name in KEPT)
            or (decompress(stored.content), stored.importance) != (params.content, _importance(params))
        ):
            raise used_otherwise()
        twin = await self.ask(self.hub.store, FindContent(sha256=stored.sha256, namespace=stored.namespace))
        return first.id, stored, 0.0, None if twin == first.id else twin

    async def _append(self, memory: UUID, stored: MemoryStored, links: tuple[MemoriesLinked, ...]) -> None:
        """Append a memory with its links, and read it back by another way before anybody is told."""
        await self.ask(
            self.hub.store,
            Append(id=memory, event=stored, consequences=links, actor="front", correlation_id=correlation()),
        )
        read: Envelope = await self.ask(self.hub.store, Read(memory=memory))
        if read.event != stored:
            raise StorageFault(f"Storage failed: verification of {memory} read something else than was written")

    async def _survivors(self, memories: tuple[UUID, ...]) -> tuple[UUID, ...]:
        """Return live memories, or those that absorbed them; any other id is a `NotFoundFault`."""
        if not memories:
            return ()
        entries = await self.describe(*memories)
        for entry in entries:
            check_live(entry)
        return tuple(dict.fromkeys(entry.id for entry in entries))

    async def _fingerprints(self, memories: tuple[UUID, ...]) -> tuple[Fingerprint, ...]:
        envelopes = [await self.ask(self.hub.store, Read(memory=memory)) for memory in memories]
        return tuple(envelope.event.fingerprint for envelope in envelopes)


def _links(memory: UUID, link_to: tuple[UUID, ...], judgement: Judgement) -> Iterator[MemoriesLinked]:
    """Yield the edges that come with a new memory: those that were asked for, and the causal ones that were found."""
    if link_to:
        yield MemoriesLinked(source=memory, targets=link_to, relation=LINK_TO, weight=LINK_WEIGHT)
    for cause, weight in judgement.causes:
        yield MemoriesLinked(source=cause, targets=(memory,), relation=CAUSES, weight=weight)
    for effect, weight in judgement.effects:
        yield MemoriesLinked(source=memory, targets=(effect,), relation=CAUSES, weight=weight)


def _asked_for(event: Event) -> tuple[UUID, ...]:
    """Return the memories that an agent wanted a new one to be linked to."""
    return event.targets if isinstance(event, MemoriesLinked) and event.relation == LINK_TO else ()


def _importance(params: StoreMemory | InjectContext) -> float:
    return min(1.0, max(0.0, params.importance))


def _deleted(params: MemoryDelete, entry: Entry, before: tuple[Envelope, ...]) -> dict[str, Any]:
    """Return what was answered when a memory was deleted by this very request."""
    kind = MemoryForgotten if params.soft else MemoryErased
    events = [envelope.event for envelope in before]
    gone = [event.memory for event in events if isinstance(event, kind) and event.reason == params.reason]
    if len(gone) != len(events) or not {params.id, entry.id} & {*gone}:
        raise used_otherwise()
    return memories.deleted(params.id, (*entry.lineage, entry.id) if params.soft else gone, soft=params.soft)


def _item(item: Any) -> MemoryInject:
    """Parse one item of a batch: a text, or an object."""
    match item:
        case str():
            return parse({"content": item}, MemoryInject)
        case dict():
            return parse(item, MemoryInject)
        case _:
            raise InvalidParamsFault(f"An item is a text or an object, not {type(item).__name__}", parameter="items")


def _chains(items: list[tuple[int, MemoryInject]]) -> list[list[tuple[int, MemoryInject]]]:
    """Return what must be stored one after the other: the turns of a session; any other item stands alone."""

    def chain(numbered: tuple[int, MemoryInject]) -> tuple[str, str, int]:
        index, item = numbered
        return (item.namespace, item.session or "", -1 if item.session else index)

    return [list(group) for _, group in groupby(sorted(items, key=chain), key=chain)]
