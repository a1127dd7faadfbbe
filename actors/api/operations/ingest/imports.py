"""Import: memories and events as plain values, into a store. The export is in `export`."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Generic, TypeVar
from uuid import UUID, uuid4, uuid5

import msgspec
from msgspec import Meta
from msgspec.json import encode
from msgspec.structs import replace

from actors.api.confinement import check_served
from actors.api.context import NAMESPACE, Context, wait_until_ready
from actors.api.operations.administration.history import from_log
from actors.api.operations.ingest.former_memories import reinstate
from actors.api.operations.ingest.import_items import IMPORTED, EventItem, ImportItem, MemoryItem, parse_item
from actors.api.operations.ingest.pipeline import IngestItem, Outcome, StoredMemory, ingest
from actors.api.operations.lifecycle.memories import item_report
from actors.api.operations.mind.runs import find_run
from actors.api.params.fields import MAX_BATCH
from actors.api.params.parsing import Params, invalid
from actors.exporters.history import mentioned
from actors.runtime.ask import ask
from actors.runtime.faults import Fault, NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import Append, AppendMemories, FindMemories, FindRequests, RequestResult
from events.storage.log import Envelope
from events.vocabulary import ConsolidationStarted
from projections.memories.entries import Entry
from projections.memories.requests import DERIVED, IMPORTER
from projections.mind.runs import Run
from projections.projection import MemoryState

DIVISION = "division"
"""The field of a section's metadata that says which of how many `sections` of its text it is."""
RESTORABLE: Final = frozenset((MemoryState.FORGOTTEN, MemoryState.PRUNED))
"""States of memories that `memory_restore` brings back."""


class MemoryImport(Params, frozen=True, kw_only=True):
    """Arguments of `memory/import`.

    An item is a memory as `store_memory` takes it, with the `id`, the `stored_at` and the `links` that it was exported
    with; or an `event` about memories before it, with the time `at` which it happened. A section of a long text is
    `part_of` the first one, and isn't stored if that memory was imported when texts were divided otherwise, or not.
    A new memory supersedes the `former` ones; one that was imported before does if one of these took its place.
    """

    items: Annotated[tuple[Any, ...], Meta(min_length=1, max_length=MAX_BATCH)]


Parsed = TypeVar("Parsed")


class _Line(msgspec.Struct, Generic[Parsed]):
    """An item on its way through an import."""

    index: int
    item: Parsed
    """A `MemoryItem` or an `EventItem`; None if it could not be parsed."""
    report: JsonObject = {}
    """What became of it; empty until that is known."""


async def memory_import(context: Context, params: MemoryImport) -> JsonObject:
    """Store memories and events in their order; an item that was imported before isn't stored again.

    `hidden_before` counts those of the memories that were imported before which were forgotten or pruned since,
    `sections_before` the sections of texts that were imported before as a whole or in other sections, and `changed`
    the memories that took the place of `former` ones with another text.
    A memory keeps its id if that is a UUID. It was imported before if its id is known, and the id was derived from its
    source (version 5) or the content is the same.
    """
    await wait_until_ready(context)
    lines = [_parsed(context, index, value) for index, value in enumerate(params.items)]

    async def on_stored() -> None:
        await context.progress(sum(bool(line.report) for line in lines), len(lines), "memories stored")

    for group in _groups([line for line in lines if not line.report]):
        if isinstance(group[0].item, EventItem):
            await _append(context, group)
        else:
            await _store(context, group, on_stored)
    results = [line.report for line in lines]
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


def _parsed(context: Context, index: int, value: object) -> _Line[Any]:
    """Parse an item; one that is refused has its report at once."""
    try:
        item = parse_item(value)
        if isinstance(item, MemoryItem):
            check_served(context, NAMESPACE, item.params.namespace)
    except Fault as fault:
        return _Line(index, None, item_report(index, fault))
    return _Line(index, item)


def _groups(lines: Iterable[_Line[Any]]) -> Iterator[list[_Line[Any]]]:
    """Yield runs of events, and of memories that don't name each other, which can be stored together."""
    group: list[_Line[Any]] = []
    ids: set[UUID | None] = set()
    for line in lines:
        item: ImportItem = line.item
        named = {item.id, *item.memories_named} - {None} if isinstance(item, MemoryItem) else set()
        if group and (type(item) is not type(group[0].item) or named & ids):
            yield group
            group, ids = [], set()
        group.append(line)
        ids.add(item.id)
    if group:
        yield group


async def _store(
    context: Context, lines: Sequence[_Line[MemoryItem]], on_stored: Callable[[], Awaitable[None]]
) -> None:
    """Store memories that don't name each other, unless they were stored before, and report on each."""
    items = [line.item for line in lines]
    known = await _known(context, {id_ for one in items for id_ in (*one.memories_named, one.id, one.part_of) if id_})
    new: defaultdict[UUID, list[_Line[MemoryItem]]] = defaultdict(list)
    for line in lines:
        item = line.item
        try:
            before = _stored_before(item, known)
            if before is None:
                _check_known(item.memories_named, known)
        except Fault as fault:
            line.report = item_report(line.index, fault)
            continue
        if before is None:
            new[item.key].append(line)
            continue
        line.report = item_report(line.index, before) | {"stored_before": True}
        if before != item.id:
            line.report["part_of"] = str(before)
        elif await reinstate(context, known[before], item.former):
            line.report |= _change(item, known)

    async def report(key: UUID, outcome: Outcome) -> None:
        repeated = isinstance(outcome, StoredMemory) and outcome.repeated
        for line in new[key]:
            line.report = item_report(line.index, outcome)
            if isinstance(outcome, StoredMemory):
                line.report |= {"stored_before": True} if repeated else _change(line.item, known)
                repeated = True  # the others are equal items of the same batch
        await on_stored()

    if new:
        await ingest(context, {key: _ingest_item(equal[0].item) for key, equal in new.items()}, report, look_up=True)


