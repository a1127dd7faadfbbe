from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.runs.replay import (
    LEARNING_RATE,
    SHORTCUT_CONFIDENCE,
    derive_shortcuts,
    select_replays,
    strengthen_links,
)
from events.vocabulary.values import Shortcut, Step
from projections.graph.relations import CAUSAL_SHORTCUT, CAUSES, CONFIDENCE, LINK_TO, NEXT, SHORTCUT, TURN_WEIGHT, Link
from projections.mind.workspace import FadedMemory

AT = datetime(2026, 11, 21, tzinfo=UTC)
A, B, C, D, E, F = (UUID(int=number) for number in range(1, 7))
RUN = UUID(int=99)


def fading(*memories: UUID, order: float = 0.5) -> list[FadedMemory]:
    return [FadedMemory(memory, order, AT) for memory in memories]


# ── what is replayed ────────────────────────────────────────────────────────────────────────────────


def test_what_faded_last_is_replayed_first_and_what_was_recalled_most_follows():
    assert [*select_replays(fading(A, B), {C: 2, D: 9, E: 0})] == [B, A, D, C]


def test_a_memory_that_was_in_better_order_overtakes_its_neighbours_in_the_queue():
    queue = fading(*(UUID(int=number) for number in range(10, 20)))
    queue[5] = FadedMemory(A, 0.95, AT)
    assert [*select_replays(queue, {})].index(A) == 3
    assert [*select_replays([*fading(A, order=0.7), *fading(B, order=0.0)], {})] == [B, A]


def test_no_memory_is_replayed_twice_and_no_more_than_wanted():
    assert [*select_replays(fading(A, B), {A: 50, C: 1})] == [B, A, C]
    many = {UUID(int=number): number for number in range(1, 200)}
    assert [memory.int for memory in select_replays([], many)] == [*range(199, 99, -1)]


def test_a_memory_is_as_active_as_it_was_in_order_or_as_it_was_recalled():
    assert select_replays(fading(A, order=0.3), {A: 9, B: 4, C: 25}) == {A: 0.3, C: 1.0, B: 0.4}


def test_a_dream_without_memories_replays_nothing():
    assert select_replays([], {}) == {}


# ── what is strengthened ────────────────────────────────────────────────────────────────────────────


def link(source: UUID, target: UUID, walked: int = 0, relation: str = LINK_TO, weight: float = 0.5) -> Link:
    return Link(source, target, relation, weight, traversals=walked)


def slept(one: Link, activity: dict[UUID, float] | None = None) -> Link:
    """The link after a dream."""
    for change in strengthen_links([one], activity or {}):
        return msgspec.structs.replace(one, weight=change.weight, confidence=change.confidence)
    return one


def test_each_walk_makes_a_link_heavier_and_surer():
    one, five = slept(link(A, B, 1)), slept(link(A, B, 5))
    assert one.weight == pytest.approx(0.5 + LEARNING_RATE)
    assert five.weight == pytest.approx(0.5 + 5 * LEARNING_RATE)
    assert CONFIDENCE < one.confidence < five.confidence


def test_a_link_is_reliable_from_three_walks_on():
    confidences = [slept(link(A, B, walked)).confidence for walked in range(6)]
    assert [confidence > SHORTCUT_CONFIDENCE for confidence in confidences] == [False, False, False, True, True, True]


def test_a_walk_counts_once_however_often_one_dreams():
    once = slept(link(A, B, 4))
    assert strengthen_links([once], {}) == ()
    further = slept(msgspec.structs.replace(once, traversals=6))
    assert further.weight == pytest.approx(slept(link(A, B, 6)).weight)
    assert further.confidence == slept(link(A, B, 6)).confidence


@given(st.lists(st.integers(0, 40), max_size=8))
def test_walks_between_many_dreams_add_up_to_the_same_as_before_one(walks: list[int]):
    one = link(A, B, weight=0.1)
    for more in walks:
        one = slept(msgspec.structs.replace(one, traversals=one.traversals + more))
    whole = slept(link(A, B, sum(walks), weight=0.1))
    assert (one.weight, one.confidence) == pytest.approx((whole.weight, whole.confidence))


