"""Which clusters are goals of which level, under which parent, and which leads."""

import numpy as np
import pytest

from actors.consolidator.goals.discovery import WEIGHTS, confidence, distinguishing, level, north_star, parents
from events.spaces import INDEX, SPACES, TEMPORAL
from events.vocabulary.values import GoalLevel


def blocks(*sizes: int, within: float = 0.8, across: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy similarities of groups of these sizes, shape (n, n, 13), and the group of each memory."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    mean = np.where(groups[:, None] == groups, within, across)
    noise = np.random.default_rng(0).normal(0, 0.03, (len(groups), len(groups), len(SPACES)))
    return np.clip(mean[:, :, None] + noise, 0, 1).astype(np.float32), groups


@pytest.mark.parametrize(
    ("size", "coherence", "expected"),
    [
        (50, 0.85, GoalLevel.NORTH_STAR),
        (50, 0.84, GoalLevel.STRATEGIC),
        (20, 0.80, GoalLevel.STRATEGIC),
        (19, 0.90, GoalLevel.TACTICAL),
        (10, 0.75, GoalLevel.TACTICAL),
        (10, 0.74, GoalLevel.OPERATIONAL),
        (9, 0.99, GoalLevel.OPERATIONAL),
    ],
)
def test_the_level_of_a_goal_follows_from_its_size_and_coherence(size: int, coherence: float, expected: GoalLevel):
    assert level(size, coherence) is expected


def test_confidence_grows_with_coherence_size_and_distinguishing_spaces():
    assert confidence(12, 0.8, 3) == pytest.approx(0.4 * 0.8 + 0.3 * 12 / 50 + 0.3)
    assert confidence(500, 1.0, 3) == pytest.approx(1)
    assert confidence(5, 0.6, 0) < confidence(5, 0.7, 0) < confidence(6, 0.7, 0) < confidence(6, 0.7, 1)


def test_the_north_star_has_the_most_members_that_hold_its_terms():
    assert north_star((6, 10, 14), (0.8, 0.8, 0.8), (1, 1, 0.6)) == 1
    assert north_star((2, 3), (0.9, 0.6), (1, 1)) == 1
    assert north_star((10, 5), (0.8, 0.8), (0.4, 0.5)) == 1
    assert north_star((), (), ()) is None


def test_a_goal_names_the_spaces_that_distinguish_it_but_no_temporal_one():
    scores, groups = blocks(5, 5)
    scores[:, :, INDEX["e6_sparse"]] = 0.5
    scores[:5, :5, INDEX["e11_entity"]] = 1
    scores[:, :, INDEX["e8_graph"]] = np.nan
    for key in TEMPORAL:
        scores[:5, :5, INDEX[key]] = 1
    found = distinguishing(scores, groups, 0)
    assert len(found) == 3
    assert found[0] == "e11_entity"
    assert not {"e6_sparse", "e8_graph", *TEMPORAL} & set(found)


def test_a_space_that_knows_few_pairs_of_a_goal_does_not_distinguish_it():
    scores, groups = blocks(5, 5)
    scores[:5, :5, INDEX["e7_code"]] = np.nan
    scores[0, 1, INDEX["e7_code"]] = scores[1, 0, INDEX["e7_code"]] = 1
    assert "e7_code" not in distinguishing(scores, groups, 0)


def test_nothing_distinguishes_a_goal_that_holds_all_memories():
    scores, groups = blocks(6)
    assert distinguishing(scores, groups, 0) == ()


def test_the_parent_of_a_goal_is_the_most_similar_one_of_a_wider_level():
    scores, groups = blocks(4, 4, 4, 4)
    for one, other, similarity in ((0, 1, 0.5), (0, 2, 0.7), (1, 2, 0.5)):
        for left, right in ((one, other), (other, one)):
            scores[np.ix_(groups == left, groups == right)] = similarity
    levels = (GoalLevel.OPERATIONAL, GoalLevel.TACTICAL, GoalLevel.NORTH_STAR, GoalLevel.TACTICAL)
    assert parents(levels, scores, groups) == [2, 2, None, None]
    assert parents((GoalLevel.TACTICAL,) * 4, scores, groups) == [None] * 4


def test_spaces_that_have_nothing_to_say_do_not_make_a_goal_less_similar_to_its_parent():
    scores, groups = blocks(4, 4, within=0.8, across=0.6)
    levels = (GoalLevel.OPERATIONAL, GoalLevel.TACTICAL)
    assert parents(levels, scores, groups) == [1, None]
    known = [INDEX[key] for key in ("e1_semantic", "e12_late_interaction")]
    between = groups[:, None] != groups
    scores[between] = np.where(np.isin(np.arange(len(SPACES)), known), scores[between], np.nan)
    assert parents(levels, scores, groups) == [1, None]


def test_time_has_no_weight_in_what_memories_are_about():
    assert {key for key, weight in WEIGHTS.items() if not weight} == TEMPORAL
