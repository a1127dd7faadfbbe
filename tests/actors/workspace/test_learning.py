"""UTL, Johari windows and emotion as formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.workspace.actor import pulse
from actors.workspace.emotion import emotional_weight
from actors.workspace.johari import classify
from actors.workspace.learning import coherence, entropy, judge, learning_score
from events.vocabulary import WIDTH, Quadrant

similarities = st.lists(st.floats(0, 1), max_size=40).map(lambda row: sorted(row, reverse=True))


def test_what_has_no_neighbours_is_all_news_and_ties_in_with_nothing() -> None:
    assert (entropy([]), coherence([])) == (1.0, 0.0)


def test_nearer_neighbours_mean_less_news_and_more_coherence() -> None:
    near, far = [0.95] * 12, [0.3] * 12
    assert entropy(near) < entropy(far)
    assert coherence(near) > coherence(far)


def test_coherence_is_made_of_connectivity_fit_and_consistency() -> None:
    row = [0.8, 0.8, 0.8, 0.8, 0.8, 0.2, 0.2, 0.2, 0.2, 0.2]
    assert coherence(row) == pytest.approx(0.4 * 5 / 10 + 0.4 / (1 + 0.2 / 0.5) + 0.2 * 1)


def test_the_learning_score_gives_the_example_of_the_seed() -> None:
    """Seed 004: .72 from entropy .65 and coherence .78, which takes an emotional weight times cos phase of .93."""
    assert learning_score(0.65, 0.78, 0.93, 0.0) == pytest.approx(0.72, abs=0.005)


@given(st.lists(similarities, min_size=WIDTH, max_size=WIDTH), st.floats(0.5, 1.5))
def test_every_measure_stays_in_its_range_and_the_score_follows_from_its_parts(
    rows: list[list[float]], weight: float
) -> None:
    learning = judge(rows, weight)
    for value in (learning.entropy, learning.coherence, learning.surprise, *learning.delta_s, *learning.delta_c):
        assert -1e-9 <= value <= 1 + 1e-9
    assert 0 <= learning.phase <= math.pi
    product = learning.entropy * learning.coherence * weight * math.cos(learning.phase)
    assert learning.learning_score == pytest.approx(1 / (1 + math.exp(-2 * product)))


@pytest.mark.parametrize(
    ("delta_s", "delta_c", "quadrant"),
    [
        (0.2, 0.8, Quadrant.OPEN),
        (0.2, 0.2, Quadrant.HIDDEN),
        (0.8, 0.2, Quadrant.BLIND),
        (0.8, 0.8, Quadrant.UNKNOWN),
    ],
)
def test_johari_windows_are_those_of_the_table(delta_s: float, delta_c: float, quadrant: Quadrant) -> None:
    row = classify(delta_s, delta_c)
    assert row.quadrant is quadrant
    assert row.confidence == 1.0


@given(st.floats(0, 1), st.floats(0, 1))
def test_soft_weights_sum_to_one_and_confidence_falls_towards_a_boundary(delta_s: float, delta_c: float) -> None:
    row = classify(delta_s, delta_c)
    assert sum(row.weights) == pytest.approx(1)
    assert row.confidence <= classify(delta_s, 1.0 if delta_c >= 0.5 else 0.0).confidence + 1e-9
    assert classify(0.5, delta_c).confidence == 0.0


def test_a_stirring_text_weighs_more_than_a_sober_one_and_a_bleak_one_less() -> None:
    sober, joyful, bleak = map(
        emotional_weight, ("The meeting is at ten.", "I love it, what a triumph!", "A terrible tragedy.")
    )
    assert sober == 1.0
    assert 0.5 <= bleak < sober < joyful <= 1.5


@pytest.mark.parametrize(
    ("entropy_now", "coherence_now", "action"),
    [
        (0.8, 0.3, "TriggerDream"),
        (0.3, 0.8, "DirectRecall"),
        (0.3, 0.3, "GetNeighborhood"),
        (0.8, 0.6, "EpistemicAction"),
    ],
)
def test_the_pulse_suggests_what_its_window_calls_for(entropy_now: float, coherence_now: float, action: str) -> None:
    assert pulse(entropy_now, coherence_now, 0.6).suggested_action == action
