"""Answers of `store/diff` and `store/replay`."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

import msgspec

from actors.api.responses.common import LABEL, iso, start_of
from actors.runtime.types import JsonObject
from events.storage.log import Head
from events.vocabulary import GoalDiscovered
from projections.difference import Difference, Recovery
from projections.memories.catalog import Entry
from projections.projection import MemoryState

LEFT_STATES = (MemoryState.FORGOTTEN, MemoryState.PRUNED, MemoryState.MERGED, MemoryState.ERASED)
"""States of memories that are not live any more, in the order of the answer."""


def _lists(found: Difference) -> dict[str, tuple[UUID, ...]]:
    return {
        "stored": found.stored,
        **{state.value: found.moved[state] for state in LEFT_STATES},
        **{way.value: found.recovered[way] for way in Recovery},
    }


def memories_shown(found: Difference, limit: int) -> tuple[UUID, ...]:
    """Return the memories that the answer describes: at most `limit` of each list."""
    return tuple(dict.fromkeys(memory for memories in _lists(found).values() for memory in memories[:limit]))


def diff(
    times: Mapping[int, datetime],
    ends: tuple[int, int],
    found: Difference,
    entries: Mapping[UUID, Entry],
    limit: int,
) -> JsonObject:
    """Return the changes between two moments.

    Args:
        times: The time of each moment by sequence number.
        ends: Sequence numbers of the moments; 0 for the empty log.
        found: The changes.
        entries: The catalog entries of `memories_shown`.
        limit: Maximum entries of each list.
    """
    before, after = found.schedule
    return {
        **{name: {"seq": seq, "at": iso(times.get(seq))} for name, seq in zip("ab", ends, strict=True)},
        "memories": {
            name: _page([_memory(entries[memory], found) for memory in memories[:limit]], len(memories))
            for name, memories in _lists(found).items()
        },
        "links": _page([msgspec.to_builtins(step) for step in found.links[:limit]], len(found.links)),
        "goals": _page([_goal(goal) for goal in found.goals[:limit]], len(found.goals)),
        "north_stars": {
            namespace: {"before": _goal(old), "after": _goal(new)}
            for namespace, (old, new) in found.north_stars.items()
        },
        "schedule": {
            name: {"before": old, "after": new}
            for name, old, new in _rules(msgspec.to_builtins(before), msgspec.to_builtins(after))
            if old != new
        },
        "events": {"total": found.event_counts.total(), "by_kind": dict(found.event_counts.most_common())},
    }


def replayed(head: Head, seconds: float, live: Mapping[str, str], found: Mapping[str, str]) -> JsonObject:
    """Return the digests of replayed projections, compared with those of the live ones, if there are any."""
    answer: JsonObject = {
        "seq": head.seq,
        "hash": head.hash.hex(),
        "events": head.seq,
        "seconds": round(seconds, 3),
    }
    if not live:
        return answer | {"projections": {name: {"replayed": digest} for name, digest in found.items()}}
    projections = {
        name: {"live": live.get(name), "replayed": found.get(name), "same": live.get(name) == found.get(name)}
        for name in dict.fromkeys((*found, *live))
    }
    differing = [name for name, one in projections.items() if not one["same"]]
    return answer | {"matches": not differing, "differing": differing, "projections": projections}


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


def _page(some: list[JsonObject] | list[JsonObject | None], total: int) -> JsonObject:
    return {"total": total, "shown": some}


def _rules(before: JsonObject, after: JsonObject) -> Iterable[tuple[str, object, object]]:
    for mode, when in after["when"].items():
        yield mode, before["when"][mode], when
    for name in ("paused", "permitted"):
        yield name, before[name], after[name]
