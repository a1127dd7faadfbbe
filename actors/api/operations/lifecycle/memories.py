"""Operations on single memories and batches: store, retrieve, delete, restore."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid5

from actors.api.answers import iso, learning, learning_inputs, rounded
from actors.api.confinement import confine_item
from actors.api.context import Context, append, cut_to_visible, erased_fault, find_request, read_entry
from actors.api.idempotency import key_conflict
from actors.api.operations.ingest.pending_memory import clamped
from actors.api.operations.ingest.pipeline import IngestItem, Outcome, StoredMemory, ingest, ingest_one
from actors.api.operations.ingest.screening import secrets_in
from actors.api.operations.lifecycle.versions import supersessions_of, versions_of
from actors.api.params.embeddings import shape
from actors.api.params.memories import (
    InjectContext,
    MemoryDelete,
    MemoryInject,
    MemoryInjectBatch,
    MemoryRestore,
    MemoryTag,
    StoreMemory,
)
from actors.api.params.parsing import invalid, parse
from actors.runtime.ask import ask
from actors.runtime.faults import Fault, InvalidParamsFault, NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import Describe, FindCopies, RequestResult
from events.spaces import SPACES
from events.vocabulary import MemoryErased, MemoryForgotten, MemoryReinstated, MemoryRestored, MemoryTagged
from projections.memories.catalog import Entry
from projections.projection import MemoryState

AHEAD = timedelta(days=1)
"""How far `created_at` may be ahead of the clock: clocks differ, and a time without a zone may be another zone's."""


async def store_memory(context: Context, params: StoreMemory) -> JsonObject:
    """Store a memory; `duplicate_of` names the oldest live memory of the same content."""
    stored, remarks = await _store(context, params)
    return _stored_fields(stored) | remarks


async def _store(context: Context, params: StoreMemory) -> tuple[StoredMemory, JsonObject]:
    """Store a memory; return it, and what the caller should know of it and of the memories on the same matter."""
    stored = await ingest_one(context, _new_item(context, params, context.key))
    return stored, _remarks(params) | await versions_of(context, stored)


def _remarks(params: StoreMemory) -> JsonObject:
    """Return what the caller should know of the parameters of a stored memory: secrets, and an importance beyond 1."""
    kept = clamped(params.importance)
    hint = f"importance is 0 to 1: {params.importance:g} counts as {kept:g}"
    return secrets_in(params) | ({} if kept == params.importance else {"hint": hint})


async def inject_context(context: Context, params: InjectContext) -> JsonObject:
    """Store a memory and return its judgement: how new it is and how well it ties in."""
    stored, remarks = await _store(context, params)
    values = stored.event.learning
    judged = {"rationale": params.rationale, "utl": learning(values)} | learning_inputs(values)
    return _stored_fields(stored) | judged | remarks


async def memory_inject(context: Context, params: MemoryInject) -> JsonObject:
    """Store a memory and return its summary space by space."""
    stored, remarks = await _store(context, params)
    event = stored.event
    summary = {
        space.key: {
            **shape(event.fingerprint[space.key]),
            "quadrant": row.quadrant.value,
            "entropy": rounded(event.learning.delta_s[index]),
            "coherence": rounded(event.learning.delta_c[index]),
            "alignment": rounded(event.purpose[index]),
        }
        for index, (space, row) in enumerate(zip(SPACES, event.johari, strict=True))
    }
    return {
        "memory_id": str(stored.id),
        "embedders_generated": len(event.fingerprint.embeddings),
        "created_at": iso(event.said_at),
        "teleological_summary": summary,
        **_duplicate_of(stored.duplicate_of),
        **remarks,
    }


async def memory_inject_batch(context: Context, params: MemoryInjectBatch) -> JsonObject:
    """Store up to 100 memories in their order; each failure concerns its own item alone."""
    items: dict[int, IngestItem] = {}
    reports: dict[int, JsonObject] = {}
    for index, item in enumerate(params.items):
        try:
            wanted = await confine_item(context, _parse_item(context, item))
            key = context.key and uuid5(context.key, str(index))
            items[index] = _new_item(context, wanted, key)
        except Fault as fault:
            reports[index] = item_report(index, fault)

    async def report(index: int, outcome: Outcome) -> None:
        reports[index] = item_report(index, outcome)
        if not isinstance(outcome, Fault):
            reports[index] |= _remarks(items[index].params) | await supersessions_of(context, outcome)
        await context.progress(len(reports), len(params.items), "memories stored")

    await ingest(context, items, report)
    results = [reports[index] for index in range(len(params.items))]
    succeeded = sum(one["success"] for one in results)
    return {"succeeded": succeeded, "failed": len(results) - succeeded, "results": results}


def item_report(index: int, outcome: Outcome | UUID) -> JsonObject:
    """Return the report on one item of a batch: the id of its memory, or its error."""
    if isinstance(outcome, Fault):
        error = {"code": outcome.code, "message": outcome.message, "data": outcome.data}
        return {"index": index, "success": False, "error": error}
    memory, twin = (outcome, None) if isinstance(outcome, UUID) else (outcome.id, outcome.duplicate_of)
    answer = {"index": index, "success": True, "memory_id": str(memory), "fingerprintId": str(memory)}
    return answer | _duplicate_of(twin)


def _new_item(context: Context, params: StoreMemory, key: UUID | None) -> IngestItem:
    """Return a memory to be stored; refuse a time in the future, which an import keeps: it is that of a source."""
    now = context.now()
    if context.parse_time(params.created_at, "created_at") - now > AHEAD:
        problem = f"{params.created_at} is more than a day ahead of the clock of the store, {now.isoformat()}"
        raise invalid("created_at", problem)
    return IngestItem(params, key)


