"""Fusion as a formula."""

import numpy as np
import pytest

from actors.comparator.search.fusion import (
    NEIGHBOUR_SHARE,
    SHORT_TURN,
    WORDING_AROUND,
    Candidates,
    neighbour_bonus,
    reliance,
    scale,
    standardise,
)
from events.fingerprint import Sparse, Tokens
from events.spaces import E6, E12
from events.vocabulary import MemoryStored
from projections.time.time_mentions import NO_HINTS
from tests.actors.comparator.similar_memories import QUESTION, atlas_of, memory, query, with_embedding


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
    in_session = np.ones(4, np.bool_)
    relying = np.array([0.5, 1, 1, 1], np.float32)
    assert neighbour_bonus(fused, neighbours, in_session, relying) == pytest.approx([0, 3 * NEIGHBOUR_SHARE, 0, 0])
    less = np.array([1, 0.5, 1, 1], np.float32)
    assert neighbour_bonus(fused, neighbours, in_session, less) == pytest.approx([0, 1.5 * NEIGHBOUR_SHARE, 0, 0])


def test_among_memories_without_a_session_a_turn_gets_what_exceeds_the_usual_bonus() -> None:
    fused = np.array([3.0, 1.0, 2.0, 2.0], np.float32)
    neighbours = np.array([[1, -1], [0, -1], [-1, -1], [-1, -1]])
    in_session = np.array([True, True, False, False])
    relying = np.ones(4, np.float32)
    bonus = neighbour_bonus(fused, neighbours, in_session, relying)
    assert bonus == pytest.approx([-NEIGHBOUR_SHARE, NEIGHBOUR_SHARE, 0, 0])
    assert not neighbour_bonus(fused, neighbours * 0 - 1, in_session & False, relying).any()


def test_a_long_turn_relies_on_those_around_it_where_their_scores_go_together() -> None:
    neighbours = np.array([[-1, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, -1]])
    lengths = np.array([SHORT_TURN, 2 * SHORT_TURN, 4 * SHORT_TURN, 5, 5, 5], np.float32)
    article = np.array([0.9, 0.8, 0.7, 0.2, 0.1, 0.1], np.float32)
    assert reliance(article, neighbours, lengths).tolist() == [1.0] * 6
    talk = np.array([0.9, 0.1, 0.1, 0.8, 0.1, 0.2], np.float32)
    assert reliance(talk, neighbours, lengths).tolist() == [1.0, 0.5, 0.25, 1.0, 1.0, 1.0]
    assert reliance(talk, neighbours * 0 - 1, lengths).tolist() == [1.0, 0.5, 0.25, 1.0, 1.0, 1.0]


def of_terms(count: int, memory: MemoryStored) -> MemoryStored:
    """Return a memory with so many terms."""
    return with_embedding(memory, E6, Sparse.of(dict.fromkeys(range(count), 1.0)))


def test_a_short_turn_scores_with_its_neighbours_as_one_memory_of_all_their_words_would_a_long_one_less() -> None:
    asked = QUESTION.take(E12, Tokens)
    ids, vectors, half = asked.ids, asked.array, len(asked.ids) // 2
    parts = [slice(half), slice(half, None), slice(None)]
    memories = [
        of_terms(SHORT_TURN, with_embedding(memory({}, seed), E12, Tokens.of(ids[part], vectors[part])))
        for seed, part in enumerate(parts)
    ]
    memories.append(of_terms(2 * SHORT_TURN, memories[0]))
    candidates = Candidates(atlas_of(memories), query(), NO_HINTS, np.arange(2))
    candidates.score([E12])
    candidates.add(np.array([2, 3]))
    own = candidates.scores(E12)
    neighbours = np.array([[1, -1], [0, -1], [-1, -1], [1, -1]])
    candidates.score_around(neighbours, np.ones(4, np.bool_), candidates.reliance(neighbours))
    around = candidates.scores(WORDING_AROUND)
    assert own[:2].max() < around[0] == around[1]
    assert around.tolist() == pytest.approx([own[2]] * 3 + [(own[0] + own[2]) / 2], abs=1e-5)


def test_turns_cannot_be_scored_with_their_neighbours_before_they_are_scored_alone() -> None:
    candidates = Candidates(atlas_of([memory({}, 0)]), query(), NO_HINTS, np.arange(1))
    with pytest.raises(ValueError, match=E12):
        candidates.score_around(np.array([[-1, -1]]), np.ones(1, np.bool_), np.ones(1, np.float32))
