"""Which events an export carries, and an event without memories that aren't carried: pure functions.

Carried are memories with the links that they were stored with, later links, recalls, what was forgotten and restored,
and the runs that merged or pruned. What follows from the memories by a model is found again by the store that imports
them: embeddings, goals, clusters, patterns, attention. Settings such as the schedule belong to a store.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias
from uuid import UUID

import msgspec

from events import vocabulary as ev
from projections.mind.runs import Run, merges_without

Carried: TypeAlias = (
    ev.MemoriesLinked
    | ev.LinksTraversed
    | ev.MemoryRecalled
    | ev.MemoryForgotten
    | ev.MemoryRestored
    | ev.MemorySuperseded
    | ev.MemoryReinstated
    | ev.MemoryTagged
    | ev.ConsolidationStarted
    | ev.ConsolidationFinished
    | ev.MemoriesMerged
    | ev.MemoriesPruned
    | ev.LinksStrengthened
    | ev.ShortcutsDrawn
    | ev.ConsolidationUndone
)
"""Events other than `MemoryStored` that a store can import."""


def mentioned(event: ev.Event) -> set[UUID]:
    """Return the ids of the memories that a carried event names."""
    return {one for name in event.__struct_fields__ if name != "run" for one in _ids(getattr(event, name))}


def changed_by(run: Run) -> set[UUID]:
    """Return the ids of the memories that the carried events of a run change."""
    return {*_ids((run.merged, run.pruned, run.strengthened, run.shortcuts))} - {run.run}


def without(event: ev.Event, gone: AbstractSet[UUID]) -> ev.Event | None:
    """Return a carried event without the memories that aren't carried; None if nothing of it is left."""
    match event:
        case ev.MemoriesLinked(source=source, targets=targets) if source not in gone:
            field, left = "targets", [one for one in targets if one not in gone]
        case ev.MemoryRecalled() | ev.ConsolidationUndone(memories=[_, *_]):
            field, left = "memories", [one for one in event.memories if one not in gone]
        case ev.MemoriesMerged() as merge:
            return next(merges_without([merge], gone), None)
        case ev.MemoriesPruned(pruned=pruned):
            field, left = "pruned", [one for one in pruned if one.memory not in gone]
        case ev.LinksStrengthened(links=links):
            field, left = "links", [one for one in links if gone.isdisjoint(_ids(one.step))]
        case ev.ShortcutsDrawn(shortcuts=shortcuts):
            field, left = "shortcuts", [one for one in shortcuts if gone.isdisjoint((*_ids(one.step), *one.via))]
        case _:
            return event if gone.isdisjoint(mentioned(event)) else None
    return msgspec.structs.replace(event, **{field: tuple(left)}) if left else None


def _ids(value: object) -> Iterator[UUID]:
    match value:
        case UUID():
            yield value
        case tuple():
            for one in value:
                yield from _ids(one)
        case msgspec.Struct():
            for name in value.__struct_fields__:
                yield from _ids(getattr(value, name))
        case _:
            pass
