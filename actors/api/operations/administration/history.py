"""Moments in the log, what changed between two, and whether the state follows from the log.

A moment is the sequence number of an event, or a time, which means the last event at or before it. A day or longer
counts as its last instant, except where changes or events are listed from it on.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Annotated, TypeVar

import anyio.from_thread
import anyio.to_thread
import msgspec
from msgspec import Meta

from actors.api.answers import LABEL, iso, start_of
from actors.api.context import Context, reporter
from actors.api.params.fields import Reading, When
from actors.api.params.parsing import Params, invalid
from actors.api.params.times import EXPECTED, Period, find_period, instant, period
from actors.runtime.ask import LONG_TIMEOUT, ask, log_fault
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from actors.store.messages import Describe, ReadDigests
from events.storage.log import Envelope, Log, LogError
from events.storage.log_prefix import LogPrefix
from events.vocabulary import GoalDiscovered
from projections.difference import Difference, Recovery, difference
from projections.memories.catalog import Entry
from projections.projection import MemoryState
from projections.registry import digests, rebuild

INSTANT = timedelta(microseconds=1)
"""The resolution of times in the log."""
EARLIEST = datetime.min.replace(tzinfo=UTC) + INSTANT
"""The earliest time that has an instant before it."""
DIGITS = 18
"""The most digits that a sequence number has."""
_EDGE = re.compile(r"\s*(?:the )?(?:(?P<start>beginning|start)|end) of\b", re.IGNORECASE)
"""Begins a time that is itself the beginning or the end of another one."""
T = TypeVar("T")
EVENTS_AT_ONCE = 256
"""Events between two progress reports."""
LEFT_STATES = (MemoryState.FORGOTTEN, MemoryState.PRUNED, MemoryState.MERGED, MemoryState.ERASED)
"""States of memories that are not live any more, in the order of the answer."""


class StoreDiff(Reading, frozen=True, kw_only=True):
    """Return the changes from a moment to another one, which is now if left out.

    Of a day or longer, the first is the beginning and the second the end.
    """

    a: When
    b: When | None = None
    limit: Annotated[int, Meta(ge=0, le=1_000)] = 20
    """Entries of each list at most."""


class StoreReplay(Params, frozen=True, kw_only=True):
    """Replay the log and compare the result with the live projections; with `as_of`, only replay up to there."""

    as_of: When | None = None


async def store_diff(context: Context, params: StoreDiff) -> JsonObject:
    """Return what changed between two moments, as net effect, in the namespaces that the hub serves."""
    earlier = await event_at(context, params.a, "a", least=0, from_start=True)
    later = context.hub.log.head.seq if params.b is None else await event_at(context, params.b, "b", least=0)
    if later < earlier:
        raise invalid("b", f"event {later} comes before event {earlier}")
    past = LogPrefix(context.hub.log, later)
    report = reporter(context.progress, "events read")
    found = await from_log(lambda: difference(_watched(past, report), earlier))
    lists = {
        "stored": found.stored,
        **{state.value: found.moved[state] for state in LEFT_STATES},
        **{way.value: found.recovered[way] for way in Recovery},
    }
    links, goals, stars = found.links, found.goals, found.north_stars
    if (visible := context.visible) is not None:
        ends = {one for link in links for one in (link.source, link.target)}
        seen = await context.visible_among(ends.union(*lists.values()))
        lists = {name: [one for one in memories if one in seen] for name, memories in lists.items()}
        links = [link for link in links if link.source in seen and link.target in seen]
        goals = [goal for goal in goals if goal.namespace in visible]
        stars = {namespace: star for namespace, star in stars.items() if namespace in visible}
    wanted = tuple(dict.fromkeys(memory for memories in lists.values() for memory in memories[: params.limit]))
    entries = {one.id: one for one in await ask(context.hub.store, Describe(memories=wanted, own=True))}
    times = {one.seq: iso(one.at) for one in await from_log(past.get, [seq for seq in (earlier, later) if seq])}
    before, after = map(_rules, found.schedule)

    def page(every: Sequence[T], described: Callable[[T], object]) -> JsonObject:
        return {"total": len(every), "shown": [described(one) for one in every[: params.limit]]}

    return {
        "a": {"seq": earlier, "at": times.get(earlier)},
        "b": {"seq": later, "at": times.get(later)},
        "memories": {
            name: page(memories, lambda memory: _memory(entries[memory], found)) for name, memories in lists.items()
        },
        "links": page(links, msgspec.to_builtins),
        "goals": page(goals, _goal),
        "north_stars": {
            namespace: {"before": _goal(old), "after": _goal(new)} for namespace, (old, new) in stars.items()
        },
        "schedule": {
            name: {"before": before[name], "after": new} for name, new in after.items() if before[name] != new
        },
        "events": {"total": found.event_counts.total(), "by_kind": dict(found.event_counts.most_common())},
    }


async def store_replay(context: Context, params: StoreReplay) -> JsonObject:
    """Fold the log anew, without models, and compare what comes out with what is known now."""
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
    answer: JsonObject = {
        "seq": past.head.seq,
        "hash": past.head.hash.hex(),
        "events": past.head.seq,
        "seconds": round(perf_counter() - start, 3),
    }
    if not live:
        return answer | {"projections": {name: {"replayed": digest} for name, digest in replayed.items()}}
    projections = {
        name: {"live": live.get(name), "replayed": replayed.get(name), "same": live.get(name) == replayed.get(name)}
        for name in dict.fromkeys((*replayed, *live))
    }
    differing = [name for name, one in projections.items() if not one["same"]]
    return answer | {"matches": not differing, "differing": differing, "projections": projections}


def _watched(log: Log, report: Callable[..., object]) -> Iterator[Envelope]:
    """Yield a log's events and tell how far it is; runs in a worker thread, which a cancelled request ends."""
    for envelope in log.read():
        if envelope.seq % EVENTS_AT_ONCE == 0:
            anyio.from_thread.check_cancelled()
            report(envelope.seq, log.head.seq)
        yield envelope


