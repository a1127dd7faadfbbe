"""kill -9: what was acknowledged is there, and nothing is half stored, half tidied up or half taken back."""

import json
import random
import select
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest

from events import vocabulary as ev
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Draft
from events.vocabulary.values import Counts, Mode
from projections.memories.catalog import Catalog
from projections.mind.runs import Run, Runs
from projections.projection import MemoryState
from tests.acceptance.conftest import PATIENCE, Server
from tests.actors.consolidator.planted_memories import LIFE, TRIVIA
from tests.events.samples import started

STORES = 200
SEED = 20_261_121

DEEP = {"mode": "deep"}
LATE = 1.2
"""Kills come up to this share of the time that the work usually takes, so that some come just after its end."""
DECISIONS = (ev.MemoriesMerged, ev.MemoriesPruned)

KILLS = pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])


class Left(NamedTuple):
    """What a process left behind, read from its log, of which the chain was checked.

    Runs that link causes are left out: whether the linker comes to it between two stores depends on their speed.
    """

    states: dict[UUID, MemoryState]
    runs: tuple[Run, ...]
    decisions: int
    undone: int

    @property
    def live(self) -> int:
        return sum(state is MemoryState.LIVE for state in self.states.values())


class Tidied(NamedTuple):
    """A store before and after a deep run, and what that did."""

    before: Path
    after: Path
    left: Left

    @property
    def run(self) -> Run:
        return self.left.runs[0]

    @property
    def counts(self) -> Counts:
        assert self.run.finished
        return self.run.finished.counts


def campaign(server: Server, count: int) -> dict[str, str]:
    """Send all stores at once, read so many acknowledgements, and kill; return content by acknowledged id."""
    server.initialize()
    for number in range(STORES):
        call = {"name": "store_memory", "arguments": {"content": f"Memory number {number} of this campaign."}}
        server.send(json.dumps({"jsonrpc": "2.0", "id": 1000 + number, "method": "tools/call", "params": call}))
    acknowledged = {}
    for _ in range(count):
        answer = server.receive()
        content = f"Memory number {answer['id'] - 1000} of this campaign."
        acknowledged[answer["result"]["structuredContent"]["fingerprintId"]] = content
    server.kill()
    return acknowledged


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_no_acknowledged_memory_is_lost_by_kill_9(servers: Callable[[], Server], tmp_path: Path, rounds: int) -> None:
    chance = random.Random(SEED)
    acknowledged: dict[str, str] = {}
    for _ in range(rounds):
        acknowledged |= campaign(servers(), chance.randrange(1, STORES))
        log = DuckDBLog(tmp_path / "data")
        envelopes = list(log.read())  # checks the chain
        log.close()
        stored = {str(envelope.id) for envelope in envelopes if isinstance(envelope.event, ev.MemoryStored)}
        assert acknowledged.keys() <= stored
        assert all(len(e.event.fingerprint.embeddings) == 13 for e in envelopes if isinstance(e.event, ev.MemoryStored))
    server = servers().greeted()
    for memory, content in chance.sample(sorted(acknowledged.items()), 5):
        assert server.call("memory_retrieve", id=memory)["structuredContent"]["content"] == content
    (found,) = server.call("search_graph", query=content, top_k=1)["structuredContent"]["results"]
    assert found["content"] == content
    server.close()


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────


def tell(server: Server) -> None:
    """Tell a life, most of it twice and some of it with more blanks, and what matters to nobody any more."""
    texts = [*LIFE, *LIFE[:12], *(text.replace(" ", "  ") for text in LIFE[12:18])]
    memories: list[dict[str, Any]] = [{"content": text} for text in texts]
    memories += [{"content": text, "importance": 0.1, "created_at": "2023-05-01T08:00:00Z"} for text in TRIVIA]
    for number, arguments in enumerate(memories):
        call = {"name": "store_memory", "arguments": arguments}
        server.send(json.dumps({"jsonrpc": "2.0", "id": 1000 + number, "method": "tools/call", "params": call}))
    for _ in memories:
        assert not server.receive()["result"]["isError"]


def killed(folder: Path, moment: float | None, tool: str, **arguments: Any) -> tuple[float, bool]:
    """Call a tool in a process of its own, and kill that after so many seconds, or once it has answered.

    Returns the seconds from the call to the kill, and whether it had answered.
    """
    server = Server(folder).greeted()
    server.call("list_consolidations")  # the log is replayed by then
    call = {"name": tool, "arguments": arguments}
    start = perf_counter()
    server.send(json.dumps({"jsonrpc": "2.0", "id": 1000, "method": "tools/call", "params": call}))
    answered, _, _ = select.select([server.process.stdout], [], [], PATIENCE if moment is None else moment)
    took = perf_counter() - start
    server.kill()
    return took, bool(answered)


