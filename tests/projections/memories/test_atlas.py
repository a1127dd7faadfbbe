from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
import pytest

from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Sparse, Tokens, pack
from events.spaces import SPACES
from events.vocabulary import (
    Event,
    MemoryErased,
    MemoryForgotten,
    MemoryRestored,
    MemoryStored,
    PurposesRealigned,
    SpacesDeclared,
)
from events.vocabulary.values import WIDTH, SpaceModel
from projections.memories.atlas import _SPEAKER_WEIGHT, _TIME_WEIGHT, Atlas
from projections.memories.facets import Filter
from projections.projection import MemoryState
from projections.spaces.context import HUB_SHARE
from projections.spaces.directed import Direction
from projections.time.expressions import find_intervals
from projections.time.time_mentions import NO_HINTS, QueryHints
from tests.events.samples import DIMENSIONS, stored, unit
from tests.projections.history import history, memory_id, passage, read_later
from tests.projections.sleeps import RUNS, erased, formed, group, merged, pruned, undone

MEMORIES = [stored(f"memory {number}", namespace="odd" if number % 2 else "even") for number in range(1, 31)]
SPACE = {space.key: space for space in SPACES}


def e1(memory: MemoryStored) -> np.ndarray:
    return memory.fingerprint.take("e1_semantic", Dense).array


def with_embedding(memory: MemoryStored, key: str, embedding: Embedding, **changes: Any) -> MemoryStored:
    embeddings = {space.key: memory.fingerprint[space.key] for space in SPACES}
    return msgspec.structs.replace(memory, fingerprint=Fingerprint.of({**embeddings, key: embedding}), **changes)


def atlas_of(*events: Event) -> Atlas:
    atlas = Atlas(DIMENSIONS)
    for envelope in history(*events):
        atlas.apply(envelope)
    return atlas


def found(atlas: Atlas, key: str, embedding: Embedding, count: int = 5, **wanted: Any) -> list[int]:
    return atlas.nearest(key, embedding, count, atlas.facets.eligible(Filter(**wanted)))[0].tolist()


def test_rows_follow_arrival():
    atlas = atlas_of(*MEMORIES[:3])
    assert [atlas.row_of(memory_id(number)) for number in (1, 2, 3)] == [0, 1, 2]
    assert atlas.ids([2, 0]) == [memory_id(3), memory_id(1)]
    assert len(atlas) == 3
    with pytest.raises(KeyError):
        atlas.row_of(memory_id(4))


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
    by_row = atlas.scores(key, query, rows, symmetric=True)
    np.testing.assert_allclose(by_row, expected, atol=2e-3)
    np.testing.assert_allclose(atlas.scores(key, query, symmetric=True)[rows], by_row, atol=1e-5)


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
    alike = atlas.scores("e12_late_interaction", query, rows, symmetric=True)
    assert by_rarity[0] < 0.2
    assert by_rarity[1] > 0.9
    assert alike[0] == pytest.approx(alike[1], abs=1e-3)


@pytest.mark.parametrize("key", [space.key for space in SPACES])
def test_a_row_gives_back_what_was_stored_in_it(key: str):
    assert atlas_of(*MEMORIES).embedding(key, 4) == MEMORIES[4].fingerprint[key]


def test_passages_find_a_memory_but_do_not_count_when_two_are_compared():
    part = passage(0, 0, 100)
    atlas, rows = atlas_of(msgspec.structs.replace(MEMORIES[0], passages=(part,)), MEMORIES[1]), np.array([0, 1])
    query = Dense(part.vector)
    assert atlas.scores("e1_semantic", query, rows)[0] == pytest.approx(1, abs=2e-3)
    compared = atlas.scores("e1_semantic", query, rows, symmetric=True)
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
    scores, spans = atlas.passage_scores(query.array, rows)
    assert spans == [None, (400, 900)]
    assert scores[1] == pytest.approx(1, abs=2e-3)
    np.testing.assert_allclose(atlas.scores("e1_semantic", query, rows), scores)
    assert atlas.scores("e1_semantic", Dense.of(e1(long)), rows)[1] == pytest.approx(1, abs=2e-3)


def test_many_parts_of_one_memory_do_not_crowd_out_others():
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


