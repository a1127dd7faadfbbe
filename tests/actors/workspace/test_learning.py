"""UTL, Johari windows and emotion as formulas."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from actors.consolidator.clustering import MIN_SIZE
from actors.workspace.learning import SHARPNESS, coherence, emotional_weight, entropy, judge, learning_score
from actors.workspace.pulse import pulse_of
from events.spaces import INDEX, SEMANTIC, TEMPORAL
from events.vocabulary.values import WIDTH, Learning, Quadrant
from projections.mind.johari import classify

NOTHING = np.empty((WIDTH, 0), np.float32)
SCORES = arrays(np.float32, st.tuples(st.just(WIDTH), st.integers(0, 40)), elements=st.floats(0, 1, width=32)).map(
    lambda scores: -np.sort(-scores, axis=1)
)
"""Similarities of up to forty neighbours in each space, descending."""


def test_without_neighbours_entropy_is_1_and_coherence_is_0() -> None:
    assert entropy(NOTHING).tolist() == [1.0] * WIDTH
    assert coherence(NOTHING).tolist() == [0.0] * WIDTH


def test_nearer_neighbours_mean_lower_entropy_and_higher_coherence() -> None:
    near_and_far = np.array([[0.95] * 12, [0.3] * 12])
    assert entropy(near_and_far) == pytest.approx([0.05, 0.7])
    near, far = coherence(near_and_far)
    assert near > far


def test_entropy_depends_on_the_nearest_neighbour_alone() -> None:
    assert entropy(np.array([[0.9, 0.8, 0.7], [0.9, 0.1, 0.0], [0.9, 0.0, np.nan]])) == pytest.approx([0.1] * 3)


def test_a_space_that_says_nothing_of_any_neighbour_is_left_out_of_the_figures_of_a_memory() -> None:
    scores = np.full((WIDTH, 6), 0.3)
    scores[INDEX["e8_graph"]] = np.nan
    learning, plain = judge(scores, 0.3, 1.0), judge(np.full((WIDTH, 6), 0.3), 0.3, 1.0)
    assert (learning.coherence, learning.phase) == pytest.approx((plain.coherence, plain.phase))
    assert (learning.delta_s[INDEX["e8_graph"]], learning.delta_c[INDEX["e8_graph"]]) == (1.0, 0.0)


def test_coherence_is_the_weighted_sum_of_connectivity_fit_and_consistency() -> None:
    rows = np.array([[0.8] * 5 + [0.2] * 5, [0.9, 0.7, 0.5, 0.3, 0.1] + [0.0] * 5])
    assert coherence(rows) == pytest.approx(
        [
            0.4 * 5 / 10 + 0.4 / (1 + 0.2 / 0.5) + 0.2 * 1,
            0.4 * 1 / 10 + 0.4 / (1 + 0.5 / 0.75) + 0.2 * math.exp(-5 * 0.08),
        ]
    )


def test_a_single_neighbour_is_half_consistent_and_fits_as_one_of_itself() -> None:
    assert coherence(np.array([[0.9], [0.4], [1.0]])) == pytest.approx(
        [0.4 * 1 / 10 + 0.4 / 2 + 0.2 / 2, 0.4 / 2 + 0.2 / 2, 0.4 * 1 / 10 + 0.4 + 0.2 / 2]
    )


def test_each_space_is_measured_independently() -> None:
    rows = -np.sort(-np.random.default_rng(0).random((WIDTH, 12)), axis=1)
    for measure in (entropy, coherence):
        assert measure(rows) == pytest.approx(np.concatenate([measure(rows[[space]]) for space in range(WIDTH)]))


def test_temporal_spaces_do_not_count_in_the_entropy_of_a_memory() -> None:
    scores = np.full((WIDTH, 6), 0.3)
    scores[[INDEX[key] for key in TEMPORAL]] = 1.0
    learning = judge(scores, 0.3, 1.0)
    assert learning.entropy == pytest.approx(1 - 0.3**SHARPNESS)
    assert learning.phase == pytest.approx(0.0)
    assert learning.delta_s[INDEX["e2_temporal_recent"]] == pytest.approx(0.0)


def test_disagreeing_spaces_raise_the_phase_and_lower_the_learning_score() -> None:
    agreeing, torn = np.full((WIDTH, 6), 0.5), np.full((WIDTH, 6), 0.5)
    torn[[INDEX[key] for key in SEMANTIC[::2]]] = 1.0
    torn[[INDEX[key] for key in SEMANTIC[1::2]]] = 0.0
    assert judge(agreeing, 0.5, 1.0).phase == pytest.approx(0.0)
    assert judge(torn, 0.5, 1.0).phase == pytest.approx(math.pi / 2), "as far apart as entropies can be"
    assert judge(torn, 0.5, 1.0).learning_score == pytest.approx(0.5)


def test_surprise_is_the_distance_of_the_nearest_neighbour_in_e1() -> None:
    scores = np.full((WIDTH, 6), 0.2)
    scores[INDEX["e1_semantic"], 0] = 0.95
    learning = judge(scores, 0.25, 1.0)
    assert learning.surprise == pytest.approx(0.05)
    assert learning.entropy > 0.7
    assert judge(NOTHING, 0.0, 1.0).surprise == 1.0


def test_the_learning_score_gives_the_example_of_the_seed() -> None:
    """Seed 004: .72 from entropy .65 and coherence .78, which takes an emotional weight times cos phase of .93."""
    assert learning_score(0.65, 0.78, 0.93, 0.0) == pytest.approx(0.72, abs=0.005)


@given(SCORES, st.floats(0, 1), st.floats(1, 1.5))
def test_every_measure_stays_in_its_range_and_the_score_follows_from_its_parts(
    scores: npt.NDArray[np.float32], closest: float, weight: float
) -> None:
    learning = judge(scores, closest, weight)
    assert len(learning.delta_s) == len(learning.delta_c) == WIDTH
    for value in (learning.entropy, learning.coherence, learning.surprise, *learning.delta_s, *learning.delta_c):
        assert -1e-6 <= value <= 1 + 1e-6
    assert 0 <= learning.phase <= math.pi / 2 + 1e-6
    about = [INDEX[key] for key in SEMANTIC]
    assert learning.entropy == pytest.approx(1 - closest**SHARPNESS)
    assert learning.coherence == pytest.approx(np.mean([learning.delta_c[space] for space in about]))
    product = learning.entropy * learning.coherence * weight * math.cos(learning.phase)
    assert learning.learning_score == pytest.approx(1 / (1 + math.exp(-2 * product)))
    assert learning.usefulness is None, "the learner adds that"


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


@pytest.mark.parametrize(
    "content",
    [
        "I love it, what a triumph!",
        "She was furious, terrified and heartbroken.",
        "We cried with joy when she was born.",
    ],
)
def test_emotional_texts_weigh_more_than_neutral_ones_whether_glad_or_sad(content: str) -> None:
    assert emotional_weight("The meeting is at ten.") == emotional_weight("") == 1.0
    assert 1.1 < emotional_weight(content) <= 1.5
    page = " ".join(["The pump stands beside the door of the shed."] * 40)
    assert emotional_weight(f"{page} {content} {page}") > 1.1, "in a long text too"


@pytest.mark.parametrize(
    ("entropy_now", "coherence_now", "undreamt", "action"),
    [
        (0.8, 0.3, MIN_SIZE, "TriggerDream"),
        (0.8, 0.3, MIN_SIZE - 1, "EpistemicAction"),
        (0.3, 0.8, MIN_SIZE, "DirectRecall"),
        (0.3, 0.3, MIN_SIZE, "GetNeighborhood"),
        (0.8, 0.6, MIN_SIZE, "EpistemicAction"),
    ],
)
def test_the_pulse_suggests_what_its_window_calls_for(
    entropy_now: float, coherence_now: float, undreamt: int, action: str
) -> None:
    learning = Learning(entropy_now, coherence_now, 0.0, 1.0, 0.0, 0.6, delta_s=(), delta_c=())
    assert pulse_of(learning, undreamt).suggested_action == action
