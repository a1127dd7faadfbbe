import math

import numpy as np
import pytest

import projections.spaces.tokens
from events.fingerprint import Tokens
from projections.spaces.tokens import TokenSpace
from projections.storage.arrays import Scores

DIMENSION = 32


@pytest.fixture
def memories() -> list[Tokens]:
    rng = np.random.default_rng(0)
    return [
        Tokens.of(rng.integers(0, 30, count), rng.standard_normal((count, DIMENSION)))
        for count in rng.integers(1, 20, 60)
    ]


def store_of(memories: list[Tokens | None]) -> TokenSpace:
    store = TokenSpace(DIMENSION)
    for memory in memories:
        store.append(memory)
    return store


def cosines(one: Tokens, other: Tokens) -> np.ndarray:
    left, right = one.array.astype(np.float64), other.array.astype(np.float64)
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return left @ right.T


def idf(piece: int, memories: list[Tokens]) -> float:
    holders = sum(piece in memory.ids for memory in memories)
    return math.log((len(memories) - holders + 0.5) / (holders + 0.5) + 1)


def test_max_sim_is_the_mean_of_the_best_cosines_in_which_rare_wordpieces_count_more(memories: list[Tokens]):
    query, rows = memories[11], np.array([59, 11, 3])
    weights = np.array([idf(piece, memories) for piece in query.ids.tolist()])
    expected = [cosines(query, memories[row]).max(axis=1) @ weights / weights.sum() for row in rows]
    np.testing.assert_allclose(store_of(memories).max_sim(query, rows), np.clip(expected, 0, 1), rtol=1e-4)


def test_symmetric_similarity_is_the_mean_of_both_directions(memories: list[Tokens]):
    store, rows = store_of(memories), np.arange(60)
    expected = [
        (cosines(memories[4], memory).max(axis=1).mean() + cosines(memories[4], memory).max(axis=0).mean()) / 2
        for memory in memories
    ]
    np.testing.assert_allclose(store.symmetric(memories[4], rows), np.clip(expected, 0, 1), rtol=1e-5, atol=1e-6)
    assert np.array_equal(TokenSpace.of(memories).symmetric(memories[4], rows), store.symmetric(memories[4], rows))
    forth = store.symmetric(memories[4], np.array([9]))
    back = store.symmetric(memories[9], np.array([4]))
    np.testing.assert_allclose(forth, back, rtol=1e-6)


def test_containment_is_the_larger_of_the_weighted_max_sims_in_both_directions(memories: list[Tokens]):
    store, one = store_of(memories), memories[11]
    expected: list[float] = []
    for other in memories:
        similarities = cosines(one, other)
        own, theirs = (np.array([idf(piece, memories) for piece in each.ids.tolist()]) for each in (one, other))
        forth, back = similarities.max(axis=1) @ own / own.sum(), similarities.max(axis=0) @ theirs / theirs.sum()
        expected.append(max(forth, back))
    np.testing.assert_allclose(store.containment(one, memories), np.clip(expected, 0, 1), rtol=1e-4)
    assert store.containment(one, []).shape == (0,)


def test_a_memory_matches_itself_fully(memories: list[Tokens]):
    store, row = store_of(memories), np.array([20])
    for similarity in (
        store.max_sim(memories[20], row),
        store.symmetric(memories[20], row),
    ):
        assert similarity[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("tokens", [5, 200])
def test_scores_do_not_depend_on_how_many_rows_are_scored_at_once(
    memories: list[Tokens], monkeypatch: pytest.MonkeyPatch, tokens: int
):
    store, rows = store_of([*memories[:30], None, *memories[30:]]), np.arange(60)
    query = Tokens.of(range(tokens), np.random.default_rng(tokens).normal(size=(tokens, DIMENSION)))
    found: list[Scores] = []
    for pairs in (10**9, 7 * tokens, 1):
        monkeypatch.setattr(projections.spaces.tokens, "_BLOCK_PAIRS", pairs)
        found += [store.max_sim(query, rows), store.symmetric(query, rows)]
    np.testing.assert_array_equal(found[2:], found[:2] * 2)


def test_a_cleared_row_leaves_what_a_row_without_content_leaves(memories: list[Tokens]):
    store = store_of(memories)
    store.exclude(7)
    store.clear(7)
    assert store.digest() == store_of([None if row == 7 else memory for row, memory in enumerate(memories)]).digest()
    rows = np.array([6, 7, 8])
    scores = store.max_sim(memories[7], rows)
    assert scores[1] == 0
    assert (scores[[0, 2]] > 0).all()
    assert store.symmetric(memories[7], rows)[1] == 0
    assert not store._vectors.array[store._inverse_norms.array == 0].any()


def test_excluded_rows_do_not_count_in_the_idf_of_wordpieces(memories: list[Tokens]):
    store, query = store_of(memories), memories[11]
    for row in range(30, 60):
        store.exclude(row)
    kept = memories[:30]
    weights = np.array([idf(piece, kept) for piece in query.ids.tolist()])
    expected = [cosines(query, memory).max(axis=1) @ weights / weights.sum() for memory in kept]
    np.testing.assert_allclose(store.max_sim(query, np.arange(30)), np.clip(expected, 0, 1), rtol=1e-4)
