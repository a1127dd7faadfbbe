from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest

from events import vocabulary as ev
from events.vocabulary.values import WIDTH, Resonance
from projections.mind.workspace import DEFAULT_COUPLING, MAX_FADED, FadedMemory, IgnitedMemory, WorkspaceState
from tests.events.samples import NOON, stored
from tests.projections.history import folded, history, memory_id, read_later
from tests.projections.sleeps import RUNS, merged, pruned, undone

ONE, TWO, THREE = memory_id(1), memory_id(2), memory_id(3)
SAMPLE = stored()


def ignited(memory: UUID, order: float = 0.9, *, forced: bool = False) -> ev.MemoryIgnited:
    return ev.MemoryIgnited(memory=memory, order=order, forced=forced)


def faded(memory: UUID, order: float = 0.6) -> ev.MemoryFaded:
    return ev.MemoryFaded(memory=memory, order=order)


def focus(subject: UUID | None = None, **orders: float) -> ev.FocusMoved:
    """Return a focus whose candidates are `one`, `two` or `three` with the order given."""
    names = {"one": ONE, "two": TWO, "three": THREE}
    scores = np.full(WIDTH, 0.5, "<f4").tobytes()
    candidates = tuple(Resonance(names[name], scores, order) for name, order in orders.items())
    return ev.FocusMoved(subject=subject, namespace="main", coupling=3.0, candidates=candidates)


def state_of(*events: ev.Event) -> WorkspaceState:
    return folded(WorkspaceState(), history(*events))


def minute(number: int):
    return NOON + timedelta(minutes=number)


def test_a_new_workspace_is_empty_and_couples_by_default():
    state = WorkspaceState()
    assert state.coupling == DEFAULT_COUPLING
    assert (state.focus, state.focused_at, state.emptied_at) == (None, None, None)
    assert (state.ignited, state.faded, state.ignitions, state.conflict) == ({}, {}, {}, ())


def test_the_last_adjustment_of_the_coupling_holds():
    adjustments = [ev.CouplingAdjusted(previous=3.0, coupling=5.0), ev.CouplingAdjusted(previous=5.0, coupling=1.5)]
    assert state_of(*adjustments).coupling == 1.5


def test_the_last_focus_holds_with_its_time():
    last = focus(subject=TWO, one=0.7)
    state = state_of(focus(one=0.9), last)
    assert state.focus == last
    assert state.focused_at == minute(2)


def test_ignited_memories_stand_in_the_order_in_which_they_entered():
    state = state_of(ignited(TWO, 0.81), ignited(ONE, 0.4, forced=True))
    assert list(state.ignited.values()) == [
        IgnitedMemory(TWO, 0.81, minute(1), forced=False),
        IgnitedMemory(ONE, 0.4, minute(2), forced=True),
    ]


def test_igniting_an_ignited_memory_keeps_its_entry_time():
    state = state_of(ignited(ONE, 0.81), ignited(TWO), ignited(ONE, 0.95))
    assert list(state.ignited) == [ONE, TWO]
    assert state.ignited[ONE] == IgnitedMemory(ONE, 0.95, minute(1), forced=False)
    assert state.ignitions == {ONE: 1, TWO: 1}


def test_a_new_focus_updates_the_orders_of_ignited_memories():
    state = state_of(ignited(ONE, 0.9), ignited(TWO, 0.85), focus(one=0.75, three=0.6))
    assert {memory: held.order for memory, held in state.ignited.items()} == {ONE: 0.75, TWO: 0.85}


def test_a_faded_memory_leaves_and_is_queued_for_replay():
    state = state_of(ignited(ONE), ignited(TWO), faded(TWO, 0.5), faded(ONE, 0.6))
    assert state.ignited == {}
    assert list(state.faded.values()) == [FadedMemory(TWO, 0.5, minute(3)), FadedMemory(ONE, 0.6, minute(4))]


def test_a_memory_that_fades_again_is_queued_once_at_the_end():
    state = state_of(ignited(ONE), ignited(TWO), faded(ONE), faded(TWO), ignited(ONE), faded(ONE, 0.3))
    assert list(state.faded.values()) == [FadedMemory(TWO, 0.6, minute(4)), FadedMemory(ONE, 0.3, minute(6))]
    assert state.ignitions == {ONE: 2, TWO: 1}


def test_a_memory_that_ignites_again_leaves_the_queue():
    assert state_of(ignited(ONE), faded(ONE), ignited(ONE)).faded == {}


def test_the_queue_drops_the_oldest():
    memories = [memory_id(number) for number in range(1, MAX_FADED + 3)]
    state = state_of(*(event for memory in memories for event in (ignited(memory), faded(memory))))
    assert list(state.faded) == memories[2:]


