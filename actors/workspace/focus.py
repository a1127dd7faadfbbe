"""Tasks of the workspace, and the events that each leads to: which memories enter and leave (Baars 1988)."""

from collections.abc import Callable, Mapping
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.comparator.messages import Resonances, Resonate
from actors.runtime.reply import Reply
from actors.workspace.kuramoto import order_parameters
from actors.workspace.messages import Attention
from events import vocabulary as ev
from events.vocabulary.values import WIDTH, Resonance
from projections.mind.workspace import CAPACITY, FADING_THRESHOLD, IGNITION_THRESHOLD, WorkspaceState


class FocusTask(msgspec.Struct, frozen=True, kw_only=True):
    """Pending work: measure a focus, or the last one with another coupling, or only read the attention."""

    focus: Resonate | None = None
    force: bool = False
    """Whether the memory in focus enters the workspace whatever its order parameter."""
    coupling: float | None = None
    reply: Reply[Attention] | None = None
    """The sender's reply. A later focus replaces a task without one."""


def decide(task: FocusTask, state: WorkspaceState, compare: Callable[[Resonate], Resonances]) -> list[ev.Event]:
    """Return the events of a task; `compare` returns the scores of memories against a focus.

    Raises:
        NotFoundFault: The memory in focus was deleted.
    """
    if task.coupling is not None:
        return _change_coupling(state, task.coupling)
    if task.focus is None:
        return []
    subject = task.focus.focus if isinstance(task.focus.focus, UUID) else None
    memories = tuple(dict.fromkeys((*task.focus.memories, *state.ignited)))
    found = compare(msgspec.structs.replace(task.focus, memories=memories))
    focus = ev.FocusMoved(subject=subject, namespace=task.focus.namespace, coupling=state.coupling, candidates=())
    return _measure(state, focus, found.memories, found.scores, forced=subject if task.force else None)


def _change_coupling(state: WorkspaceState, coupling: float) -> list[ev.Event]:
    """Measure the last focus again. Memories not measured against it leave, since their order is unknown."""
    adjusted = ev.CouplingAdjusted(previous=state.coupling, coupling=coupling)
    if state.focus is None:  # its subject was erased, or there was none yet
        return [adjusted, *update_workspace(state, {}, drop_unmeasured=True)]
    focus = msgspec.structs.replace(state.focus, coupling=coupling)
    memories = tuple(candidate.memory for candidate in focus.candidates)
    scores = np.array([np.frombuffer(candidate.scores, "<f4") for candidate in focus.candidates]).reshape(-1, WIDTH)
    return [adjusted, *_measure(state, focus, memories, scores, drop_unmeasured=True)]


def _measure(
    state: WorkspaceState,
    focus: ev.FocusMoved,
    memories: tuple[UUID, ...],
    scores: npt.NDArray[np.float32],
    *,
    forced: UUID | None = None,
    drop_unmeasured: bool = False,
) -> list[ev.Event]:
    """Return the focus with the order parameter of each memory, descending, and the changes of the workspace."""
    orders = order_parameters(scores, focus.coupling)
    candidates = tuple(
        Resonance(memories[row], scores[row].astype("<f4").tobytes(), float(orders[row]))
        for row in np.argsort(-orders, kind="stable").tolist()
    )
    measured = dict(zip(memories, orders.tolist(), strict=True))
    moved = msgspec.structs.replace(focus, candidates=candidates)
    return [moved, *update_workspace(state, measured, forced, drop_unmeasured=drop_unmeasured)]


def update_workspace(
    state: WorkspaceState, orders: Mapping[UUID, float], forced: UUID | None = None, *, drop_unmeasured: bool = False
) -> tuple[ev.Event, ...]:
    """Return the changes of the workspace after a new focus: fadings, ignitions, then conflict or emptiness.

    A memory ignites at r >= `IGNITION_THRESHOLD` and fades at r < `FADING_THRESHOLD`; between the two it stays as it
    was (hysteresis). Beyond the capacity, memories that were not measured leave first, then those with the lowest r.

    `orders` has the order parameter r of each memory that was measured, of which `forced` enters whatever its r. Others
    stay while there is room, unless `drop_unmeasured`.
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
) -> tuple[ev.Event, ...]:
    """Return the events that turn the state into one with these memories and their orders."""
    changes: list[ev.Event] = [
        ev.MemoryFaded(memory=memory, order=orders.get(memory, held.order))
        for memory, held in state.ignited.items()
        if memory not in after
    ]
    changes += [
        ev.MemoryIgnited(memory=memory, order=order, forced=memory == forced and order < IGNITION_THRESHOLD)
        for memory, order in after.items()
        if memory not in state.ignited
    ]
    if changes and not after:
        changes.append(ev.WorkspaceEmptied())
    elif changes and len(after) > 1:
        changes.append(ev.WorkspaceConflicted(memories=tuple(sorted(after, key=after.__getitem__, reverse=True))))
    return tuple(changes)
