"""Which memories enter and leave the global workspace (Baars 1988; STORE-001/workspace)."""

from collections.abc import Mapping
from uuid import UUID

from events.vocabulary import Event, MemoryFaded, MemoryIgnited, WorkspaceConflicted, WorkspaceEmptied
from projections.mind.workspace import CAPACITY, FADING_THRESHOLD, IGNITION_THRESHOLD, WorkspaceState


def update_workspace(
    state: WorkspaceState, orders: Mapping[UUID, float], forced: UUID | None = None, *, drop_unmeasured: bool = False
) -> tuple[Event, ...]:
    """Return the changes of the workspace after a new focus: fadings, ignitions, then conflict or emptiness.

    A memory ignites at r >= `IGNITION_THRESHOLD` and fades at r < `FADING_THRESHOLD`; between the two it stays as it
    was (hysteresis). Beyond the capacity, memories that were not measured leave first, then those with the lowest r.

    Args:
        state: The workspace before the focus.
        orders: The order parameter r of each memory that was measured against the focus.
        forced: A measured memory that enters whatever its r.
        drop_unmeasured: Whether memories that were not measured leave; by default they stay while there is room.
    """
    inside = [
        memory
        for memory, order in orders.items()
        if memory == forced or order >= (FADING_THRESHOLD if memory in state.ignited else IGNITION_THRESHOLD)
    ]
    # Of equal orders the memory that is already in the workspace ranks first.
    inside.sort(key=lambda memory: (memory != forced, -orders[memory], memory not in state.ignited))
    unmeasured = [] if drop_unmeasured else [held for memory, held in state.ignited.items() if memory not in orders]
    unmeasured.sort(key=lambda held: -held.order)
    ranked = [(memory, orders[memory]) for memory in inside] + [(held.memory, held.order) for held in unmeasured]
    return _changes(state, orders, dict(ranked[:CAPACITY]), forced)


def _changes(
    state: WorkspaceState, orders: Mapping[UUID, float], after: Mapping[UUID, float], forced: UUID | None
) -> tuple[Event, ...]:
    """Return the events that turn the state into one with these memories and their orders."""
    changes: list[Event] = [
        MemoryFaded(memory=memory, order=orders.get(memory, held.order))
        for memory, held in state.ignited.items()
        if memory not in after
    ]
    changes += [
        MemoryIgnited(memory=memory, order=order, forced=memory == forced and order < IGNITION_THRESHOLD)
        for memory, order in after.items()
        if memory not in state.ignited
    ]
    if changes and not after:
        changes.append(WorkspaceEmptied())
    elif changes and len(after) > 1:
        changes.append(WorkspaceConflicted(memories=tuple(sorted(after, key=after.__getitem__, reverse=True))))
    return tuple(changes)
