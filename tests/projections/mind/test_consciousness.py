import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.vocabulary.values import WIDTH
from projections.mind.consciousness import (
    BroadcastCandidate,
    CoherenceLevel,
    ConsciousnessState,
    differentiation,
    level_of,
    measure_consciousness,
    state_of,
    winner,
)
from tests.projections.history import memory_id

UNIT = st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("order", "state"),
    [
        (0.0, ConsciousnessState.DORMANT),
        (0.299, ConsciousnessState.DORMANT),
        (0.3, ConsciousnessState.FRAGMENTED),
        (0.499, ConsciousnessState.FRAGMENTED),
        (0.5, ConsciousnessState.EMERGING),
        (0.799, ConsciousnessState.EMERGING),
        (0.8, ConsciousnessState.CONSCIOUS),
        (0.95, ConsciousnessState.CONSCIOUS),
        (0.951, ConsciousnessState.HYPERSYNC),
        (1.0, ConsciousnessState.HYPERSYNC),
    ],
)
def test_the_order_parameter_drives_the_state(order: float, state: ConsciousnessState):
    assert state_of(order, idle_seconds=600.0) is state


@given(UNIT)
def test_ten_minutes_of_inactivity_end_every_state(order: float):
    assert state_of(order, idle_seconds=600.1) is ConsciousnessState.DORMANT


@pytest.mark.parametrize(
    ("order", "level"),
    [
        (0.81, CoherenceLevel.HIGH),
        (0.8, CoherenceLevel.MEDIUM),
        (0.5, CoherenceLevel.MEDIUM),
        (0.49, CoherenceLevel.LOW),
    ],
)
def test_the_order_parameter_has_a_coherence_level(order: float, level: CoherenceLevel):
    assert level_of(order) is level


@pytest.mark.requirement("TOOL-INJECT-001/differentiation")
def test_differentiation_is_the_share_of_spaces_that_take_part():
    assert differentiation((0.0, 0.7, *[0.0] * 11)) == pytest.approx(1 / 13)
    assert differentiation((0.4,) * WIDTH) == pytest.approx(1.0)
    assert differentiation((0.5, 0.5, *[0.0] * 11)) == pytest.approx(2 / 13)


def test_spaces_that_have_nothing_to_say_are_not_counted():
    assert differentiation((0.4, 0.4, *[math.nan] * 11)) == pytest.approx(1.0)
    assert differentiation((0.4, 0.0, *[math.nan] * 11)) == pytest.approx(1 / 2)


def test_without_agreement_nothing_is_differentiated():
    assert differentiation((0.0,) * WIDTH) == differentiation((math.nan,) * WIDTH) == differentiation(()) == 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=WIDTH, max_size=WIDTH))
def test_differentiation_is_a_share_that_order_does_not_change(agreement: list[float]):
    value = differentiation(agreement)
    assert 0.0 <= value <= 1.0
    assert differentiation(agreement[::-1]) == pytest.approx(value)


@given(UNIT, UNIT, UNIT)
def test_consciousness_is_the_product_of_its_parts_and_limited_by_the_smallest(i: float, r: float, d: float):
    measured = measure_consciousness(i, r, d)
    assert measured.consciousness == pytest.approx(i * r * d)
    assert measured.consciousness <= getattr(measured, measured.limiting) == min(i, r, d)


def test_the_winner_has_the_largest_product_of_order_importance_and_alignment():
    ahead = BroadcastCandidate(memory_id(1), order=0.8, importance=0.9, alignment=0.9)
    synchronous = BroadcastCandidate(memory_id(2), order=0.99, importance=0.5, alignment=0.9)
    opposed = BroadcastCandidate(memory_id(3), order=0.99, importance=1.0, alignment=-0.9)
    assert winner([opposed, synchronous, ahead]) is ahead
    assert opposed.score == 0.0


def test_without_a_north_star_alignment_is_one():
    assert BroadcastCandidate(memory_id(1), order=0.9, importance=0.5).score == pytest.approx(0.45)


def test_a_memory_below_the_ignition_threshold_cannot_win():
    assert winner([BroadcastCandidate(memory_id(1), order=0.79, importance=1.0)]) is None
    assert winner([]) is None
