import numpy as np
import pytest

from projections.purpose import PurposeSpace

EAST, NORTH_EAST, NEUTRAL = (1.0, 0.0), (0.6, 0.8), (0.0, 0.0)


def space_of(*purposes: tuple[float, float] | None) -> PurposeSpace:
    space = PurposeSpace(2)
    for purpose in purposes:
        space.append(purpose)
    return space


def test_memories_are_as_near_as_the_directions_of_their_purposes():
    cosines = space_of(EAST, NORTH_EAST, (-0.5, 0.0)).cosine(np.array([0.5, 0.0]), np.array([0, 1, 2]))
    np.testing.assert_allclose(cosines, [1, 0.6, -1], rtol=1e-6)


@pytest.mark.parametrize("wanted", [EAST, NEUTRAL])
def test_no_purpose_is_neither_like_nor_unlike_another(wanted: tuple[float, float]):
    assert np.isnan(space_of(NEUTRAL).cosine(np.array(wanted), np.array([0]))).all()


def test_alignment_is_the_mean_of_the_purpose_and_unknown_before_there_is_one():
    alignments = space_of(EAST, NORTH_EAST, NEUTRAL).alignments(np.array([0, 1, 2]))
    np.testing.assert_allclose(alignments, [0.5, 0.7, np.nan], rtol=1e-6)


def test_a_cleared_row_is_as_one_that_never_held_anything():
    space = space_of(EAST, NORTH_EAST)
    space.clear(0)
    assert space.count() == 1
    assert space.digest() == space_of(None, NORTH_EAST).digest()
