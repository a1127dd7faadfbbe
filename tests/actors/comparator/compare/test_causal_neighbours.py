"""Pairs of plain statements of which E5 is sure."""

import numpy as np
import numpy.typing as npt
import pytest

from actors.comparator.compare.causal_neighbours import FIT, expanded, pair_features, pair_probability


def array(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


def test_a_pair_that_both_ends_prefer_is_surer_than_one_of_many() -> None:
    alone = pair_features(array(0.6, 0.1, 0.0), array(0.6, 0.1, 0.1), 0, 0.2, 0.3, (6, 6))
    crowded = pair_features(array(0.6, 0.6, 0.59), array(0.6, 0.58, 0.6), 0, 0.2, 0.3, (6, 6))
    assert pair_probability(alone) > pair_probability(crowded)


def test_a_pair_that_is_as_near_backwards_and_in_meaning_is_no_cause() -> None:
    own, theirs = array(0.6, 0.1, 0.0), array(0.6, 0.1, 0.1)
    directed = pair_features(own, theirs, 0, 0.25, 0.3, (6, 6))
    for opposite, similarity in ((0.65, 0.3), (0.25, 0.9)):
        other = pair_features(own, theirs, 0, opposite, similarity, (6, 6))
        assert pair_probability(directed) > FIT.minimum > pair_probability(other)


def test_the_features_do_not_depend_on_which_end_is_examined() -> None:
    cause, effect = array(0.1, 0.5, 0.3, 0.2), array(0.4, 0.5, 0.1, 0.0)
    assert pair_features(cause, effect, 1, 0.2, 0.3, (4, 9)) == pytest.approx(
        pair_features(effect, cause, 1, 0.2, 0.3, (4, 9))
    )


def test_features_are_expanded_by_the_products_of_each_two() -> None:
    assert expanded(np.array([2.0, 3.0])).tolist() == [2, 3, 4, 6, 9]
    assert len(FIT.mean) == len(FIT.scale) == len(FIT.coefficients) == 8 + 8 * 9 // 2
    assert 0.3 < FIT.minimum < 1