def left_in(folder: Path) -> Left:
    log = DuckDBLog(folder)
    catalog, runs = Catalog(), Runs()
    envelopes = list(log.read())  # checks the chain
    log.close()
    for envelope in envelopes:
        catalog.apply(envelope)
        runs.apply(envelope)
    events = [envelope.event for envelope in envelopes]
    return Left(
        states={one.id: catalog.get(one.id).state for one in envelopes if isinstance(one.event, ev.MemoryStored)},
        runs=tuple(run for run in runs.latest() if run.params.mode is not Mode.LINK),
        decisions=sum(isinstance(event, DECISIONS) for event in events),
        undone=sum(isinstance(event, ev.ConsolidationUndone) for event in events),
    )


def moments(kills: int, before: Path, scratch: Path, tool: str, **arguments: Any) -> Iterator[tuple[Path, bool]]:
    """Call a tool on copies of a store, and kill the process right after the answer and then at random moments.

    Yields what was left, and whether it had answered.
    """
    chance = random.Random(SEED)
    usual = 0.0
    for number in range(kills + 1):
        folder = copied(before, scratch / str(number))
        took, answered = killed(folder, chance.uniform(0, LATE) * usual if number else None, tool, **arguments)
        usual = usual or took
        yield folder, answered


def copied(folder: Path, to: Path) -> Path:
    """Copy a store, but for the socket that a killed process leaves behind."""
    return shutil.copytree(folder, to, ignore=shutil.ignore_patterns("*.sock"))


def listed(server: Server) -> list[dict[str, Any]]:
    """Return the runs that a server lists, but for those that link causes."""
    runs = server.call("list_consolidations")["structuredContent"]["runs"]
    return [run for run in runs if run["mode"] != Mode.LINK]


@contextmanager
def in_use(folder: Path) -> Iterator[Server]:
    """Serve what was left in a new process."""
    server = Server(folder).greeted()
    yield server
    server.close()


@pytest.fixture(scope="module")
def tidied(tmp_path_factory: pytest.TempPathFactory) -> Tidied:
    before, after = tmp_path_factory.mktemp("before") / "data", tmp_path_factory.mktemp("after") / "data"
    server = Server(before).greeted()
    tell(server)
    server.close()
    copied(before, after)
    killed(after, None, "consolidate_memories", **DEEP)
    tidied = Tidied(before, after, left_in(after))
    assert (tidied.counts.merged, tidied.counts.pruned) == (18, len(TRIVIA))
    return tidied


@pytest.mark.slow
@KILLS
def test_a_deep_run_that_is_killed_did_all_or_nothing(tidied: Tidied, tmp_path: Path, kills: int) -> None:
    ended = 0
    for folder, answered in moments(kills, tidied.before, tmp_path, "consolidate_memories", **DEEP):
        left = left_in(folder)
        assert left.states.keys() == tidied.left.states.keys()
        finished = [run.finished for run in left.runs if run.finished]
        assert finished or not answered
        ended += len(finished)
        if finished:
            assert finished[0].counts == tidied.counts
            assert (left.states, left.decisions) == (tidied.left.states, tidied.left.decisions)
            continue
        assert (left.live, left.decisions) == (len(left.states), 0)
        with in_use(folder) as server:
            assert [run["outcome"] for run in listed(server)] == ["interrupted"] * len(left.runs)
            again = server.call("consolidate_memories", **DEEP)["structuredContent"]
        assert (again["outcome"], again["merged_count"]) == ("finished", tidied.counts.merged)
        assert left_in(folder).states == tidied.left.states
    assert ended > 0, "the one that answered had ended"


@KILLS
def test_an_undo_that_is_killed_did_all_or_nothing(tidied: Tidied, tmp_path: Path, kills: int) -> None:
    run = {"run_id": str(tidied.run.run)}
    ended = 0
    for folder, answered in moments(kills, tidied.after, tmp_path, "undo_consolidation", **run):
        left = left_in(folder)
        assert left.states.keys() == tidied.left.states.keys()
        assert left.undone or not answered
        ended += left.undone
        if left.undone:
            assert left.live == len(left.states)
            continue
        assert left.states == tidied.left.states
        with in_use(folder) as server:
            again = server.call("undo_consolidation", **run)["structuredContent"]
        assert again["restored_count"] == tidied.counts.merged + tidied.counts.pruned
        assert left_in(folder).live == len(left.states)
    assert ended > 0, "the one that answered had ended"


def test_a_run_that_was_cut_off_after_its_beginning_is_called_interrupted_and_the_next_one_works(
    tidied: Tidied, tmp_path: Path
) -> None:
    folder = copied(tidied.before, tmp_path / "data")
    log, run = DuckDBLog(folder), uuid4()
    at = next(log.read()).at
    log.append([Draft(id=uuid4(), at=at, actor="consolidator", correlation_id=run, event=started(run, Mode.DEEP))])
    log.close()
    with in_use(folder) as server:
        assert [(one["run_id"], one["outcome"], one["can_be_undone"]) for one in listed(server)] == [
            (str(run), "interrupted", False)
        ]
        refused = server.call("undo_consolidation", run_id=str(run))
        assert refused["isError"]
        again = server.call("consolidate_memories", **DEEP)["structuredContent"]
        assert (again["outcome"], again["merged_count"]) == ("finished", tidied.counts.merged)
        assert [one["outcome"] for one in listed(server)] == ["finished", "interrupted"]
    assert left_in(folder).states == tidied.left.states