def test_a_forgotten_memory_is_not_found_until_it_is_restored():
    query = MEMORIES[4].fingerprint
    events = (*MEMORIES, MemoryForgotten(memory=memory_id(5)), MemoryForgotten(memory=memory_id(5)))
    forgotten, restored = atlas_of(*events), atlas_of(*events, MemoryRestored(memory=memory_id(5)))
    before = atlas_of(*MEMORIES)
    for space in SPACES:
        assert 4 not in found(forgotten, space.key, query[space.key], count=30)
        assert found(restored, space.key, query[space.key], 30) == found(before, space.key, query[space.key], 30)
    assert forgotten.digest() != before.digest()
    assert restored.digest() == before.digest()


@pytest.mark.parametrize("before", [(), (MemoryForgotten(memory=memory_id(4)),)])
def test_an_erased_memory_leaves_an_empty_row_however_late_the_log_is_replayed(before: tuple[Event, ...]):
    long = msgspec.structs.replace(MEMORIES[3], passages=(passage(98, 0, 500),), tags=("t",), session="s")
    log = history(
        *MEMORIES[:3],
        long,
        *before,
        MemoryErased(memory=memory_id(4)),
        MemoryErased(memory=memory_id(4)),
        MemoryRestored(memory=memory_id(4)),
        *MEMORIES[4:],
    )
    live, later = Atlas(DIMENSIONS), Atlas(DIMENSIONS)
    for envelope, reread in zip(log, read_later(log), strict=True):
        live.apply(envelope)
        later.apply(reread)
    assert live.digest() == later.digest()
    assert later.row_of(log[-1].id) == len(MEMORIES) - 1
    for atlas in (live, later):
        assert not atlas.facets.live[3]
        for space in SPACES:
            assert 3 not in found(atlas, space.key, long.fingerprint[space.key], count=30)
        assert 3 not in atlas.recall_prefix(e1(long), 30, atlas.facets.live)


def test_what_was_erased_is_not_in_memory_any_more():
    atlas = atlas_of(MEMORIES[0], MEMORIES[1], MemoryErased(memory=memory_id(1)))
    for space in SPACES:
        if space.key != "e9_hdc":  # where all-zero bits agree with half of any others
            assert atlas.scores(space.key, MEMORIES[0].fingerprint[space.key], np.array([0]))[0] == 0


def test_two_replays_give_the_same_atlas():
    events = (*MEMORIES, MemoryForgotten(memory=memory_id(2)))
    assert atlas_of(*events).digest() == atlas_of(*events).digest()
    assert atlas_of(*MEMORIES).digest() != atlas_of(*events).digest()
    assert atlas_of(*MEMORIES[:5]).digest() != atlas_of(*reversed(MEMORIES[:5])).digest()


def declaration(**dimensions: int) -> SpacesDeclared:
    sizes = {**DIMENSIONS, **dimensions}
    return SpacesDeclared(
        profile="test", spaces=tuple(SpaceModel(key, "random", "", size) for key, size in sizes.items())
    )


def test_an_atlas_takes_its_dimensions_from_the_declaration_and_refuses_others():
    atlas = Atlas.of(declaration())
    for envelope in history(declaration(), *MEMORIES[:2]):
        atlas.apply(envelope)
    assert found(atlas, "e7_code", MEMORIES[1].fingerprint["e7_code"], count=1) == [1]
    with pytest.raises(ValueError, match="other dimensions"):
        atlas.apply(history(declaration(e1_semantic=768))[0])


# ── purpose ─────────────────────────────────────────────────────────────────────────────────────────

GOAL = memory_id(4_711)


def realigned(purposes: dict[int, float], goal: UUID = GOAL) -> PurposesRealigned:
    """Return the event that measures these rows anew, each the same in all spaces."""
    rows = np.array([[alignment] * WIDTH for alignment in purposes.values()], "<f4")
    memories = tuple(memory_id(row + 1) for row in purposes)
    return PurposesRealigned(goal=goal, memories=memories, purposes=rows.tobytes())


def alignments(atlas: Atlas) -> list[float]:
    return atlas.purposes.alignments(np.arange(len(atlas))).tolist()


def test_purposes_are_those_that_were_measured_last():
    before = msgspec.structs.replace(MEMORIES[2], north_star=GOAL)
    atlas = atlas_of(*MEMORIES[:2], before, realigned({0: 0.25, 1: 0.5}), realigned({1: 0.75}, memory_id(9)))
    assert alignments(atlas) == pytest.approx([0.25, 0.75, float(np.mean(MEMORIES[2].purpose))])
    assert [atlas.purposes.goal(row) for row in range(3)] == [GOAL, memory_id(9), GOAL]


