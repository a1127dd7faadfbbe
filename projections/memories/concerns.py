"""What an event says of memories: which ones it concerns, and why it excludes some."""

from collections.abc import Iterator
from uuid import UUID

from events.vocabulary import (
    CausesLinked,
    ConsolidationUndone,
    Event,
    MemoriesLinked,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    MemoryErased,
    MemoryFaded,
    MemoryForgotten,
    MemoryIgnited,
    MemoryReinstated,
    MemoryRestored,
    MemorySuperseded,
)
from projections.memories.lifecycle import StateChange


def concerned(event: Event) -> Iterator[UUID]:
    """Yield the memories that an event concerns, recalls and measurements aside."""
    match event:
        case (
            MemoryForgotten(memory=memory)
            | MemoryRestored(memory=memory)
            | MemoryReinstated(memory=memory)
            | MemoryErased(memory=memory)
            | MemoryIgnited(memory=memory)
            | MemoryFaded(memory=memory)
        ):
            yield memory
        case MemorySuperseded(memory=memory, by=by):
            yield from (memory, by)
        case CausesLinked(links=links):
            yield from dict.fromkeys(end for link in links for end in (link.source, link.target))
        case MemoriesLinked(source=first, targets=others) | MemoriesMerged(survivor=first, absorbed=others):
            yield from (first, *others)
        case MemoriesPruned(pruned=pruned):
            yield from (one.memory for one in pruned)
        case MemoriesReplayed(memories=memories) | ConsolidationUndone(memories=memories):
            yield from memories
        case _:
            pass


def changed(changes: tuple[StateChange, ...]) -> Iterator[UUID]:
    """Yield the memories whose state changed, and their previous survivors."""
    for change in changes:
        yield change.memory
        if change.previous_survivor is not None:
            yield change.previous_survivor


def restores_single_memories(event: Event) -> bool:
    """Tell whether an event makes chosen memories live, rather than undoing a whole run."""
    return isinstance(event, MemoryRestored) or (isinstance(event, ConsolidationUndone) and bool(event.memories))


def reasons_of(event: Event) -> dict[UUID, str | None]:
    """Return why an event excludes memories from search."""
    match event:
        case MemoryForgotten(memory=memory, reason=reason) | MemoryErased(memory=memory, reason=reason):
            return {memory: reason}
        case MemoriesMerged(survivor=survivor, absorbed=absorbed):
            return dict.fromkeys(absorbed, f"merged into {survivor}")
        case MemoriesPruned(pruned=pruned):
            return {one.memory: f"pruned: salience {one.salience.total:.2f}" for one in pruned}
        case _:
            return {}
