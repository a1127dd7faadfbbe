"""Operations that keep, forget and bring back memories."""

from __future__ import annotations

from typing import Any
from uuid import uuid5

from actors.api.context import Progress, erased, silent
from actors.api.idempotency import KEY, used_otherwise
from actors.api.operations.batch_ingest import Batching, Sent
from actors.api.operations.ingest import Arrived
from actors.api.params.memories import (
    InjectContext,
    MemoryDelete,
    MemoryInject,
    MemoryInjectBatch,
    MemoryRestore,
    StoreMemory,
)
from actors.api.params.parsing import invalid, parse
from actors.api.responses import memories
from actors.runtime.faults import Fault, InvalidParamsFault, NotFoundFault
from events.storage.log import Envelope
from events.vocabulary import MemoryErased, MemoryForgotten, MemoryRestored
from projections.memories.catalog import Entry
from projections.projection import MemoryState


class Storing(Batching):
    """Keeping memories, and letting go of them."""

    async def store_memory(self, params: StoreMemory, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory (seed 001); `duplicate_of` names the oldest live memory of the same content."""
        return memories.stored(*(await self.keep(params, progress))[:4])

    async def inject_context(self, params: InjectContext, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory and say what it taught (seed 004)."""
        memory, stored, milliseconds, twin, _ = await self.keep(params, progress)
        kept = memories.stored(memory, stored, milliseconds, twin)
        return (
            kept
            | {"rationale": params.rationale, "utl": memories.learning(stored.learning)}
            | memories.learning_inputs(stored.learning)
        )

    async def memory_inject(self, params: MemoryInject, progress: Progress = silent) -> dict[str, Any]:
        """Store a memory and summarise it space by space (seed 000)."""
        arrived = await self.keep(params.to_store_memory(), progress)
        return memories.injected(arrived.memory, arrived.stored, arrived.twin)

    async def memory_inject_batch(self, params: MemoryInjectBatch, progress: Progress = silent) -> dict[str, Any]:
        """Store up to 100 memories in their order; what is wrong with one is told of that one (seed 000)."""
        key = KEY.get()
        sound: dict[int, Sent] = {}
        reports: dict[int, dict[str, Any]] = {}
        for index, item in enumerate(params.items):
            try:
                sound[index] = Sent(_item(item).to_store_memory(), key and uuid5(key, str(index)))
            except Fault as fault:
                reports[index] = memories.item(index, fault=fault)
        await self.ready(progress)
        places = list(sound)

        async def told(place: int, outcome: Arrived | Fault) -> None:
            index = places[place]
            if isinstance(outcome, Fault):
                reports[index] = memories.item(index, fault=outcome)
            else:
                reports[index] = memories.item(index, outcome.memory, twin=outcome.twin)
            await progress(len(reports), len(params.items), "memories stored")

        await self.keep_together(list(sound.values()), told)
        results = [reports[index] for index in range(len(params.items))]
        succeeded = sum(report["success"] for report in results)
        return {"succeeded": succeeded, "failed": len(results) - succeeded, "results": results}

    async def memory_delete(self, params: MemoryDelete, _progress: Progress = silent) -> dict[str, Any]:
        """Forget a memory, or erase it for good."""
        await self.replayed()
        (entry,) = await self.describe(params.id)
        if before := await self.done_before():
            return _deleted(params, entry, before)
        if entry.state is MemoryState.ERASED or (params.soft and entry.state is MemoryState.FORGOTTEN):
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
        if entry.state is MemoryState.ERASED:
            raise erased(entry)
        if entry.state is MemoryState.LIVE:
            raise invalid("id", f"memory {params.id} is not forgotten: there is nothing to restore", id=str(params.id))
        await self.append(MemoryRestored(memory=entry.id))
        return answer


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
