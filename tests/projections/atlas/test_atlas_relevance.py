"""Relevance for queries that name a time, a speaker or an end of their session."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from events import vocabulary as ev
from events.fingerprint import Dense, Sparse
from events.spaces import SPACES
from projections.atlas.atlas import _SPEAKER_WEIGHT, _TIME_WEIGHT, Atlas
from projections.time.expressions import find_intervals
from projections.time.time_mentions import NO_HINTS, QueryHints
from tests.events.samples import stored
from tests.projections.atlas.atlases import atlas_of, with_embedding
from tests.projections.history import memory_id

SAID = datetime(2023, 5, 9, 12, tzinfo=UTC)
TOLD = (
    stored("Ana: I ran yesterday.", created_at=SAID),
    stored("Ben: Ana ran.", created_at=SAID - timedelta(days=90)),
    stored("I ran.", created_at=SAID, metadata={"speaker": "Ana"}),
)
DAY_BEFORE = QueryHints(intervals=tuple(find_intervals("on 8 May 2023", SAID)))


def relevance(atlas: Atlas, key: str, cues: QueryHints) -> list[float]:
    asked = {space.key: TOLD[0].fingerprint[space.key] for space in SPACES}
    return atlas.ranking_scores(key, asked, np.arange(len(atlas)), cues).tolist()


@pytest.mark.parametrize("key", [space.key for space in SPACES if space.key not in {"e6_sparse", "e11_entity"}])
def test_relevance_is_similarity_without_hints(key: str):
    atlas = atlas_of(*TOLD)
    scores = atlas.scores(key, TOLD[0].fingerprint[key]).tolist()
    assert relevance(atlas, key, NO_HINTS) == scores
    if key != "e2_temporal_recent":
        assert relevance(atlas, key, DAY_BEFORE) == scores
    assert relevance(atlas, key, QueryHints(words=frozenset({"ana"}))) == scores


def test_for_a_named_time_recency_scores_time_mentions():
    told, other, same_week = relevance(atlas_of(*TOLD), "e2_temporal_recent", DAY_BEFORE)
    assert told == pytest.approx(1.0)
    assert other < same_week < told


def worded(*terms: int) -> ev.MemoryStored:
    """Return a memory that holds these terms of E6."""
    return with_embedding(TOLD[2], "e6_sparse", Sparse.of(dict.fromkeys(terms, 1.0)))


def test_entity_relevance_weights_the_rarer_name_more():
    rare, common, neither = 1, 2, 3
    atlas = atlas_of(worded(rare), *([worded(common)] * 3), worded(neither), worded(rare, common))
    asked = {"e6_sparse": Sparse.of({rare: 1.0, common: 1.0})}
    facts = atlas.ranking_scores("e11_entity", asked, np.arange(6))
    assert facts[4] == 0 < facts[1] == facts[2] < facts[0] < facts[5] == pytest.approx(1.0)


def test_entity_relevance_requires_the_terms_of_e6():
    atlas = atlas_of(*TOLD)
    with pytest.raises(KeyError):
        atlas.ranking_scores("e11_entity", {"e11_entity": TOLD[0].fingerprint["e11_entity"]}, np.arange(3))
    with pytest.raises(TypeError):
        atlas.ranking_scores("e11_entity", {"e6_sparse": TOLD[0].fingerprint["e11_entity"]}, np.arange(3))


def test_entity_relevance_adds_matches_of_speaker_and_time():
    atlas = atlas_of(*TOLD)
    plain = np.array(relevance(atlas, "e11_entity", NO_HINTS))
    by_ana = np.array(relevance(atlas, "e11_entity", QueryHints(words=frozenset({"did", "ana"}))))
    np.testing.assert_allclose(by_ana - plain, [_SPEAKER_WEIGHT, 0, _SPEAKER_WEIGHT], atol=1e-6)
    assert relevance(atlas, "e11_entity", QueryHints(words=frozenset({"dora"}))) == plain.tolist()
    that_day = np.array(relevance(atlas, "e11_entity", DAY_BEFORE))
    told = np.array(relevance(atlas, "e2_temporal_recent", DAY_BEFORE))
    np.testing.assert_allclose(that_day - plain, _TIME_WEIGHT * told, atol=1e-6)


@pytest.mark.parametrize("many", [3, 300])
def test_terms_are_contained_if_an_eligible_memory_has_them(many: int):
    terms = TOLD[0].fingerprint.take("e6_sparse", Sparse)
    atlas = atlas_of(TOLD[0], *([TOLD[1]] * many))
    eligible = atlas.facets.live
    assert atlas.known_share("e6_sparse", terms, eligible) == 1
    assert atlas.known_share("e6_sparse", terms, eligible & (np.arange(len(atlas)) > 0)) < 1


@pytest.mark.parametrize("eligible", [[True, True, True], [True, False, False]])
def test_of_the_terms_of_a_query_the_share_that_an_eligible_memory_has_is_known(eligible: list[bool]):
    held = {term for one in TOLD for term in one.fingerprint.take("e6_sparse", Sparse).ids.tolist()}
    first = TOLD[0].fingerprint.take("e6_sparse", Sparse).ids.tolist()
    others = [term for term in range(2**15) if term not in held]
    asked = Sparse.of(dict.fromkeys(first + others[: 3 * len(first)], 1.0))
    atlas = atlas_of(*TOLD)
    assert atlas.known_share("e6_sparse", asked, np.array(eligible)) == 0.25


def test_an_erased_memory_has_no_times_and_no_speaker():
    atlas = atlas_of(*TOLD, ev.MemoryErased(memory=memory_id(2)))
    assert len(atlas.time_mentions.speakers(frozenset({"ben"}))) == 0
    assert len(atlas.time_mentions.speakers(frozenset({"ana"}))) == 1
    assert relevance(atlas, "e2_temporal_recent", DAY_BEFORE)[1] == 0.0


@pytest.mark.parametrize("cues", [QueryHints(start=True), QueryHints(end=True)])
def test_for_an_end_of_a_session_the_turn_there_scores_far_above_the_next(cues: QueryHints):
    key = "e4_temporal_positional"
    angles = (0.0, 0.1, 0.2, 0.4)  # about as far apart as a turn and the next ones
    waves = [np.concatenate([[np.cos(angle), np.sin(angle)], np.zeros(510)]) for angle in angles]
    atlas = atlas_of(*(with_embedding(TOLD[0], key, Dense.of(wave.astype(np.float32))) for wave in waves))
    asked = {key: Dense.of(waves[0].astype(np.float32))}
    plain, ahead = (atlas.ranking_scores(key, asked, np.arange(4), one) for one in (NO_HINTS, cues))
    assert np.argsort(-plain).tolist() == np.argsort(-ahead).tolist() == [0, 1, 2, 3]
    assert plain[1] > 0.99
    assert plain[3] > 0.9
    assert ahead[1] < 0.8
    assert ahead[3] < 0.05