def _ingest_item(item: MemoryItem) -> IngestItem:
    params = replace(item.params, supersedes=(*item.params.supersedes, *item.former))
    return IngestItem(params, item.key, item.id, item.links, item.stored_at)


def _change(item: MemoryItem, known: Mapping[UUID, Entry]) -> JsonObject:
    """Return the field that says that a memory takes the place of former ones, if none of them has its text."""
    texts = {body.text for former in item.former if former in known and (body := known[former].body)}
    return {"changed": True} if texts and item.params.content not in texts else {}


async def _append(context: Context, lines: Sequence[_Line[EventItem]]) -> None:
    """Append events by one commit, unless they name a memory or a run that isn't here, and report on each.

    The starts of runs go first, by a commit of their own: on a shared log another hub may be the one that consolidates,
    and what names a run whose start is refused can't be applied by any projection.
    """
    items = [line.item for line in lines]
    known = await _known(context, {id_ for one in items for id_ in mentioned(one.event)})
    listed = {run: await find_run(context, run) for run in dict.fromkeys(one.run for one in items if one.run)}
    runs = {run: found and found.runs[0] for run, found in listed.items()}
    started = await _started(context, runs)
    logged = await _logged_events(context, known, runs)
    for line in lines:
        if line.item.id in logged or _occurrence(line.item) in logged:
            line.report = _event_report(line) | {"stored_before": True}
    starts = [line for line in lines if not line.report and isinstance(line.item.event, ConsolidationStarted)]
    await _commit(context, starts)
    started |= {line.item.run for line in starts if line.report["success"]}
    for line in lines:
        if not line.report and (fault := _refusal(line.item, known, started)):
            line.report = item_report(line.index, fault)
    await _commit(context, [line for line in lines if not line.report])


async def _started(context: Context, runs: Mapping[UUID, Run | None]) -> set[UUID | None]:
    """Return the runs whose start is in this log, its own or imported; None is the run of events of no run."""
    keys = tuple(uuid5(IMPORTED, f"run {run}") for run in runs)
    imported = await ask(context.hub.store, FindRequests(keys=keys))
    return {None} | {run for (run, entry), request in zip(runs.items(), imported, strict=True) if entry or request}


def _refusal(item: EventItem, known: dict[UUID, Entry], started: set[UUID | None]) -> NotFoundFault | None:
    """Return why an event can't be appended: it names a memory that isn't here, or a run that isn't."""
    try:
        _check_known(mentioned(item.event), known)
    except NotFoundFault as fault:
        return fault
    if item.run in started:
        return None
    return NotFoundFault(f"Run not found: {item.run}; its start is imported first", id=str(item.run))


async def _commit(context: Context, lines: Sequence[_Line[EventItem]]) -> None:
    if not lines:
        return
    appends = tuple(
        Append(id=one.id or uuid4(), event=one.event, actor=IMPORTER, correlation_id=one.key, once=True, at=one.at)
        for one in (line.item for line in lines)
    )
    outcomes: Sequence[RequestResult | Fault] = await ask(context.hub.store, AppendMemories(appends=appends))
    for line, outcome in zip(lines, outcomes, strict=True):
        if isinstance(outcome, Fault):
            line.report = item_report(line.index, outcome)
        else:
            line.report = _event_report(line) | ({"stored_before": True} if outcome.repeated else {})


def _event_report(line: _Line[EventItem]) -> JsonObject:
    return {"index": line.index, "success": True, "event": str(line.item.event.__struct_config__.tag)}


async def _logged_events(
    context: Context, known: Mapping[UUID, Entry], runs: Mapping[UUID, Run | None]
) -> set[UUID | tuple[datetime | None, bytes]]:
    """Return the events of this log about memories and runs, by id and by `_occurrence`.

    Items are among them if they come from an export of this store, or of one that imported it.
    """
    concerned = {seq for entry in known.values() for seq in entry.events}
    concerned |= {seq for run in runs.values() if run is not None for seq in run.events}
    found = await from_log(context.hub.log.get, sorted(concerned)) if concerned else ()
    return {key for one in found for key in (one.id, _occurrence(one))}


def _occurrence(one: EventItem | Envelope) -> tuple[datetime | None, bytes]:
    """Return what and when: the same event, though another store gave it another id."""
    return one.at, encode(one.event)


async def _known(context: Context, ids: set[UUID]) -> dict[UUID, Entry]:
    entries = await ask(context.hub.store, FindMemories(memories=tuple(ids))) if ids else ()
    return {entry.id: entry for entry in entries if entry is not None}


def _stored_before(one: MemoryItem, known: Mapping[UUID, Entry]) -> UUID | None:
    """Return the memory that a known item is, or the first section of a text that was divided otherwise."""
    if one.id is not None and one.id in known:
        _check_same(known[one.id], one)
        return one.id
    first = known.get(one.part_of) if one.part_of else None
    if first is None or (first.body is not None and _sections(first.body.metadata) == _sections(one.params.metadata)):
        return None
    return first.id  # of a text that was imported as other sections, as a whole, or was erased since


def _sections(metadata: JsonObject) -> object:
    division = metadata.get(DIVISION)
    return division.get("sections") if isinstance(division, dict) else None


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