def _stored_fields(stored: StoredMemory) -> JsonObject:
    return {
        "fingerprintId": str(stored.id),
        "embedderCount": len(stored.event.fingerprint.embeddings),
        "embeddingLatencyMs": round(stored.embedding_ms),
        "createdAt": iso(stored.event.said_at),
    } | _duplicate_of(stored.duplicate_of)


def _duplicate_of(twin: UUID | None) -> dict[str, str]:
    return {"duplicate_of": str(twin)} if twin else {}


async def memory_delete(context: Context, params: MemoryDelete) -> JsonObject:
    """Forget a memory, or erase it for good."""
    entry = await read_entry(context, params.id)
    if earlier := await find_request(context):
        gone = _deleted_earlier(params, entry, earlier)
    elif entry.state is MemoryState.ERASED or (params.soft and entry.state is MemoryState.FORGOTTEN):
        raise NotFoundFault(f"Memory is already {entry.state.value}: {params.id}", id=str(params.id))
    else:
        gone = (*entry.lineage, entry.id)
    seen = await context.visible_among(gone)
    if earlier is None:
        # An erasure concerns the text, which stands in the memories that this one absorbed as well, seen or not.
        kind, memories = (MemoryForgotten, [entry.id]) if params.soft else (MemoryErased, gone)
        await append(context, *(kind(memory=memory, reason=params.reason) for memory in memories))
    answer = {"fingerprintId": str(params.id), "deleted": True, "deleteType": "soft" if params.soft else "hard"}
    others = [str(one) for one in gone if one in seen and one != params.id]
    return answer | ({"deletedWith": others} if others else {})


async def memory_restore(context: Context, params: MemoryRestore) -> JsonObject:
    """Restore a memory that was hidden, or let one hold again that was superseded; the answer says which.

    Copies of it that the same memory superseded hold again with it, since they say the same. A hidden memory that was
    superseded as well comes back superseded. A repeated request doesn't say what superseded a memory before it held
    again.
    """
    entry = await read_entry(context, params.id)
    (shown,) = await cut_to_visible(context, [entry])
    answer: JsonObject = {"fingerprintId": str(params.id), "restored": True}
    by = {} if shown.superseded_by is None else {"superseded_by": str(shown.superseded_by)}
    if earlier := await find_request(context):
        if earlier.events[0].event not in {MemoryRestored(memory=entry.id), MemoryReinstated(memory=entry.id)}:
            raise key_conflict()
        return answer | by
    if entry.state is MemoryState.ERASED:
        raise erased_fault(entry)
    if entry.state is not MemoryState.LIVE:
        await append(context, MemoryRestored(memory=entry.id))
        return answer | by
    if not by:
        problem = f"memory {params.id} is neither forgotten nor superseded: there is nothing to restore"
        raise invalid("id", problem, id=str(params.id))
    copies = await ask(context.hub.store, FindCopies(memory=entry.id))
    others = [one for one in copies if one.superseded_by == entry.superseded_by and one.id != entry.id]
    reinstated = (memory for one in (entry, *others) for memory in (one.id, *one.lineage))
    await append(context, *(MemoryReinstated(memory=one) for one in reinstated))
    restored_with = {"restoredWith": [str(one.id) for one in others]} if others else {}
    return answer | {"was_superseded_by": str(shown.superseded_by)} | restored_with


async def memory_tag(context: Context, params: MemoryTag) -> JsonObject:
    """Replace the tags of a memory, also where it has them from a copy that it absorbed."""
    entry = await read_entry(context, params.id)
    if entry.body is None:
        raise erased_fault(entry)
    wanted = tuple(dict.fromkeys(params.tags))
    if earlier := await find_request(context):
        first = earlier.events[0].event
        if not isinstance(first, MemoryTagged) or (first.memory, first.tags) != (entry.id, wanted):
            raise key_conflict()
        return {"fingerprintId": str(params.id), "tags": list(wanted), "before": list(first.was)}
    if wanted != entry.body.tags:
        copies = await ask(context.hub.store, Describe(memories=entry.lineage, own=True))
        edits = [MemoryTagged(memory=entry.id, tags=wanted, was=entry.body.tags)]
        for copy in copies:
            had = copy.body.tags if copy.body else ()
            left = tuple(tag for tag in had if tag in wanted)
            if left != had:
                edits.append(MemoryTagged(memory=copy.id, tags=left, was=had))
        await append(context, *edits)
    return {"fingerprintId": str(params.id), "tags": list(wanted), "before": list(entry.body.tags)}


def _deleted_earlier(params: MemoryDelete, entry: Entry, earlier: RequestResult) -> Sequence[UUID]:
    """Return what an earlier request with the same key deleted; refuse a key of another request."""
    kind = MemoryForgotten if params.soft else MemoryErased
    events = [envelope.event for envelope in earlier.events]
    gone = [event.memory for event in events if isinstance(event, kind) and event.reason == params.reason]
    if len(gone) != len(events) or not {params.id, entry.id} & {*gone}:
        raise key_conflict()
    return (*entry.lineage, entry.id) if params.soft else gone


def _parse_item(context: Context, item: object) -> MemoryInject:
    given = {"content": item} if isinstance(item, str) else item
    if not isinstance(given, dict):
        raise InvalidParamsFault(f"An item is a text or an object, not {type(item).__name__}", parameter="items")
    return parse(context.in_project(MemoryInject, given), MemoryInject)
