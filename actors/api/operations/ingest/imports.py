"""Import: memories and events as plain values, into a store. The export is in `export`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from uuid import UUID, uuid4, uuid5

from msgspec import Meta
from msgspec.json import encode
from msgspec.structs import replace

from actors.api.confinement import check_served
from actors.api.context import NAMESPACE, Context, wait_until_ready
from actors.api.operations.administration.history import from_log
from actors.api.operations.ingest.formerly import take_back
from actors.api.operations.ingest.import_items import IMPORTED, EventItem, ImportItem, MemoryItem, parse_item
from actors.api.operations.ingest.pipeline import IngestItem, Outcome, StoredMemory, ingest
from actors.api.operations.lifecycle.memories import item_report
from actors.api.operations.mind.runs import find_run
from actors.api.params.fields import MAX_BATCH
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import Params, invalid
from actors.exporters.history import mentioned
from actors.runtime.ask import ask
from actors.runtime.faults import Fault, NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import Append, AppendMemories, FindMemories, FindRequests, RequestResult
from events.vocabulary import ConsolidationStarted, Event
from projections.memories.entries import Entry
from projections.memories.requests import DERIVED, IMPORTER
from projections.mind.runs import Run
from projections.projection import MemoryState

DIVISION = "division"
"""The field of a section's metadata that says which of how many `sections` of its text it is."""


class MemoryImport(Params, frozen=True, kw_only=True):
    """Arguments of `memory/import`.

    An item is a memory as `store_memory` takes it, with the `id`, the `stored_at` and the `links` that it was exported
    with; or an `event` about memories before it, with the time `at` which it happened. A section of a long text is
    `part_of` the first one, and isn't stored if that memory was imported when texts were divided otherwise, or not.
    A new memory supersedes the `former` ones; one that was imported before does if one of these took its place.
    """

    items: Annotated[tuple[Any, ...], Meta(min_length=1, max_length=MAX_BATCH)]


RESTORABLE: Final = frozenset((MemoryState.FORGOTTEN, MemoryState.PRUNED))
"""States of memories that `memory_restore` brings back."""


async def memory_import(context: Context, params: MemoryImport) -> JsonObject:
    """Store memories and events in their order; an item that was imported before isn't stored again.

    `hidden_before` counts those of the memories that were imported before which were forgotten or pruned since,
    `sections_before` the sections of texts that were imported before as a whole or in other sections, and `changed`
    the memories that took the place of `former` ones with another text.
    A memory keeps its id if that is a UUID. It was imported before if its id is known, and the id was derived from its
    source (version 5) or the content is the same.
    """
    await wait_until_ready(context)
    reports: dict[int, JsonObject] = {}
    group: list[tuple[int, Any]] = []
    """Of memories that don't name each other, or of events."""

    async def flush() -> None:
        if group and isinstance(group[0][1], EventItem):
            await _append(context, group, reports)
        elif group:
            await _store(context, group, reports, len(params.items))
        group.clear()

    for index, value in enumerate(params.items):
        try:
            item = parse_item(value)
            if isinstance(item, MemoryItem):
                check_served(context, NAMESPACE, item.params.namespace)
        except Fault as fault:
            reports[index] = item_report(index, fault)
            continue
        if not _fits(item, [one for _, one in group]):
            await flush()
        group.append((index, item))
    await flush()
    results = [reports[index] for index in range(len(params.items))]
    stored = [one for one in results if one["success"] and "stored_before" not in one]
    before = [one for one in results if "stored_before" in one and "event" not in one]
    own = [UUID(one["memory_id"]) for one in before if "part_of" not in one]
    known = await _known(context, set(own))
    return {
        "stored": sum("event" not in one for one in stored),
        "stored_before": len(own),
        "hidden_before": sum(id_ in known and known[id_].state in RESTORABLE for id_ in own),
        "sections_before": len(before) - len(own),
        "changed": sum("changed" in one for one in results),
        "events": sum("event" in one for one in stored),
        "failed": sum(not one["success"] for one in results),
        "results": results,
    }


