"""What thirteen scores add up to."""

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from actors.comparator.compare import strategies
from actors.comparator.compare.strategies import GROUPS, SYNERGY, coherence, dominant
from actors.runtime.settings import Strategy
from events.spaces import INDEX, SEMANTIC, SPACES, TEMPORAL

MEANS = [strategy for strategy in Strategy if strategy is not Strategy.EUCLIDEAN]
"""Those that are means of the scores, however weighted."""
Call = Callable[[npt.NDArray[np.float64]], object]
GRADED = np.linspace(0.3, 0, 13) / np.linspace(0.3, 0, 13).sum()
"""What the spaces weigh in Graded: the last one nothing."""
overall = partial(strategies.overall, graded=GRADED)
SCORES = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.just(13)), elements=st.floats(0, 1))


def scores(default: float, **others: float) -> npt.NDArray[np.float64]:
    """The scores of one pair: the default in every space but those named."""
    return np.array([[others.get(space.key, default) for space in SPACES]])


def one(pair: npt.NDArray[np.float64], strategy: Strategy) -> float:
    (value,) = overall(pair, strategy)
    return float(value)


def by_the_formula(s: npt.NDArray[np.float64], strategy: Strategy) -> float:
    """The strategies as their docstrings write them, sum by sum, for the scores of one pair."""
    n = range(len(s))
    mean = sum(s) / len(s)
    deviation = (sum((s - mean) ** 2) / len(s)) ** 0.5
    match strategy:
        case Strategy.GRADED:
            weights = GRADED.tolist()
        case Strategy.COSINE:
            return mean
        case Strategy.EUCLIDEAN:
            return 1 / (1 + (sum((1 - s) ** 2) / len(s)) ** 0.5)
        case Strategy.SYNERGY_WEIGHTED:
            weights = [sum(SYNERGY[i, j] for j in n if j != i) for i in n]
        case Strategy.GROUP_HIERARCHICAL:
            return sum(sum(s[INDEX[key]] for key in group) / len(group) for group in GROUPS.values()) / len(GROUPS)
        case Strategy.CROSS_CORRELATION_DOMINANT:
            pairs = list(combinations(n, 2))
            return sum((s[i] * s[j]) ** 0.5 * SYNERGY[i, j] for i, j in pairs) / sum(SYNERGY[i, j] for i, j in pairs)
        case Strategy.TUCKER_COMPRESSED:
            weights = [max(0.1, 1 - min(abs(s[i] - mean) / (2 * deviation), 1)) for i in n]
        case Strategy.ADAPTIVE:
            steps = {0.4: Strategy.COSINE, 0.45: Strategy.SYNERGY_WEIGHTED, np.inf: Strategy.TUCKER_COMPRESSED}
            return by_the_formula(s, next(step for end, step in steps.items() if deviation / mean < end))
    return sum(weights[i] * s[i] for i in n) / sum(weights)


def test_the_strategy_names_are_the_seven_published_ones_and_graded() -> None:
    assert " ".join(Strategy) == (
        "graded "
        "cosine euclidean synergy_weighted group_hierarchical cross_correlation_dominant tucker_compressed adaptive"
    )


def test_every_space_belongs_to_exactly_one_group() -> None:
    assert sorted(key for group in GROUPS.values() for key in group) == sorted(INDEX)


@pytest.mark.parametrize("strategy", Strategy)
@given(seed=st.integers(0, 2**32 - 1), spread=st.floats(0.01, 1))
def test_a_strategy_is_its_formula(strategy: Strategy, seed: int, spread: float) -> None:
    pairs = 1 - spread * np.random.default_rng(seed).random((3, 13))
    assert overall(pairs, strategy) == pytest.approx([by_the_formula(pair, strategy) for pair in pairs])


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_identical_memories_have_similarity_and_coherence_one(strategy: Strategy, dtype: type) -> None:
    identical = np.ones((2, 13), dtype)
    assert overall(identical, strategy).tolist() == [1.0, 1.0]
    assert coherence(identical).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("strategy", MEANS)
