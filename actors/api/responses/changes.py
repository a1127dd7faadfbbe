"""Answers about what changed between two moments, and about a replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from projections.difference import Difference, Recovery
from projections.projection import MemoryState

if TYPE_CHECKING:
    from events.storage.log import Head
    from events.vocabulary import GoalDiscovered
    from projections.memories.entries import Entry

SNIPPET = 120
"""Characters that are shown of a memory."""

COUNTED = (MemoryState.FORGOTTEN, MemoryState.PRUNED, MemoryState.MERGED, MemoryState.ERASED)
"""In this order the states to which memories went are told of."""


def _lists(found: Difference) -> dict[str, tuple[UUID, ...]]:
    return {
        "stored": found.stored,
        **{state.value: found.moved[state] for state in COUNTED},
        **{way.value: found.recovered[way] for way in Recovery},
    }


def shown(found: Difference, limit: int) -> tuple[UUID, ...]:
    """Return the memories that an answer shows, of each list so many at most."""
    return tuple(dict.fromkeys(memory for memories in _lists(found).values() for memory in memories[:limit]))


def between(
    times: Mapping[int, datetime],
    ends: tuple[int, int],
    found: Difference,
    entries: Mapping[UUID, Entry],
    limit: int,
) -> dict[str, Any]:
    """Return what changed.

    Args:
        times: When each of both moments was.
        ends: The two moments, by sequence number; 0 for the empty log.
        found: What changed.
        entries: What the catalog knows of the memories that are shown.
        limit: How many entries of each list are shown.
    """
    before, after = found.schedule
    return {
        **{name: {"seq": seq, "at": _iso(times.get(seq))} for name, seq in zip("ab", ends, strict=True)},
        "memories": {
            name: _cut([_memory(entries[memory], found) for memory in memories[:limit]], len(memories))
            for name, memories in _lists(found).items()
        },
        "links": _cut([msgspec.to_builtins(step) for step in found.links[:limit]], len(found.links)),
        "goals": _cut([_goal(goal) for goal in found.goals[:limit]], len(found.goals)),
        "north_stars": {
            namespace: {"before": _goal(old), "after": _goal(new)}
            for namespace, (old, new) in found.north_stars.items()
        },
        "schedule": {
            name: {"before": old, "after": new}
            for name, old, new in _rows(msgspec.to_builtins(before), msgspec.to_builtins(after))
            if old != new
        },
        "events": {"total": found.event_counts.total(), "by_kind": dict(found.event_counts.most_common())},
    }


def replayed(head: Head, seconds: float, live: Mapping[str, str], found: Mapping[str, str]) -> dict[str, Any]:
    """Return the digests that a replay led to, beside those of what is known; `live` is empty where none are asked."""
    answer: dict[str, Any] = {
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


def _memory(entry: Entry, found: Difference) -> dict[str, Any]:
    """Return what can still be said of a memory."""
    told: dict[str, Any] = {"id": str(entry.id)}
    if entry.body is not None:
        text = " ".join(entry.body.text.split())
        told |= {
            "namespace": entry.body.namespace,
            "text": text if len(text) <= SNIPPET else text[: SNIPPET - 1] + "…",
        }
    else:
        told |= {"erased_at": _iso(entry.state_since), "reason": entry.reason}
    into = found.survivors.get(entry.id)
    return told | ({"into": str(into)} if into is not None else {})


def _goal(goal: GoalDiscovered | None) -> dict[str, Any] | None:
    if goal is None:
        return None
    return {"id": str(goal.goal), "namespace": goal.namespace, "description": goal.description}


def _cut(some: list[Any], total: int) -> dict[str, Any]:
    return {"total": total, "shown": some}


def _rows(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
    """Return name, old and new value of each rule; each mode's time is one by itself."""
    for mode, when in after["when"].items():
        yield mode, before["when"][mode], when
    for name in ("paused", "permitted"):
        yield name, before[name], after[name]


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
