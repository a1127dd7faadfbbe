"""Export: the live memories of a namespace page by page, or all that a store knows of its memories, event by event."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args
from uuid import UUID

import msgspec

from actors.api.answers import body_of, iso, stored_params
from actors.api.context import Context, describe
from actors.api.operations.ingest import images
from actors.api.params.embeddings import encode, with_graph
from actors.api.params.fields import DEFAULT_NAMESPACE, Namespace, Reading
from actors.comparator.messages import ListMemories, ReadLinks
from actors.consolidator.messages import ReadRuns
from actors.exporters.history import Carried, changed_by, mentioned, without
from actors.runtime.ask import ask
from actors.runtime.faults import NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import FindMemories, FindRequests, ReadEvents, ReadStatus
from events import vocabulary as ev
from events.storage.log import Envelope
from projections.memories.entries import Body, Entry
from projections.projection import MemoryState, event_name

PAGE = 1_000
"""Memories on a page at most."""
EVENTS = 500
"""Events on a page of the history at most."""
PAGE_CHARACTERS = 1_000_000
"""Characters of content after which a page ends sooner."""
DESCRIBED = 100
"""Memories that are looked up at once."""
EMBEDDED = 20
"""Memories on a page with embeddings: some 100 KB each as JSON."""
_CARRIED = get_args(Carried)
_RUN = (ev.ConsolidationStarted, ev.ConsolidationFinished, ev.ConsolidationUndone)
"""Events of a run that may name no memory."""
_NOT_COUNTED = (ev.SpacesDeclared, ev.MemoryErased, ev.MemoriesMoved, ev.Shredded)
"""Events that an export leaves out without saying so: what they are about isn't there, or each line says it."""


class MemoryExport(Reading, frozen=True, kw_only=True):
    """Arguments of `memory/export`: one page of a namespace."""

    namespace: Namespace = DEFAULT_NAMESPACE
    after: UUID | None = None
    """The last memory of the page before; the first page without."""
    include_embeddings: bool = False


class StoreExport(Reading, frozen=True, kw_only=True):
    """Arguments of `store/export`: one page of the history."""

    namespace: Namespace | None = None
    """The namespace whose memories are exported; None for all."""
    after: int = 0
    """`next_after` of the page before."""


async def _listed(context: Context, namespace: str) -> tuple[UUID, ...]:
    """Return the memories of a namespace, forgotten ones too, so that a page can follow one that was forgotten since.

    A `NotFoundFault` for one without any, whose name is misspelt; `default` may be empty.
    """
    listed = await ask(context.hub.comparator, ListMemories(namespace=namespace, forgotten=True))
    if not listed and namespace != DEFAULT_NAMESPACE:
        raise NotFoundFault(f"Namespace not found: {namespace}", namespace=namespace)
    return listed


async def memory_export(context: Context, params: MemoryExport) -> JsonObject:
    """Return the live memories of a namespace in the order in which they were stored, page by page."""
    listed = await _listed(context, params.namespace)
    end = 0
    if params.after is not None:
        if params.after not in listed:
            raise NotFoundFault(f"Memory not found: {params.after}", id=str(params.after))
        end = listed.index(params.after) + 1
    size, longest = (EMBEDDED, EMBEDDED) if params.include_embeddings else (DESCRIBED, PAGE)
    page: list[JsonObject] = []
    room = PAGE_CHARACTERS
    while end < len(listed) and len(page) < longest and room > 0:
        wanted = listed[end : end + size]
        for memory, entry in zip(wanted, await describe(context, *wanted), strict=True):
            end += 1
            if entry.id != memory or entry.state is not MemoryState.LIVE:  # a merged memory stands in its survivor
                continue
            page.append(_exported(entry, await images.data_uri(context, entry)))
            if params.include_embeddings:
                page[-1] |= await _embeddings(context, entry)
            room -= _size(page[-1])
            if room <= -PAGE_CHARACTERS:  # images; texts of one round stay below
                break
    following = {"next_after": str(listed[end - 1])} if end < len(listed) else {}
    return {"memories": page} | following


