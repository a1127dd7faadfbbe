"""What a sceptic tries: each moment as it was answered then, what was erased in all of them, who may read files."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.acceptance.conftest import COMMAND, PATIENCE, Server
from tests.actors.cli.conftest import run, run_json

TIMES = re.compile(r"latency|_ms$|milliseconds|seconds|next_cursor|indexes", re.IGNORECASE)
"""What differs from answer to answer for no other reason than that it is another one."""

PUMP = "The northern pump stopped because its zwickelvalve froze."
COPY = "The northern pump  stopped because its zwickelvalve froze."
TURNS = (
    "Somebody replaced the gasket of the northern pump on Friday.",
    "The southern pump runs at forty percent since March.",
    "Pressure in the main line dropped when the pump stopped.",
)
ERASED_WORDS = ("zwickelvalve", "knurrtag", "quarrelsome")


@pytest.fixture
def server(servers: Callable[[], Server]) -> Iterator[Server]:
    server = servers().greeted()
    yield server
    server.close()


def ask(server: Server, method: str, **params: Any) -> dict[str, Any]:
    """Return a result, or an error."""
    answer = server.request(method, **params)
    return answer.get("result") or answer["error"]


def head(server: Server) -> int:
    return ask(server, "store/status")["log"]["position"]


def plain(answer: Any) -> Any:
    """Return an answer without what is measured anew each time."""
    if isinstance(answer, dict):
        return {name: plain(value) for name, value in answer.items() if not TIMES.search(name)}
    return [plain(one) for one in answer] if isinstance(answer, list) else answer


def found(server: Server, **when: int) -> Any:
    """Return what a search finds, which is noted afterwards."""
    query = "Why did the pump stop?"
    return plain(ask(server, "search/graph", query=query, asked_at="2026-12-01T00:00:00Z", explain=True, **when))


def known(server: Server, memories: list[str], **when: int) -> dict[str, Any]:
    """Return what is told of memories and of the store as a whole, which leaves no trace."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("store/status", {}),
        ("audit/trail", {"limit": 500}),
        ("memory/consolidations", {"limit": 50}),
        ("memory/pruning_candidates", {}),
        ("workspace/status", {}),
        ("consciousness/get_state", {}),
        ("search/by_purpose", {"purpose_vector": [0.5] * 13, "min_similarity": -1.0}),
        ("memory/similarity_matrix", {"memory_ids": memories}),
        *(("memory/retrieve", {"id": memory}) for memory in memories),
        *(("graph/neighborhood", {"id": memory, "depth": 2}) for memory in memories),
    ]
    return {f"{method} {params}": plain(ask(server, method, **params, **when)) for method, params in asked}


def quiet(server: Server, memories: list[str]) -> tuple[int, dict[str, Any]]:
    """Return a moment and what was known then, once the workspace notes nothing more while that is told."""
    while True:
        moment = head(server)
        told = known(server, memories)
        if head(server) == moment:
            return moment, told


def lived(server: Server) -> tuple[list[str], dict[int, dict[str, Any]]]:
    """Let memories be stored, forgotten, brought back, merged and freed; return what was known at five moments."""

    def stored(content: str, **more: Any) -> str:
        return ask(server, "memory/store", content=content, **more)["fingerprintId"]

    memories = [
        stored(PUMP, tags=["knurrtag"], rationale="quarrelsome", importance=0.9),
        stored(COPY, tags=["knurrtag"], created_at="2026-10-01T00:00:00Z"),
    ]
    memories += [stored(turn, session="shift") for turn in TURNS]
    moments: dict[int, dict[str, Any]] = {}

    def remember() -> None:
        moment, told = quiet(server, memories)
        moments[moment] = told | {"found": found(server)}

    # The linker is done with the memories before anything is remembered: it works on in the background else.
    until = monotonic() + PATIENCE
    while not any(one["actor"] == "linker" for one in ask(server, "audit/trail", limit=20)["events"]):
        assert monotonic() < until, "the linker examined nothing"
    # Nothing ignites, so no search depends on when the workspace got round to the last question.
    ask(server, "workspace/adjust_coupling", new_k=0)
    remember()
    ask(server, "memory/delete", id=memories[2], reason="another pump")
    remember()
    ask(server, "memory/restore", id=memories[2])
    ask(server, "goal/discover", min_confidence=0)
    remember()
    run_id = ask(server, "memory/consolidate", mode="light")["run_id"]
    remember()
    ask(server, "memory/undo_consolidation", run_id=run_id)
    remember()
    return memories, moments


