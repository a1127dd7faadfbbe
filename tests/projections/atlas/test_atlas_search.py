"""Similarity, recall and passages of the thirteen spaces."""

import msgspec
import numpy as np
import pytest

from actors.comparator.search.passages import best_coverage, best_passages
from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, Tokens
from events.quantization import pack
from events.spaces import SPACES
from events.vocabulary import MemoryErased, MemoryForgotten
from events.vocabulary.codec import compress
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.spaces.directed import Direction
from projections.spaces.lexical import term_frequencies
from tests.events.samples import DIMENSIONS, unit
from tests.projections.atlas.atlases import MEMORIES, atlas_of, e1, found, with_embedding
from tests.projections.history import folded, history, memory_id, passage


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    left, right = one.astype(np.float64), other.astype(np.float64)
    return float(np.clip(left @ right / np.linalg.norm(left) / np.linalg.norm(right), 0, 1))


def brute_force(one: Embedding, other: Embedding) -> float:
    match one, other:
        case Dense(), Dense():
            return cosine(one.array, other.array)
        case Directed(), Directed():
            return (cosine(one.as_cause, other.as_cause) + cosine(one.as_effect, other.as_effect)) / 2
        case Sparse(), Sparse():
            left, right = np.zeros(2**16), np.zeros(2**16)
            left[one.ids], right[other.ids] = one.values, other.values
            return cosine(left, right)
        case Bits(), Bits():
            return float((np.unpackbits(one.array) == np.unpackbits(other.array)).mean())
        case Tokens(), Tokens():
            table = np.array([[cosine_signed(a, b) for b in other.array] for a in one.array])
            return float((table.max(axis=0).mean() + table.max(axis=1).mean()) / 2)
        case _:
            raise AssertionError


def cosine_signed(one: np.ndarray, other: np.ndarray) -> float:
    left, right = one.astype(np.float64), other.astype(np.float64)
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


@pytest.mark.parametrize("key", [space.key for space in SPACES if space.key != "e6_sparse"])
def test_every_space_compares_as_its_formula_says(key: str):
    atlas, rows = atlas_of(*MEMORIES), np.array([4, 29, 0])
    query = MEMORIES[4].fingerprint[key]
    expected = [brute_force(query, MEMORIES[row].fingerprint[key]) for row in rows]
    np.testing.assert_allclose(atlas.symmetric_scores(key, query, rows), expected, atol=2e-3)


@pytest.mark.parametrize("key", [space.key for space in SPACES])
def test_pairs_of_several_memories_score_as_each_memory_alone(key: str):
    atlas, rows = atlas_of(*MEMORIES), np.array([4, 29, 0, 7, 4])
    queries, owners = [MEMORIES[row].fingerprint[key] for row in (4, 11, 17)], np.array([0, 2, 1, 0, 2])
    alone = [atlas.symmetric_scores(key, query, rows) for query in queries]
    together = atlas.pair_scores(key, queries, owners, rows)
    np.testing.assert_array_equal(together, np.choose(owners, alone))


@pytest.mark.parametrize("key", [space.key for space in SPACES])
def test_a_memory_is_its_own_nearest_in_every_space(key: str):
    atlas = atlas_of(*MEMORIES)
    rows, scores = atlas.nearest(key, MEMORIES[4].fingerprint[key], 3, atlas.facets.live)
    assert rows[0] == 4
    assert scores[0] == pytest.approx(1, abs=2e-3)
    assert scores[0] >= scores[1] >= scores[2]
    assert ((scores >= 0) & (scores <= 1)).all()


def test_plain_counts_saturate_and_an_expansion_counts_as_it_stands():
    often, once = Sparse.of({1: 9.0, 3: 1.0}), Sparse.of({1: 1.0, 3: 1.0})
    atlas = atlas_of(
        with_embedding(MEMORIES[0], "e6_sparse", often),
        with_embedding(MEMORIES[1], "e13_splade", often),
    )
    counted = atlas.scores("e6_sparse", once, np.array([0]))[0]
    weighed = atlas.scores("e13_splade", once, np.array([1]))[0]
    assert weighed < counted < 1


def test_causes_and_effects_are_told_apart():
    rng = np.random.default_rng(0)
    rain, flood = unit(rng, DIMENSIONS["e5_causal"]), unit(rng, DIMENSIONS["e5_causal"])
    atlas = atlas_of(
        with_embedding(MEMORIES[0], "e5_causal", Directed.of(flood, rain)),
        with_embedding(MEMORIES[1], "e5_causal", Directed.of(rain, flood)),
    )
    query = Directed.of(rain, flood)
    effects = atlas.scores("e5_causal", query, direction=Direction.EFFECT)
    np.testing.assert_allclose(effects, [1, cosine(rain, flood)], atol=2e-3)
    assert atlas.nearest("e5_causal", query, 1, atlas.facets.live, direction=Direction.EFFECT)[0].tolist() == [0]
    assert atlas.nearest("e5_causal", query, 1, atlas.facets.live)[0].tolist() == [1]