def _fits(item: ImportItem, group: Sequence[ImportItem]) -> bool:
    """Tell whether an item can be stored together with those before it: a memory is none of them, and names none."""
    if any(type(one) is not type(item) for one in group):
        return False
    ids = {one.id for one in group} - {None}
    return isinstance(item, EventItem) or (item.id not in ids and not item.others & ids)


async def _store(
    context: Context, group: Sequence[tuple[int, MemoryItem]], reports: dict[int, JsonObject], total: int
) -> None:
    """Store memories that don't name each other, and report on each."""
    named = {id_ for _, one in group for id_ in (*one.others, one.id, one.part_of) if id_}
    known = await _known(context, named)
    items: dict[UUID, IngestItem] = {}
    indexes: dict[UUID, list[int]] = {}
    changed = {index: {"changed": True} for index, one in group if _is_change(one, known)}
    for index, one in group:
        try:
            before = _stored_before(one, known)
            if before is None:
                _check_known(one.others, known)
        except Fault as fault:
            reports[index] = item_report(index, fault)
            continue
        if before is not None:
            part_of = {} if before == one.id else {"part_of": str(before)}
            reports[index] = item_report(index, before) | {"stored_before": True} | part_of
            if before == one.id and await take_back(context, known[before], one.former):
                reports[index] |= changed.get(index, {})
            continue
        params = replace(one.params, supersedes=(*one.params.supersedes, *one.former))
        items.setdefault(one.key, IngestItem(params, one.key, one.id, one.links, one.stored_at))
        indexes.setdefault(one.key, []).append(index)

    async def report(key: UUID, outcome: Outcome) -> None:
        repeated = isinstance(outcome, StoredMemory) and outcome.repeated
        for index in indexes[key]:
            was_stored = {"stored_before": True} if repeated else changed.get(index, {})
            reports[index] = item_report(index, outcome) | (was_stored if isinstance(outcome, StoredMemory) else {})
            repeated = isinstance(outcome, StoredMemory)  # an equal item of the same batch
        await context.progress(len(reports), total, "memories stored")

    if items:
        await ingest(context, items, report, look_up=True)


async def _append(context: Context, group: Sequence[tuple[int, EventItem]], reports: dict[int, JsonObject]) -> None:
    """Append events by one commit, unless they name a memory or a run that isn't here, and report on each.

    The starts of runs go first, by a commit of their own: on a shared log another hub may be the one that consolidates,
    and what names a run whose start is refused can't be applied by any projection.
    """
    known = await _known(context, {id_ for _, one in group for id_ in mentioned(one.event)})
    named = dict.fromkeys(run for _, one in group if (run := _run_of(one)))
    lists = {run: await find_run(context, run) for run in named}
    runs = {run: listed and listed.runs[0] for run, listed in lists.items()}
    here = await _happened_here(context, [one for _, one in group], known, runs)
    keys = tuple(uuid5(IMPORTED, f"run {run}") for run in runs)
    imported = await ask(context.hub.store, FindRequests(keys=keys))
    started = {run for (run, entry), request in zip(runs.items(), imported, strict=True) if entry or request}
    starts: dict[int, EventItem] = {}
    others: dict[int, EventItem] = {}
    for index, one in group:
        if one in here:
            reports[index] = _event_report(index, one.event) | {"stored_before": True}
        elif isinstance(one.event, ConsolidationStarted):
            starts[index] = one
        else:
            others[index] = one
    await _commit(context, starts, reports)
    started |= {run for index, one in starts.items() if reports[index]["success"] and (run := _run_of(one))}
    appendable: dict[int, EventItem] = {}
    for index, one in others.items():
        run = _run_of(one)
        try:
            _check_known(mentioned(one.event), known)
            if run is not None and run not in started:
                raise NotFoundFault(f"Run not found: {run}; its start is imported first", id=str(run))
        except Fault as fault:
            reports[index] = item_report(index, fault)
        else:
            appendable[index] = one
    await _commit(context, appendable, reports)