@given(pairs=SCORES)
def test_a_mean_stays_between_the_lowest_and_the_highest_score(
    strategy: Strategy, pairs: npt.NDArray[np.float64]
) -> None:
    values = overall(pairs, strategy)
    assert (pairs.min(axis=1) <= values).all()
    assert (values <= pairs.max(axis=1)).all()


@given(pairs=SCORES)
def test_euclidean_lies_between_a_half_and_one(pairs: npt.NDArray[np.float64]) -> None:
    values = overall(pairs, Strategy.EUCLIDEAN)
    assert (values >= 0.5).all()
    assert (values <= 1.0).all()


@pytest.mark.parametrize("strategy", MEANS)
@given(score=st.floats(0, 1))
def test_spaces_that_agree_give_the_score_that_they_agree_on(strategy: Strategy, score: float) -> None:
    assert one(scores(score), strategy) == score


@pytest.mark.parametrize("strategy", Strategy)
@given(pairs=SCORES)
def test_the_result_of_a_pair_does_not_depend_on_other_pairs(
    strategy: Strategy, pairs: npt.NDArray[np.float64]
) -> None:
    alone = [one(pair[np.newaxis], strategy) for pair in pairs]
    assert overall(pairs, strategy) == pytest.approx(alone)
    assert overall(pairs[::-1], strategy) == pytest.approx(alone[::-1])


@pytest.mark.parametrize("strategy", Strategy)
def test_no_pairs_give_no_values(strategy: Strategy) -> None:
    nothing = np.empty((0, 13))
    assert overall(nothing, strategy).shape == coherence(nothing).shape == (0,)
    assert dominant(nothing) == []


@pytest.mark.requirement("INTEG-001/comparator/strategies")
def test_no_two_strategies_are_the_same_under_two_names() -> None:
    mixed = np.random.default_rng(3).random((200, 13)) ** np.linspace(0.1, 3, 200)[:, np.newaxis]
    values = {strategy: overall(mixed, strategy) for strategy in Strategy}
    for one_name, other in combinations(Strategy, 2):
        assert np.abs(values[one_name] - values[other]).max() > 0.01, (one_name, other)


@pytest.mark.requirement("INTEG-001/comparator/strategies")
def test_euclidean_punishes_one_bad_space_more_than_the_same_loss_spread_over_all() -> None:
    one_bad, all_a_little_worse = scores(1.0, e1_semantic=0.0), scores(12 / 13)
    assert one(one_bad, Strategy.COSINE) == pytest.approx(one(all_a_little_worse, Strategy.COSINE))
    assert one(one_bad, Strategy.EUCLIDEAN) < one(all_a_little_worse, Strategy.EUCLIDEAN) - 0.1


@pytest.mark.requirement("INTEG-001/comparator/strategies")
def test_synergy_weighs_a_space_that_many_support_more_than_one_that_few_do() -> None:
    supported, lonely = scores(0.2, e11_entity=0.9), scores(0.2, e2_temporal_recent=0.9)
    mean = one(supported, Strategy.COSINE)
    assert mean == pytest.approx(one(lonely, Strategy.COSINE))
    assert one(supported, Strategy.SYNERGY_WEIGHTED) > mean + 0.01
    assert one(lonely, Strategy.SYNERGY_WEIGHTED) < mean - 0.01


@pytest.mark.requirement("INTEG-001/comparator/strategies")
def test_three_temporal_spaces_weigh_as_much_as_any_other_group() -> None:
    same_time_only = scores(0.0, **dict.fromkeys(TEMPORAL, 1.0))
    assert one(same_time_only, Strategy.COSINE) == pytest.approx(3 / 13)
    assert one(same_time_only, Strategy.GROUP_HIERARCHICAL) == pytest.approx(1 / 6)
    same_words_only = scores(0.0, e6_sparse=1.0)
    assert one(same_words_only, Strategy.GROUP_HIERARCHICAL) == pytest.approx(1 / 6)