def test_late_interaction_ranks_by_rare_tokens_and_compares_by_all_alike():
    rng = np.random.default_rng(0)
    common, rare = unit(rng, DIMENSIONS["e12_late_interaction"]), unit(rng, DIMENSIONS["e12_late_interaction"])
    holders = [Tokens.of([7], [common]), Tokens.of([8], [rare]), *[Tokens.of([7], [common])] * 20]
    atlas = atlas_of(*(with_embedding(MEMORIES[0], "e12_late_interaction", tokens) for tokens in holders))
    query, rows = Tokens.of([7, 8], [common, rare]), np.array([0, 1])
    by_rarity = atlas.scores("e12_late_interaction", query, rows)
    alike = atlas.symmetric_scores("e12_late_interaction", query, rows)
    assert by_rarity[0] < 0.2
    assert by_rarity[1] > 0.9
    assert alike[0] == pytest.approx(alike[1], abs=1e-3)


@pytest.mark.parametrize("key", [space.key for space in SPACES])
def test_a_row_returns_the_stored_embedding(key: str):
    assert atlas_of(*MEMORIES).embedding(key, 4) == MEMORIES[4].fingerprint[key]


def test_passages_find_a_memory_but_do_not_count_when_two_are_compared():
    part = passage(0, 0, 100)
    atlas, rows = atlas_of(msgspec.structs.replace(MEMORIES[0], passages=(part,)), MEMORIES[1]), np.array([0, 1])
    query = Dense(part.vector)
    assert atlas.scores("e1_semantic", query, rows)[0] == pytest.approx(1, abs=2e-3)
    compared = atlas.symmetric_scores("e1_semantic", query, rows)
    np.testing.assert_allclose(compared, [cosine(query.array, e1(memory)) for memory in MEMORIES[:2]], atol=2e-3)


@pytest.mark.requirement("INTEG-001/verify/indexes-agree")
def test_every_index_holds_every_memory_until_it_is_erased():
    atlas = atlas_of(*MEMORIES, MemoryForgotten(memory=memory_id(2)), MemoryErased(memory=memory_id(3)))
    assert atlas.counts() == dict.fromkeys(("fingerprints", "e1_prefix", "inverted", "purpose"), len(MEMORIES) - 1)


def test_an_embedding_of_another_kind_is_refused():
    atlas = atlas_of(*MEMORIES[:2])
    with pytest.raises(TypeError, match="e9_hdc"):
        atlas.scores("e9_hdc", MEMORIES[0].fingerprint["e1_semantic"])
    with pytest.raises(TypeError, match="e1_semantic"):
        atlas.recall_sparse("e1_semantic", Sparse.of({1: 1.0}), 3, atlas.facets.live)


def test_a_filter_is_applied_before_ranking():
    atlas, query = atlas_of(*MEMORIES), MEMORIES[4].fingerprint["e1_semantic"]
    rows = found(atlas, "e1_semantic", query, count=12, namespace="even")
    assert len(rows) == 12
    assert all(MEMORIES[row].namespace == "even" for row in rows)
    eligible = atlas.facets.eligible(Filter(namespace="even"))
    assert len(atlas.recall_prefix(e1(MEMORIES[4]), 12, eligible)) == 12
    odd = with_embedding(MEMORIES[0], "e6_sparse", MEMORIES[1].fingerprint["e6_sparse"], namespace="odd")
    atlas = atlas_of(*[odd] * 20, *MEMORIES)
    eligible = atlas.facets.eligible(Filter(namespace="even"))
    query = MEMORIES[1].fingerprint.take("e6_sparse", Sparse)
    assert atlas.recall_sparse("e6_sparse", query, 1, eligible).tolist() == [21]


@pytest.mark.parametrize("key", ["e6_sparse", "e13_splade"])
def test_sparse_recall_returns_only_what_shares_a_term(key: str):
    atlas = atlas_of(*MEMORIES)
    query = MEMORIES[4].fingerprint.take(key, Sparse)
    sharing = [row for row, memory in enumerate(MEMORIES) if {*query.ids} & {*memory.fingerprint.take(key, Sparse).ids}]
    rows = atlas.recall_sparse(key, query, 30, atlas.facets.live).tolist()
    assert rows[0] == 4
    assert sorted(rows) == sharing