def test_each_moment_answers_as_the_store_did_then_and_asking_changes_nothing(server: Server) -> None:
    memories, moments = lived(server)
    before = quiet(server, memories)
    for moment, then in moments.items():
        assert known(server, memories, as_of=moment) | {"found": found(server, as_of=moment)} == then, moment
    assert quiet(server, memories) == before
    counts = [then["store/status {}"]["memories"] for then in moments.values()]
    hidden = [(count["forgotten"], count["merged"]) for count in counts]
    assert hidden == [(0, 0), (1, 0), (0, 0), (0, 1), (0, 0)], "or the moments don't differ, and nothing is shown"


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_what_was_erased_is_in_no_answer_of_any_moment(server: Server, step: int) -> None:
    memories, _ = lived(server)
    for memory in memories[:2]:
        ask(server, "memory/delete", id=memory, soft=False)
    last, _ = quiet(server, memories)
    for moment in range(last, 0, -step):
        told = json.dumps([known(server, memories, as_of=moment), ask(server, "store/diff", a=0, b=moment)])
        told += json.dumps(found(server, as_of=moment))
        assert [word for word in ERASED_WORDS if word in told] == [], moment
        assert "-32603" not in told
    assert head(server) == last
    assert TURNS[0] in json.dumps(found(server, as_of=last))


def test_a_history_tells_the_erasure_of_a_merged_memory_from_that_of_the_memory_itself(server: Server) -> None:
    survivor, absorbed = (
        ask(server, "memory/store", content=text, importance=weight)["fingerprintId"]
        for text, weight in ((PUMP, 0.9), (COPY, 0.1))
    )
    assert ask(server, "memory/consolidate", mode="light")["merged_count"] == 1
    assert ask(server, "memory/delete", id=survivor, soft=False)["deletedWith"] == [absorbed]
    for memory in (survivor, absorbed):
        events = ask(server, "audit/trail", memory_id=memory)["events"]
        erasures = [event["what"] for event in events if event["kind"] == "memory_erased"]
        assert len([what for what in erasures if what.startswith("erased")]) == 1, erasures
        assert all(memory not in what for what in erasures)


@pytest.mark.skipif(os.name != "posix", reason="Windows has other permissions")
def test_no_file_of_a_store_is_for_others_even_in_a_folder_that_is(tmp_path: Path) -> None:
    folder = tmp_path / "open to all"
    folder.mkdir(mode=0o755)
    server = Server(folder).greeted()
    server.call("store_memory", content=PUMP)
    assert run(folder, "backup", str(tmp_path / "backup")).exit_code == 0
    while_open = {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir()}
    server.close()
    assert "log.duckdb.wal" in while_open
    after = {path.name: path.stat().st_mode & 0o077 for path in (*folder.iterdir(), *(tmp_path / "backup").iterdir())}
    assert {name for name, mode in (while_open | after).items() if mode} == set()


def test_a_backup_is_put_back_from_within_the_folder_and_through_a_link(tmp_path: Path) -> None:
    folder, link, backup = tmp_path / "store", tmp_path / "link", tmp_path / "backup"
    run_json(folder, "store", PUMP)
    assert run(folder, "backup", str(backup)).exit_code == 0
    link.symlink_to(folder)
    assert run(link, "restore", str(backup), "--replace").exit_code == 0
    assert link.is_symlink()
    assert not folder.is_symlink()
    done = subprocess.run(
        [COMMAND, "restore", str(backup), "--data", ".", "--replace"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert run(link, "verify").exit_code == 0
    assert len([*tmp_path.glob("store.replaced-*")]) == 2
    shutil.rmtree(folder)
    assert not link.exists(), "it leads to what was put back, not to a store of its own"