@pytest.mark.requirement("INTEG-001/comparator/strategies")
def test_cross_correlation_counts_agreeing_pairs_of_spaces_and_not_single_spaces() -> None:
    alone = scores(0.0, e1_semantic=1.0)
    assert one(alone, Strategy.COSINE) > 0.07
    assert one(alone, Strategy.CROSS_CORRELATION_DOMINANT) == 0.0
    strong = one(scores(0.0, e1_semantic=1.0, e12_late_interaction=1.0), Strategy.CROSS_CORRELATION_DOMINANT)
    weak = one(scores(0.0, e1_semantic=1.0, e2_temporal_recent=1.0), Strategy.CROSS_CORRELATION_DOMINANT)
    assert strong == pytest.approx(3 * weak)  # synergies of .9 and .3
    assert weak > 0.0


@given(pairs=SCORES)
def test_cross_correlation_never_exceeds_synergy_since_a_pair_is_no_better_than_its_geometric_mean(
    pairs: npt.NDArray[np.float64],
) -> None:
    cross, synergy = (overall(pairs, Strategy[name]) for name in ("CROSS_CORRELATION_DOMINANT", "SYNERGY_WEIGHTED"))
    assert (cross <= synergy + 1e-12).all()


@pytest.mark.requirement("INTEG-001/comparator/strategies")
@pytest.mark.parametrize(("usual", "outlier"), [(0.9, 0.0), (0.1, 1.0)])
def test_tucker_damps_an_outlier_to_a_tenth_of_a_typical_space(usual: float, outlier: float) -> None:
    pair = scores(usual, e7_code=outlier)
    mean, tucker = one(pair, Strategy.COSINE), one(pair, Strategy.TUCKER_COMPRESSED)
    assert abs(tucker - usual) < abs(mean - usual) / 5
    # Twelve spaces stand √(1/12) σ from the mean, the outlier √12 σ.
    typical = 1 - (1 / 12) ** 0.5 / 2
    assert tucker == pytest.approx((12 * typical * usual + 0.1 * outlier) / (12 * typical + 0.1))


@pytest.mark.requirement("INTEG-001/comparator/strategies")
@pytest.mark.parametrize(
    ("low", "chosen"),
    [(0.75, Strategy.COSINE), (0.15, Strategy.SYNERGY_WEIGHTED), (0.0, Strategy.TUCKER_COMPRESSED)],
)
def test_adaptive_takes_the_mean_the_synergy_or_tucker_the_further_the_spaces_disagree(
    low: float, chosen: Strategy
) -> None:
    pair = scores(0.8, e1_semantic=low, e2_temporal_recent=low, e11_entity=low)
    values = {strategy: one(pair, strategy) for strategy in MEANS}
    same = {strategy for strategy, value in values.items() if value == pytest.approx(values[Strategy.ADAPTIVE])}
    assert same == {chosen, Strategy.ADAPTIVE}


@pytest.mark.requirement("INTEG-001/comparator/coherence")
def test_coherence_falls_as_the_spaces_disagree_and_not_as_all_of_them_fall() -> None:
    falling = [scores(0.6, e1_semantic=score, e7_code=1.2 - score) for score in (0.6, 0.5, 0.3, 0.2)]
    values = coherence(np.vstack(falling))
    assert values[0] == pytest.approx(1.0)
    assert (np.diff(values) < -0.01).all()
    assert coherence(falling[-1] / 4) == pytest.approx(values[-1:])


@pytest.mark.requirement("INTEG-001/comparator/coherence")
def test_coherence_is_one_over_one_plus_the_coefficient_of_variation() -> None:
    assert coherence(scores(0.0, e1_semantic=1.0)) == pytest.approx([1 / (1 + 12**0.5)])


def test_coherence_is_zero_if_all_scores_are_zero() -> None:
    assert coherence(scores(0.0)).tolist() == [0.0]