def test_a_memory_measured_anew_is_as_one_that_was_measured_so_when_it_was_stored():
    later = [msgspec.structs.replace(one, purpose=(0.5,) * WIDTH, north_star=GOAL) for one in MEMORIES[:3]]
    measured = atlas_of(*MEMORIES[:3], realigned({0: 0.5, 1: 0.5, 2: 0.5}))
    assert measured.digest() == atlas_of(*later).digest()
    assert measured.digest() != atlas_of(*MEMORIES[:3]).digest()
    assert measured.digest() != atlas_of(*later[:2], MEMORIES[2]).digest()


def test_a_forgotten_memory_is_measured_too():
    events = (MEMORIES[0], MemoryForgotten(memory=memory_id(1)), realigned({0: 0.5}))
    assert alignments(atlas_of(*events)) == [0.5]
    assert alignments(atlas_of(*events, MemoryRestored(memory=memory_id(1)))) == [0.5]


@pytest.mark.parametrize("measured", ["before", "after", "before and after"])
def test_an_erased_memory_has_no_purpose_and_no_reader_knows_another(measured: str):
    log = history(
        *MEMORIES[:2],
        *([realigned({0: 0.25, 1: 0.25})] if "before" in measured else []),
        MemoryErased(memory=memory_id(1)),
        *([realigned({0: 0.5, 1: 0.5})] if "after" in measured else []),
    )
    live, later = Atlas(DIMENSIONS), Atlas(DIMENSIONS)
    for envelope, reread in zip(log, read_later(log), strict=True):
        live.apply(envelope)
        later.apply(reread)
    assert live.digest() == later.digest()
    for atlas in (live, later):
        np.testing.assert_allclose(alignments(atlas), [np.nan, 0.5 if "after" in measured else 0.25])
        assert atlas.purposes.goal(0) is None
        assert np.isnan(atlas.purposes.at(0)).all()


def test_it_knows_which_memories_it_has_a_row_of():
    atlas = atlas_of(*MEMORIES[:2], MemoryErased(memory=memory_id(1)))
    assert memory_id(1) in atlas
    assert memory_id(2) in atlas
    assert memory_id(4) not in atlas


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────

FIRST, SECOND, *_ = RUNS
ONE, TWO, THREE, FOUR = (memory_id(number) for number in range(1, 5))


def tagged(atlas: Atlas, *tags: str) -> list[int]:
    return np.flatnonzero(atlas.facets.eligible(Filter(tags=tags))).tolist()


def test_what_a_run_took_away_is_not_found_and_counts_in_no_statistics_until_the_run_is_undone():
    stored_, query = MEMORIES[:4], MEMORIES[1].fingerprint
    before, slept = atlas_of(*stored_), atlas_of(*stored_, pruned(FIRST, TWO), merged(FIRST, THREE, FOUR))
    assert [slept.facets.state(row) for row in range(4)] == [
        MemoryState.LIVE,
        MemoryState.PRUNED,
        MemoryState.LIVE,
        MemoryState.MERGED,
    ]
    for space in SPACES:
        assert sorted(found(slept, space.key, query[space.key])) == [0, 2]
    few = atlas_of(MEMORIES[0], MEMORIES[2])
    rows = np.array([0, 2])
    asked = {space.key: query[space.key] for space in SPACES}
    for key in ("e6_sparse", "e11_entity", "e12_late_interaction"):
        here, there = slept.relevance(key, asked, rows), few.relevance(key, asked, np.arange(2))
        assert here.tobytes() == there.tobytes()
    back = atlas_of(*stored_, pruned(FIRST, TWO), merged(FIRST, THREE, FOUR), undone(FIRST))
    assert back.digest() == before.digest()


def test_a_survivor_answers_for_chains_and_is_found_by_their_tags_until_they_break():
    told = [msgspec.structs.replace(one, tags=(tag,)) for one, tag in zip(MEMORIES, "abc", strict=False)]
    chain = (*told, merged(FIRST, TWO, ONE), merged(SECOND, THREE, TWO))
    atlas = atlas_of(*chain)
    assert [atlas.survivor(memory) for memory in (ONE, TWO, THREE)] == [THREE] * 3
    assert tagged(atlas, "a", "b", "c") == [2]
    assert tagged(atlas_of(*chain, undone(FIRST)), "a") == [0]
    assert tagged(atlas_of(*chain, undone(FIRST)), "b", "c") == [2]
    without = atlas_of(*chain, erased(TWO))
    assert (tagged(without, "a"), tagged(without, "b"), tagged(without, "c")) == ([0], [], [2])
    assert without.survivor(ONE) == ONE