def test_a_conflict_lasts_while_two_of_its_memories_are_in():
    entered = [ignited(ONE), ignited(TWO), ignited(THREE), ev.WorkspaceConflicted(memories=(THREE, ONE, TWO))]
    assert state_of(*entered).conflict == (THREE, ONE, TWO)
    assert state_of(*entered, faded(ONE)).conflict == (THREE, TWO)
    assert state_of(*entered, faded(ONE), ev.MemoryForgotten(memory=TWO)).conflict == ()


def test_the_workspace_is_empty_from_the_event_until_something_enters():
    emptied = [ignited(ONE), faded(ONE), ev.WorkspaceEmptied()]
    assert state_of(*emptied).emptied_at == minute(3)
    assert state_of(*emptied, ignited(TWO)).emptied_at is None


def test_a_forgotten_memory_is_neither_in_nor_replayed():
    state = state_of(
        ignited(ONE), ignited(TWO), faded(TWO), ev.MemoryForgotten(memory=ONE), ev.MemoryForgotten(memory=TWO)
    )
    assert state.ignited == {}
    assert state.faded == {}
    assert state.ignitions == {ONE: 1, TWO: 1}


def test_a_memory_that_was_forgotten_before_it_faded_is_not_replayed():
    assert state_of(ignited(ONE), ev.MemoryForgotten(memory=ONE), faded(ONE)).faded == {}


@pytest.mark.parametrize("late", [False, True], ids=["erased afterwards", "erased before"])
def test_an_erased_memory_leaves_no_trace_in_the_workspace(late: bool):
    erased = ev.MemoryErased(memory=ONE)
    lived = [
        ignited(ONE),
        ignited(TWO),
        ev.WorkspaceConflicted(memories=(ONE, TWO)),
        focus(one=0.9, two=0.8),
        ignited(THREE),
        faded(THREE),
    ]
    state = state_of(*([erased, *lived] if late else [*lived, erased]))
    assert list(state.ignited) == [TWO]
    assert state.ignitions == {TWO: 1, THREE: 1}
    assert state.conflict == ()
    assert state.focus == focus(two=0.8)
    assert list(state_of(ignited(ONE), faded(ONE), erased).faded) == []


@pytest.mark.parametrize("late", [False, True], ids=["erased afterwards", "erased before"])
def test_a_focus_on_an_erased_memory_is_removed(late: bool):
    events = [ev.MemoryErased(memory=ONE), focus(subject=ONE, two=0.9)]
    state = state_of(*(events if late else reversed(events)))
    assert state.focus is None
    assert state.focused_at is None


def test_a_replay_after_erasures_gives_the_same_workspace():
    many = [memory_id(number) for number in range(10, 10 + MAX_FADED)]
    log = history(
        SAMPLE,
        SAMPLE,
        ignited(ONE),
        faded(ONE),
        *(event for memory in many for event in (ignited(memory), faded(memory))),
        ignited(TWO),
        focus(one=0.7, two=0.9),
        ev.MemoryErased(memory=ONE),
    )
    live, later = WorkspaceState(), WorkspaceState()
    for envelope in log:
        live.apply(envelope)
    for envelope in read_later(log):
        later.apply(envelope)
    assert later.digest() == live.digest()


@pytest.mark.parametrize(
    "event",
    [
        ev.CouplingAdjusted(previous=3.0, coupling=4.0),
        focus(one=0.9),
        ignited(TWO),
        faded(ONE),
        ev.MemoryErased(memory=THREE),
    ],
)
def test_every_change_shows_in_the_digest(event: ev.Event):
    assert state_of(ignited(ONE), event).digest() != state_of(ignited(ONE)).digest()


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────

FIRST = RUNS[0]


@pytest.mark.parametrize("gone", [pruned(FIRST, ONE, TWO), merged(FIRST, THREE, ONE, TWO)])
def test_a_pruned_or_merged_memory_leaves_like_a_forgotten_one(gone: ev.Event):
    lived = (ignited(ONE), ignited(TWO), faded(TWO), focus(one=0.9, two=0.8, three=0.7))
    state = state_of(*lived, gone)
    assert (state.ignited, state.faded, state.emptied_at) == ({}, {}, minute(5))
    assert state.ignitions == {ONE: 1, TWO: 1}
    assert state.focus == focus(three=0.7)
    assert state_of(*lived, gone, ignited(ONE)).ignited == {}
    assert list(state_of(*lived, gone, undone(FIRST), ignited(ONE)).ignited) == [ONE]


def test_a_replayed_memory_leaves_the_queue():
    lived = (ignited(ONE), ignited(TWO), faded(ONE), faded(TWO))
    assert list(state_of(*lived, ev.MemoriesReplayed(run=FIRST, memories=(ONE, THREE))).faded) == [TWO]