@given(pairs=SCORES)
def test_coherence_lies_between_zero_and_one(pairs: npt.NDArray[np.float64]) -> None:
    values = coherence(pairs)
    assert (values >= 0.0).all()
    assert (values <= 1.0).all()


@pytest.mark.requirement("INTEG-001/comparator/dominant")
def test_the_dominant_space_of_each_pair_is_the_one_with_its_highest_score() -> None:
    pairs = (0.5 + 0.3 * np.eye(13))[[INDEX[key] for key in SEMANTIC]]
    assert dominant(pairs) == [*SEMANTIC]


def test_spaces_of_time_and_spaces_without_a_score_are_never_dominant() -> None:
    pair = scores(0.3, e13_splade=0.4, **dict.fromkeys(TEMPORAL, 1.0))
    pair[0, INDEX["e8_graph"]] = np.nan
    assert dominant(pair) == ["e13_splade"]


@pytest.mark.requirement("INTEG-001/comparator/dominant")
def test_of_equal_scores_the_first_space_in_order_is_dominant() -> None:
    assert dominant(scores(0.2, e13_splade=0.8, e5_causal=0.8)) == ["e5_causal"]
    assert dominant(scores(0.5)) == ["e1_semantic"]


CALLS: list[Call] = [*(partial(overall, strategy=strategy) for strategy in Strategy), coherence, dominant]
IDS = [*Strategy, "coherence", "dominant"]


@pytest.mark.parametrize("call", CALLS, ids=IDS)
@pytest.mark.parametrize("value", [np.inf, -np.inf, -0.01, 1.01, 1.00001])
@pytest.mark.parametrize("key", ["e1_semantic", "e7_code", "e13_splade"])
def test_a_score_out_of_range_is_an_error_that_names_the_space(call: Call, value: float, key: str) -> None:
    pairs = np.vstack([scores(0.5), scores(0.5, **{key: value})])
    with pytest.raises(ValueError, match=rf"^pair 1: the score of {key} is {value}, not in \[0, 1\]$"):
        call(pairs)


@pytest.mark.parametrize("call", CALLS, ids=IDS)
@pytest.mark.parametrize("shape", [(13,), (2, 12), (2, 14), (1, 1, 13)])
def test_anything_but_thirteen_scores_a_pair_is_an_error(call: Call, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"shape \(pairs, 13\)"):
        call(np.ones(shape))


def test_rounding_errors_outside_the_range_are_clipped() -> None:
    above, below = scores(1.0 + 5e-7), scores(0.0 - 5e-7)
    for strategy in Strategy:
        assert one(above, strategy) == 1.0
        assert one(below, strategy) == (0.5 if strategy is Strategy.EUCLIDEAN else 0.0)


@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_a_pair_without_any_score_is_an_error(call: Call) -> None:
    with pytest.raises(ValueError, match=r"^pair 1 has no score"):
        call(np.vstack([scores(0.5), scores(np.nan)]))


@pytest.mark.parametrize("strategy", Strategy)
@given(seed=st.integers(0, 2**32 - 1), silent=st.sets(st.integers(1, 12), min_size=1, max_size=11))
def test_a_space_without_a_score_is_left_out_of_every_sum(strategy: Strategy, seed: int, silent: set[int]) -> None:
    pair = np.random.default_rng(seed).random(13)
    pair[list(silent)] = np.nan
    heard = pair[~np.isnan(pair)]
    value = one(pair[np.newaxis], strategy)
    if strategy in MEANS:
        assert heard.min() - 1e-9 <= value <= heard.max() + 1e-9
    agreeing = np.where(np.isnan(pair), np.nan, 0.7)
    assert coherence(agreeing[np.newaxis]) == pytest.approx([1.0])
    filled = np.where(np.isnan(pair), heard.mean(), pair)
    if strategy is Strategy.COSINE:
        assert value == pytest.approx(filled.mean())
