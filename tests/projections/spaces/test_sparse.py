import math
from collections import Counter

import numpy as np
import pytest

import projections.spaces.sparse
from events.fingerprint import Sparse
from projections.spaces.sparse import SparseSpace

WIDTH = 300
K1, B = 1.2, 0.75


def random_sparse(rng: np.random.Generator) -> Sparse:
    terms = np.minimum(rng.zipf(1.3, rng.integers(2, 20)), WIDTH) - 1
    return Sparse.of({int(term): float(rng.integers(1, 5)) for term in terms})


@pytest.fixture
def memories() -> list[Sparse]:
    rng = np.random.default_rng(0)
    return [random_sparse(rng) for _ in range(200)]


def space_of(memories: list[Sparse], *, counts: bool = False) -> SparseSpace:
    space = SparseSpace(WIDTH, counts=counts)
    for memory in memories:
        space.append(memory)
    return space


def weights(embedding: Sparse) -> dict[int, float]:
    return dict(zip(embedding.ids.tolist(), embedding.values.tolist(), strict=True))


def idf_of(memories: list[Sparse]) -> dict[int, float]:
    """Return the rarity of every term, held or not."""
    holders = Counter(term for memory in memories for term in memory.ids.tolist())
    return {term: math.log((len(memories) - holders[term] + 0.5) / (holders[term] + 0.5) + 1) for term in range(WIDTH)}


def bm25(query: Sparse, memory: Sparse, memories: list[Sparse]) -> float:
    mean = np.mean([sum(weights(other).values()) for other in memories])
    held, idf = weights(memory), idf_of(memories)
    length = sum(held.values())
    return sum(
        wanted * idf[term] * held[term] * (K1 + 1) / (held[term] + K1 * (1 - B + B * length / mean))
        for term, wanted in weights(query).items()
        if term in held
    )


def cosine(one: dict[int, float], other: dict[int, float]) -> float:
    product = sum(weight * other.get(term, 0) for term, weight in one.items())
    return product / math.hypot(*one.values()) / math.hypot(*other.values())


def saturated(embedding: Sparse) -> dict[int, float]:
    return {term: tf / (tf + K1) for term, tf in weights(embedding).items()}


def test_bm25_is_the_formula(memories: list[Sparse]):
    query = random_sparse(np.random.default_rng(1))
    expected = [bm25(query, memory, memories) for memory in memories]
    assert max(expected) > 1
    np.testing.assert_allclose(space_of(memories).bm25(query), expected, rtol=1e-4, atol=1e-5)


def test_coverage_is_the_share_of_the_querys_rarity_that_a_row_holds(memories: list[Sparse]):
    query, idf = random_sparse(np.random.default_rng(1)), idf_of(memories)
    shares = {term: wanted * idf[term] for term, wanted in weights(query).items()}
    expected = [sum(shares.get(term, 0) for term in weights(memory)) / sum(shares.values()) for memory in memories]
    assert len({round(share, 6) for share in expected}) > 10
    rows = np.arange(len(memories))[::-1]
    space = space_of(memories)
    np.testing.assert_allclose(space.coverage(space.shares(query), rows), expected[::-1], rtol=1e-4, atol=1e-6)
    row = int(np.argmax(expected))
    space.exclude(row)
    space.clear(row)
    assert space.coverage(space.shares(query), np.array([row])).tolist() == [0]


def test_a_term_is_covered_however_often_and_among_how_many_others_it_stands():
    once, often = Sparse.of({1: 1.0}), Sparse.of({1: 9.0, **dict.fromkeys(range(2, 40), 1.0)})
    space = space_of([once, often, Sparse.of({2: 1.0})])
    assert space.coverage(space.shares(once), np.arange(3)).tolist() == [1, 1, 0]


def test_bm25_includes_rows_appended_after_the_last_ranking(memories: list[Sparse]):
    space = space_of(memories[:100])
    space.bm25(memories[0])
    for memory in memories[100:]:
        space.append(memory)
    np.testing.assert_array_equal(space.bm25(memories[0]), space_of(memories).bm25(memories[0]))


@pytest.mark.parametrize("counts", [True, False])
def test_a_row_has_one_cosine_alone_and_among_all_to_the_last_bit(memories: list[Sparse], *, counts: bool):
    space, query, some = space_of(memories[:150], counts=counts), memories[4], np.arange(3, 150, 7)
    alone = space.cosine(query, some)
    ranked = space.cosine(query)
    np.testing.assert_array_equal(alone, ranked[some])
    np.testing.assert_array_equal(space.cosine(query, some), alone)
    space.append(query)
    assert space.cosine(query, np.array([150]))[0] == pytest.approx(1)
    space.exclude(4)
    assert space.cosine(query)[4] == pytest.approx(1)
    space.clear(4)
    assert space.cosine(query, np.array([4])).tolist() == [0]