def _memory(entry: Entry, found: Difference) -> JsonObject:
    answer: JsonObject = {"id": str(entry.id)}
    if entry.body is not None:
        answer |= {"namespace": entry.body.namespace, "text": start_of(entry, LABEL)}
    else:
        answer |= {"erased_at": iso(entry.state_since), "reason": entry.reason}
    into = found.survivors.get(entry.id)
    return answer | ({"into": str(into)} if into is not None else {})


def _goal(goal: GoalDiscovered | None) -> JsonObject | None:
    if goal is None:
        return None
    return {"id": str(goal.goal), "namespace": goal.namespace, "description": goal.description}


def _rules(schedule: object) -> JsonObject:
    rules = msgspec.to_builtins(schedule)
    return {**rules["when"], "paused": rules["paused"], "permitted": rules["permitted"]}


async def event_at(context: Context, when: When, parameter: str, least: int = 1, *, from_start: bool = False) -> int:
    """Return the sequence number of the last event at or before a moment.

    A day or longer, such as "last week", counts as its last instant; with `from_start`, or where it is itself the
    beginning of a time ("the start of May"), as the one before its first, so that all of its events come after it.
    One before event `least` or after the last one is an `InvalidParamsFault`.
    """
    head = context.hub.log.head.seq
    found = event_or_period(when, parameter)
    if isinstance(found, int):
        seq = found
    elif found.first > context.now():
        raise invalid(parameter, f"{when} is still to come; the log has events 1 to {head}", least=least, most=head)
    else:
        is_start = found.first < found.last and (from_start or _is_start(when))
        log = context.hub.log
        seq = await (last_before(log, found.first) if is_start else from_log(log.seq_at, found.last))
        if seq < least <= head:
            (first,) = await from_log(context.hub.log.get, [1])
            events = f"the log has events 1 to {head}, the first at {first.at.astimezone().isoformat()}"
            raise invalid(parameter, f"{when} is before the first event; {events}", least=least, most=head)
    if not least <= seq <= head:
        raise invalid(parameter, f"no such event; the log has events 1 to {head}", least=least, most=head)
    return seq


def _is_start(when: When) -> bool:
    edge = _EDGE.match(str(when))
    return edge is not None and edge["start"] is not None


def moment_in_words(text: str) -> str:
    """Return the name of the moment that `event_at` finds by a time: of a day or longer its end."""
    named = find_period(text.strip(), datetime.now().astimezone())
    is_span = named is not None and named.first < named.last and _EDGE.match(text) is None
    return f"the end of {text}" if is_span else text


def event_or_period(when: When, parameter: str) -> int | Period:
    """Return the number of an event, or a time in UTC (`InvalidParamsFault` for neither)."""
    if isinstance(when, int) or (when.isascii() and when.isdecimal() and len(when) <= DIGITS):
        return int(when)
    try:
        return Period(*map(instant, period(when, parameter)))
    except InvalidParamsFault:
        raise invalid(parameter, f"neither the number of an event nor a time {EXPECTED}") from None


async def last_before(log: Log, moment: datetime) -> int:
    """Return the sequence number of the last event before a moment in UTC; 0 if there is none."""
    return await from_log(log.seq_at, max(moment, EARLIEST) - INSTANT)


async def from_log(work: Callable[..., T], *arguments: object) -> T:
    """Read the log in a thread (`StorageFault` if it can't be read)."""
    try:
        return await anyio.to_thread.run_sync(work, *arguments)
    except LogError as error:
        raise log_fault(error) from error
