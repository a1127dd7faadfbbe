import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.clustering import MIN_COHERENCE, MIN_SIZE
from actors.consolidator.goals.discovery import (
    MAX_SAMPLE,
    WEIGHTS,
    GoalCluster,
    Similarities,
    discover,
    level,
    north_star,
    overall,
    parents,
    sample,
)
from actors.consolidator.goals.terms import extract_topic, index_terms
from events.spaces import INDEX, SPACES, TEMPORAL
from events.vocabulary.values import GoalLevel
from tests.actors.consolidator.asleep import worked_off
from tests.actors.consolidator.planted import planted


def discovered(
    scores: Similarities, *, min_coherence: float = MIN_COHERENCE, min_size: int = MIN_SIZE
) -> tuple[GoalCluster, ...]:
    return worked_off(discover(scores, min_coherence=min_coherence, min_size=min_size))[1]


def groups(clusters: tuple[GoalCluster, ...]) -> set[frozenset[int]]:
    return {frozenset(cluster.members) for cluster in clusters}


def a_cluster(
    *members: int, coherence: float = 0.8, confidence: float = 0.7, wide: GoalLevel | None = None
) -> GoalCluster:
    return GoalCluster(
        members=members,
        centrality=(coherence,) * len(members),
        coherence=coherence,
        spaces=(),
        confidence=confidence,
        level=wide or level(len(members), coherence),
    )


def test_planted_topics_are_found():
    assert groups(discovered(planted(10, 8))) == {frozenset(range(10)), frozenset(range(10, 18))}


def test_more_topics_than_two_are_found_among_many_memories():
    found = groups(discovered(planted(14, 12, 10, 8)))
    assert {frozenset(range(start, end)) for start, end in ((0, 14), (14, 26), (26, 36), (36, 44))} == found


def test_a_topic_is_not_cut_in_parts_because_there_are_few_topics():
    assert groups(discovered(planted(26, 24))) == {frozenset(range(26)), frozenset(range(26, 50))}


def test_what_is_like_nothing_else_belongs_to_no_cluster():
    found = discovered(planted(12, 12, strangers=4))
    assert groups(found) == {frozenset(range(12)), frozenset(range(12, 24))}


def test_memories_without_a_topic_form_no_cluster():
    assert discovered(planted(strangers=30)) == ()


def test_the_same_similarities_give_the_same_clusters():
    scores = planted(13, 11, 7, strangers=9)
    assert discovered(scores) == discovered(scores.copy())


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_memories_does_not_matter(seed: int):
    scores = planted(13, 11, 7, strangers=9)
    order = np.random.default_rng(seed).permutation(len(scores))
    shuffled = discovered(scores[np.ix_(order, order)])
    assert {frozenset(order[list(cluster.members)].tolist()) for cluster in shuffled} == groups(discovered(scores))


def test_discovery_yields_for_each_group_of_a_partition():
    slices, found = worked_off(discover(planted(*[30] * 10)))
    assert len(found) == 10
    assert slices > len(found)


def test_time_alone_makes_no_cluster():
    scores = planted(strangers=20)
    for key in TEMPORAL:
        scores[:10, :10, INDEX[key]] = scores[10:, 10:, INDEX[key]] = 1
    assert discovered(scores) == ()
    assert {key for key, weight in WEIGHTS.items() if not weight} == TEMPORAL


def test_fewer_than_three_memories_serve_nothing():
    for count in range(3):
        assert discovered(planted(count, within=0.9), min_size=1) == ()


def test_three_memories_about_one_thing_are_enough_if_the_caller_says_so():
    (cluster,) = discovered(planted(3), min_size=3)
    assert sorted(cluster.members) == [0, 1, 2]
    assert discovered(planted(3)) == ()


def test_repeats_of_one_memory_are_one_cluster():
    (cluster,) = discovered(np.ones((12, 12, len(SPACES)), np.float32))
    assert cluster.coherence == pytest.approx(1)
    assert sorted(cluster.members) == list(range(12))


def test_a_loose_cluster_is_found_only_when_less_is_asked_for():
    scores = planted(10, 10, within=0.45, across=0.05)
    assert discovered(scores) == ()
    assert len(discovered(scores, min_coherence=0.65)) == 2


def test_a_cluster_says_how_central_its_members_are():
    scores = planted(10, 8)
    scores[3, :10] = scores[:10, 3] = 0.99
    scores[7, :10] = scores[:10, 7] = 0.6
    cluster = next(found for found in discovered(scores) if 3 in found.members)
    assert (cluster.members[0], cluster.members[-1]) == (3, 7)
    assert list(cluster.centrality) == sorted(cluster.centrality, reverse=True)
    assert cluster.coherence == pytest.approx(np.mean(cluster.centrality))
    assert all(0 < centrality <= 1 for centrality in cluster.centrality)


def test_a_cluster_names_the_spaces_that_tell_it_from_the_rest():
    random = np.random.default_rng(1)
    scores = planted(10, 10)
    for key in ("e6_sparse", "e13_splade"):
        # Here members are no more alike than others are.
        scores[:, :, INDEX[key]] = random.uniform(0.3, 0.7, (20, 20))
    scores[:10, :10, INDEX["e11_entity"]] = 0.99
    for cluster in discovered(scores):
        assert len(cluster.spaces) == 3
        assert not {"e6_sparse", "e13_splade", *TEMPORAL} & set(cluster.spaces)
        assert (cluster.spaces[0] == "e11_entity") == (0 in cluster.members)


