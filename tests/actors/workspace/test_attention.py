from collections.abc import Sequence
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from actors.workspace.attention import CAPACITY, ENTER, EXIT, settle
from events.vocabulary import Event, MemoryFaded, MemoryIgnited, WorkspaceConflicted, WorkspaceEmptied
from projections.mind.workspace import WorkspaceState
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
    assert settle(WorkspaceState(), {ONE: ENTER, TWO: 0.79}) == (ignited(ONE, ENTER),)


def test_a_memory_fades_below_the_lower_threshold_and_not_at_it():
    assert settle(holding({ONE: 0.9, TWO: 0.9}), {ONE: EXIT, TWO: 0.69}) == (faded(TWO, 0.69),)


def test_between_the_thresholds_everything_stays_as_it_was():
    assert settle(holding({ONE: 0.9}), {ONE: 0.75, TWO: 0.75}) == ()


def test_a_memory_that_was_not_measured_is_left_alone():
    assert settle(holding({ONE: 0.9}), {}) == ()


def test_fadings_come_before_ignitions_and_the_most_synchronous_ignites_first():
    events = settle(holding({ONE: 0.9, TWO: 0.85}), {ONE: 0.1, THREE: 0.82, FOUR: 0.95})
    assert events == (faded(ONE, 0.1), ignited(FOUR, 0.95), ignited(THREE, 0.82), conflict(FOUR, TWO, THREE))


def test_a_conflict_names_those_that_are_in_when_they_change():
    assert settle(holding({ONE: 0.9}), {TWO: 0.95}) == (ignited(TWO, 0.95), conflict(TWO, ONE))
    assert settle(holding({ONE: 0.9, TWO: 0.8}), {ONE: 0.8, TWO: 0.99}) == ()
    three = holding({ONE: 0.81, TWO: 0.9, THREE: 0.9})
    assert settle(three, {THREE: 0.5}) == (faded(THREE, 0.5), conflict(TWO, ONE))


def test_the_workspace_empties_when_the_last_one_fades_and_only_then():
    assert settle(holding({ONE: 0.9}), {ONE: 0.2, TWO: 0.4}) == (faded(ONE, 0.2), WorkspaceEmptied())
    assert settle(holding({ONE: 0.9}), {ONE: 0.2, TWO: 0.8}) == (faded(ONE, 0.2), ignited(TWO, 0.8))
    assert settle(WorkspaceState(), {ONE: 0.2}) == ()


def test_the_least_synchronous_of_those_measured_give_way_when_there_is_no_room():
    new, newer = memory_id(100), memory_id(101)
    events = settle(holding(FULL), FULL | {new: 0.95, newer: 0.805})
    assert events[:2] == (faded(ONE, 0.81), ignited(new, 0.95))
    assert events[2:] == (conflict(new, *list(FULL)[:0:-1]),)


def test_of_equally_synchronous_memories_the_one_that_is_in_stays_in():
    assert settle(holding(dict.fromkeys(FULL, 0.9)), {memory_id(100): 0.9} | dict.fromkeys(FULL, 0.9)) == ()


def test_in_a_full_workspace_what_the_focus_cannot_see_gives_way_to_what_agrees_with_it():
    new = memory_id(100)
    assert settle(holding(FULL), {new: 0.8})[:2] == (faded(ONE, 0.81), ignited(new, 0.8))
    assert settle(holding(FULL), {new: 0.1}, forced=new)[:2] == (faded(ONE, 0.81), ignited(new, 0.1, forced=True))
    assert settle(holding(FULL), {new: 0.79}) == ()


def test_when_nothing_else_may_stay_what_was_not_measured_leaves_with_the_order_that_it_had():
    events = settle(holding({ONE: 0.9, TWO: 0.85}), {TWO: 0.9}, alone=True)
    assert events == (faded(ONE, 0.9),)
    assert settle(holding({ONE: 0.9}), {}, alone=True) == (faded(ONE, 0.9), WorkspaceEmptied())


def test_a_forced_memory_enters_whatever_its_order():
    state = holding({ONE: 0.9})
    assert settle(state, {ONE: 0.9, TWO: 0.1}, forced=TWO) == (ignited(TWO, 0.1, forced=True), conflict(ONE, TWO))
    assert settle(state, {ONE: 0.1}, forced=ONE) == ()


def test_a_forced_memory_that_would_have_entered_anyway_is_not_called_forced():
    assert settle(WorkspaceState(), {ONE: ENTER}, forced=ONE) == (ignited(ONE, ENTER),)


def test_a_forced_memory_takes_the_place_of_the_least_synchronous_of_those_measured_when_there_is_no_room():
    events = settle(holding(FULL), FULL | {memory_id(100): 0.1}, forced=memory_id(100))
    assert events[:2] == (faded(ONE, 0.81), ignited(memory_id(100), 0.1, forced=True))
    assert len(after(holding(FULL), events).ignited) == CAPACITY


ORDERS = st.dictionaries(st.integers(1, 12).map(memory_id), st.floats(0.0, 1.0), max_size=12)


@given(st.lists(ORDERS, min_size=1, max_size=6))
def test_any_run_of_focuses_keeps_to_the_thresholds_and_the_capacity(focuses: list[dict[UUID, float]]):
    state = WorkspaceState()
    for orders in focuses:
        before = set(state.ignited)
        events = settle(state, orders)
        inside = set(after(state, events).ignited)
        assert len(inside) <= CAPACITY
        assert all(orders[memory] >= ENTER for memory in inside - before)
        assert all(orders[memory] >= EXIT for memory in inside & before & orders.keys())
        # What wasn't measured gives way only where there is no more room.
        assert before - inside <= orders.keys() or len(inside) == CAPACITY
        assert bool(events) == (inside != before)
        assert (WorkspaceEmptied() in events) == (bool(before) and not inside)
        assert set(state.conflict) == (inside if len(inside) > 1 else set())
        assert settle(state, {memory: orders[memory] for memory in inside & orders.keys()}) == ()
