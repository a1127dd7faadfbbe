from uuid import UUID

import numpy as np
import pytest

from projections.atlas.purpose import PurposeSpace

GOAL, OTHER = UUID(int=1), UUID(int=2)
EAST, NORTH_EAST, NEUTRAL = (1.0, 0.0), (0.6, 0.8), (0.0, 0.0)


def space_of(*purposes: tuple[float, float] | None) -> PurposeSpace:
    space = PurposeSpace(2)
    for purpose in purposes:
        space.append(purpose)
    return space


def test_cosine_compares_the_directions_of_purposes():
    cosines = space_of(EAST, NORTH_EAST, (-0.5, 0.0)).cosine(np.array([0.5, 0.0]), np.array([0, 1, 2]))
    np.testing.assert_allclose(cosines, [1, 0.6, -1], rtol=1e-6)


@pytest.mark.parametrize("wanted", [EAST, NEUTRAL])
def test_the_cosine_of_a_zero_purpose_is_undefined(wanted: tuple[float, float]):
    assert np.isnan(space_of(NEUTRAL).cosine(np.array(wanted), np.array([0]))).all()


def test_alignment_is_the_mean_of_the_purpose_and_unknown_before_there_is_one():
    alignments = space_of(EAST, NORTH_EAST, NEUTRAL).alignments(np.array([0, 1, 2]))
    np.testing.assert_allclose(alignments, [0.5, 0.7, np.nan], rtol=1e-6)


def test_a_cleared_row_is_as_one_that_never_held_anything():
    space = space_of(EAST, NORTH_EAST)
    space.clear(0)
    assert space.count() == 1
    assert space.digest() == space_of(None, NORTH_EAST).digest()


def test_a_realigned_row_has_the_new_purpose_and_goal():
    space = space_of(EAST, NORTH_EAST)
    space.realign(0, NORTH_EAST, GOAL)
    assert space.at(0).tolist() == pytest.approx(NORTH_EAST)
    assert space.alignments(np.array([0, 1])).tolist() == pytest.approx([0.7, 0.7])
    assert (space.goal(0), space.goal(1)) == (GOAL, None)
    assert space.count() == 2


def test_a_row_keeps_the_goal_that_it_was_measured_against():
    space = PurposeSpace(2)
    for purpose, goal in ((NEUTRAL, None), (EAST, GOAL), (None, None)):
        space.append(purpose, goal)
    assert [space.goal(row) for row in range(3)] == [None, GOAL, None]
    space.clear(1)
    assert space.goal(1) is None


def test_a_realigned_space_is_the_same_as_one_that_was_aligned_from_the_start():
    realigned, aligned = space_of(NEUTRAL, EAST), PurposeSpace(2)
    realigned.realign(0, NORTH_EAST, GOAL)
    aligned.append(NORTH_EAST, GOAL)
    aligned.append(EAST)
    assert realigned.digest() == aligned.digest()


def test_purposes_and_goals_both_change_the_digest():
    purposes = [space_of(EAST), space_of(NORTH_EAST), space_of(None), space_of(EAST, EAST)]
    for goal in (GOAL, OTHER):
        aligned = PurposeSpace(2)
        aligned.append(EAST, goal)
        purposes.append(aligned)
    assert len({space.digest() for space in purposes}) == len(purposes)


def test_many_rows_can_be_realigned_after_the_space_has_grown():
    space = PurposeSpace(2)
    for row in range(300):
        space.append(EAST)
        space.realign(row // 2, NORTH_EAST, GOAL)
    assert space.alignments(np.arange(300)).tolist() == pytest.approx([0.7] * 150 + [0.5] * 150)
    assert sum(space.goal(row) == GOAL for row in range(300)) == 150
