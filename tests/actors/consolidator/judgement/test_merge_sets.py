"""Which memories are merged: exact copies, and texts that state the same."""

import random
from datetime import timedelta
from itertools import combinations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.judgement.merge_sets import (
    MAX_TEXTS,
    DuplicateCandidate,
    MergeSet,
    equivalent_pairs,
    merge_sets,
)
from actors.text.text_equivalence import NormalizedText, equivalent
from tests.events.samples import NOON
from tests.projections.history import memory_id

BIG = "He bought a big house near the park"
LARGE = "He bought a large house near the park"
GREAT = "He purchased a large house near the park"
SMALL = "He bought a small house near the park"


def candidate(number: int, content: str = BIG, *, code: bool = False, **more: object) -> DuplicateCandidate:
    fields = {"importance": 0.5, "created_at": NOON, "row": number} | more
    return DuplicateCandidate(memory=memory_id(number), text=NormalizedText(content, code=code), **fields)


def ids(*numbers: int) -> tuple[UUID, ...]:
    return tuple(memory_id(number) for number in numbers)


def pairs_of(candidates: list[DuplicateCandidate], *, strict: bool = False) -> set[frozenset[UUID]]:
    return {frozenset(pair) for pair in equivalent_pairs(candidates, strict=strict)}


def test_equivalent_texts_are_pairs_and_others_are_not():
    memories = [
        candidate(1),
        candidate(2, LARGE),
        candidate(3, SMALL),
        candidate(4, f"{BIG}!"),
        candidate(5, f" {BIG}"),
    ]
    assert pairs_of(memories) == {frozenset(ids(1, 2)), frozenset(ids(1, 4)), frozenset(ids(2, 4))}
    assert pairs_of(memories, strict=True) == {frozenset(ids(1, 4))}


def test_code_is_no_copy_of_the_same_characters_as_prose():
    assert merge_sets([candidate(1), candidate(2, code=True)], [], 0.9) == []


def test_similar_pairs_make_one_set_and_each_has_the_similarity_to_its_most_similar():
    memories = [candidate(1), candidate(2, LARGE), candidate(3, GREAT), candidate(4, SMALL)]
    pairs = [(*ids(1, 2), 0.92), (*ids(2, 3), 0.97), (*ids(1, 3), 0.5)]
    assert merge_sets(memories, pairs, 0.9) == [MergeSet(memory_id(1), ids(2, 3), (0.97, 0.97))]


def test_a_pair_at_the_limit_is_not_merged():
    memories = [candidate(1), candidate(2, LARGE)]
    assert merge_sets(memories, [(*ids(1, 2), 0.9)], 0.9) == []
    assert len(merge_sets(memories, [(*ids(1, 2), 0.9)], 0.89)) == 1


@pytest.mark.parametrize(
    ("second", "survivor"),
    [
        ({"importance": 0.6, "created_at": NOON + timedelta(days=1)}, 2),
        ({"created_at": NOON - timedelta(days=1)}, 2),
        ({"created_at": NOON - timedelta(days=1), "importance": 0.4}, 1),
        ({}, 1),
        ({"row": 0}, 2),
    ],
    ids=["the more important", "the older", "the more important one though younger", "the first stored", "its row"],
)
def test_one_survives_by_importance_then_age_then_the_order_of_storing(second: dict[str, object], survivor: int):
    (merged,) = merge_sets([candidate(1), candidate(2, **second)], [], 0.9)
    assert merged == MergeSet(memory_id(survivor), ids(3 - survivor), (1.0,))


def test_copies_need_no_pair_and_bring_their_equivalents_into_their_set():
    memories = [candidate(1), candidate(2, f"{BIG} "), candidate(3, LARGE)]
    assert merge_sets(memories, [(*ids(1, 3), 0.93)], 0.9) == [MergeSet(memory_id(1), ids(2, 3), (1.0, 0.93))]


def test_a_chain_does_not_join_two_that_are_not_equivalent_and_the_more_similar_pair_wins():
    memories = [candidate(1), candidate(2, LARGE), candidate(3, GREAT)]
    pairs = [(*ids(1, 2), 0.93), (*ids(2, 3), 0.96)]
    assert merge_sets(memories, pairs, 0.9) == [MergeSet(memory_id(2), ids(3), (0.96,))]


def test_no_more_than_so_many_texts_are_compared():
    memories = [candidate(number, f"{BIG}{'!' * number}") for number in range(1, 20)]
    assert len(pairs_of(memories)) == MAX_TEXTS * (MAX_TEXTS - 1) // 2


@pytest.mark.parametrize("strict", [True, False])
def test_memories_of_different_kinds_are_not_merged_be_they_copies_or_alike(strict: bool):
    memories = [
        candidate(1, kind=("Anna",)),
        candidate(2, kind=("Bert",)),
        candidate(3, f"{BIG}!", kind=("Bert",)),
        candidate(4, kind=("Anna",)),
    ]
    pairs = [(*pair, 0.99) for pair in equivalent_pairs(memories, strict=strict)]
    assert merge_sets(memories, pairs, 0.9) == [
        MergeSet(memory_id(1), ids(4), (1.0,)),
        MergeSet(memory_id(2), ids(3), (0.99,)),
    ]


texts = st.lists(
    st.sampled_from(["hot", "cold", "nice", "harmful", "harmless", "3", "small", "big", "large"]),
    min_size=1,
    max_size=2,
)


@given(st.lists(texts, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_all_texts_of_a_set_are_equivalent_and_order_does_not_matter(words: list[list[str]], rng: random.Random):
    memories = [
        candidate(number, f"The {' '.join(said)} soup", importance=rng.choice([0.2, 0.5]))
        for number, said in enumerate(words, 1)
    ]
    pairs = [(*pair, rng.uniform(0.9, 1.0)) for pair in equivalent_pairs(memories, strict=False)]
    merged = merge_sets(memories, pairs, 0.9)
    text = {one.memory: one.text for one in memories}
    for found in merged:
        members = (found.survivor, *found.absorbed)
        assert all(equivalent(text[one], text[other], strict=False) for one, other in combinations(members, 2))
    everywhere = [memory for found in merged for memory in (found.survivor, *found.absorbed)]
    assert len(set(everywhere)) == len(everywhere), "each memory is in one set at most"
    rng.shuffle(memories)
    turned = [(other, one, similarity) for one, other, similarity in pairs]
    rng.shuffle(turned)
    assert merge_sets(memories, turned, 0.9) == merged
