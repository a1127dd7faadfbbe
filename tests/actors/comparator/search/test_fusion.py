"""Fusion as a formula."""

import numpy as np
import pytest

from actors.comparator.search.fusion import NEIGHBOUR_SHARE, neighbour_bonus, scale, standardise


def test_standardised_spaces_of_different_scales_contribute_equally() -> None:
    small, large = np.array([0.1, 0.2, 0.3], np.float32), np.array([30, 20, 10], np.float32)
    assert standardise(small, *scale(small)) == pytest.approx(-standardise(large, *scale(large)))


def test_a_space_with_equal_scores_contributes_nothing() -> None:
    same = np.full(4, 0.7, np.float32)
    assert standardise(same, *scale(same)).tolist() == [0, 0, 0, 0]


def test_a_space_below_its_minimum_deviation_contributes_less() -> None:
    scores = np.array([0.50, 0.51, 0.49, 0.50], np.float32)
    full, less = (standardise(scores, *scale(scores, least)) for least in (0, 0.05))
    assert full.std() == pytest.approx(1.0, abs=1e-3)
    assert less.std() == pytest.approx(scores.std() / 0.05, abs=1e-3)
    assert scale(10 * scores, 0.05) == scale(10 * scores), "and as much as others if it sees more"


def test_a_turn_gets_a_share_of_its_best_neighbour_and_never_a_penalty() -> None:
    fused = np.array([3.0, -1.0, -2.0, 0.6], np.float32)
    neighbours = np.array([[1, -1], [0, 2], [1, -1], [-1, -1]])
    assert neighbour_bonus(fused, neighbours) == pytest.approx([0, 3 * NEIGHBOUR_SHARE, 0, 0])
