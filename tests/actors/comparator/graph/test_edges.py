"""The graph that is walked: links either way, turns of sessions, and nothing that can't be found."""

import pytest

from actors.comparator.graph.edges import find_neighbourhood, find_paths
from actors.comparator.messages import FindNeighbourhood, FindPaths
from actors.runtime.settings import PathKind
from events import vocabulary as ev
from projections.atlas.atlas import Atlas
from projections.graph.links import Links
from projections.graph.relations import CAUSES, LINK_TO, NEXT, TURN_WEIGHT
from tests.events.samples import DIMENSIONS, stored
from tests.projections.history import history, memory_id

ONE, TWO, THREE = map(memory_id, range(1, 4))


class Graph:
    """What a comparator holds after these events, as it is walked."""

    def __init__(self, *events: ev.Event) -> None:
        self.atlas, self.links = Atlas(DIMENSIONS), Links()
        for envelope in history(*events):
            self.atlas.apply(envelope)
            self.links.apply(envelope)

    def paths(self, start: int, end: int, kind: PathKind = PathKind.ANY, hops: int = 4, more: int = 0) -> list[str]:
        wanted = FindPaths(
            start=memory_id(start), end=memory_id(end), namespace=None, max_hops=hops, kind=kind, alternatives=more
        )
        found = find_paths(self.atlas, self.links, wanted)
        assert found.complete
        return ["".join(str(memory.int) for memory in path.memories) for path in found.paths]

    def near(self, memory: int, depth: int = 1, limit: int = 10) -> dict[int, tuple[str, bool]]:
        wanted = FindNeighbourhood(memory=memory_id(memory), namespace="default", depth=depth, limit=limit)
        found = find_neighbourhood(self.atlas, self.links, wanted)
        return {one.memory.int: (one.edge.relation, one.edge.forward) for one in found}


def memories(count: int) -> list[ev.MemoryStored]:
    return [stored(f"memory {number}") for number in range(count)]


def turns(*positions: int, session: str = "talk", namespace: str = "default") -> list[ev.MemoryStored]:
    return [
        stored(f"{namespace} {session} {place}", session=session, position=place, namespace=namespace)
        for place in positions
    ]


def linked(source: int, *targets: int, relation: str = LINK_TO, weight: float = 1.0) -> ev.MemoriesLinked:
    return ev.MemoriesLinked(
        source=memory_id(source), targets=tuple(map(memory_id, targets)), relation=relation, weight=weight
    )


def test_links_are_traversed_in_both_directions():
    graph = Graph(*memories(3), linked(1, 2), linked(3, 2))
    assert graph.paths(1, 3) == ["123"]
    assert graph.paths(3, 1) == ["321"]
    assert graph.near(2) == {1: (LINK_TO, False), 3: (LINK_TO, False)}
    assert graph.near(1) == {2: (LINK_TO, True)}


@pytest.mark.parametrize("gone", [ev.MemoryForgotten(memory=TWO), ev.MemoryErased(memory=TWO)])
@pytest.mark.parametrize("between", [[*memories(3)], [*turns(0, 1, 2)]])
def test_memories_that_are_not_eligible_are_not_traversed(between: list[ev.MemoryStored], gone: ev.Event):
    edges = [] if between[0].session else [linked(1, 2), linked(2, 3)]
    assert Graph(*between, *edges).paths(1, 3) == ["123"]
    graph = Graph(*between, *edges, gone)
    assert graph.paths(1, 3) == []
    assert graph.near(1) == graph.near(3) == {}


def test_a_restored_memory_is_traversed_again():
    gone = [*memories(3), linked(1, 2), linked(2, 3), ev.MemoryForgotten(memory=TWO)]
    assert Graph(*gone).paths(1, 3) == []
    assert Graph(*gone, ev.MemoryRestored(memory=TWO)).paths(1, 3) == ["123"]


