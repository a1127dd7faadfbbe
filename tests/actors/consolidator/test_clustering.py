from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.consolidator import clustering
from actors.consolidator.clustering import MIN_COHERENCE, MIN_SIZE, Cluster, Vectors, cluster_vectors
from tests.actors.slices import worked_off


def unit(vectors: Any) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def topics(*sizes: int, spread: float = 0.6, strangers: int = 0, seed: int = 0) -> Vectors:
    """Unit vectors around one middle after the other, `spread` away from it, then some anywhere."""
    random = np.random.default_rng(seed)
    away = unit(random.normal(size=(sum(sizes) + strangers, 384)))
    middles = unit(random.normal(size=(len(sizes), 384)))
    around = np.repeat(middles, sizes, axis=0)
    return unit(np.vstack([around + spread * away[: len(around)], away[len(around) :]]))


def found(vectors: Vectors) -> tuple[Cluster, ...]:
    return worked_off(cluster_vectors(vectors))[1]


def groups(vectors: Vectors) -> list[set[int]]:
    return [{*cluster.members} for cluster in found(vectors)]


def test_planted_topics_are_found_the_largest_first():
    assert groups(topics(8, 30, 12)) == [{*range(8, 38)}, {*range(38, 50)}, {*range(8)}]


def test_many_topics_are_found_whatever_their_number_and_size():
    sizes = [10 + number % 23 for number in range(60)]
    ends = np.cumsum(sizes)
    planted = {frozenset(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)}
    assert {frozenset(group) for group in groups(topics(*sizes))} == planted


def test_a_memory_similar_to_no_other_is_in_no_cluster():
    assert groups(topics(20, 10, strangers=40)) == [{*range(20)}, {*range(20, 30)}]
    assert found(topics(strangers=300)) == ()


def test_four_similar_memories_form_no_cluster_and_five_do():
    assert MIN_SIZE == 5
    assert groups(topics(4, 40)) == [{*range(4, 44)}]
    assert groups(topics(5, 40)) == [{*range(5, 45)}, {*range(5)}]
    assert found(topics(4)) == ()
    assert found(topics()) == ()


def test_vectors_without_a_topic_form_no_cluster():
    assert found(topics(strangers=60)) == ()


def test_a_small_cluster_is_found_among_many_copies():
    assert groups(topics(1_000, 6, spread=0.1)) == [{*range(1_000)}, {*range(1_000, 1_006)}]


def test_copies_are_one_cluster():
    assert groups(np.repeat(topics(1), 50, axis=0)) == [{*range(50)}]


def test_what_all_memories_have_in_common_does_not_make_them_one_cluster():
    random = np.random.default_rng(1)
    names = unit(random.normal(size=(1, 384)))
    alike = unit(topics(60, 60, 60, 60, 60) + 0.7 * names)
    means = [alike[start : start + 60].sum(axis=0) / 60 for start in range(0, 300, 60)]
    assert np.linalg.norm(np.mean(means, axis=0)) > 0.5
    assert sorted(map(min, groups(alike))) == [0, 60, 120, 180, 240]


def test_a_store_with_one_topic_has_one_cluster():
    assert groups(topics(30)) == [{*range(30)}]


@pytest.mark.parametrize("seed", range(4))
def test_a_topic_of_a_dozen_is_not_lost_in_a_larger_one_beside_it(seed: int):
    random = np.random.default_rng(seed)
    sizes = (22, 12, 40, 40, 30, 25, 50)
    middles = unit(random.normal(size=(len(sizes), 384)))
    middles[1:2] = unit(middles[:1] + 3**0.5 * middles[1:2])  # a cosine of .5
    away = unit(random.normal(size=(sum(sizes), 384)))
    small = {*range(22, 34)}
    found_ = groups(unit(np.repeat(middles, sizes, axis=0) + 2.2 * away))
    assert any(len(small & group) >= 8 and len(group - small) <= 4 for group in found_)


def test_the_most_central_members_come_first_and_the_figures_agree():
    for cluster in found(topics(40, 15, strangers=10, spread=0.8)):
        assert list(cluster.centrality) == sorted(cluster.centrality, reverse=True)
        assert 0.9 < cluster.coherence <= 1
        assert len(cluster.members) == len(cluster.centrality)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6), st.floats(0.1, 1.5), st.integers(0, 30), st.integers(0, 99)
)
def test_clusters_are_coherent_and_disjoint_and_do_not_depend_on_order(
    sizes: list[int], spread: float, strangers: int, seed: int
):
    vectors = topics(*sizes, spread=spread, strangers=strangers, seed=seed)
    clusters_ = found(vectors)
    members = [member for cluster in clusters_ for member in cluster.members]
    assert len(members) == len({*members})
    for cluster in clusters_:
        assert len(cluster.members) >= MIN_SIZE
        assert cluster.coherence >= MIN_COHERENCE
        assert min(cluster.centrality) > 0
        assert max(cluster.centrality) <= 1
    order = np.random.default_rng(seed).permutation(len(vectors))
    shuffled = [{*order[list(cluster.members)].tolist()} for cluster in found(vectors[order])]
    assert sorted(map(sorted, shuffled)) == sorted(sorted(cluster.members) for cluster in clusters_)


def test_clustering_does_not_change_the_vectors():
    vectors = topics(20, 20)
    before = vectors.copy()
    found(vectors)
    assert (vectors == before).all()


def test_the_work_stops_between_slices_and_finds_the_same_however_long_they_are(monkeypatch: pytest.MonkeyPatch):
    vectors = topics(300, 200, 100, strangers=100)
    few, whole = worked_off(cluster_vectors(vectors))
    monkeypatch.setattr(clustering, "COMPARED_AT_ONCE", clustering.COMPARED_AT_ONCE // 10)
    many, again = worked_off(cluster_vectors(vectors))
    assert [cluster.members for cluster in again] == [cluster.members for cluster in whole]
    assert [cluster.coherence for cluster in again] == pytest.approx([cluster.coherence for cluster in whole])
    assert many > few > 0


def test_vectors_that_are_not_of_unit_length_are_refused():
    with pytest.raises(ValueError, match="unit length"):
        found(np.zeros((20, 384), np.float32))
