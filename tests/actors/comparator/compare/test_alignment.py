"""How far memories serve a goal: measured against its exemplars, on the scale of how alike these are."""

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from actors.comparator.compare.alignment import MIN_COHESION, GoalProfile
from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many
from events.spaces import INDEX
from events.vocabulary.values import WIDTH
from projections.atlas.atlas import Atlas
from tests.actors.comparator.similar_memories import atlas_of, memory
from tests.projections.history import memory_id

RAW = Calibration({})
GOAL = memory_id(99)
EXEMPLARS = np.array([0, 1, 2, 3])
ON_PURPOSE, OFF_PURPOSE, IN_MEANING_ALONE = 4, 5, 6

SCORES = st.floats(0, 1, width=32)


@cache
def atlas() -> Atlas:
    """Four exemplars, and a memory like them, one unlike them, and one that is like them in E1 alone."""
    exemplars = [memory({}, seed, otherwise=0.8) for seed in range(4)]
    return atlas_of(
        [*exemplars, memory({}, 4, otherwise=0.8), memory({}, 5), memory({"e1_semantic": 0.8}, 6), memory({}, 7)]
    )


@cache
def star() -> GoalProfile:
    return GoalProfile.of(atlas(), RAW, GOAL, EXEMPLARS)


def towards(row: int, *exemplars: int) -> npt.NDArray[np.float64]:
    """Return how similar a row is to some exemplars, shape (exemplars, 13)."""
    return np.stack([one_to_many(atlas(), RAW, one, np.array([row]))[0] for one in exemplars]).astype(np.float64)


def test_cohesion_is_the_mean_similarity_of_exemplars_to_each_other():
    pairs = [towards(row, *(one for one in range(4) if one != row)) for row in range(4)]
    np.testing.assert_allclose(star().cohesion, np.concatenate(pairs).mean(axis=0), rtol=1e-5)
    assert (star().cohesion < 0.99).all(), "none is compared with itself"


def test_alignment_is_the_mean_similarity_divided_by_the_cohesion():
    purposes = star().purposes(atlas(), RAW, np.array([ON_PURPOSE, OFF_PURPOSE, IN_MEANING_ALONE]))
    assert purposes.shape == (3, WIDTH)
    assert purposes.dtype == np.float32
    for purpose, row in zip(purposes, (ON_PURPOSE, OFF_PURPOSE, IN_MEANING_ALONE), strict=True):
        expected = towards(row, 0, 1, 2, 3).mean(axis=0) / np.maximum(star().cohesion, MIN_COHESION)
        np.testing.assert_allclose(purpose, np.minimum(expected, 1.0), rtol=1e-5)


def test_memories_similar_to_the_exemplars_are_aligned_and_others_are_not():
    on, off, meaning = star().purposes(atlas(), RAW, np.array([ON_PURPOSE, OFF_PURPOSE, IN_MEANING_ALONE]))
    assert on.mean() > 0.9
    assert off.mean() < on.mean() - 0.2
    told = INDEX["e1_semantic"]
    assert meaning[told] == pytest.approx(on[told], abs=0.1)
    assert np.delete(meaning, told).mean() == pytest.approx(np.delete(off, told).mean(), abs=0.05)


def test_an_exemplar_is_compared_with_the_other_exemplars():
    purposes = star().purposes(atlas(), RAW, np.arange(5))
    for row in range(4):
        others = [one for one in range(4) if one != row]
        expected = towards(row, *others).mean(axis=0) / np.maximum(star().cohesion, MIN_COHESION)
        np.testing.assert_allclose(purposes[row], np.minimum(expected, 1.0), rtol=1e-5)
    flattered = towards(0, 0, 1, 2, 3).mean(axis=0) / np.maximum(star().cohesion, MIN_COHESION)
    assert (purposes[0] < np.minimum(flattered, 1.0)).any(), "itself it would serve better"


def test_the_cohesion_of_a_single_exemplar_is_one():
    alone = GoalProfile.of(atlas(), RAW, GOAL, np.array([0]))
    assert alone.cohesion.tolist() == [1.0] * WIDTH
    purposes = alone.purposes(atlas(), RAW, np.array([0, ON_PURPOSE]))
    np.testing.assert_allclose(purposes, one_to_many(atlas(), RAW, 0, np.array([0, ON_PURPOSE])), rtol=1e-6)
    np.testing.assert_allclose(purposes[0], 1.0, atol=0.01)


def test_a_memory_as_similar_as_the_exemplars_are_to_each_other_has_alignment_one():
    cohesion = np.linspace(MIN_COHESION, 1.0, WIDTH).astype(np.float32)
    goal = GoalProfile(GOAL, EXEMPLARS, cohesion)
    np.testing.assert_allclose(goal.alignment(np.stack([cohesion] * 4)), 1.0, rtol=1e-6)
    np.testing.assert_allclose(goal.alignment(np.stack([cohesion / 2] * 4)), 0.5, rtol=1e-6)


def test_low_cohesion_does_not_inflate_small_similarities():
    goal = GoalProfile(GOAL, EXEMPLARS, np.full(WIDTH, 0.01, np.float32))
    np.testing.assert_allclose(goal.alignment(np.full((4, WIDTH), 0.01, np.float32)), 0.01 / MIN_COHESION, rtol=1e-5)


@given(
    cohesion=arrays(np.float32, WIDTH, elements=SCORES),
    similarities=arrays(np.float32, (3, 2, WIDTH), elements=SCORES),
    more=SCORES,
)
def test_alignments_lie_between_zero_and_one_and_grow_with_similarity(
    cohesion: npt.NDArray[np.float32], similarities: npt.NDArray[np.float32], more: float
):
    goal = GoalProfile(GOAL, EXEMPLARS[:3], cohesion)
    alignment = goal.alignment(similarities)
    assert alignment.shape == (2, WIDTH)
    assert ((alignment >= 0) & (alignment <= 1)).all()
    assert (goal.alignment(similarities + np.float32(more)) >= alignment).all()


def test_the_order_of_the_rows_does_not_matter():
    rows = np.arange(len(atlas()))
    forwards = star().purposes(atlas(), RAW, rows)
    backwards = star().purposes(atlas(), RAW, rows[::-1])
    np.testing.assert_allclose(backwards[::-1], forwards, rtol=1e-5)
