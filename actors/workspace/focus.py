"""Tasks of the workspace, and the events that each leads to."""

from collections.abc import Callable
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.comparator.messages import Resonances, Resonate
from actors.runtime.reply import Reply
from actors.workspace.attention import update_workspace
from actors.workspace.kuramoto import order_parameters
from actors.workspace.messages import Attention
from events.vocabulary import CouplingAdjusted, Event, FocusMoved
from events.vocabulary.values import WIDTH, Resonance
from projections.mind.workspace import WorkspaceState


class FocusTask(msgspec.Struct, frozen=True, kw_only=True):
    """Pending work: measure a focus, or the last one with another coupling, or only read the attention."""

    focus: Resonate | None = None
    force: bool = False
    """Whether the memory in focus enters the workspace whatever its order parameter."""
    coupling: float | None = None
    reply: Reply[Attention] | None = None
    """The sender's reply. A later focus replaces a task without one."""


def decide(task: FocusTask, state: WorkspaceState, compare: Callable[[Resonate], Resonances]) -> list[Event]:
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
    focus = FocusMoved(subject=subject, namespace=task.focus.namespace, coupling=state.coupling, candidates=())
    return _measure(state, focus, found.memories, found.scores, forced=subject if task.force else None)


def _change_coupling(state: WorkspaceState, coupling: float) -> list[Event]:
    """Measure the last focus again. Memories not measured against it leave, since their order is unknown."""
    adjusted = CouplingAdjusted(previous=state.coupling, coupling=coupling)
    if state.focus is None:  # its subject was erased, or there was none yet
        return [adjusted, *update_workspace(state, {}, drop_unmeasured=True)]
    focus = msgspec.structs.replace(state.focus, coupling=coupling)
    memories = tuple(candidate.memory for candidate in focus.candidates)
    scores = np.array([np.frombuffer(candidate.scores, "<f4") for candidate in focus.candidates]).reshape(-1, WIDTH)
    return [adjusted, *_measure(state, focus, memories, scores, drop_unmeasured=True)]


def _measure(
    state: WorkspaceState,
    focus: FocusMoved,
    memories: tuple[UUID, ...],
    scores: npt.NDArray[np.float32],
    *,
    forced: UUID | None = None,
    drop_unmeasured: bool = False,
) -> list[Event]:
    """Return the focus with the order parameter of each memory, descending, and the changes of the workspace."""
    orders = order_parameters(scores, focus.coupling)
    candidates = tuple(
        Resonance(memories[row], scores[row].astype("<f4").tobytes(), float(orders[row]))
        for row in np.argsort(-orders, kind="stable").tolist()
    )
    measured = dict(zip(memories, orders.tolist(), strict=True))
    moved = msgspec.structs.replace(focus, candidates=candidates)
    return [moved, *update_workspace(state, measured, forced, drop_unmeasured=drop_unmeasured)]
