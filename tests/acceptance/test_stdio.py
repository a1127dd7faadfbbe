"""The main job through a real server process: store, restart, find."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.acceptance.conftest import COMMAND, Server

FOX = "The quick brown fox jumps over the lazy dog"


@pytest.mark.anyio
@pytest.mark.requirement(
    "INTEG-001/protocol/official-client", "INTEG-001/acceptance/real-client", "STORE-001/persistent"
)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_memory_survives_a_restart_and_is_found_by_the_official_client(tmp_path: Path, mode: str) -> None:
    command = StdioServerParameters(command=COMMAND, args=["serve", "--standalone", "--data", str(tmp_path / "data")])
    async with Client(command, mode=mode) as client:
        stored = await client.call_tool("store_memory", {"content": FOX, "tags": ["animals"]})
        failed = await client.call_tool("store_memory", {"content": ""})
        assert failed.structured_content["error"]["code"] == -32602
        memory = stored.structured_content["fingerprintId"]
        before = (await client.call_tool("memory_retrieve", {"id": memory})).structured_content
    async with Client(command, mode=mode) as client:
        found = (await client.call_tool("search_graph", {"query": "a nimble fox", "explain": True})).structured_content
        after = (await client.call_tool("memory_retrieve", {"id": memory})).structured_content
    assert [hit["fingerprintId"] for hit in found["results"]] == [memory]
    changed = {"accessCount", "lastAccessed", "_cognitive_pulse"}
    assert {k: v for k, v in after.items() if k not in changed} == {k: v for k, v in before.items() if k not in changed}
    assert before["_cognitive_pulse"] == after["_cognitive_pulse"], "the pulse is a fold over the log"


@pytest.mark.requirement("INTEG-001/delete/survives-restart")
def test_deleted_memories_stay_deleted(servers: Callable[[], Server]) -> None:
    server = servers()
    server.initialize()
    kept, forgotten, erased = (
        server.call("store_memory", content=f"{FOX} {n}")["structuredContent"]["fingerprintId"] for n in range(3)
    )
    server.call("memory_delete", id=forgotten)
    server.call("memory_delete", id=erased, soft=False)
    server.close()
    again = servers()
    again.initialize()
    results = again.call("search_graph", query=FOX)["structuredContent"]["results"]
    assert [hit["fingerprintId"] for hit in results] == [kept]
    assert again.call("memory_retrieve", id=erased)["structuredContent"]["error"]["code"] == -32010


@pytest.mark.requirement("INTEG-001/protocol/server-lives-on", "STORE-001/pulse-on-every-answer")
def test_broken_lines_are_answered_and_the_server_lives_on(servers: Callable[[], Server]) -> None:
    server = servers()
    server.initialize()
    for line, code in (
        ("{not json", -32700),
        ('"a string"', -32600),
        ("[]", -32600),
        ('{"jsonrpc": "2.0"}', -32600),
        ("", -32700),
        ("\x00\xff", -32700),
    ):
        server.send(line)
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, code), line
    assert server.request("no/such/method")["error"]["code"] == -32601
    assert server.request("tools/call", name="psychic", arguments={})["error"]["code"] == -32601
    assert server.request("tools/call", name="store_memory", arguments=[1])["error"]["code"] == -32602
    refused = server.call("store_memory", content="x", importance="high")
    assert refused["isError"]
    assert refused["_cognitive_pulse"] == refused["structuredContent"]["_cognitive_pulse"]
    assert server.call("store_memory", content=FOX)["_cognitive_pulse"]
    server.close()


def test_initialize_and_tools_list_need_no_model(servers: Callable[[], Server]) -> None:
    server = servers()
    assert server.initialize()["serverInfo"]["name"] == "context-graph"
    assert server.request("tools/list")["result"]["tools"]
    mapped = Path(f"/proc/{server.process.pid}/maps")
    if mapped.exists():
        assert not re.search(r"libtorch", mapped.read_text())
    server.close()


def test_a_second_server_on_the_same_folder_says_who_has_it(servers: Callable[[], Server]) -> None:
    first = servers()
    first.initialize()
    second = servers()
    assert second.process.wait(timeout=60) == 1
    first.close()


def test_progress_is_reported_while_models_load(servers: Callable[[], Server]) -> None:
    server = servers()
    server.initialize()
    server.send(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 99,
                "method": "tools/call",
                "params": {"name": "search_graph", "arguments": {"query": "fox"}, "_meta": {"progressToken": "t"}},
            }
        )
    )
    assert server.process.stdout
    told = []
    while (message := json.loads(server.process.stdout.readline())).get("id") != 99:
        assert message["method"] == "notifications/progress"
        told.append(message["params"]["message"])
    assert "loading the models" in told