def test_what_is_replayed_together_is_wired_together_as_much_as_both_are_active():
    change = slept(link(A, B), {A: 0.5, B: 0.8})
    assert change.weight == pytest.approx(0.5 + LEARNING_RATE * 0.5 * 0.8)
    assert change.confidence == CONFIDENCE
    assert strengthen_links([link(A, B)], {A: 1.0, C: 1.0}) == ()


def test_only_links_that_change_are_told_and_each_by_its_own_step():
    links = [link(A, B), link(B, C, 2), link(C, D, relation=CAUSES), Link(D, E, LINK_TO, 1.0, 1.0, 500)]
    assert [change.step for change in strengthen_links(links, {C: 1.0, D: 1.0})] == [
        Step(B, C, LINK_TO),
        Step(C, D, CAUSES),
    ]


unit = st.floats(0, 1)


@given(unit, unit, st.integers(0, 1_000), unit, unit)
def test_strengthening_never_lowers_nor_leaves_the_unit_interval(
    weight: float, confidence: float, walked: int, one: float, other: float
):
    drawn = Link(A, B, LINK_TO, weight, confidence, walked)
    for change in strengthen_links([drawn], {A: one, B: other}):
        assert weight <= change.weight <= 1
        assert confidence <= change.confidence <= 1
        assert (change.weight, change.confidence) != (weight, confidence)


# ── shortcuts ───────────────────────────────────────────────────────────────────────────────────────


def sure(*ends: tuple[UUID, UUID], relation: str = LINK_TO, weight: float = 0.5) -> list[Link]:
    return [Link(source, target, relation, weight, 0.8) for source, target in ends]


def steps(links: list[Link]) -> tuple[Step, ...]:
    return tuple(one.step for one in links)


CHAIN = sure((A, B), (B, C), (C, D))
PATH = steps(CHAIN)


def test_a_path_that_was_often_walked_gets_a_shortcut_as_heavy_as_its_links_together():
    links = [*sure((A, B), weight=0.9), Link(B, C, LINK_TO, 0.5, 0.75), *sure((C, D), weight=0.8)]
    (found,) = derive_shortcuts([(PATH, 5)], links)
    assert found == Shortcut(Step(A, D, SHORTCUT), pytest.approx(0.36), 0.75, (B, C))


def test_a_path_needs_three_links_and_five_walks():
    assert derive_shortcuts([(PATH, 4)], CHAIN) == ()
    assert derive_shortcuts([(PATH[:2], 50)], CHAIN) == ()
    assert derive_shortcuts([(PATH, 5)], CHAIN) != ()


def test_a_path_is_as_sure_as_its_least_sure_link():
    unsure = [*CHAIN[:2], Link(C, D, LINK_TO, 1.0, 0.69)]
    assert derive_shortcuts([(PATH, 50)], unsure) == ()


def test_a_shortcut_is_drawn_from_what_the_same_dream_has_strengthened():
    links = [link(A, B, 5), link(B, C, 5), link(C, D, 5)]
    assert derive_shortcuts([(PATH, 5)], links) == ()
    changed = strengthen_links(links, {})
    (found,) = derive_shortcuts([(PATH, 5)], links, changed)
    assert found.weight == pytest.approx(0.55**3)
    assert found.confidence == changed[0].confidence


def test_a_path_of_causes_walked_their_way_gets_a_causal_shortcut_whichever_end_it_was_asked_from():
    causes = sure((A, B), (B, C), (C, D), relation=CAUSES)
    for path in (steps(causes), steps(causes)[::-1]):
        (found,) = derive_shortcuts([(path, 5)], causes)
        assert found.step == Step(A, D, CAUSAL_SHORTCUT)
        assert found.via == (B, C)


