import numpy as np
import pytest

from events.fingerprint import Directed
from events.quantization import directions, levels
from projections.spaces.binary import BinarySpace
from projections.spaces.dense import DenseSpace
from projections.spaces.directed import DirectedSpace, Direction
from tests.events.samples import unit

DIMENSION = 64


def low_rank(count: int, seed: int = 0) -> np.ndarray:
    """Return vectors as embeddings lie: near a space of few dimensions."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, 12)) @ rng.standard_normal((12, DIMENSION))
    vectors += 0.3 * rng.standard_normal(vectors.shape)
    return levels(vectors)


def space_of(vectors: np.ndarray) -> DenseSpace:
    space = DenseSpace(vectors.shape[1])
    space.extend(vectors)
    return space


def cosines(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    return np.clip(directions(vectors).astype(np.float64) @ directions(query).astype(np.float64), 0, 1)


def test_scores_are_cosines_clamped_at_zero():
    vectors = low_rank(300)
    space, query = space_of(vectors), vectors[7]
    assert (directions(vectors) @ directions(query)).min() < 0
    np.testing.assert_allclose(space.scores(query), cosines(vectors, query), atol=1e-6)
    assert space.scores(query)[7] == pytest.approx(1, abs=1e-6)


def test_scores_by_row_are_the_scores_of_those_rows():
    vectors = low_rank(300)
    space, rows = space_of(vectors), np.array([299, 0, 17, 17])
    assert space.scores(vectors[3], rows).tolist() == space.scores(vectors[3])[rows].tolist()


def test_a_pair_scores_the_same_from_either_side_and_among_any_rows():
    vectors = low_rank(60, seed=3)
    space = space_of(vectors)
    table = np.stack([space.scores(vector) for vector in vectors])
    np.testing.assert_array_equal(table, table.T)
    alone = [[space.scores(vector, np.array([row]))[0] for row in range(0, 60, 7)] for vector in vectors]
    np.testing.assert_array_equal(table[:, ::7], alone)


def test_an_empty_space_finds_nothing():
    space, query = DenseSpace(DIMENSION), low_rank(1)[0]
    assert len(space.scores(query)) == 0
    assert len(space.nearest(query, 5)[0]) == 0


@pytest.mark.parametrize("part", [0.003, 0.02, 0.6, 0.9])
def test_exact_search_ranks_only_eligible_rows_and_returns_as_many_as_asked(part: float):
    vectors = low_rank(500)
    eligible = np.random.default_rng(1).random(500) < part
    rows, scores = space_of(vectors).nearest(vectors[0], 8, eligible)
    truth = np.where(eligible, cosines(vectors, vectors[0]), -1)
    assert rows.tolist() == np.argsort(-truth, kind="stable")[: min(8, eligible.sum())].tolist()
    assert (np.diff(scores) <= 0).all()


def test_a_cleared_row_is_no_neighbour_any_more():
    vectors = low_rank(600)
    space = space_of(vectors)
    assert space.nearest(vectors[9], 1)[0].tolist() == [9]
    space.clear(9)
    assert 9 not in space.nearest(vectors[9], 50)[0]
    assert space.scores(vectors[9], np.array([9])).tolist() == [0]


def test_hypervectors_score_by_the_part_of_bits_that_agree():
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 256, (50, 1_250), dtype=np.uint8)
    space = BinarySpace(10_000)
    for row in matrix:
        space.append(row)
    query, rows = matrix[3], np.array([3, 40, 8])
    agreeing = (np.unpackbits(matrix, axis=1) == np.unpackbits(query)).mean(axis=1)
    np.testing.assert_allclose(space.scores(query), agreeing, atol=1e-6)
    np.testing.assert_allclose(space.scores(query, rows), agreeing[rows], atol=1e-6)
    assert space.scores(query)[3] == 1


def test_bits_that_fill_no_whole_byte_are_refused():
    with pytest.raises(ValueError, match="whole bytes"):
        BinarySpace(1_001)


def test_causes_meet_effects_when_a_direction_is_asked_for():
    rng = np.random.default_rng(0)
    pairs = [Directed.of(unit(rng, DIMENSION), unit(rng, DIMENSION)) for _ in range(30)]
    space = DirectedSpace(DIMENSION)
    for pair in pairs:
        space.append(pair)
    query = pairs[2]
    causes = np.stack([pair.cause_levels for pair in pairs])
    effects = np.stack([pair.effect_levels for pair in pairs])
    found = space.scores(query, direction=Direction.EFFECT)
    np.testing.assert_allclose(found, cosines(effects, query.cause_levels), atol=1e-6)
    found = space.scores(query, direction=Direction.CAUSE)
    np.testing.assert_allclose(found, cosines(causes, query.effect_levels), atol=1e-6)
    like = (cosines(causes, query.cause_levels) + cosines(effects, query.effect_levels)) / 2
    np.testing.assert_allclose(space.scores(query), like, atol=1e-6)
    assert space.scores(query)[2] == pytest.approx(1, abs=1e-6)


def test_a_replaced_vector_is_found_where_it_is_now():
    vectors = levels(np.eye(40, 48))
    space = DenseSpace(48)
    space.extend(vectors)
    new = levels(np.eye(48)[45])
    assert space.nearest(vectors[7], 1)[0].tolist() == [7]
    space.replace(np.array([7]), new[None])
    assert space.nearest(new, 1)[0].tolist() == [7]
    assert space.nearest(vectors[7], 1)[1].tolist() == [0]
    space.replace(np.array([7]), vectors[7:8])
    assert space.nearest(vectors[7], 1)[0].tolist() == [7]
