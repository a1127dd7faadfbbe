"""Audit: what happened, when and why, what changed between two moments, and whether the state follows from the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

import anyio.from_thread
import anyio.to_thread
from msgspec.structs import replace

from actors.api.context import Context, wait_until_replayed
from actors.api.operations.administration.as_of import event_at, from_log, last_event, read
from actors.api.params.audit import AuditTrail, MemoryHistory, StoreDiff, StoreReplay
from actors.api.params.parsing import invalid
from actors.api.progress import reporter
from actors.api.responses.administration import audit, changes
from actors.consolidator.messages import ReadRuns
from actors.exporters.history import mentioned
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.types import JsonObject
from actors.store.messages import Describe, FindMemories, ReadDigests
from events.storage.log_prefix import LogPrefix
from events.vocabulary import MemoryRecalled
from projections.difference import difference
from projections.registry import digests, rebuild

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.storage.log import Envelope, Log

T = TypeVar("T")

EVENTS_AT_ONCE = 256
"""Events between two progress reports."""

INSTANT = timedelta(microseconds=1)
"""The resolution of times in the log."""

ANOTHER = "another namespace"
"""Stands for the name of one that the caller doesn't see."""


async def audit_trail(context: Context, params: AuditTrail) -> JsonObject:
    """Return what happened, the latest first: to a memory, in a run, or in the whole store; one page of it."""
    return await _trail(context, params, recalls=True)


async def memory_history(context: Context, params: MemoryHistory) -> JsonObject:
    """Return what happened to a memory, with or without the searches that found it."""
    return await _trail(context, params, recalls=params.recalls)


async def _trail(context: Context, params: AuditTrail, *, recalls: bool) -> JsonObject:
    _check_order(params)
    await wait_until_replayed(context)
    first = 1 if params.since is None else await _since(context, params.since)
    last = context.hub.log.head.seq if params.until is None else await _until(context, params.until)
    last = min(last, context.hub.log.head.seq)
    concerned = await _concerned(context, params, first, last)
    left_out: JsonObject = {}
    if not recalls:
        found = await from_log(context.hub.log.get, concerned)
        told = [one.seq for one in found if not isinstance(one.event, MemoryRecalled)]
        left_out, concerned = {"recalls_left_out": len(concerned) - len(told)}, told
    left = concerned if params.before is None else [seq for seq in concerned if seq < params.before]
    if context.visible is not None:
        return await _visible_page(context, params, left, context.visible)
    page = left[-params.limit :]
    envelopes = await from_log(context.hub.log.get, page)
    answer: JsonObject = {
        "events": [audit.describe_event(envelope, params.memory_id) for envelope in reversed(envelopes)],
        "count": len(page),
        "total": len(concerned),
    }
    return answer | left_out | ({"next_before": page[0]} if len(page) < len(left) else {})


def _check_order(params: AuditTrail) -> None:
    if params.since is None or params.until is None:
        return
    match read(params.since, "since"), read(params.until, "until"):
        case int(since), int(until):
            backwards = since > until
        case datetime() as since, datetime() as until:
            backwards = since > until
        case _:  # the number of an event and a time
            backwards = False
    if backwards:
        raise invalid("since", f"{params.since} is after 'until', {params.until}")


async def _visible_page(
    context: Context, params: AuditTrail, left: Sequence[int], visible: Collection[str]
) -> JsonObject:
    """Return a page of the events that name memories of the caller's namespaces, and none of others; not how many."""
    found: list[Envelope] = []
    end = len(left)
    while end and len(found) <= params.limit:
        chunk = await from_log(context.hub.log.get, left[max(end - EVENTS_AT_ONCE, 0) : end])
        named = {one.seq: _named(one) for one in chunk}
        known = await ask(context.hub.store, FindMemories(memories=tuple(set().union(*named.values()))))
        memories = {entry.id for entry in known if entry is not None}
        seen = await context.visible_among(memories)
        shown = [one for one in chunk if named[one.seq] & seen and not (named[one.seq] & memories) - seen]
        found = [*shown, *found]
        end = max(end - EVENTS_AT_ONCE, 0)
    page = found[-params.limit :]
    answer: JsonObject = {
        "events": [audit.describe_event(_masked(one, visible), params.memory_id) for one in reversed(page)],
        "count": len(page),
    }
    return answer | ({"next_before": page[0].seq} if len(page) < len(found) else {})