def leaning(member: MemoryStored, middle: MemoryStored, centrality: float) -> np.ndarray:
    mixed = member.fingerprint.take("e8_graph", Dense).array.astype(np.float64)
    mixed += HUB_SHARE * centrality * e1(middle).astype(np.float64)
    return mixed / np.linalg.norm(mixed)


def context(atlas: Atlas, row: int) -> np.ndarray:
    embedding = atlas.embedding("e8_graph", row)
    assert isinstance(embedding, Dense)
    return embedding.array


def test_in_its_context_a_memory_leans_towards_the_most_central_other_one_of_its_cluster():
    cluster = group(TWO, ONE, THREE)
    atlas = atlas_of(*MEMORIES[:4], formed(FIRST, cluster))
    for row, middle, centrality in ((1, 0, 0.95), (0, 1, 0.85), (2, 1, 0.75)):
        np.testing.assert_allclose(context(atlas, row), leaning(MEMORIES[row], MEMORIES[middle], centrality), atol=1e-3)
    assert atlas.embedding("e8_graph", 3) == MEMORIES[3].fingerprint["e8_graph"]
    without = atlas_of(*MEMORIES[:4], formed(FIRST, cluster), erased(TWO))
    np.testing.assert_allclose(context(without, 2), leaning(MEMORIES[2], MEMORIES[0], 0.75), atol=1e-3)
    last = atlas_of(*MEMORIES[:4], formed(FIRST, cluster), erased(TWO), erased(ONE))
    assert last.embedding("e8_graph", 2) == MEMORIES[2].fingerprint["e8_graph"]


def test_only_the_latest_clusters_of_a_namespace_that_are_not_undone_are_in_force():
    former, latter = formed(FIRST, group(ONE, TWO)), formed(SECOND, group(THREE, FOUR))
    elsewhere = formed(SECOND, group(THREE, FOUR), namespace="other")
    stored_ = MEMORIES[:4]
    assert atlas_of(*stored_, former, latter, undone(SECOND)).digest() == atlas_of(*stored_, former).digest()
    assert atlas_of(*stored_, former, latter, undone(FIRST)).digest() == atlas_of(*stored_, latter).digest()
    assert atlas_of(*stored_, former, undone(FIRST, ONE)).digest() == atlas_of(*stored_, former).digest()
    assert atlas_of(*stored_, former, undone(FIRST)).digest() == atlas_of(*stored_).digest()
    atlas, apart = atlas_of(*stored_, former, latter), atlas_of(*stored_, former, elsewhere)
    assert atlas.embedding("e8_graph", 0) == stored_[0].fingerprint["e8_graph"]
    assert apart.embedding("e8_graph", 0) != stored_[0].fingerprint["e8_graph"]


def test_a_context_of_another_dimension_stays_as_it_was_stored():
    short = {**DIMENSIONS, "e8_graph": 128}
    embedding = Dense.of(unit(np.random.default_rng(0), 128))
    atlas = Atlas(short)
    told = [with_embedding(one, "e8_graph", embedding) for one in MEMORIES[:2]]
    for envelope in history(*told, formed(FIRST, group(ONE, TWO))):
        atlas.apply(envelope)
    assert atlas.embedding("e8_graph", 0) == embedding


# ── what ranks memories for a question that names a time or a person ────────────────────────────────

SAID = datetime(2023, 5, 9, 12, tzinfo=UTC)
TOLD = (
    stored("Ana: I ran yesterday.", created_at=SAID),
    stored("Ben: Ana ran.", created_at=SAID - timedelta(days=90)),
    stored("I ran.", created_at=SAID, metadata={"speaker": "Ana"}),
)
DAY_BEFORE = QueryHints(intervals=tuple(find_intervals("on 8 May 2023", SAID)))


def relevance(atlas: Atlas, key: str, cues: QueryHints) -> list[float]:
    asked = {space.key: TOLD[0].fingerprint[space.key] for space in SPACES}
    return atlas.relevance(key, asked, np.arange(len(atlas)), cues).tolist()


@pytest.mark.parametrize("key", [space.key for space in SPACES if space.key not in {"e6_sparse", "e11_entity"}])
def test_relevance_is_similarity_where_a_question_says_nothing_beside(key: str):
    atlas = atlas_of(*TOLD)
    scores = atlas.scores(key, TOLD[0].fingerprint[key]).tolist()
    assert relevance(atlas, key, NO_HINTS) == scores
    if key != "e2_temporal_recent":
        assert relevance(atlas, key, DAY_BEFORE) == scores
    assert relevance(atlas, key, QueryHints(words=frozenset({"ana"}))) == scores


