"""Import and export: memories as plain values, into a store and out of one."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any
from uuid import UUID, uuid5

from msgspec import Meta

from actors.api.context import Context, describe, wait_until_replayed
from actors.api.operations.ingest import IngestItem, Outcome, StoredMemory, ingest
from actors.api.operations.memories import item_report
from actors.api.params.fields import DEFAULT_NAMESPACE, MAX_BATCH, Namespace, Reading
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import Params, parse
from actors.api.responses import memories
from actors.comparator.messages import ListMemories
from actors.runtime.ask import ask
from actors.runtime.faults import Fault, InvalidParamsFault, NotFoundFault
from actors.runtime.types import JsonObject
from projections.projection import MemoryState

IMPORTED = UUID("7a5e3f0c-3d5b-5c51-9d0b-6c1f2f6f4a27")
"""The namespace of idempotency keys of imports (UUID version 5): a key is derived from all that the item says, its id
included, and known for ever (`projections.memories.requests`)."""

PAGE = 1_000
"""Memories on a page of an export at most."""
PAGE_CHARACTERS = 1_000_000
"""Characters of content after which a page ends sooner."""
DESCRIBED = 100
"""Memories that are looked up at once."""


class MemoryImport(Params, frozen=True, kw_only=True):
    """Arguments of `memory/import`: what `store_memory` takes, and the `id` under which each was exported."""

    items: Annotated[tuple[Any, ...], Meta(min_length=1, max_length=MAX_BATCH)]


class MemoryExport(Reading, frozen=True, kw_only=True):
    """Arguments of `memory/export`: one page of a namespace."""

    namespace: Namespace = DEFAULT_NAMESPACE
    after: UUID | None = None
    """The last memory of the page before; the first page without."""


async def memory_import(context: Context, params: MemoryImport) -> JsonObject:
    """Store memories in their order; an item that was imported before, word for word, isn't stored again."""
    reports: dict[int, JsonObject] = {}
    items: dict[UUID, IngestItem] = {}
    indexes: dict[UUID, list[int]] = {}
    for index, item in enumerate(params.items):
        try:
            parsed = _parse_item(item)
        except Fault as fault:
            reports[index] = memories.item(index, fault=fault)
        else:
            key = _key(item)
            items.setdefault(key, IngestItem(parsed, key))
            indexes.setdefault(key, []).append(index)
    keys = list(items)

    async def report(place: int, outcome: Outcome) -> None:
        repeated = isinstance(outcome, StoredMemory) and outcome.repeated
        for index in indexes[keys[place]]:
            reports[index] = item_report(index, outcome) | ({"stored_before": True} if repeated else {})
            repeated = isinstance(outcome, StoredMemory)  # an equal item of the same batch
        await context.progress(len(reports), len(params.items), "memories stored")

    await ingest(context, list(items.values()), report, look_up=True)
    results = [reports[index] for index in range(len(params.items))]
    return {
        "stored": sum(one["success"] and "stored_before" not in one for one in results),
        "stored_before": sum("stored_before" in one for one in results),
        "failed": sum(not one["success"] for one in results),
        "results": results,
    }


async def memory_export(context: Context, params: MemoryExport) -> JsonObject:
    """Return the live memories of a namespace in the order in which they were stored, page by page."""
    await wait_until_replayed(context)
    # Forgotten memories too, so that a page can follow one that was forgotten meanwhile.
    listed = await ask(context.hub.comparator, ListMemories(namespace=params.namespace, forgotten=True))
    end = 0
    if params.after is not None:
        if params.after not in listed:
            raise NotFoundFault(f"Memory not found: {params.after}", id=str(params.after))
        end = listed.index(params.after) + 1
    page: list[JsonObject] = []
    room = PAGE_CHARACTERS
    while end < len(listed) and len(page) < PAGE and room > 0:
        wanted = listed[end : end + DESCRIBED]
        for memory, entry in zip(wanted, await describe(context, *wanted), strict=True):
            if entry.id == memory and entry.state is MemoryState.LIVE:  # a merged memory stands in its survivor
                page.append(memories.exported(entry))
                room -= len(page[-1]["content"])
        end += len(wanted)
    following = {"next_after": str(listed[end - 1])} if end < len(listed) else {}
    return {"memories": page} | following


def _parse_item(item: object) -> StoreMemory:
    if not isinstance(item, dict):
        raise InvalidParamsFault(f"A memory is an object, not {type(item).__name__}", parameter="items")
    named = item.get("id")
    if named is not None and not isinstance(named, str):
        raise InvalidParamsFault("Invalid 'id': not a text", parameter="id")
    return parse({name: value for name, value in item.items() if name != "id"}, StoreMemory)


def _key(item: JsonObject) -> UUID:
    """Return the idempotency key of an import, derived from its id and all else that it says."""
    canonical = json.dumps(item, sort_keys=True, separators=(",", ":")).encode()
    return uuid5(IMPORTED, hashlib.sha256(canonical).hexdigest())
