"""The project of a session: memories and searches of a repository, through the real server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import COMMAND, LINGER, PATIENT, Server
from tests.sampling import sampled

DOG = "Mara's dog is called Bo and is allergic to chicken."
DESK = "The clinic's front desk closes at noon on Fridays."
KEY = "The boathouse key hangs behind the red canoe."


class ProjectServer(Server):
    """A server that a client starts in a folder."""

    def __init__(self, data: Path, folder: Path, *options: str, roots: list[Path] | None = None, **named: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CONTEXT_GRAPH", "CLAUDE"))}
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--data", str(data), *(options or LINGER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=kept | {"OMP_NUM_THREADS": "1"} | named,
            cwd=folder,
        )
        self._id = 0
        self.roots = roots
        self.asked = 0

    def receive(self) -> dict[str, Any]:
        """Read the next answer; name the roots where the server asks for them."""
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("method") == "roots/list":
                self.asked += 1
                roots = [{"uri": root.as_uri()} for root in self.roots or ()]
                self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}}))
            elif "method" not in message:
                return message
        raise EOFError("the server closed its output")

    def initialize(self) -> dict[str, Any]:
        answer = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={} if self.roots is None else {"roots": {"listChanged": True}},
            clientInfo={"name": "acceptance", "version": "1"},
        )
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer["result"]


def answer(server: Server, tool: str, **arguments: Any) -> dict[str, Any]:
    result = server.call(tool, **arguments)
    assert not result.get("isError"), result
    return result["structuredContent"]


def place(server: Server, memory: str) -> str:
    return answer(server, "memory_retrieve", id=memory)["namespace"]


def found(server: Server, query: str, **arguments: Any) -> list[str]:
    return [hit["content"] for hit in answer(server, "search_graph", query=query, **arguments)["results"]]


@contextmanager
def serving(*arguments: Any, **named: Any) -> Iterator[ProjectServer]:
    server = ProjectServer(*arguments, **named)
    try:
        server.initialize()
        yield server
    finally:
        server.kill()


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    (tmp_path / "src" / "clinic" / ".git").mkdir(parents=True)
    return tmp_path / "src" / "clinic"


def test_memories_of_a_repository_stay_in_it_and_searches_look_there_and_lower_in_personal_and_default(
    data: Path, clinic: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    with serving(data, tmp_path / "plain") as outside, serving(data, clinic) as server:
        old = answer(outside, "store_memory", content=KEY)["fingerprintId"]
        assert place(outside, old) == "default"
        inside = answer(server, "store_memory", content=DESK)["fingerprintId"]
        assert place(server, inside) == "clinic"
        batch = answer(server, "memory_inject_batch", items=["One.", {"content": "Two.", "namespace": "other"}])
        assert [place(server, one["memory_id"]) for one in batch["results"]] == ["clinic", "other"]
        answer(server, "store_memory", content=DOG, namespace="personal")
        answer(server, "store_memory", content="Bo, Mara's dog, plays chess.", namespace="other")
        assert found(server, "Where does the boathouse key hang?", top_k=1) == [KEY], "of the time before projects"
        assert found(server, "What is Mara's dog called?", top_k=1) == [DOG]
        everywhere = found(server, "Does Mara's dog play chess?", namespace="*", top_k=1)
        assert everywhere == ["Bo, Mara's dog, plays chess."]
        assert "Bo, Mara's dog, plays chess." not in found(server, "Does Mara's dog play chess?", top_k=20)
        for tool in ("search_multi", "memory_search_multi_perspective", "memory_search"):
            hits = answer(server, tool, query="Does Mara's dog play chess?", min_similarity=0, top_k=20)["results"]
            assert len(hits) == 4, tool
        assert len(found(outside, "Mara's dog", top_k=20)) == 6, "outside of projects searches look everywhere"


def test_an_unrelated_repository_never_takes_over_the_memories_of_one_that_is_not_there(
    data: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "disk" / "clientA" / "backend", tmp_path / "clientB" / "backend"
    (first / ".git").mkdir(parents=True)
    (second / ".git").mkdir(parents=True)
    with serving(data, first) as server:
        answer(server, "store_memory", content=KEY)
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    with serving(data, second) as server:
        assert found(server, "Where does the boathouse key hang?", top_k=20) == []
        assert place(server, answer(server, "store_memory", content=DESK)["fingerprintId"]) == "backend-2"
    (tmp_path / "unplugged").rename(tmp_path / "disk")
    with serving(data, first) as server:
        assert found(server, "Where does the boathouse key hang?", top_k=20) == [KEY]


def test_tools_on_one_namespace_or_all_take_the_project_and_by_a_star_all(
    data: Path, clinic: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    with serving(data, clinic) as server, serving(data, tmp_path / "plain") as outside:
        answer(server, "memory_inject_batch", items=[DESK, DESK])
        answer(server, "memory_inject_batch", items=[{"content": KEY, "namespace": "other"} for _ in "ab"])

        def looked_at(tool: str, **arguments: Any) -> int:
            seen = answer(outside if "outside" in arguments else server, tool, **arguments.get("outside", arguments))
            return seen["memories_looked_at"]

        assert looked_at("get_pruning_candidates") == 2
        assert looked_at("get_pruning_candidates", namespace="*") == 4
        assert looked_at("get_pruning_candidates", outside={}) == 4, "outside of projects"
        assert looked_at("consolidate_memories", dry_run=True, namespace="*") == 4
        ends = {"start_concept": "boathouse key", "end_concept": "red canoe"}
        assert answer(server, "find_causal_path", **ends, namespace="*")["start"]["node_name"] == KEY
        assert answer(server, "find_causal_path", **ends)["start"]["node_name"] == DESK


def test_a_hook_recalls_what_a_search_in_its_project_finds(data: Path, clinic: Path) -> None:
    variables = {"PATH": "/usr/bin:/bin", "CONTEXT_GRAPH_DATA": str(data), "CLAUDE_PROJECT_DIR": str(clinic)}
    payload = json.dumps({"prompt": "When does the clinic's front desk close on Fridays?", "cwd": str(clinic / "desk")})
    with serving(data, clinic) as server:
        answer(server, "store_memory", content=DESK)
        answer(server, "store_memory", content=f"{DESK} Really.", namespace="other")
        command = [sys.executable, PATIENT, "hook", "user-prompt-submit"]
        done = subprocess.run(command, env=variables, input=payload, capture_output=True, text=True, check=True)
        recalled = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"].splitlines()[1:]
        assert [json.loads(line[line.index('"') :]) for line in recalled] == [DESK]


def test_of_equal_memories_that_of_the_project_comes_first(data: Path, clinic: Path) -> None:
    with serving(data, clinic) as server:
        shared = answer(server, "store_memory", content=KEY, namespace="personal")["fingerprintId"]
        own = answer(server, "store_memory", content=KEY)["fingerprintId"]
        answer(server, "store_memory", content=DESK)
        hits = answer(server, "search_graph", query="Where is the boathouse key?", explain=True)["results"]
        assert [hit["fingerprintId"] for hit in hits[:2]] == [own, shared]
        assert hits[1]["contributions"]["scope"] < 0
        assert "scope" not in hits[0]["contributions"]


def test_a_question_for_all_of_a_time_is_answered_by_the_project_before_what_all_projects_share(
    data: Path, clinic: Path
) -> None:
    week = [f"2026-05-0{day}T10:00" for day in (5, 6, 7)]
    with serving(data, clinic) as server:
        own = [answer(server, "store_memory", content=DESK, created_at=day)["fingerprintId"] for day in week]
        told = {"content": "What happened on 6 May 2026: the boathouse key was lost.", "created_at": week[1]}
        shared = answer(server, "store_memory", **told, namespace="personal")["fingerprintId"]
        answer(server, "store_memory", content=DOG, created_at="2026-06-20T10:00")
        found = answer(server, "search_graph", query="What happened last week?", asked_at="2026-05-12T12:00")
        hits = [hit["fingerprintId"] for hit in found["results"]]
        assert {*hits[:3]} == {*own}
        assert hits[3] == shared


@sampled("options", [(), ("--standalone",)])
def test_a_folder_that_the_client_names_is_the_project_where_the_server_starts_elsewhere(
    data: Path, clinic: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    notes = tmp_path / "my notes"
    notes.mkdir()
    with serving(data, tmp_path, *options, roots=[notes]) as server:
        assert place(server, answer(server, "store_memory", content=KEY)["fingerprintId"]) == "my notes"
        answer(server, "store_memory", content=DOG)
        assert server.asked == 1
        server.roots = [clinic]
        server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}))
        assert place(server, answer(server, "store_memory", content=DESK)["fingerprintId"]) == "clinic"
        server.close()


@sampled("options", [("--namespace", "chosen", *LINGER), ("--standalone", "--namespace", "chosen")])
def test_the_option_overrides_the_repository(data: Path, clinic: Path, options: tuple[str, ...]) -> None:
    with serving(data, clinic, *options) as server:
        assert place(server, answer(server, "store_memory", content=KEY)["fingerprintId"]) == "chosen"
        server.close()


def test_an_invalid_project_file_is_the_answer_to_the_first_request(data: Path, clinic: Path) -> None:
    (clinic / ".context-graph.toml").write_text("namespace = 5\n")
    server = ProjectServer(data, clinic)
    refused = server.request("tools/list")["error"]
    assert refused["code"] == -32004
    assert str(clinic / ".context-graph.toml") in refused["message"]
    server.kill()


def test_two_sessions_of_one_hub_have_a_project_each_and_namespaces_lists_both(
    data: Path, clinic: Path, tmp_path: Path
) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    with serving(data, clinic) as one, serving(data, tmp_path / "shop") as other:
        answer(one, "store_memory", content=DESK)
        answer(other, "store_memory", content=KEY)
        assert found(one, "What is there?", top_k=20) == [DESK]
        assert found(other, "What is there?", top_k=20) == [KEY]
        command = [COMMAND, "namespaces", "--data", str(data), "--json"]
        listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["namespaces"]
    assert [(name["namespace"], name["memories"], name["project"]) for name in listed] == [
        ("clinic", 1, str(clinic / ".git")),
        ("shop", 1, str(tmp_path / "shop" / ".git")),
    ]


def test_the_command_merges_namespaces_and_refuses_an_unknown_one(data: Path, clinic: Path) -> None:
    with serving(data, clinic) as server:
        memory = answer(server, "store_memory", content=DESK)["fingerprintId"]
        answer(server, "store_memory", content=KEY, namespace="office")
        merge = [COMMAND, "namespaces", "merge", "clinic", "office", "--data", str(data), "--json"]
        moved = json.loads(subprocess.run(merge, capture_output=True, check=True).stdout)
        assert moved["moved_from"] == {"clinic": 1}
        assert place(server, memory) == "office"
        again = subprocess.run(merge, capture_output=True, text=True, check=False)
        assert (again.returncode, again.stderr) == (1, "context-graph: Namespace not found: clinic\n")