def test_for_a_time_that_is_named_recency_is_how_well_a_memory_tells_of_it():
    told, other, same_week = relevance(atlas_of(*TOLD), "e2_temporal_recent", DAY_BEFORE)
    assert told == pytest.approx(1.0)
    assert other < same_week < told


def worded(*terms: int) -> MemoryStored:
    """Return a memory that holds these terms of E6."""
    return with_embedding(TOLD[2], "e6_sparse", Sparse.of(dict.fromkeys(terms, 1.0)))


def test_of_two_names_in_a_question_a_memory_that_holds_the_rarer_one_is_more_of_a_fact():
    rare, common, neither = 1, 2, 3
    atlas = atlas_of(worded(rare), *([worded(common)] * 3), worded(neither), worded(rare, common))
    asked = {"e6_sparse": Sparse.of({rare: 1.0, common: 1.0})}
    facts = atlas.relevance("e11_entity", asked, np.arange(6))
    assert facts[4] == 0 < facts[1] == facts[2] < facts[0] < facts[5] == pytest.approx(1.0)


def test_what_a_question_asks_with_other_than_words_of_e6_is_no_fact():
    atlas = atlas_of(*TOLD)
    with pytest.raises(KeyError):
        atlas.relevance("e11_entity", {"e11_entity": TOLD[0].fingerprint["e11_entity"]}, np.arange(3))
    with pytest.raises(TypeError):
        atlas.relevance("e11_entity", {"e6_sparse": TOLD[0].fingerprint["e11_entity"]}, np.arange(3))


def test_a_fact_gains_by_being_said_by_who_is_named_and_by_telling_of_the_time_that_is_named():
    atlas = atlas_of(*TOLD)
    plain = np.array(relevance(atlas, "e11_entity", NO_HINTS))
    by_ana = np.array(relevance(atlas, "e11_entity", QueryHints(words=frozenset({"did", "ana"}))))
    np.testing.assert_allclose(by_ana - plain, [_SPEAKER_WEIGHT, 0, _SPEAKER_WEIGHT], atol=1e-6)
    assert relevance(atlas, "e11_entity", QueryHints(words=frozenset({"dora"}))) == plain.tolist()
    that_day = np.array(relevance(atlas, "e11_entity", DAY_BEFORE))
    told = np.array(relevance(atlas, "e2_temporal_recent", DAY_BEFORE))
    np.testing.assert_allclose(that_day - plain, _TIME_WEIGHT * told, atol=1e-6)


@pytest.mark.parametrize("many", [3, 300])
def test_a_term_is_known_where_an_eligible_memory_holds_it(many: int):
    terms = TOLD[0].fingerprint.take("e6_sparse", Sparse)
    atlas = atlas_of(TOLD[0], *([TOLD[1]] * many))
    eligible = atlas.facets.live
    assert atlas.contains_terms("e6_sparse", terms, eligible)
    assert not atlas.contains_terms("e6_sparse", terms, eligible & (np.arange(len(atlas)) > 0))


def test_an_erased_memory_tells_nothing_and_its_speaker_is_no_voice():
    atlas = atlas_of(*TOLD, MemoryErased(memory=memory_id(2)))
    assert len(atlas.time_mentions.speakers(frozenset({"ben"}))) == 0
    assert len(atlas.time_mentions.speakers(frozenset({"ana"}))) == 1
    assert relevance(atlas, "e2_temporal_recent", DAY_BEFORE)[1] == 0.0


@pytest.mark.parametrize("cues", [QueryHints(start=True), QueryHints(end=True)])
def test_for_an_end_of_a_session_the_turn_that_stands_there_is_far_ahead_of_the_next(cues: QueryHints):
    key = "e4_temporal_positional"
    angles = (0.0, 0.1, 0.2, 0.4)  # about as far apart as a turn and the next ones
    waves = [np.concatenate([[np.cos(angle), np.sin(angle)], np.zeros(510)]) for angle in angles]
    atlas = atlas_of(*(with_embedding(TOLD[0], key, Dense.of(wave.astype(np.float32))) for wave in waves))
    asked = {key: Dense.of(waves[0].astype(np.float32))}
    plain, ahead = (atlas.relevance(key, asked, np.arange(4), one) for one in (NO_HINTS, cues))
    assert np.argsort(-plain).tolist() == np.argsort(-ahead).tolist() == [0, 1, 2, 3]
    assert plain[1] > 0.99
    assert plain[3] > 0.9
    assert ahead[1] < 0.8
    assert ahead[3] < 0.05