def _masked(envelope: Envelope, visible: Collection[str]) -> Envelope:
    """Return an event without the names of namespaces that the caller doesn't see: its memories were there before."""
    names = {name: getattr(envelope.event, name, None) for name in ("namespace", "source", "target")}
    hidden = {name: ANOTHER for name, value in names.items() if isinstance(value, str) and value not in visible}
    return replace(envelope, event=replace(envelope.event, **hidden))


def _named(envelope: Envelope) -> set[UUID]:
    """Return the ids in an event; that of the event is the memory's where it stored one."""
    return {envelope.id, *mentioned(envelope.event)}


async def store_diff(context: Context, params: StoreDiff) -> JsonObject:
    """Return what changed between two moments, as net effect."""
    await wait_until_replayed(context)
    earlier = await event_at(context, params.a, "a", least=0)
    later = context.hub.log.head.seq if params.b is None else await event_at(context, params.b, "b", least=0)
    if later < earlier:
        raise invalid("b", f"event {later} comes before event {earlier}")
    past = LogPrefix(context.hub.log, later)
    report = reporter(context.progress, "events read")
    found = await from_log(lambda: difference(_watched(past, report), earlier))
    wanted = changes.memories_shown(found, params.limit)
    entries = await ask(context.hub.store, Describe(memories=wanted, own=True))
    ends = await from_log(past.get, [seq for seq in (earlier, later) if seq])
    known = {entry.id: entry for entry in entries}
    return changes.diff({one.seq: one.at for one in ends}, (earlier, later), found, known, params.limit)


async def store_replay(context: Context, params: StoreReplay) -> JsonObject:
    """Fold the log anew, without models, and compare what comes out with what is known now."""
    await wait_until_replayed(context)
    live: dict[str, str] = {}
    if params.as_of is None:
        await context.progress(0, None, "taking digests of what is known")
        seq, live = await ask(context.hub.store, ReadDigests(), LONG_TIMEOUT)
    else:
        seq = await event_at(context, params.as_of, "as_of")
    past = LogPrefix(context.hub.log, seq)
    report = reporter(context.progress, "events replayed")
    start = perf_counter()
    replayed = await from_log(lambda: digests(rebuild(_watched(past, report))))
    return changes.replayed(past.head, perf_counter() - start, live, replayed)


async def _since(context: Context, when: int | str) -> int:
    found = read(when, "since")
    return max(1, found) if isinstance(found, int) else await last_event(context, found - INSTANT) + 1


async def _until(context: Context, when: int | str) -> int:
    found = read(when, "until")
    return found if isinstance(found, int) else await last_event(context, found)


async def _concerned(context: Context, params: AuditTrail, first: int, last: int) -> Sequence[int]:
    """Return the events between two that are asked about, by sequence number, ascending."""
    if params.memory_id is None and params.run_id is None:
        return range(first, last + 1)
    asked: list[Sequence[int]] = []
    if params.memory_id is not None:
        (entry,) = await ask(context.hub.store, Describe(memories=(params.memory_id,), own=True))
        asked.append(entry.events)
    if params.run_id is not None:
        found = await ask(context.hub.consolidator, ReadRuns(run=params.run_id, limit=1))
        asked.append(found.runs[0].events)
    return [seq for seq in sorted(set.intersection(*map(set, asked))) if first <= seq <= last]


def _watched(log: Log, report: Callable[..., object]) -> Iterator[Envelope]:
    """Yield a log's events and tell how far it is; runs in a worker thread, which a cancelled request ends."""
    for envelope in log.read():
        if envelope.seq % EVENTS_AT_ONCE == 0:
            anyio.from_thread.check_cancelled()
            report(envelope.seq, log.head.seq)
        yield envelope