def test_the_turns_of_a_session_are_edges_both_ways():
    graph = Graph(*turns(0, 1, 2))
    assert graph.paths(1, 3) == ["123"]
    assert graph.paths(3, 1) == ["321"]
    assert graph.near(2) == {1: (NEXT, False), 3: (NEXT, True)}
    wanted = FindNeighbourhood(memory=TWO, namespace="default", depth=1, limit=2)
    edges = {one.memory: one.edge for one in find_neighbourhood(graph.atlas, graph.links, wanted)}
    assert {(edge.source, edge.target, edge.weight) for edge in edges.values()} == {
        (ONE, TWO, TURN_WEIGHT),
        (TWO, THREE, TURN_WEIGHT),
    }, "drawn from the earlier turn to the later one, from whichever end it is entered"
    assert graph.paths(1, 3, PathKind.SEMANTIC) == [], "that one follows the other says nothing of what they mean"


def test_only_turns_next_to_each_other_in_one_session_of_one_namespace_are_edges():
    graph = Graph(*turns(0, 2), *turns(1, session="other"), *turns(1, namespace="elsewhere"), *memories(2))
    for number in range(1, 7):
        assert graph.near(number) == {}


def test_causes_lead_to_effects_and_not_back():
    graph = Graph(*memories(3), linked(1, 2, relation=CAUSES), linked(2, 3, relation=CAUSES))
    assert graph.paths(1, 3, PathKind.CAUSAL) == ["123"]
    assert graph.paths(3, 1, PathKind.CAUSAL) == []
    assert graph.paths(3, 1) == ["321"], "any path may walk back"


def test_a_causal_path_takes_no_other_edges():
    graph = Graph(*turns(0, 1, 2), linked(1, 3), linked(1, 2, relation=CAUSES))
    assert graph.paths(1, 2, PathKind.CAUSAL) == ["12"]
    assert graph.paths(1, 3, PathKind.CAUSAL) == []
    assert graph.paths(1, 3, PathKind.SEMANTIC) == ["13"]
    assert graph.paths(1, 2, PathKind.SEMANTIC) == []


def test_the_most_confident_path_comes_first_and_the_others_after_it():
    strong = [linked(1, 2), linked(2, 4)]
    graph = Graph(*memories(4), linked(1, 3, weight=0.4), linked(3, 4, weight=0.4), *strong)
    assert graph.paths(1, 4, more=3) == ["124", "134"]
    assert graph.paths(1, 4) == ["124"]
    assert graph.paths(1, 4, hops=1) == []


def test_a_neighbourhood_reaches_the_requested_number_of_hops():
    graph = Graph(*turns(0, 1, 2, 3), linked(1, 4))
    assert graph.near(1).keys() == {2, 4}
    assert graph.near(1, depth=2).keys() == {2, 3, 4}
    assert graph.near(1, depth=2, limit=2).keys() == {2, 4}, "the nearer ones first"
    assert [*graph.near(1, limit=1)] == [4], "of these the strongest"


def test_traversals_change_no_path():
    drawn = [*memories(3), linked(1, 2), linked(2, 3)]
    graph = Graph(*drawn)
    wanted = FindPaths(start=ONE, end=THREE, namespace=None, max_hops=4, kind=PathKind.ANY, alternatives=0)
    found = find_paths(graph.atlas, graph.links, wanted)
    steps = tuple(edge.step for edge in found.paths[0].edges)
    walked = Graph(*drawn, ev.LinksTraversed(steps=steps))
    assert walked.paths(1, 3) == ["123"]
    assert [walked.links._traversals[step] for step in steps] == [1, 1]


def test_memories_of_other_namespaces_are_not_traversed():
    foreign = [stored("here"), stored("there", namespace="elsewhere"), stored("here too")]
    graph = Graph(*foreign, linked(1, 2), linked(2, 3))
    assert graph.near(1) == {}
    assert graph.paths(1, 3) == ["123"], "without a namespace, paths lead through all"
    wanted = FindPaths(start=ONE, end=THREE, namespace="default", max_hops=4, kind=PathKind.ANY, alternatives=0)
    assert find_paths(graph.atlas, graph.links, wanted).paths == ()