def test_bm25_ranks_a_repeated_term_higher_where_cosine_would_not():
    once = with_embedding(MEMORIES[0], "e6_sparse", Sparse.of({1: 1.0}))
    often = with_embedding(MEMORIES[1], "e6_sparse", Sparse.of({1: 6.0, 2: 1.0}))
    long = with_embedding(MEMORIES[2], "e6_sparse", Sparse.of({5: 20.0}))
    atlas = atlas_of(once, often, long)
    query = Sparse.of({1: 1.0})
    assert atlas.recall_sparse("e6_sparse", query, 2, atlas.facets.live).tolist() == [1, 0]
    assert atlas.scores("e6_sparse", query).argmax() == 0


def test_a_long_memory_is_found_by_any_of_its_parts():
    part = passage(99, 400, 900)
    long = msgspec.structs.replace(MEMORIES[3], passages=(passage(98, 0, 500), part, passage(97, 800, 1300)))
    atlas = atlas_of(*MEMORIES[:3], long, *MEMORIES[4:])
    query = Dense(part.vector)
    assert found(atlas, "e1_semantic", query, count=1) == [3]
    assert atlas.recall_prefix(query.array, 1, atlas.facets.live).tolist() == [3]
    assert len({*atlas.recall_prefix(query.array, 20, atlas.facets.live).tolist()}) == 20
    rows = np.array([0, 3])
    assert atlas.passage_counts(rows).tolist() == [0, 3]
    assert [atlas.passage_span(3, place) for place in range(3)] == [(0, 500), (400, 900), (800, 1300)]
    cosines = atlas.passage_cosines(query, rows)
    assert cosines.argmax() == 1
    assert cosines[1] == pytest.approx(1, abs=2e-3)
    assert atlas.scores("e1_semantic", query, rows)[1] == pytest.approx(cosines[1])
    assert atlas.scores("e1_semantic", Dense.of(e1(long)), rows)[1] == pytest.approx(1, abs=2e-3)


def test_a_passage_covers_the_terms_of_a_query_that_it_contains_itself():
    text = "Lise keeps the keys. Odd waters the ferns on Sundays."
    spans = ((0, 20), (21, len(text)), (len(text), len(text)))
    parts = tuple(passage(number, *span) for number, span in enumerate(spans))
    long = msgspec.structs.replace(MEMORIES[1], content=compress(text), passages=parts)
    events, rows = (MEMORIES[0], long, *MEMORIES[2:]), np.array([0, 1])
    atlas = atlas_of(*events)
    covered = {query: atlas.passage_coverage(term_frequencies(query), rows) for query in ("keys of Lise", "Lise ferns")}
    assert covered["keys of Lise"] == pytest.approx([1, 0, 0])
    assert covered["Lise ferns"] == pytest.approx([0.5, 0.5, 0])
    erased = atlas_of(*events, MemoryErased(memory=memory_id(2)))
    assert erased.passage_coverage(term_frequencies("keys"), rows).tolist() == []
    assert erased.digest() != atlas.digest()


def test_where_e6_holds_no_stems_the_terms_of_passages_are_unknown():
    long = msgspec.structs.replace(MEMORIES[1], passages=(passage(0, 0, 4), passage(1, 4, 8)))
    atlas = folded(Atlas(DIMENSIONS, stems=False), history(MEMORIES[0], long))
    rows = np.array([0, 1])
    assert np.isnan(atlas.passage_coverage(term_frequencies("memory"), rows)).tolist() == [True, True]
    assert np.isnan(best_coverage(atlas, {"e6_sparse": term_frequencies("memory")}, rows)).all()
    query = {"e1_semantic": Dense(passage(1, 4, 8).vector), "e6_sparse": term_frequencies("memory")}
    assert best_passages(atlas, query, rows) == [None, (4, 8)]


def test_many_passages_of_one_memory_do_not_displace_others():
    rng = np.random.default_rng(0)
    topic = unit(rng, DIMENSIONS["e1_semantic"])
    close = [topic + 0.02 * unit(rng, len(topic)) for _ in range(50)]
    parts = tuple(
        msgspec.structs.replace(passage(0, start, start + 1), vector=pack(vector / np.linalg.norm(vector)))
        for start, vector in enumerate(close)
    )
    atlas = atlas_of(msgspec.structs.replace(MEMORIES[0], passages=parts), *MEMORIES[1:])
    rows = atlas.recall_prefix(topic, 10, atlas.facets.live)
    assert rows[0] == 0
    assert len({*rows.tolist()}) == 10
