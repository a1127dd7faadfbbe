"""Ranking by exactly what was asked, against the formulas written out over all rows."""

from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.comparator.compare.calibration import Calibration, Curve
from actors.comparator.compare.similarity import Similarities
from actors.comparator.search import ranking
from actors.comparator.search.ranking import Ranking, by_perspectives, by_purpose, by_weights
from events.fingerprint import Sparse, Tokens
from events.spaces import E12
from events.vocabulary import MemoryErased, MemoryForgotten
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.spaces.directed import Direction
from projections.storage.arrays import Mask, Rows, Scores
from tests.actors.comparator.similar_memories import KEYS, QUESTION, atlas_of, memory, query, varied
from tests.events.samples import stored
from tests.projections.history import memory_id

ROWS = 300
CURVED = Calibration({key: Curve("any", "", unrelated=0.1, half=0.6) for key in KEYS[::2]})
"""Every other space is calibrated, as in a store of which some models are unknown."""
RAW = Calibration({})
TIMES = ("e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional")


@cache
def atlas() -> Atlas:
    return atlas_of([*varied(ROWS), MemoryForgotten(memory=memory_id(8)), MemoryErased(memory=memory_id(9))])


@cache
def table() -> dict[str, np.ndarray]:
    """What every space says of every row."""
    return {key: CURVED.apply(key, atlas().scores(key, QUESTION[key], np.arange(ROWS))).astype(float) for key in KEYS}


