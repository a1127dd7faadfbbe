"""Audit: what happened, when and why."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, ClassVar
from uuid import UUID

from msgspec import Meta
from msgspec.structs import replace

from actors.api.context import Context
from actors.api.operations.administration.event_descriptions import describe_event
from actors.api.operations.administration.history import event_or_period, from_log, last_before
from actors.api.params.fields import Reading, When
from actors.api.params.parsing import invalid
from actors.api.params.times import Period
from actors.comparator.messages import NameGoals
from actors.consolidator.messages import ReadRuns
from actors.exporters.history import mentioned
from actors.runtime.ask import ask
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from actors.store.messages import Describe, FindMemories
from events.storage.log import Envelope
from events.vocabulary import MemoryRecalled
from events.vocabulary.codec import NAMES

EVENTS_AT_ONCE = 256
"""Events that are read from the log at once."""
ANOTHER = "another namespace"
"""Stands for the name of one that the caller doesn't see."""
_GOAL = re.compile(r"\bgoal ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")


class AuditTrail(Reading, frozen=True, kw_only=True):
    """List what happened and why, latest first."""

    aliases: ClassVar[dict[str, str]] = {"id": "memory_id", "fingerprint_id": "memory_id"}

    memory_id: Annotated[UUID | None, Meta(description="About this memory")] = None
    run_id: Annotated[UUID | None, Meta(description="Of this run")] = None
    since: Annotated[When | None, Meta(description="Event or time")] = None
    until: Annotated[When | None, Meta(description="Event or time")] = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Events")] = 50
    before: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="next_before")] = None


class MemoryHistory(AuditTrail, frozen=True, kw_only=True):
    """List what happened to a memory, latest first, with or without the searches that found it."""

    recalls: bool = True

    def check(self) -> None:
        """Refuse a history of no memory."""
        super().check()
        if self.memory_id is None:
            raise InvalidParamsFault("Missing 'memory_id' parameter", parameter="memory_id")


class AuditOfKinds(AuditTrail, frozen=True, kw_only=True):
    """List what happened of some kinds, latest first. Of a damaged log, other events are among them."""

    kinds: tuple[str, ...] = ()
    """Such as `memory_forgotten`; all without one."""

    def check(self) -> None:
        """Refuse kinds that no event is of."""
        super().check()
        if unknown := {*self.kinds} - NAMES:
            raise invalid("kinds", f"no event is of the kind '{min(unknown)}'; kinds are {', '.join(sorted(NAMES))}")


async def audit_trail(context: Context, params: AuditTrail) -> JsonObject:
    """Return what happened, the latest first: to a memory, in a run, or in the whole store; one page of it."""
    concerned = await _concerned(context, params, *await _bounds(context, params))
    left_out: JsonObject = {}
    if isinstance(params, MemoryHistory) and not params.recalls:
        found = await from_log(context.hub.log.get, concerned)
        told = [one.seq for one in found if not isinstance(one.event, MemoryRecalled)]
        left_out, concerned = {"recalls_left_out": len(concerned) - len(told)}, told
    left = concerned if params.before is None else [seq for seq in concerned if seq < params.before]
    if context.visible is not None:
        return await _visible_page(context, params, left, context.visible)
    page = left[-params.limit :]
    envelopes = await from_log(context.hub.log.get, page)
    answer: JsonObject = {
        "events": await _described(context, params, reversed(envelopes)),
        "count": len(page),
        "total": len(concerned),
    }
    return answer | left_out | ({"next_before": page[0]} if len(page) < len(left) else {})


async def memory_history(context: Context, params: MemoryHistory) -> JsonObject:
    """Return what happened to a memory, with or without the searches that found it."""
    return await audit_trail(context, params)


async def audit_of_kinds(context: Context, params: AuditOfKinds) -> JsonObject:
    """Return what happened of some kinds."""
    return await audit_trail(context, params)