@pytest.mark.parametrize("counts", [True, False])
def test_pending_and_indexed_rows_score_the_same_to_the_last_bit(memories: list[Sparse], *, counts: bool):
    step_by_step = space_of(memories[:150], counts=counts)
    step_by_step.bm25(memories[0])
    for memory in memories[150:]:
        step_by_step.append(memory)
    at_once = space_of(memories, counts=counts)
    for space in (step_by_step, at_once):
        for row in (20, 170):
            space.exclude(row)
            space.clear(row)
    for query in memories[::9]:
        np.testing.assert_array_equal(step_by_step.bm25(query), at_once.bm25(query))
        np.testing.assert_array_equal(step_by_step.cosine(query), at_once.cosine(query))


@pytest.mark.parametrize("rows", [None, np.array([5, 199, 0])])
def test_cosine_takes_weights_as_they_stand(memories: list[Sparse], rows: np.ndarray | None):
    query = memories[5]
    chosen = range(200) if rows is None else rows
    expected = [cosine(weights(query), weights(memories[row])) for row in chosen]
    np.testing.assert_allclose(space_of(memories).cosine(query, rows), expected, rtol=1e-4)


@pytest.mark.parametrize("rows", [None, np.array([5, 199, 0])])
def test_cosine_of_counts_saturates_them(memories: list[Sparse], rows: np.ndarray | None):
    query = memories[5]
    chosen = range(200) if rows is None else rows
    expected = [cosine(saturated(query), saturated(memories[row])) for row in chosen]
    np.testing.assert_allclose(space_of(memories, counts=True).cosine(query, rows), expected, rtol=1e-4)


def test_cosine_does_not_depend_on_what_else_is_stored(memories: list[Sparse]):
    few, many = space_of(memories[:2], counts=True), space_of(memories, counts=True)
    np.testing.assert_array_equal(few.cosine(memories[0]), many.cosine(memories[0])[:2])


def test_an_empty_space_and_an_unknown_term_score_nothing(memories: list[Sparse]):
    assert len(SparseSpace(WIDTH).bm25(memories[0])) == 0
    space = space_of([Sparse.of({1: 1.0})])
    assert space.bm25(Sparse.of({2: 1.0})).tolist() == [0]
    assert space.cosine(Sparse.of({2: 1.0})).tolist() == [0]


def test_a_term_is_held_by_the_eligible_rows_that_contain_it(memories: list[Sparse]):
    space = space_of(memories)
    space.build_index()
    space.append(memories[0])
    space.exclude(1)
    space.clear(1)
    eligible = np.arange(len(memories) + 1) % 3 != 0
    terms = np.arange(0, WIDTH, 7, dtype=np.uint16)
    held = np.array([np.isin(terms, memory.ids) for memory in (*memories, memories[0])])
    held[1] = False
    assert space.holders(terms, eligible).tolist() == held[eligible].sum(axis=0).tolist()
    assert not len(space.holders(terms[:0], eligible))


def test_excluded_rows_do_not_count_until_they_are_included_again(memories: list[Sparse]):
    space, query = space_of(memories), memories[0]
    before, digest = space.bm25(query), space.digest()
    for row in range(100, 200):
        space.exclude(row)
    kept = memories[:100]
    np.testing.assert_allclose(space.bm25(query)[:100], [bm25(query, memory, kept) for memory in kept], rtol=1e-4)
    assert space.digest() != digest
    for row in range(100, 200):
        space.include(row)
    np.testing.assert_array_equal(space.bm25(query), before)
    assert space.digest() == digest


@pytest.mark.parametrize("ranked_before", [False, True])
def test_a_cleared_row_leaves_what_a_row_without_content_leaves(memories: list[Sparse], *, ranked_before: bool):
    space, empty = space_of(memories), SparseSpace(WIDTH)
    if ranked_before:
        space.bm25(memories[0])
    space.exclude(7)
    space.clear(7)
    for row, memory in enumerate(memories):
        empty.append(None if row == 7 else memory)
    assert space.digest() == empty.digest()
    assert space.bm25(memories[7])[7] == 0
    assert space.cosine(memories[7])[7] == 0
    np.testing.assert_array_equal(space.bm25(memories[3]), empty.bm25(memories[3]))


@pytest.mark.parametrize("counts", [True, False])
def test_a_recall_that_reads_few_postings_finds_nearly_the_same_and_never_fewer(
    memories: list[Sparse], monkeypatch: pytest.MonkeyPatch, *, counts: bool
):
    space, everything = space_of(memories, counts=counts), np.ones(200, np.bool_)
    queries = [random_sparse(np.random.default_rng(seed)) for seed in range(50)]
    exact = [space.recall(query, 10, everything).tolist() for query in queries]
    monkeypatch.setattr(projections.spaces.sparse, "_MIN_POSTINGS", 150)
    monkeypatch.setattr(projections.spaces.sparse, "_POSTINGS_A_ROW", 0)
    found = [space.recall(query, 10, everything).tolist() for query in queries]
    assert [len(rows) for rows in found] == [len(rows) for rows in exact]
    assert found != exact
    shared = sum(len({*rows} & {*all_rows}) for rows, all_rows in zip(found, exact, strict=True))
    assert shared >= 0.8 * sum(map(len, exact))
    for query, rows in zip(queries, found, strict=True):
        scores = space.bm25(query) if counts else space.cosine(query)
        assert rows == sorted(rows, key=lambda row: (-scores[row], row))  # all terms rank what some have found
