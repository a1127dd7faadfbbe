"""What enters the workspace and what leaves it (seed 001; facts 9.4)."""

from collections.abc import Mapping
from uuid import UUID

from events.vocabulary import Event, MemoryFaded, MemoryIgnited, WorkspaceConflicted, WorkspaceEmptied
from projections.mind.workspace import WorkspaceState

ENTER = 0.8
"""The order at which a memory ignites."""

EXIT = 0.7
"""The order below which it fades; between the two it stays as it was, so that nothing flickers."""

CAPACITY = 7
"""How many memories are in at most: what a mind holds at once (Miller 1956)."""


def settle(
    state: WorkspaceState, orders: Mapping[UUID, float], forced: UUID | None = None, *, alone: bool = False
) -> tuple[Event, ...]:
    """Return what a new focus does to the workspace, in order: fadings, ignitions, then conflict or emptiness.

    A memory that is in and wasn't measured, as one of another namespace, is left alone as long as there is room. When
    more would be in than the workspace holds, those that weren't measured give way first, then the least synchronous.

    Args:
        state: The workspace as it is.
        orders: The order parameter of every memory that was measured against the new focus.
        forced: One of them that is in afterwards, whatever its order.
        alone: Whether what wasn't measured leaves.
    """
    inside = [memory for memory in orders if orders[memory] >= (EXIT if memory in state.ignited else ENTER)]
    if forced is not None and forced not in inside:
        inside.append(forced)
    # Of equals, who is in stays in.
    ranked = sorted(inside, key=lambda memory: (memory != forced, -orders[memory], memory not in state.ignited))
    unseen = [(memory, held.order) for memory, held in state.ignited.items() if memory not in orders and not alone]
    unseen.sort(key=lambda one: -one[1])
    kept = ([(memory, orders[memory]) for memory in ranked] + unseen)[:CAPACITY]
    return _changes(state, orders, dict(kept), forced)


def _changes(
    state: WorkspaceState, orders: Mapping[UUID, float], inside: Mapping[UUID, float], forced: UUID | None
) -> tuple[Event, ...]:
    """Return the events that lead from the state to these memories being inside, each with its order."""
    fadings = [
        MemoryFaded(memory=memory, order=orders.get(memory, held.order))
        for memory, held in state.ignited.items()
        if memory not in inside
    ]
    ignitions = [
        MemoryIgnited(memory=memory, order=order, forced=memory == forced and order < ENTER)
        for memory, order in inside.items()
        if memory not in state.ignited
    ]
    changes: list[Event] = [*fadings, *ignitions]
    if changes and not inside:
        changes.append(WorkspaceEmptied())
    elif changes and len(inside) > 1:
        changes.append(WorkspaceConflicted(memories=tuple(sorted(inside, key=inside.__getitem__, reverse=True))))
    return tuple(changes)