def test_no_space_tells_a_cluster_from_the_rest_when_there_is_none():
    (cluster,) = discovered(planted(6))
    assert cluster.spaces == ()
    assert cluster.confidence == pytest.approx(0.4 * cluster.coherence + 0.3 * 6 / 50)


def test_the_most_confident_cluster_comes_first():
    found = discovered(planted(6, 20, 12))
    assert [len(cluster.members) for cluster in found] == [20, 12, 6]
    first = found[0]
    assert first.confidence == pytest.approx(0.4 * first.coherence + 0.3 * 20 / 50 + 0.3)


def test_the_overall_similarity_is_the_same_from_either_side():
    scores = np.random.default_rng(2).uniform(0, 1, (6, 6, len(SPACES))).astype(np.float32)
    alike = overall(scores)
    np.testing.assert_array_equal(alike, alike.T)
    semantic = np.zeros((2, 2, len(SPACES)), np.float32)
    semantic[:, :, INDEX["e1_semantic"]] = 1
    relational = np.zeros_like(semantic)
    relational[:, :, INDEX["e8_graph"]] = 1
    assert overall(semantic)[0, 1] == pytest.approx(2 * overall(relational)[0, 1])


@pytest.mark.parametrize(
    ("size", "coherence", "expected"),
    [
        (50, 0.85, GoalLevel.NORTH_STAR),
        (50, 0.84, GoalLevel.STRATEGIC),
        (20, 0.80, GoalLevel.STRATEGIC),
        (19, 0.90, GoalLevel.TACTICAL),
        (10, 0.75, GoalLevel.TACTICAL),
        (10, 0.74, GoalLevel.OPERATIONAL),
        (9, 0.99, GoalLevel.OPERATIONAL),
    ],
)
def test_a_goal_is_as_wide_as_its_size_and_coherence_allow(size: int, coherence: float, expected: GoalLevel):
    assert level(size, coherence) is expected


def test_a_goal_serves_the_most_similar_goal_of_a_wider_level():
    alike = np.full((8, 8), 0.1, np.float32)
    for first, second, similarity in ((0, 2, 0.5), (0, 4, 0.7), (2, 4, 0.5), (0, 6, 0.2)):
        alike[first : first + 2, second : second + 2] = alike[second : second + 2, first : first + 2] = similarity
    for start in range(0, 8, 2):
        alike[start : start + 2, start : start + 2] = 0.9
    clusters = (
        a_cluster(0, 1, wide=GoalLevel.OPERATIONAL),
        a_cluster(2, 3, wide=GoalLevel.TACTICAL),
        a_cluster(4, 5, wide=GoalLevel.NORTH_STAR),
        a_cluster(6, 7, wide=GoalLevel.TACTICAL),
    )
    # The second one is more similar to the third than to any other, and the last is like none.
    assert parents(clusters, alike) == (2, 2, None, None)


def test_goals_of_one_level_serve_each_other_in_nothing():
    alike = np.full((4, 4), 0.9, np.float32)
    assert parents((a_cluster(0, 1), a_cluster(2, 3)), alike) == (None, None)


def test_the_north_star_has_three_members_and_coheres():
    few, loose, able = a_cluster(0, 1), a_cluster(*range(30), coherence=0.69), a_cluster(5, 6, 7, coherence=0.71)
    assert north_star((few, loose, able), (1, 1, 1)) == 2
    assert north_star((few, loose, able), (1, 1, 1), min_coherence=0.72) is None
    assert north_star((), ()) is None


def test_the_north_star_is_the_goal_that_names_most_memories():
    small, large, vague = a_cluster(*range(6)), a_cluster(*range(10)), a_cluster(*range(14))
    assert north_star((small, large, vague), (1, 1, 0.6)) == 1


def test_chatter_is_no_north_star_though_it_is_the_largest_cluster():
    greetings = [
        "Hey Ann! Long time no see, how have you been?",
        "Hi Bob, great to hear from you! What's new?",
        "Hey Bob! Good to see you again. How's it going?",
        "Hello Ann, so nice to talk to you. Anything new?",
        "Thanks so much, Ann! That means a lot to me.",
        "Wow Bob, that's awesome! Thanks for sharing.",
        "Hey Ann, how was your week? Hope all is well!",
        "Good to hear, Bob! Talk to you soon. Take care!",
        "Hi Ann! How are you doing these days?",
        "Sounds great, Bob. Thanks, see you soon!",
    ]
    pottery = [
        "My pottery class fired our first bowls in the kiln today.",
        "The glaze on this bowl cracked in the kiln.",
        "I threw a vase on the wheel at the pottery studio.",
        "The pottery teacher showed us how to mix a blue glaze.",
        "We bought clay and a second kiln for the studio.",
        "Clay dries too fast near the kiln, so the vase broke.",
    ]
    texts = greetings + pottery
    found = discovered(planted(len(greetings), len(pottery)))
    _, reading = worked_off(index_terms(texts))
    about = [extract_topic(reading, cluster.members).topicality for cluster in found]
    assert len(found[0].members) == len(greetings)
    chosen = north_star(found, about)
    assert chosen is not None
    assert {texts[place] for place in found[chosen].members} == set(pottery)


@given(st.integers(0, 5_000))
def test_a_sample_is_spread_over_all_memories(count: int):
    rows = sample(count)
    assert len(rows) == min(count, MAX_SAMPLE)
    assert (np.diff(rows) >= 1).all()
    if count > 1:
        assert (rows[0], rows[-1]) == (0, count - 1)
        gaps = np.diff(rows)
        assert gaps.max() - gaps.min() <= 1