class Watched(Similarities):
    """Notes what is scored."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.scored: dict[str, int] = {}

    def __call__(self, key: str, rows: Rows) -> Scores:
        self.scored[key] = self.scored.get(key, 0) + len(rows)
        return super().__call__(key, rows)


def similarities() -> Watched:
    return Watched(atlas(), CURVED, query())


def same(one: Ranking, other: Ranking) -> bool:
    return one.rows.tolist() == other.rows.tolist() and one.similarity.tobytes() == other.similarity.tobytes()


WEIGHTS = st.dictionaries(st.sampled_from(KEYS), st.floats(0.001, 1.0), min_size=1)
ELIGIBLE = st.sampled_from(["all", "many", "few"])


def let_through(name: str) -> Mask:
    return atlas().facets.eligible(Filter(namespace=None if name == "all" else name))


@settings(max_examples=120, deadline=None)
@given(
    weights=WEIGHTS,
    name=ELIGIBLE,
    limit=st.sampled_from([1, 3, 10, 70, 1_000]),
    least=st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]),
    first=st.sampled_from([1, 16, 256]),
)
def test_the_results_are_the_best_by_weighted_mean(
    weights: dict[str, float], name: str, limit: int, least: float, first: int
):
    eligible = let_through(name)
    with patch.object(ranking, "FIRST_BATCH", first):
        found = by_weights(similarities(), weights, eligible, limit, least)
    expected = sum(weight * table()[key] for key, weight in weights.items()) / sum(weights.values())
    assert eligible[found.rows].all()
    assert len({*found.rows.tolist()}) == len(found.rows) <= limit
    np.testing.assert_allclose(found.similarity, expected[found.rows], atol=2e-6)
    assert (np.diff(found.similarity) <= 0).all()
    assert (found.similarity >= np.float32(least)).all()
    left = eligible.copy()
    left[found.rows] = False
    bar = least if len(found.rows) < limit else max(least, float(found.similarity[-1]))
    assert (expected[left] <= bar + 2e-6).all()
    assert found.scanned == eligible.sum()
    assert found.spaces.keys() == weights.keys()
    for key, scores in found.spaces.items():
        np.testing.assert_allclose(scores, table()[key][found.rows], atol=1e-6)


@settings(max_examples=120, deadline=None)
@given(
    weights=WEIGHTS,
    late=st.floats(0.001, 1.0),
    name=ELIGIBLE,
    limit=st.integers(1, 40),
    least=st.sampled_from([0.0, 0.4]),
    first=st.integers(1, 40),
)
def test_deferring_late_interaction_changes_no_ranking(
    weights: dict[str, float], late: float, name: str, limit: int, least: float, first: int
):
    asked = weights | {E12: late}
    with patch.object(ranking, "FIRST_BATCH", ROWS):
        exhaustive = by_weights(similarities(), asked, let_through(name), limit, least)
    with patch.object(ranking, "FIRST_BATCH", first):
        deferred = by_weights(similarities(), asked, let_through(name), limit, least)
    assert deferred.rows.tolist() == exhaustive.rows.tolist()
    np.testing.assert_allclose(deferred.similarity, exhaustive.similarity, atol=2e-7)


def test_copies_scored_in_different_batches_keep_their_order():
    rng = np.random.default_rng(0)
    for tokens in range(2, 24):
        asked = Tokens.of(rng.integers(0, 30_000, tokens), rng.standard_normal((tokens, 128)))
        copies = atlas_of([stored("copy")] * 5)
        of = Similarities(copies, RAW, query() | {E12: asked})
        with patch.object(ranking, "FIRST_BATCH", 4):
            found = by_weights(of, {E12: 0.9, "e1_semantic": 0.1}, copies.facets.live, 4, 0.0)
        assert found.rows.tolist() == [0, 1, 2, 3]
        assert len({*found.similarity.tolist()}) == 1


def test_late_interaction_scores_only_rows_that_can_enter_the_result():
    light, heavy, meaning = similarities(), similarities(), {"e1_semantic": 0.98}
    with patch.object(ranking, "FIRST_BATCH", 16):
        by_weights(light, meaning | {E12: 0.02}, let_through("all"), 10, 0.0)
        by_weights(heavy, {E12: 1.0}, let_through("all"), 10, 0.0)
    assert 16 <= light.scored[E12] < ROWS / 4
    assert heavy.scored[E12] == let_through("all").sum()


def test_late_interaction_skips_rows_that_cannot_reach_the_threshold():
    watched = similarities()
    with patch.object(ranking, "FIRST_BATCH", 1):
        found = by_weights(watched, {"e1_semantic": 0.9, E12: 0.1}, let_through("all"), 100, 0.8)
    assert 0 < len(found.rows) <= watched.scored[E12] < ROWS / 2


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", ["all", "few"])
def test_ranking_by_one_space_equals_a_search_of_that_space(key: str, name: str):
    eligible = let_through(name)
    alone = by_weights(similarities(), {key: 1.0}, eligible, 50, 0.0)
    active = by_weights(similarities(), {key: 0.05}, eligible, 50, 0.0)
    assert same(alone, active)
    rows, scores = atlas().nearest(key, QUESTION[key], 50, eligible)
    np.testing.assert_allclose(alone.similarity, CURVED.apply(key, scores), atol=1e-6)
    curved = np.float32(CURVED.apply(key, atlas().scores(key, QUESTION[key], rows)))
    np.testing.assert_allclose(alone.similarity, curved, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(weights=WEIGHTS, power=st.integers(-20, 20), name=ELIGIBLE)
def test_only_the_proportions_of_weights_count(weights: dict[str, float], power: int, name: str):
    scaled = {key: weight * 2.0**power for key, weight in weights.items()}
    one, other = (by_weights(similarities(), asked, let_through(name), 20, 0.4) for asked in (weights, scaled))
    assert same(one, other)


def test_a_space_of_weight_zero_is_not_scored():
    watched = similarities()
    found = by_weights(watched, dict.fromkeys(KEYS, 0.0) | {"e7_code": 0.5}, let_through("all"), 5, 0.0)
    assert watched.scored.keys() == found.spaces.keys() == {"e7_code"}


def test_a_limit_above_the_number_of_rows_returns_all():
    found = by_weights(similarities(), dict.fromkeys(KEYS, 1.0), let_through("few"), 10_000, 0.0)
    assert sorted(found.rows.tolist()) == np.flatnonzero(let_through("few")).tolist()


@pytest.mark.parametrize("rows", [0, 20])
@pytest.mark.parametrize("weights", [dict.fromkeys(KEYS, 1.0), {"e1_semantic": 1.0}, {E12: 1.0}])
def test_without_eligible_rows_nothing_is_found(rows: int, weights: dict[str, float]):
    empty = atlas_of(varied(rows))
    nobody = empty.facets.eligible(Filter(namespace="nobody's"))
    of = Similarities(empty, CURVED, query())
    for found in (
        by_weights(of, weights, nobody, 10, 0.0),
        by_perspectives(of, tuple(weights), nobody, 10, 0.0, 60),
        by_purpose(empty, np.ones(13, np.float32), nobody, 10, -1.0),
    ):
        assert found.rows.tolist() == []
        assert found.similarity.tolist() == []
        assert found.scanned == 0


@pytest.mark.parametrize("weights", [{"e1_semantic": 1.0}, {"e6_sparse": 0.5, E12: 0.5}])
def test_of_equal_memories_the_earlier_comes_first(weights: dict[str, float]):
    copies = atlas_of([stored("other"), *[stored("copy")] * 6, stored("another")])
    of = Similarities(copies, RAW, query(stored("copy").fingerprint))
    assert by_weights(of, weights, copies.facets.live, 4, 0.0).rows.tolist() == [1, 2, 3, 4]


def test_a_forgotten_and_an_erased_memory_are_not_ranked():
    found = by_weights(similarities(), dict.fromkeys(KEYS, 1.0), let_through("all"), ROWS, 0.0)
    assert len(found.rows) == ROWS - 2
    assert not {7, 8} & {*found.rows.tolist()}


def test_a_query_about_effects_ranks_memories_as_effects():
    of = Similarities(atlas(), CURVED, query(), Direction.EFFECT)
    found = by_weights(of, {"e5_causal": 1.0}, let_through("all"), ROWS, 0.0)
    raw = atlas().scores("e5_causal", QUESTION["e5_causal"], found.rows, direction=Direction.EFFECT)
    np.testing.assert_allclose(found.similarity, CURVED.apply("e5_causal", raw), atol=1e-6)


# ── perspectives ────────────────────────────────────────────────────────────────────────────────────


def ranks_of(key: str, eligible: Mask, least: float) -> dict[int, int]:
    rows = np.flatnonzero(eligible)
    scores = CURVED.apply(key, atlas().scores(key, QUESTION[key], rows))
    listed = {
        row: float(score.round(6))
        for row, score in zip(rows.tolist(), scores, strict=True)
        if score > 0 and score >= np.float32(least)
    }
    return {row: 1 + sum(other > score for other in listed.values()) for row, score in listed.items()}


@settings(max_examples=30, deadline=None)
@given(
    keys=st.lists(st.sampled_from([key for key in KEYS if key != E12]), min_size=1, unique=True),
    name=st.sampled_from(["few", "all"]),
    limit=st.sampled_from([5, 1_000]),
    least=st.sampled_from([0.0, 0.5, 0.9]),
    k=st.sampled_from([1, 60, 1_000]),
)
def test_perspectives_are_fused_by_the_sum_of_reciprocal_ranks(
    keys: list[str], name: str, limit: int, least: float, k: int
):
    eligible = np.zeros(ROWS, np.bool_)
    eligible[np.flatnonzero(let_through(name))[::2]] = True  # less than half, so that rows are scored by row
    by_hand = {key: ranks_of(key, eligible, least) for key in keys}
    sums: dict[int, Fraction] = {}
    for ranks in by_hand.values():
        for row, rank in ranks.items():
            sums[row] = sums.get(row, Fraction(0)) + Fraction(1, k + rank)
    found = by_perspectives(similarities(), tuple(keys), eligible, limit, least, k)
    assert len(found.rows) == min(limit, len(sums))
    np.testing.assert_allclose(found.similarity, [float(sums[row]) for row in found.rows.tolist()], rtol=1e-6)
    np.testing.assert_allclose(found.similarity, sorted(map(float, sums.values()), reverse=True)[:limit], rtol=1e-6)
    for key, ranks in by_hand.items():
        assert found.ranks[key].tolist() == [ranks.get(row, 0) for row in found.rows.tolist()]


def perspectives(*likenesses: dict[str, float]) -> Similarities:
    rows = [memory(likeness, seed) for seed, likeness in enumerate(likenesses)]
    return Similarities(atlas_of(rows), RAW, query())


def test_a_small_k_prefers_one_first_place_and_a_large_k_two_good_ones():
    first, second = "e1_semantic", "e7_code"
    by_first = (0.9, 0.6, 0.7, 0.8, 0.5)
    by_second = (0.6, 0.7, 0.9, 0.8, 0.5)
    of = perspectives(*({first: one, second: other} for one, other in zip(by_first, by_second, strict=True)))
    steep, flat = (by_perspectives(of, (first, second), np.ones(5, np.bool_), 5, 0.0, k) for k in (1, 1_000))
    assert steep.ranks[first].tolist() == [3, 1, 2, 4, 5]
    assert steep.ranks[second].tolist() == [1, 4, 2, 3, 5]
    assert steep.rows.tolist() == [2, 0, 3, 1, 4]
    assert flat.rows.tolist() == [2, 3, 0, 1, 4]


def test_equally_similar_memories_share_a_rank_and_a_fused_score():
    near, far, farther = (memory({"e1_semantic": score}, seed) for seed, score in enumerate((0.9, 0.5, 0.4)))
    of = Similarities(atlas_of([far, near, stored("copy", fingerprint=far.fingerprint), farther]), RAW, query())
    found = by_perspectives(of, ("e1_semantic",), np.ones(4, np.bool_), 4, 0.0, 60)
    assert found.rows.tolist() == [1, 0, 2, 3]
    assert found.ranks["e1_semantic"].tolist() == [1, 2, 2, 4]
    assert found.similarity[1] == found.similarity[2]


def test_only_requested_spaces_are_fused():
    of = perspectives({"e1_semantic": 0.9, "e7_code": 0.1}, {"e1_semantic": 0.5, "e7_code": 0.9})
    for key, order in (("e1_semantic", [0, 1]), ("e7_code", [1, 0])):
        found = by_perspectives(of, (key,), np.ones(2, np.bool_), 2, 0.0, 60)
        assert found.rows.tolist() == order
        assert found.spaces.keys() == found.ranks.keys() == {key}


def test_the_threshold_applies_to_similarities_and_not_to_the_fused_score():
    of = perspectives({"e1_semantic": 0.9}, {"e1_semantic": 0.6}, {"e1_semantic": 0.3})
    found = by_perspectives(of, ("e1_semantic", "e7_code"), np.ones(3, np.bool_), 3, 0.5, 60)
    assert found.rows.tolist() == [0, 1]
    assert (found.similarity < 0.05).all()
    assert found.ranks["e7_code"].tolist() == [0, 0]


def test_a_memory_that_no_space_ranks_is_not_found():
    lonely = atlas_of([stored("other"), memory({"e6_sparse": 1.0}, 1)])
    apart = Sparse.of({30_521: 1.0})
    of = Similarities(lonely, RAW, query() | {"e13_splade": apart})
    assert by_perspectives(of, ("e13_splade",), lonely.facets.live, 5, 0.0, 60).rows.tolist() == []
    assert by_perspectives(of, ("e13_splade", "e6_sparse"), lonely.facets.live, 5, 0.0, 60).rows.tolist() == [1]


# ── purpose ─────────────────────────────────────────────────────────────────────────────────────────


def test_purposes_rank_by_their_cosine():
    wanted = np.random.default_rng(1).uniform(-1, 1, 13)
    eligible = let_through("all")
    purposes = np.array([one.purpose for one in varied(ROWS)])
    cosines = purposes @ wanted / np.linalg.norm(purposes, axis=1) / np.linalg.norm(wanted)
    found = by_purpose(atlas(), wanted.astype(np.float32), eligible, 25, -1.0)
    expected = sorted(np.flatnonzero(eligible).tolist(), key=lambda row: -cosines[row])[:25]
    assert found.rows.tolist() == expected
    np.testing.assert_allclose(found.similarity, cosines[expected], atol=1e-6)
    bounded = by_purpose(atlas(), wanted.astype(np.float32), eligible, ROWS, 0.25)
    assert sorted(bounded.rows.tolist()) == [row for row in np.flatnonzero(eligible) if cosines[row] >= 0.25]


def test_a_memory_without_a_purpose_vector_is_left_out():
    neutral = atlas_of([stored("a", purpose=(0.0,) * 13), stored("b"), stored("c", purpose=(-0.5,) * 13)])
    found = by_purpose(neutral, np.ones(13, np.float32), neutral.facets.live, 5, -1.0)
    assert found.rows.tolist() == [1, 2]
    assert found.scanned == 3


def test_a_memory_is_nearest_to_its_own_purpose():
    found = by_purpose(atlas(), atlas().purposes.at(41), let_through("all"), 3, 0.0)
    assert found.rows[0] == 41
    assert found.similarity[0] == pytest.approx(1.0)


def test_no_cosine_of_purposes_exceeds_one():
    purposes = [tuple(purpose) for purpose in np.random.default_rng(0).uniform(-1, 1, (100, 13)).tolist()]
    alike = atlas_of(stored("same", purpose=purpose) for purpose in purposes)
    nearest = [by_purpose(alike, alike.purposes.at(row), alike.facets.live, 1, 0.0) for row in range(100)]
    assert max(float(found.similarity[0]) for found in nearest) <= 1.0