async def _bounds(context: Context, params: AuditTrail) -> tuple[int, int]:
    since = None if params.since is None else event_or_period(params.since, "since")
    until = None if params.until is None else event_or_period(params.until, "until")
    numbers = isinstance(since, int) and isinstance(until, int) and since > until
    times = isinstance(since, Period) and isinstance(until, Period) and since.first > until.last
    if numbers or times:  # the number of an event and a time can't be compared
        raise invalid("since", f"{params.since} is after 'until', {params.until}")
    log, head = context.hub.log, context.hub.log.head.seq
    if isinstance(since, Period):
        since = await last_before(log, since.first) + 1
    if isinstance(until, Period):
        until = await from_log(log.seq_at, until.last)
    return max(1, since or 1), head if until is None else min(head, until)


async def _visible_page(
    context: Context, params: AuditTrail, left: Sequence[int], visible: Collection[str]
) -> JsonObject:
    """Return a page of the events that name memories of the caller's namespaces, and none of others; not how many."""
    found: list[Envelope] = []
    end = len(left)
    while end and len(found) <= params.limit:
        chunk = await from_log(context.hub.log.get, left[max(end - EVENTS_AT_ONCE, 0) : end])
        # The id of an event is the memory's where it stored one.
        named = {one.seq: {one.id, *mentioned(one.event)} for one in chunk}
        known = await ask(context.hub.store, FindMemories(memories=tuple(set().union(*named.values()))))
        memories = {entry.id for entry in known if entry is not None}
        seen = await context.visible_among(memories)
        shown = [one for one in chunk if named[one.seq] & seen and not (named[one.seq] & memories) - seen]
        found = [*shown, *found]
        end = max(end - EVENTS_AT_ONCE, 0)
    page = found[-params.limit :]
    answer: JsonObject = {
        "events": await _described(context, params, [_masked(one, visible) for one in reversed(page)]),
        "count": len(page),
    }
    return answer | ({"next_before": page[0].seq} if len(page) < len(found) else {})


async def _described(context: Context, params: AuditTrail, envelopes: Iterable[Envelope]) -> list[JsonObject]:
    """Return events in words, with the names of goals whose words can be read and whose namespace the caller sees."""
    events = [describe_event(envelope, params.memory_id) for envelope in envelopes]
    named = {UUID(one[1]) for event in events for one in _GOAL.finditer(event["what"])}
    goals = await ask(context.hub.comparator, NameGoals(goals=tuple(named))) if named else ()
    names = {
        str(goal.goal): goal.description
        for goal in goals
        if goal is not None and (context.visible is None or goal.namespace in context.visible)
    }

    def with_name(goal: re.Match[str]) -> str:
        return f'goal "{names[goal[1]]}" ({goal[1]})' if goal[1] in names else goal[0]

    return [event | {"what": _GOAL.sub(with_name, event["what"])} for event in events]


def _masked(envelope: Envelope, visible: Collection[str]) -> Envelope:
    """Return an event without the names of namespaces that the caller doesn't see: its memories were there before."""
    names = {name: getattr(envelope.event, name, None) for name in ("namespace", "source", "target")}
    hidden = {name: ANOTHER for name, value in names.items() if isinstance(value, str) and value not in visible}
    return replace(envelope, event=replace(envelope.event, **hidden))


async def _concerned(context: Context, params: AuditTrail, first: int, last: int) -> Sequence[int]:
    """Return the events between two that are asked about, by sequence number, ascending."""
    asked: list[Sequence[int]] = []
    if isinstance(params, AuditOfKinds) and params.kinds:
        asked.append(await from_log(context.hub.log.seqs_of, params.kinds, first, last))
    if params.memory_id is not None:
        (entry,) = await ask(context.hub.store, Describe(memories=(params.memory_id,), own=True))
        asked.append(entry.events)
    if params.run_id is not None:
        found = await ask(context.hub.consolidator, ReadRuns(run=params.run_id, limit=1))
        asked.append(found.runs[0].events)
    if not asked:
        return range(first, last + 1)
    return [seq for seq in sorted(set.intersection(*map(set, asked))) if first <= seq <= last]
