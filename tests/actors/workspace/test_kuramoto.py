import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.workspace.kuramoto import order_parameters
from events.spaces import INDEX, TEMPORAL
from events.vocabulary.values import WIDTH

FULL = np.ones(WIDTH)
HALF = np.repeat([1.0, 0.0], [7, 6])
ONE = np.eye(WIDTH)[0]
SILENT = [INDEX[key] for key in sorted(TEMPORAL)]
"""The spaces that do not apply to a query without a time."""


def order(scores: np.ndarray, coupling: float = 3.0) -> float:
    return float(order_parameters(scores[None], coupling)[0])


def without(scores: np.ndarray, spaces: list[int]) -> np.ndarray:
    heard = scores.copy()
    heard[spaces] = np.nan
    return heard


@pytest.mark.parametrize(
    ("scores", "coupling", "expected"),
    [
        (FULL, 3.0, 0.94),
        (0.9 * FULL, 3.0, 0.87),
        (0.7 * FULL, 3.0, 0.75),
        (HALF, 3.0, 0.55),
        (ONE, 3.0, 0.29),
        (FULL, 2.0, 0.83),
        (FULL, 0.0, 0.27),
    ],
)
def test_the_order_grows_with_the_agreement_of_the_spaces(scores: np.ndarray, coupling: float, expected: float):
    assert order(scores, coupling) == pytest.approx(expected, abs=0.02)


def test_agreement_in_one_space_alone_never_ignites():
    assert max(order(ONE, coupling) for coupling in (1.0, 3.0, 10.0)) < 0.5


def test_without_coupling_scores_make_no_difference():
    together = order_parameters(np.stack([FULL, HALF, 0 * FULL]), 0.0)
    assert together.max() < 0.5
    assert together[0] == together[1] == together[2]


def test_a_stronger_coupling_locks_more():
    orders = [order(0.8 * FULL, coupling) for coupling in (0.0, 2.0, 3.0, 5.0, 10.0)]
    assert orders == sorted(orders)
    assert orders[-1] > 0.95


def test_phases_converge_at_the_strongest_coupling_for_any_number_of_oscillators():
    equal_pair = without(FULL, [space for space in range(WIDTH) if space not in (0, 9)])  # both turn at 40 Hz
    assert order(equal_pair, 10.0) == pytest.approx(1.0, abs=1e-6)
    assert order(FULL, 10.0) == pytest.approx(0.996, abs=0.005)


def test_a_space_without_a_score_has_no_oscillator():
    silent, unlike = without(FULL, SILENT), FULL.copy()
    unlike[SILENT] = 0.0
    assert order(silent) == pytest.approx(0.94, abs=0.02)
    assert order(unlike) < 0.8


def test_without_any_score_the_order_is_0():
    assert order(np.full(WIDTH, np.nan)) == 0.0


def test_no_memories_have_no_orders():
    assert order_parameters(np.empty((0, WIDTH)), 3.0).shape == (0,)


def test_scores_are_not_modified():
    scores = np.stack([FULL, without(HALF, SILENT)])
    kept = scores.copy()
    order_parameters(scores, 3.0)
    np.testing.assert_array_equal(scores, kept)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 20),
    st.sampled_from([np.float32, np.float64]),
    st.floats(0.0, 10.0, allow_nan=False),
)
def test_a_memory_has_the_same_order_alone_as_among_others(seed: int, memories: int, dtype: type, coupling: float):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(size=(memories, WIDTH)).astype(dtype)
    scores[rng.uniform(size=scores.shape) < 0.2] = np.nan
    orders = order_parameters(scores, coupling)
    assert orders.min() >= 0.0
    assert orders.max() <= 1.0
    for row in {0, memories // 2, memories - 1}:
        assert order_parameters(scores[row : row + 1], coupling)[0] == orders[row]
