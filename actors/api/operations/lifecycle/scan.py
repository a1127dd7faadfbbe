"""Scan: find secrets in stored memories, and replace these memories by redacted ones."""

from uuid import UUID

import msgspec

from actors.api.context import Context, append
from actors.api.operations.ingest import images
from actors.api.operations.ingest.pending_memory import STORED_AS_GIVEN, IngestItem
from actors.api.operations.ingest.pipeline import ingest_one
from actors.api.operations.ingest.screening import screened, secrets_in
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import Params
from actors.comparator.messages import ReadLinks
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.store.messages import FindMemories, ReadEvents, ReadStatus
from events.vocabulary import MemoriesLinked, MemoryErased, MemoryForgotten, MemoryStored, MemorySuperseded
from events.vocabulary.codec import decompress
from projections.graph.relations import CLUSTER, NEXT
from projections.projection import MemoryState

EVENTS = 500
"""Events that a page looks at."""
REDACTION = "redaction"
"""The rule by which a redacted memory takes over what its original superseded, and what superseded it."""
REASON = "replaced by a redacted memory: it held a secret"


class StoreScan(Params, frozen=True, kw_only=True):
    """Arguments of `store/scan`: one page of the memories in all namespaces that the hub serves."""

    after: int = 0
    """`next_after` of the page before."""
    redact: bool = False


async def store_scan(context: Context, params: StoreScan) -> JsonObject:
    """Return the memories that hold secrets, also forgotten and merged ones, page by page.

    With `redact`, each live, forgotten or pruned one gets a redacted successor with its circumstances and links, and
    the original is erased. Of a merged one its survivor is the successor.
    """
    last = (await ask(context.hub.store, ReadStatus())).head.seq
    end = min(last, params.after + EVENTS)
    envelopes = await ask(context.hub.store, ReadEvents(seqs=tuple(range(params.after + 1, end + 1))))
    seen = await context.visible_among({one.id for one in envelopes if isinstance(one.event, MemoryStored)})
    found: list[JsonObject] = []
    scanned = 0
    for envelope in envelopes:
        if isinstance(envelope.event, MemoryStored) and envelope.id in seen:
            scanned += 1
            stored = _as_given(envelope.event)
            if secrets := secrets_in(stored).get("secrets"):
                report = {"id": str(envelope.id), "namespace": stored.namespace, "secrets": secrets}
                found.append(report | (await _replace(context, envelope.id, stored) if params.redact else {}))
    await context.progress(end, last, "events scanned")
    following = {"next_after": end} if end < last else {}
    return {"scanned": scanned, "found": found} | following


async def _replace(context: Context, memory: UUID, stored: StoreMemory) -> JsonObject:
    """Store a redacted successor of a memory, and then erase the memory."""
    (entry,) = await ask(context.hub.store, FindMemories(memories=(memory,)))
    if entry is None or entry.state is MemoryState.ERASED:
        return {}
    erasures = [MemoryErased(memory=one, reason=REASON) for one in (*entry.lineage, memory)]
    if entry.state is MemoryState.MERGED:
        await append(context, *erasures)
        return {"successor": str(entry.merged_into)}
    clean = screened(msgspec.structs.replace(stored, redact=True))
    edges = await ask(context.hub.comparator, ReadLinks(memory=memory))
    image = await images.data_uri(context, entry)
    successor = await ingest_one(context, IngestItem(msgspec.structs.replace(clean, link_to=(), image=image), links=()))
    links = [
        MemoriesLinked(
            source=successor.id if link.source == memory else link.source,
            targets=(successor.id if link.target == memory else link.target,),
            relation=link.relation,
            weight=link.weight,
        )
        for link in (*edges.outgoing, *edges.incoming)
        if link.relation not in {NEXT, CLUSTER}
    ]
    versions = [(one, successor.id) for one in entry.supersedes]
    versions += [(successor.id, entry.superseded_by)] if entry.superseded_by else []
    superseded = [MemorySuperseded(memory=memory, by=by, rule=REDACTION) for memory, by in versions]
    hidden = entry.state in {MemoryState.FORGOTTEN, MemoryState.PRUNED}
    forgotten = [MemoryForgotten(memory=successor.id, reason=entry.reason)] if hidden else []
    await append(context, *links, *superseded, *forgotten, *erasures)
    return {"successor": str(successor.id)}


def _as_given(stored: MemoryStored) -> StoreMemory:
    return StoreMemory(
        content=decompress(stored.content),
        created_at=stored.said_at.isoformat(),
        **{name: getattr(stored, name) for name in ("importance", *STORED_AS_GIVEN)},
    )
