"""Capture: store what a session said that is new, at most a dozen sentences of it."""

from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from actors.api.context import Context, wait_until_ready
from actors.api.operations.ingest.import_items import MemoryItem, parse_item
from actors.api.operations.ingest.imports import MemoryImport, memory_import
from actors.api.operations.retrieval.query import Query, embed_query
from actors.api.params.fields import MAX_BATCH
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import Params, invalid
from actors.comparator.messages import Rank
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.store.messages import FindMemories
from events.spaces import E1
from projections.atlas.facets import Filter
from projections.time.time_mentions import NO_HINTS

MAX_CAPTURED = 12
"""Sentences of one session."""
KNOWN = 0.8
"""Similarity in E1 from which a memory says the same; people grade such pairs as equivalent but for details."""


class MemoryCapture(Params, frozen=True, kw_only=True):
    """Arguments of `memory/capture`: candidates of one session, best first, as `memory/import` takes memories.

    Each has an `id` that was derived from its source.
    """

    items: Annotated[tuple[Any, ...], Meta(min_length=1, max_length=MAX_BATCH)]


async def memory_capture(context: Context, params: MemoryCapture) -> JsonObject:
    """Store the candidates that no memory of their namespace says already; those captured before count."""
    parsed = dict(map(_parse, params.items))
    if len(parsed) < len(params.items):
        raise invalid("items", "two candidates have one id")
    await wait_until_ready(context)
    before = await ask(context.hub.store, FindMemories(memories=tuple(parsed)))
    earlier = {entry.id for entry in before if entry is not None}
    captured: list[str] = []
    known = 0
    for value, (memory, candidate) in zip(params.items, parsed.items(), strict=True):
        if len(earlier) + len(captured) >= MAX_CAPTURED:
            break
        if memory in earlier:
            continue
        if await _is_known(context, candidate):
            known += 1
            continue
        answer = await memory_import(context, MemoryImport(items=(value,)))
        captured += [one["memory_id"] for one in answer["results"] if one["success"]]
    return {"captured": captured, "captured_before": len(earlier), "known": known}


def _parse(value: object) -> tuple[UUID, StoreMemory]:
    item = parse_item(value)
    if not isinstance(item, MemoryItem) or item.id is None:
        raise invalid("items", "a candidate is a memory with an id")
    return item.id, item.params


async def _is_known(context: Context, candidate: StoreMemory) -> bool:
    """Tell whether a memory of the same namespace says the same. Unlike a search, this is no recall."""
    wanted = Filter(namespace=candidate.namespace)
    query = await embed_query(context, Query(candidate.content, NO_HINTS, {}, wanted, context.now()))
    found = await ask(
        context.hub.comparator,
        Rank(embeddings={E1: query.embeddings[E1]}, weights={E1: 1.0}, filter=wanted, limit=1, min_similarity=KNOWN),
    )
    return bool(found.matches)
