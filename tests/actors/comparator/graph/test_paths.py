"""Ways along the edges between memories."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.comparator.graph.paths import EdgesOf, best_paths, is_traversable, nearest_nodes
from actors.comparator.messages.graph import Edge, Path
from actors.runtime.settings import PathKind
from events.vocabulary.values import Step


def memory(number: int) -> UUID:
    return UUID(int=number)


PLENTY = 10_000
"""Of edges to look at."""

A, B, C, D, E = map(memory, range(1, 6))
NAMES = dict(zip((A, B, C, D, E), "ABCDE", strict=True))


def edge(source: UUID, target: UUID, strength: float = 0.5, relation: str = "causes") -> Edge:
    return Edge(source, target, relation, strength, 1.0)


def along(*edges: Edge) -> EdgesOf:
    """Name these edges from the memories where they start."""
    start: dict[UUID, list[Edge]] = defaultdict(list)
    for each in edges:
        start[each.start].append(each)
    return lambda here: start.get(here, [])


def letters(path: Path) -> str:
    return "".join(NAMES[visited] for visited in path.memories)


def ways(edges_of: EdgesOf, start: UUID, end: UUID, max_hops: int = 4, alternatives: int = 0) -> list[str]:
    return [letters(path) for path in best_paths(start, end, edges_of, max_hops, alternatives, PLENTY).paths]


DIAMOND = along(edge(A, B, 0.9), edge(B, D, 0.9), edge(A, C, 0.8), edge(C, D, 0.8), edge(A, D, 0.6), edge(B, C, 0.9))


def test_the_path_with_the_greatest_product_wins_though_it_is_longer() -> None:
    found = best_paths(A, D, DIAMOND, max_hops=4, alternatives=0, max_edges=PLENTY)
    assert [letters(path) for path in found.paths] == ["ABD"]
    assert found.paths[0].confidence == pytest.approx(0.81)
    assert found.complete


def test_alternatives_follow_in_the_order_of_their_confidence() -> None:
    assert ways(DIAMOND, A, D, alternatives=2) == ["ABD", "ABCD", "ACD"]
    assert ways(DIAMOND, A, D, alternatives=9) == ["ABD", "ABCD", "ACD", "AD"]


def test_no_path_is_longer_than_allowed() -> None:
    assert ways(DIAMOND, A, D, max_hops=1, alternatives=9) == ["AD"]
    assert ways(DIAMOND, A, D, max_hops=2, alternatives=9) == ["ABD", "ACD", "AD"]
    assert ways(DIAMOND, A, D, max_hops=0) == []


def test_a_cheap_detour_does_not_hide_the_only_path_within_the_hop_limit() -> None:
    detour = along(edge(A, B, 0.9), edge(B, C, 0.9), edge(A, C, 0.1), edge(C, D, 0.9), edge(D, E, 0.9))
    assert ways(detour, A, E, max_hops=4) == ["ABCDE"]
    assert ways(detour, A, E, max_hops=3) == ["ACDE"]


def test_no_alternative_visits_a_memory_twice() -> None:
    circle = along(edge(A, B, 0.9), edge(B, E, 0.9), edge(B, A, 0.9), edge(A, C, 0.9), edge(C, E, 0.9))
    assert ways(circle, A, E, alternatives=5) == ["ABE", "ACE"]


def test_disconnected_memories_have_no_path() -> None:
    found = best_paths(D, A, DIAMOND, max_hops=6, alternatives=2, max_edges=PLENTY)
    assert found.paths == ()
    assert found.complete


def test_the_path_from_a_memory_to_itself_is_empty() -> None:
    (path,) = best_paths(A, A, along(edge(A, B), edge(B, A)), max_hops=4, alternatives=3, max_edges=PLENTY).paths
    assert path.memories == (A,)
    assert path.confidence == 1.0


def test_an_edge_of_strength_zero_is_ignored() -> None:
    assert ways(along(edge(A, B, 0.0)), A, B) == []


def test_the_strongest_of_parallel_edges_is_used() -> None:
    both = along(edge(A, B, 0.4), edge(A, B, 0.7, "link_to"))
    found = best_paths(A, B, both, max_hops=4, alternatives=5, max_edges=PLENTY).paths
    assert [path.edges[0].relation for path in found] == ["link_to"]


def test_a_search_that_exceeds_its_budget_is_marked_incomplete() -> None:
    ladder = along(*(edge(memory(n), memory(n + 1)) for n in range(10)), edge(memory(0), memory(10), 0.9))
    assert not best_paths(memory(0), memory(9), ladder, max_hops=9, alternatives=0, max_edges=5).complete
    assert best_paths(memory(0), memory(9), ladder, max_hops=9, alternatives=0, max_edges=50).complete


def test_a_search_in_a_large_graph_stops_at_its_budget() -> None:
    asked = count()

    def grows(here: UUID) -> list[Edge]:
        next(asked)
        return [edge(here, memory(10 * here.int + n), 0.9) for n in range(10)]

    found = best_paths(A, memory(2), grows, max_hops=6, alternatives=2, max_edges=1_000)
    assert found.paths == ()
    assert not found.complete
    assert next(asked) <= 101


@given(
    edges=st.lists(
        st.builds(edge, st.sampled_from([A, B, C, D, E]), st.sampled_from([A, B, C, D, E]), st.floats(0.05, 1)),
        max_size=14,
    ),
    max_hops=st.integers(1, 5),
    alternatives=st.integers(0, 5),
)
def test_the_paths_equal_the_best_of_an_exhaustive_search(edges: list[Edge], max_hops: int, alternatives: int) -> None:
    edges_of = along(*edges)
    found = best_paths(A, E, edges_of, max_hops, alternatives, PLENTY)
    assert found.complete
    confidences: dict[tuple[UUID, ...], float] = defaultdict(float)
    for path in every_path(Path(A, ()), E, edges_of, max_hops):
        confidences[path.memories] = max(confidences[path.memories], path.confidence)
    best = sorted(confidences.values(), reverse=True)[: alternatives + 1]
    assert [path.confidence for path in found.paths] == pytest.approx(best)
    for path in found.paths:
        assert len(set(path.memories)) == len(path.memories) <= max_hops + 1
        assert path.confidence == pytest.approx(confidences[path.memories])
    assert len({path.memories for path in found.paths}) == len(found.paths)


def every_path(path: Path, end: UUID, edges_of: EdgesOf, hops: int) -> Iterator[Path]:
    """Yield all simple paths with at most so many further hops, one after the other."""
    if path.memories[-1] == end:
        yield path
    elif hops:
        for each in edges_of(path.memories[-1]):
            if each.end not in path.memories:
                yield from every_path(Path(path.start, (*path.edges, each)), end, edges_of, hops - 1)


@given(st.permutations([edge(A, B), edge(A, C), edge(B, D), edge(C, D), edge(B, C), edge(C, B)]))
def test_ties_are_broken_independently_of_the_order_of_edges(edges: list[Edge]) -> None:
    assert ways(along(*edges), A, D, alternatives=3) == ["ABD", "ACD", "ABCD", "ACBD"]
    assert [near.memory for near in nearest_nodes(A, along(*edges), 2, 9)] == [B, C, D]
    assert nearest_nodes(A, along(*edges), 2, 9)[2].edge == edge(B, D)


def test_an_edge_traversed_backwards_leads_to_its_source() -> None:
    back = Edge(B, A, "causes", 0.8, 0.5, forward=False)
    assert (back.start, back.end) == (A, B)
    assert back.strength == 0.4
    assert back.step == Step(B, A, "causes")


def test_causal_paths_go_from_causes_to_effects_alone() -> None:
    cause = edge(A, B)
    assert is_traversable(cause, PathKind.CAUSAL)
    assert not is_traversable(Edge(A, B, "causes", 1, 1, forward=False), PathKind.CAUSAL)
    assert not is_traversable(edge(A, B, relation="link_to"), PathKind.CAUSAL)
    assert not is_traversable(edge(A, B, relation="next"), PathKind.CAUSAL)


def test_semantic_paths_go_along_links_and_goals_either_way() -> None:
    for relation in ("link_to", "cluster"):
        for forward in (True, False):
            assert is_traversable(Edge(A, B, relation, 1, 1, forward=forward), PathKind.SEMANTIC)
    assert not is_traversable(edge(A, B), PathKind.SEMANTIC)
    assert not is_traversable(edge(A, B, relation="next"), PathKind.SEMANTIC)


def test_any_path_goes_along_everything_that_is_told_either_way() -> None:
    for relation in ("link_to", "causes", "next", "supports", "shortcut"):
        for forward in (True, False):
            assert is_traversable(Edge(A, B, relation, 1, 1, forward=forward), PathKind.ANY)
    assert not is_traversable(edge(A, B, relation="cluster"), PathKind.ANY), "members of a goal are only alike"


def test_a_neighbourhood_is_sorted_by_hops_then_by_confidence() -> None:
    near = nearest_nodes(A, along(edge(A, B, 0.5), edge(A, C, 0.7), edge(B, D, 1.0), edge(D, E, 1.0)), 2, limit=10)
    assert [(NAMES[each.memory], each.hops) for each in near] == [("C", 1), ("B", 1), ("D", 2)]
    assert [each.confidence for each in near] == pytest.approx([0.7, 0.5, 0.5])


def test_a_memory_is_reached_by_the_fewest_hops_then_by_the_most_confident_path() -> None:
    direct = (edge(A, B, 0.9), edge(A, C, 0.3))
    around = along(*direct, edge(B, A, 1.0), edge(B, C, 1.0), edge(B, D, 0.4), edge(C, D, 0.9))
    near = nearest_nodes(A, around, 3, 10)
    reached = {NAMES[each.memory]: each for each in near}
    assert reached["C"].edge == edge(A, C, 0.3)
    assert reached["D"].edge == edge(B, D, 0.4)
    assert reached["D"].confidence == pytest.approx(0.36)
    assert "A" not in reached


def test_a_neighbourhood_is_limited() -> None:
    star = along(*(edge(A, memory(n), n / 100) for n in range(10, 60)), edge(memory(59), E))
    near = nearest_nodes(A, star, 2, limit=3)
    assert [each.memory.int for each in near] == [59, 58, 57]
    assert [each.memory for each in nearest_nodes(A, star, 2, limit=51)][-1] == E