async def _commit(context: Context, items: Mapping[int, EventItem], reports: dict[int, JsonObject]) -> None:
    """Append events by one commit, and report on each."""
    if not items:
        return
    appends = tuple(
        Append(id=one.id or uuid4(), event=one.event, actor=IMPORTER, correlation_id=one.key, once=True, at=one.at)
        for one in items.values()
    )
    outcomes: Sequence[RequestResult | Fault] = await ask(context.hub.store, AppendMemories(appends=appends))
    for (index, one), outcome in zip(items.items(), outcomes, strict=True):
        if isinstance(outcome, Fault):
            reports[index] = item_report(index, outcome)
        else:
            reports[index] = _event_report(index, one.event)
            if outcome.repeated:
                reports[index]["stored_before"] = True


def _run_of(one: EventItem) -> UUID | None:
    """Return the run that an event is part of; None if it is part of none."""
    return getattr(one.event, "run", None)


def _event_report(index: int, event: Event) -> JsonObject:
    return {"index": index, "success": True, "event": str(event.__struct_config__.tag)}


async def _happened_here(
    context: Context, items: Sequence[EventItem], known: Mapping[UUID, Entry], runs: Mapping[UUID, Run | None]
) -> Sequence[EventItem]:
    """Return the items that are events of this log: they come from an export of this store, or of one that imported it.

    Only events about the same memories and runs are read.
    """
    concerned = {seq for entry in known.values() for seq in entry.events}
    concerned |= {seq for run in runs.values() if run is not None for seq in run.events}
    found = await from_log(context.hub.log.get, sorted(concerned)) if concerned else ()
    ids, events = {one.id for one in found}, {(one.at, encode(one.event)) for one in found}
    return [one for one in items if one.id in ids or (one.at, encode(one.event)) in events]


async def _known(context: Context, ids: set[UUID]) -> dict[UUID, Entry]:
    """Return the entries of those memories that the store knows."""
    entries = await ask(context.hub.store, FindMemories(memories=tuple(ids))) if ids else ()
    return {entry.id: entry for entry in entries if entry is not None}


def _stored_before(one: MemoryItem, known: Mapping[UUID, Entry]) -> UUID | None:
    """Return the memory that a known item is, or the first section of a text that was divided otherwise."""
    if one.id is not None and one.id in known:
        _check_same(known[one.id], one)
        return one.id
    first = known.get(one.part_of) if one.part_of else None
    return first.id if first is not None and _is_divided_otherwise(first, one.params) else None


def _is_divided_otherwise(first: Entry, part: StoreMemory) -> bool:
    """Tell whether the text of a section was imported as other sections, as a whole, or was erased since."""
    return first.body is None or _sections(first.body.metadata) != _sections(part.metadata)


def _sections(metadata: JsonObject) -> object:
    division = metadata.get(DIVISION)
    return division.get("sections") if isinstance(division, dict) else None


def _is_change(one: MemoryItem, known: Mapping[UUID, Entry]) -> bool:
    """Tell whether a memory takes the place of former ones, of which none has its text."""
    texts = {body.text for former in one.former if former in known and (body := known[former].body)}
    return bool(texts) and one.params.content not in texts


def _check_known(named: set[UUID], known: dict[UUID, Entry]) -> None:
    """Refuse what names a memory that isn't here, which no projection could apply, or one that was erased."""
    for one in sorted(named):
        if one not in known:
            raise NotFoundFault(f"Memory not found: {one}; what names it is imported after it", id=str(one))
        if known[one].body is None:
            raise NotFoundFault(f"Memory was erased: {one}", id=str(one))


def _check_same(entry: Entry, item: MemoryItem) -> None:
    """Refuse another memory under a known id. An id that was derived from its source has one content."""
    if entry.id.version == DERIVED:
        return
    if entry.body is None:
        raise NotFoundFault(f"Memory was erased: {entry.id}", id=str(entry.id))
    same = (entry.body.text, entry.body.namespace) == (item.params.content, item.params.namespace)
    if not same or (entry.body.image is None) != (item.params.image is None):
        raise invalid("id", f"another memory has the id {entry.id}", id=str(entry.id))
