"""The graphs of a store: built behind the acknowledgements, part of the snapshot, measured in sleep."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn, cast

import pytest
from usearch.index import Index

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.mind.sleep import ConsolidateMemories, consolidate_memories
from actors.api.params.parsing import parse
from actors.comparator import actor
from actors.comparator.messages import ContinueUpkeep, Indexes, ReadIndexes
from actors.hub.hub import Hub
from events.vocabulary import MemoryErased
from projections.registry import digests, rebuild
from projections.spaces import graph
from tests.actors.conftest import search, store
from tests.actors.store.test_snapshot_files import BOUND, fill, kept
from tests.events.memory_log import MemoryLog
from tests.events.samples import stored

SENTENCES = [
    f"{who} {did} {what}."
    for who in ("The gardener", "Our pilot", "A retired judge")
    for did in ("repaired", "sold", "photographed", "lost")
    for what in ("an old violin", "the red tractor", "a map of Lisbon", "her winter boots", "two chess clocks")
]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every space of sixteen rows have a graph."""
    monkeypatch.setattr(graph, "SCANNED", 2_000)


def read(hub: Hub) -> Indexes:
    return cast("Indexes", hub.comparator.ask(ReadIndexes(), timeout=BOUND))


def grown(hub: Hub) -> Indexes:
    """Return the state of the indexes once all graphs have caught up; each ask lets one slice go first."""
    for _ in range(2_000):
        hub.comparator.tell(ContinueUpkeep())  # else it waits until nothing is stored for a moment
        found = read(hub)
        if found.states and not any(state.lag for state in found.states.values()):
            return found
    raise AssertionError("the graphs don't catch up")


def until_lag(hub: Hub, most: int) -> int:
    """Return how many rows the graph lacks that lacks most, once these are so few."""
    end = monotonic() + BOUND
    while monotonic() < end:
        lag = max(state.lag for state in read(hub).states.values())
        if lag <= most:
            return lag
    raise AssertionError("the graphs don't grow")


@pytest.mark.usefixtures("_small")
def test_graphs_come_with_the_snapshot_and_are_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with kept(tmp_path) as one:
        memories = fill(one, 40)
        before = grown(one.hub).states
        assert {state.graph for state in before.values()} == {40}
        assert len(before) == 3
        assert one.snapshot()
        digested = one.digests()

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a graph is built again")

    with monkeypatch.context() as patch, kept(tmp_path) as one:
        patch.setattr(Index, "add", refuse)
        after = grown(one.hub).states
        assert {name: state.graph for name, state in after.items()} == dict.fromkeys(before, 40)
        assert all(state.megabytes > 0 for state in after.values())
        assert one.digests() == digested
    with kept(tmp_path) as one:
        one.append(MemoryErased(memory=memories[7]))
        assert grown(one.hub).states["e11_entity"].graph == 40
        seq, live = one.digests()
        assert live == digests(rebuild(one.hub.log.read(0, seq)))


@pytest.mark.usefixtures("_small")
def test_graphs_wait_for_the_end_of_a_batch_unless_they_lack_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actor, "QUIET", 3_600)
    with kept(tmp_path / "busy") as one:
        fill(one, 40)
        assert {state.graph for state in read(one.hub).states.values()} == {0}
        monkeypatch.setattr(actor, "MOST_BEHIND", 8)
        one.append(stored("the last memory of the batch"))
        assert 0 < until_lag(one.hub, 8) <= 8
    monkeypatch.setattr(actor, "QUIET", 0.01)
    with kept(tmp_path / "quiet") as one:
        fill(one, 40)
        assert until_lag(one.hub, 0) == 0


@pytest.mark.anyio
@pytest.mark.usefixtures("_small")
async def test_a_view_of_the_past_has_no_graphs(tmp_path: Path):
    with kept(tmp_path) as one:
        fill(one, 30)
        grown(one.hub)
        async with one.hub.as_of(20, ()) as view:
            view.hub.replayed.get(timeout=BOUND)
            past = read(view.hub)
        assert {state.vectors for state in past.states.values()} == {19}
        assert {state.graph for state in past.states.values()} == {0}


@pytest.mark.anyio
async def test_a_store_with_graphs_finds_what_one_without_finds_and_tells_how_well(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    answers = []
    for scanned in (1 << 30, 2_000):
        monkeypatch.setattr(graph, "SCANNED", scanned)
        with start(MemoryLog()) as hub:
            context = Context(hub)
            for sentence in SENTENCES:
                await store(context, sentence, created_at="2026-01-01T12:00:00Z")
            if scanned < 1 << 30:
                grown(hub)
            found = [await search(context, query) for query in ("who lost footwear?", "a musical instrument was sold")]
            answers.append([[hit["content"] for hit in hits[:3]] for hits in found])
            if scanned < 1 << 30:
                await consolidate_memories(context, parse({"mode": "light"}, ConsolidateMemories))
                graphs: dict[str, Any] = {}
                for _ in range(2_000):
                    graphs = (await store_status(context))["graphs"]
                    if graphs["e1_prefix"]["recall"] is not None:
                        break
                assert all(state["recall"] > 0.9 for state in graphs.values())
                assert {state["graph"] for state in graphs.values()} == {len(SENTENCES)}
    assert answers[0] == answers[1]
