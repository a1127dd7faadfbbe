"""Operations that carry memories out of a store and into another one."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any
from uuid import UUID, uuid5

from msgspec import Meta

from actors.api.context import Progress, silent
from actors.api.operations.batch_ingest import Batching, Sent
from actors.api.operations.ingest import Arrived
from actors.api.params.fields import DEFAULT_NAMESPACE, MAX_BATCH, Namespace
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import Params, parse
from actors.api.responses import memories
from actors.comparator.messages import ListMemories
from actors.runtime.faults import Fault, InvalidParamsFault, NotFoundFault
from projections.projection import MemoryState

IMPORTED = UUID("7a5e3f0c-3d5b-5c51-9d0b-6c1f2f6f4a27")
"""The namespace of keys of imported memories (RFC 9562, version 5)."""

PAGE = 1_000
"""Memories that are exported at once."""
ROOM = 1_000_000
"""Characters of content after which a page ends sooner."""
DESCRIBED = 100
"""Memories that are looked up at once."""


class MemoryImport(Params, frozen=True, kw_only=True):
    """Arguments of `memory/import`: what `store_memory` takes, and the `id` under which each was exported."""

    items: Annotated[tuple[Any, ...], Meta(min_length=1, max_length=MAX_BATCH)]


class MemoryExport(Params, frozen=True, kw_only=True):
    """Arguments of `memory/export`: one page of a namespace."""

    namespace: Namespace = DEFAULT_NAMESPACE
    after: UUID | None = None
    """The last memory of the page before; the first page without."""


class Carrying(Batching):
    """Many memories as plain values: in and out."""

    async def memory_import(self, params: MemoryImport, progress: Progress = silent) -> dict[str, Any]:
        """Store memories in their order, each once: what was imported before, word for word, isn't stored again."""
        reports: dict[int, dict[str, Any]] = {}
        sent: dict[UUID, Sent] = {}
        indexes: dict[UUID, list[int]] = {}
        for index, item in enumerate(params.items):
            try:
                one = _parsed(item)
            except Fault as fault:
                reports[index] = memories.item(index, fault=fault)
            else:
                sent.setdefault(one[0], Sent(one[1], one[0]))
                indexes.setdefault(one[0], []).append(index)
        await self.ready(progress)
        keys = list(sent)

        async def told(place: int, outcome: Arrived | Fault) -> None:
            for again, index in enumerate(indexes[keys[place]]):
                if isinstance(outcome, Fault):
                    reports[index] = memories.item(index, fault=outcome)
                else:
                    report = memories.item(index, outcome.memory, twin=outcome.twin)
                    reports[index] = report | ({"stored_before": True} if again or outcome.before else {})
            await progress(len(reports), len(params.items), "memories stored")

        await self.keep_together(list(sent.values()), told)
        results = [reports[index] for index in range(len(params.items))]
        return {
            "stored": sum(one["success"] and "stored_before" not in one for one in results),
            "stored_before": sum("stored_before" in one for one in results),
            "failed": sum(not one["success"] for one in results),
            "results": results,
        }

    async def memory_export(self, params: MemoryExport, _progress: Progress = silent) -> dict[str, Any]:
        """Return memories of a namespace that can be found, in the order in which they were stored, page by page."""
        await self.replayed()
        # Also those that were forgotten, so that a page can follow one that was forgotten meanwhile.
        listed: tuple[UUID, ...] = await self.ask(
            self.hub.comparator, ListMemories(namespace=params.namespace, forgotten=True)
        )
        start = 0
        if params.after is not None:
            if params.after not in listed:
                raise NotFoundFault(f"Memory not found: {params.after}", id=str(params.after))
            start = listed.index(params.after) + 1
        page: list[dict[str, Any]] = []
        room, end = ROOM, start
        while end < len(listed) and len(page) < PAGE and room > 0:
            entries = await self.describe(*listed[end : end + DESCRIBED])
            for memory, entry in zip(listed[end : end + DESCRIBED], entries, strict=True):
                if (
                    entry.id == memory and entry.state is MemoryState.LIVE
                ):  # not for another one that it was merged into
                    page.append(memories.exported(entry))
                    room -= len(page[-1]["content"])
            end += len(entries)
        following = {"next_after": str(listed[end - 1])} if end < len(listed) else {}
        return {"memories": page} | following


def _parsed(item: Any) -> tuple[UUID, StoreMemory]:
    """Return what is to be stored, and the key that makes it once: of all that the item says, its id included."""
    if not isinstance(item, dict):
        raise InvalidParamsFault(f"A memory is an object, not {type(item).__name__}", parameter="items")
    named = item.get("id")
    if named is not None and not isinstance(named, str):
        raise InvalidParamsFault("Invalid 'id': not a text", parameter="id")
    params = parse({name: value for name, value in item.items() if name != "id"}, StoreMemory)
    said = json.dumps(item, sort_keys=True, separators=(",", ":")).encode()
    return uuid5(IMPORTED, hashlib.sha256(said).hexdigest()), params
