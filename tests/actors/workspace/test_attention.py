from collections.abc import Sequence
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from actors.workspace.focus import update_workspace as update
from events.vocabulary import Event, MemoryFaded, MemoryIgnited, WorkspaceConflicted, WorkspaceEmptied
from projections.mind.workspace import CAPACITY, FADING_THRESHOLD, IGNITION_THRESHOLD, WorkspaceState
from tests.projections.history import history, memory_id

ONE, TWO, THREE, FOUR = map(memory_id, range(1, 5))


def holding(orders: dict[UUID, float]) -> WorkspaceState:
    """Return a workspace in which these memories are, in this order."""
    return after(WorkspaceState(), [MemoryIgnited(memory=memory, order=order) for memory, order in orders.items()])


def after(state: WorkspaceState, events: Sequence[Event]) -> WorkspaceState:
    for envelope in history(*events):
        state.apply(envelope)
    return state


def ignited(memory: UUID, order: float, *, forced: bool = False) -> MemoryIgnited:
    return MemoryIgnited(memory=memory, order=order, forced=forced)


def faded(memory: UUID, order: float) -> MemoryFaded:
    return MemoryFaded(memory=memory, order=order)


def conflict(*memories: UUID) -> WorkspaceConflicted:
    return WorkspaceConflicted(memories=memories)


FULL = {memory_id(number): 0.8 + number / 100 for number in range(1, CAPACITY + 1)}
"""As many as the workspace holds; the first is the least synchronous."""


def test_a_memory_ignites_at_the_threshold_and_not_below():
    assert update(WorkspaceState(), {ONE: IGNITION_THRESHOLD, TWO: 0.79}) == (ignited(ONE, IGNITION_THRESHOLD),)


def test_a_memory_fades_below_the_lower_threshold_and_not_at_it():
    assert update(holding({ONE: 0.9, TWO: 0.9}), {ONE: FADING_THRESHOLD, TWO: 0.69}) == (faded(TWO, 0.69),)


def test_between_the_thresholds_nothing_changes():
    assert update(holding({ONE: 0.9}), {ONE: 0.75, TWO: 0.75}) == ()


def test_a_memory_that_was_not_measured_stays():
    assert update(holding({ONE: 0.9}), {}) == ()


def test_fadings_come_before_ignitions_and_the_most_synchronous_ignites_first():
    events = update(holding({ONE: 0.9, TWO: 0.85}), {ONE: 0.1, THREE: 0.82, FOUR: 0.95})
    assert events == (faded(ONE, 0.1), ignited(FOUR, 0.95), ignited(THREE, 0.82), conflict(FOUR, TWO, THREE))


def test_a_conflict_names_the_memories_of_a_workspace_that_changed():
    assert update(holding({ONE: 0.9}), {TWO: 0.95}) == (ignited(TWO, 0.95), conflict(TWO, ONE))
    assert update(holding({ONE: 0.9, TWO: 0.8}), {ONE: 0.8, TWO: 0.99}) == ()
    three = holding({ONE: 0.81, TWO: 0.9, THREE: 0.9})
    assert update(three, {THREE: 0.5}) == (faded(THREE, 0.5), conflict(TWO, ONE))


def test_the_workspace_is_reported_empty_when_the_last_memory_fades():
    assert update(holding({ONE: 0.9}), {ONE: 0.2, TWO: 0.4}) == (faded(ONE, 0.2), WorkspaceEmptied())
    assert update(holding({ONE: 0.9}), {ONE: 0.2, TWO: 0.8}) == (faded(ONE, 0.2), ignited(TWO, 0.8))
    assert update(WorkspaceState(), {ONE: 0.2}) == ()


def test_beyond_the_capacity_the_least_synchronous_measured_memories_leave():
    new, newer = memory_id(100), memory_id(101)
    events = update(holding(FULL), FULL | {new: 0.95, newer: 0.805})
    assert events[:2] == (faded(ONE, 0.81), ignited(new, 0.95))
    assert events[2:] == (conflict(new, *list(FULL)[:0:-1]),)


def test_of_equal_orders_the_memory_in_the_workspace_stays():
    assert update(holding(dict.fromkeys(FULL, 0.9)), {memory_id(100): 0.9} | dict.fromkeys(FULL, 0.9)) == ()


def test_in_a_full_workspace_unmeasured_memories_leave_first():
    new = memory_id(100)
    assert update(holding(FULL), {new: 0.8})[:2] == (faded(ONE, 0.81), ignited(new, 0.8))
    assert update(holding(FULL), {new: 0.1}, forced=new)[:2] == (
        faded(ONE, 0.81),
        ignited(new, 0.1, forced=True),
    )
    assert update(holding(FULL), {new: 0.79}) == ()


def test_unmeasured_memories_can_be_dropped_and_keep_their_last_order():
    events = update(holding({ONE: 0.9, TWO: 0.85}), {TWO: 0.9}, drop_unmeasured=True)
    assert events == (faded(ONE, 0.9),)
    assert update(holding({ONE: 0.9}), {}, drop_unmeasured=True) == (faded(ONE, 0.9), WorkspaceEmptied())


def test_a_forced_memory_enters_whatever_its_order():
    state = holding({ONE: 0.9})
    assert update(state, {ONE: 0.9, TWO: 0.1}, forced=TWO) == (
        ignited(TWO, 0.1, forced=True),
        conflict(ONE, TWO),
    )
    assert update(state, {ONE: 0.1}, forced=ONE) == ()


def test_a_forced_memory_that_would_have_entered_anyway_is_not_called_forced():
    assert update(WorkspaceState(), {ONE: IGNITION_THRESHOLD}, forced=ONE) == (ignited(ONE, IGNITION_THRESHOLD),)


def test_a_forced_memory_replaces_the_least_synchronous_one_in_a_full_workspace():
    events = update(holding(FULL), FULL | {memory_id(100): 0.1}, forced=memory_id(100))
    assert events[:2] == (faded(ONE, 0.81), ignited(memory_id(100), 0.1, forced=True))
    assert len(after(holding(FULL), events).ignited) == CAPACITY


ORDERS = st.dictionaries(st.integers(1, 12).map(memory_id), st.floats(0.0, 1.0), max_size=12)


@given(st.lists(ORDERS, min_size=1, max_size=6))
def test_any_sequence_of_focuses_respects_the_thresholds_and_the_capacity(focuses: list[dict[UUID, float]]):
    state = WorkspaceState()
    for orders in focuses:
        before = set(state.ignited)
        events = update(state, orders)
        inside = set(after(state, events).ignited)
        assert len(inside) <= CAPACITY
        assert all(orders[memory] >= IGNITION_THRESHOLD for memory in inside - before)
        assert all(orders[memory] >= FADING_THRESHOLD for memory in inside & before & orders.keys())
        # What wasn't measured gives way only where there is no more room.
        assert before - inside <= orders.keys() or len(inside) == CAPACITY
        assert bool(events) == (inside != before)
        assert (WorkspaceEmptied() in events) == (bool(before) and not inside)
        assert set(state.conflict) == (inside if len(inside) > 1 else set())
        assert update(state, {memory: orders[memory] for memory in inside & orders.keys()}) == ()