def test_a_shortcut_of_a_causal_shortcut_is_causal_too():
    links = [*sure((A, B), relation=CAUSAL_SHORTCUT), *sure((B, C), (C, D), relation=CAUSES)]
    (found,) = derive_shortcuts([(steps(links), 5)], links)
    assert found.step.relation == CAUSAL_SHORTCUT


def test_common_causes_and_other_links_on_the_way_make_no_causal_shortcut():
    common = sure((B, A), (B, C), (C, D), relation=CAUSES)
    (found,) = derive_shortcuts([(steps(common), 5)], common)
    assert found.step == Step(A, D, SHORTCUT)
    mixed = [*sure((A, B), (B, C), relation=CAUSES), *sure((C, D))]
    (found,) = derive_shortcuts([(steps(mixed), 5)], mixed)
    assert found.step == Step(A, D, SHORTCUT)


def test_links_walked_from_their_target_keep_their_place_on_the_path():
    links = sure((B, A), (B, C), (D, C), (D, E), (E, F))
    (found,) = derive_shortcuts([(steps(links), 5)], links)
    assert (found.step, found.via) == (Step(A, F, SHORTCUT), (B, C, D, E))


def test_a_path_and_the_way_back_are_one_and_their_walks_add_up():
    (found,) = derive_shortcuts([(PATH, 3), (PATH[::-1], 2)], CHAIN)
    assert found.step == Step(A, D, SHORTCUT)
    even = sure((A, B), (C, B), (C, D), (E, D))
    there, back = derive_shortcuts([(steps(even), 5)], even), derive_shortcuts([(steps(even)[::-1], 5)], even)
    assert there == back
    assert there[0].step == Step(A, E, SHORTCUT)


@pytest.mark.parametrize("direct", [link(A, D), link(D, A, relation=CAUSES), link(A, D, relation=SHORTCUT)])
def test_ends_that_are_linked_already_get_no_shortcut(direct: Link):
    assert derive_shortcuts([(PATH, 50)], [*CHAIN, direct]) == ()


def test_of_several_paths_between_the_same_ends_the_strongest_gets_the_shortcut():
    other = sure((A, E), (E, F), (F, D), weight=0.9)
    (found,) = derive_shortcuts([(PATH, 50), (steps(other), 5)], [*CHAIN, *other])
    assert found.via == (E, F)


def test_a_path_over_turns_or_over_links_that_are_gone_gets_no_shortcut():
    turn = Step(C, D, NEXT)
    assert derive_shortcuts([((*PATH[:2], turn), 50)], CHAIN) == ()
    assert derive_shortcuts([(PATH, 50)], CHAIN[:2]) == ()
    assert CONFIDENCE < SHORTCUT_CONFIDENCE
    stored = Link(C, D, NEXT, TURN_WEIGHT)
    assert derive_shortcuts([((*PATH[:2], turn), 50)], [*CHAIN[:2], stored]) == ()


def test_steps_that_lead_nowhere_are_no_path():
    with pytest.raises(ValueError, match="no path leads"):
        derive_shortcuts([((Step(A, B, LINK_TO), Step(B, C, LINK_TO), Step(E, F, LINK_TO)), 5)], CHAIN)


@given(
    st.lists(st.booleans(), min_size=3, max_size=6), st.sampled_from([1, -1]), st.lists(unit, min_size=6, max_size=6)
)
def test_a_shortcut_joins_the_ends_of_its_path_and_is_no_stronger_than_any_link_on_it(
    forward: list[bool], way: int, weights: list[float]
):
    memories = [UUID(int=number) for number in range(len(forward) + 1)]
    links = [
        Link(*(pair if ahead else pair[::-1]), CAUSES, weight, 0.9)
        for pair, ahead, weight in zip(pairwise(memories), forward, weights, strict=False)
    ]
    (found,) = derive_shortcuts([(steps(links)[::way], 5)], links)
    along = [found.step.source, *found.via, found.step.target]
    assert along in (memories, memories[::-1])
    assert found.weight <= min(one.weight for one in links)
    assert (found.step.relation == CAUSAL_SHORTCUT) == (all(forward) or not any(forward))