async def store_export(context: Context, params: StoreExport) -> JsonObject:
    """Return what happened to memories that aren't erased, in order, as `memory/import` takes it, page by page."""
    if params.namespace is not None:
        await _listed(context, params.namespace)
    await ask(context.hub.store, FindRequests(keys=()))  # commits events that are pending, such as recalls
    last = (await ask(context.hub.store, ReadStatus())).head.seq
    seqs = range(params.after + 1, min(last, params.after + EVENTS) + 1)
    envelopes = _whole_requests(await ask(context.hub.store, ReadEvents(seqs=tuple(seqs))), last)
    named = {id_ for one in envelopes for id_ in _named(one)}
    found = await ask(context.hub.store, FindMemories(memories=tuple(named)))
    entries = {one.id: one for one in found if one and one.body and params.namespace in {None, one.body.namespace}}
    gone = named - entries.keys()
    others = set[UUID]() if params.namespace is None else await _other_runs(context, envelopes, params.namespace)
    initial_links = _initial_links(envelopes)
    lines: list[JsonObject] = []
    left_out: Counter[str] = Counter()
    room = PAGE_CHARACTERS
    end = envelopes[-1].seq if envelopes else last
    for one in envelopes:
        if room <= 0 and one.causation_id not in initial_links:
            end = one.seq - 1
            break
        if isinstance(one.event, ev.MemoryStored):
            if entry := entries.get(one.id):
                image = await images.data_uri(context, entry)
                lines.append(_memory_line(one, one.event, entry, image, initial_links[one.id], gone))
                room -= _size(lines[-1])
        elif isinstance(one.event, ev.MemoriesLinked) and one.causation_id in initial_links:
            continue  # it is in the line of its memory
        elif isinstance(one.event, _CARRIED):
            if getattr(one.event, "run", None) not in others and (kept := without(one.event, gone)):
                lines.append({"event": msgspec.to_builtins(kept), "id": str(one.id), "at": iso(one.at)})
        elif not isinstance(one.event, _NOT_COUNTED):
            left_out[event_name(one.event)] += 1
    return {"lines": lines, "left_out": dict(left_out), "last": last} | ({"next_after": end} if end < last else {})


async def _other_runs(context: Context, envelopes: Sequence[Envelope], namespace: str) -> set[UUID]:
    """Return the runs of these events that were not over a namespace, and changed nothing of it."""
    others = set[UUID]()
    for run in {one.event.run for one in envelopes if isinstance(one.event, _RUN)}:
        (found,) = (await ask(context.hub.consolidator, ReadRuns(run=run))).runs
        changed = await ask(context.hub.store, FindMemories(memories=tuple(changed_by(found))))
        if found.params.namespace != namespace and namespace not in {
            one.body.namespace for one in changed if one and one.body
        }:
            others.add(run)
    return others


def _whole_requests(envelopes: Sequence[Envelope], last: int) -> Sequence[Envelope]:
    """Leave out the events of the last request, unless the log ends with them: a memory and its links share a page."""
    if not envelopes or envelopes[-1].seq == last:
        return envelopes
    request = envelopes[-1].correlation_id
    end = max((one.seq for one in envelopes if one.correlation_id != request), default=envelopes[-1].seq)
    return [one for one in envelopes if one.seq <= end]


def _initial_links(envelopes: Sequence[Envelope]) -> dict[UUID, list[ev.MemoriesLinked]]:
    """Return the links that each memory was stored with, of all memories that these events store."""
    links: dict[UUID, list[ev.MemoriesLinked]] = {
        one.id: [] for one in envelopes if isinstance(one.event, ev.MemoryStored)
    }
    for one in envelopes:
        cause = one.causation_id
        if isinstance(one.event, ev.MemoriesLinked) and cause is not None and cause in links:
            links[cause].append(one.event)
    return links


def _size(line: JsonObject) -> int:
    return len(line["content"]) + len(line.get("image", ""))


async def _embeddings(context: Context, entry: Entry) -> JsonObject:
    (envelope,) = await ask(context.hub.store, ReadEvents(seqs=(entry.seq,)))
    if not isinstance(envelope.event, ev.MemoryStored):  # erased meanwhile
        return {}
    graph = (await ask(context.hub.comparator, ReadLinks(memory=entry.id))).graph
    return {key: encode(one) for key, one in with_graph(envelope.event.fingerprint, graph).items()}


def _named(envelope: Envelope) -> set[UUID]:
    if isinstance(envelope.event, ev.MemoryStored):
        return {envelope.id}
    return mentioned(envelope.event) if isinstance(envelope.event, _CARRIED) else set()


def _memory_line(
    envelope: Envelope,
    stored: ev.MemoryStored,
    entry: Entry,
    image: str | None,
    links: list[ev.MemoriesLinked],
    gone: set[UUID],
) -> JsonObject:
    """Return a memory as it was stored, in its present namespace, with its initial links."""
    kept = [link for one in links if (link := without(one, gone)) is not None]
    body = Body.of(stored)  # without the tags of what it absorbed
    if entry.body is not None:
        body = msgspec.structs.replace(body, namespace=entry.body.namespace)
    own = msgspec.structs.replace(entry, body=body)
    drawn = [{name: value for name, value in msgspec.to_builtins(link).items() if name != "type"} for link in kept]
    return _exported(own, image) | {"stored_at": iso(envelope.at), "links": drawn}


def _exported(entry: Entry, image: str | None) -> JsonObject:
    """Return a memory as `memory/import` takes it, with its id, without empty fields."""
    body = body_of(entry)
    answer = {"id": str(entry.id), "content": body.text, "created_at": iso(body.said_at), **stored_params(body)}
    return {name: value for name, value in (answer | {"image": image}).items() if value not in (None, [], {})}
