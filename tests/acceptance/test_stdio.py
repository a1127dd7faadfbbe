"""The main job through a real server process: store, restart, find."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from actors.proxy.endpoint import TOOL_SET
from tests.acceptance.conftest import COMMAND, LINGER, PATIENCE, Server

FOX = "The quick brown fox jumps over the lazy dog"


@pytest.mark.anyio
@pytest.mark.requirement(
    "INTEG-001/protocol/official-client", "INTEG-001/acceptance/real-client", "STORE-001/persistent"
)
async def test_a_memory_survives_a_restart_and_is_found_by_the_official_client(tmp_path: Path) -> None:
    command = StdioServerParameters(command=COMMAND, args=["serve", "--standalone", "--data", str(tmp_path / "data")])
    async with Client(command) as client:
        stored = await client.call_tool("store_memory", {"content": FOX, "tags": ["animals"]})
        failed = await client.call_tool("store_memory", {"content": ""})
        assert failed.structured_content["error"]["code"] == -32602
        memory = stored.structured_content["fingerprintId"]
        before = (await client.call_tool("memory_retrieve", {"id": memory})).structured_content
    async with Client(command) as client:
        found = (await client.call_tool("search_graph", {"query": "a nimble fox", "explain": True})).structured_content
        after = (await client.call_tool("memory_retrieve", {"id": memory})).structured_content
    assert [hit["fingerprintId"] for hit in found["results"]] == [memory]
    changed = {"accessCount", "lastAccessed", "lastUpdated", "evolutionSnapshots", "_cognitive_pulse"}
    assert {k: v for k, v in after.items() if k not in changed} == {k: v for k, v in before.items() if k not in changed}
    known = before["evolutionSnapshots"]
    assert after["evolutionSnapshots"][: len(known)] == known, "the search is one more, after those"
    assert before["_cognitive_pulse"] == after["_cognitive_pulse"], "the pulse is a fold over the log"


@pytest.mark.slow
@pytest.mark.requirement("INTEG-001/delete/survives-restart")
def test_deleted_memories_stay_deleted(servers: Callable[[], Server]) -> None:
    server = servers().greeted()
    kept, forgotten, erased = (
        server.call("store_memory", content=f"{FOX} {n}")["structuredContent"]["fingerprintId"] for n in range(3)
    )
    server.call("memory_delete", id=forgotten)
    server.call("memory_delete", id=erased, soft=False)
    server.close()
    again = servers().greeted()
    results = again.call("search_graph", query=FOX)["structuredContent"]["results"]
    assert [hit["fingerprintId"] for hit in results] == [kept]
    assert again.call("memory_retrieve", id=erased)["structuredContent"]["error"]["code"] == -32010


@pytest.mark.requirement("INTEG-001/protocol/server-lives-on", "STORE-001/pulse-on-every-answer")
def test_broken_lines_are_answered_and_the_server_lives_on(servers: Callable[[], Server]) -> None:
    server = servers().greeted()
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
    call = '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": %s}'
    for line, known, code in (
        (call % ("901", '["a", "b"]'), 901, -32602),
        (call % ('"nine"', '"text"'), "nine", -32602),
        (call % ("903", '{"name": "store_memory", "arguments": {"content": "half \\ud83d"}}'), 903, -32602),
        ('{"jsonrpc": "2.0", "id": 904, "method": 5}', 904, -32600),
    ):
        server.send(line)
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (known, code), line
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
        assert not re.search(r"libtorch|openvino", mapped.read_text())
    server.close()


def test_a_second_server_on_the_same_folder_says_who_has_it(servers: Callable[[], Server]) -> None:
    first = servers().greeted()
    second = servers()
    assert second.process.wait(timeout=PATIENCE) == 1
    first.close()


def test_progress_is_reported_while_models_load(servers: Callable[[], Server]) -> None:
    server = servers().greeted()
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


def store_until_windows_are_embedded(server: Server, request: int | str) -> None:
    """Send a store of a long text, and wait until the model is at work on it."""
    arguments = {"content": (FOX + ". ") * 250}
    params = {"name": "store_memory", "arguments": arguments, "_meta": {"progressToken": request}}
    server.send(json.dumps({"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}))
    assert server.process.stdout
    while json.loads(server.process.stdout.readline())["params"]["message"] != "windows embedded":
        pass


def cancel(server: Server, request: int | str) -> None:
    params = {"requestId": request}
    server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))


def test_a_number_and_the_same_digits_as_text_are_two_ids(servers: Callable[[], Server]) -> None:
    server = servers().greeted()
    server.call("store_memory", content=FOX)
    search = {"name": "search_graph", "arguments": {"query": FOX}}
    for stored, (storing, searching) in enumerate((("9001", 9001), (9001, "9001")), start=1):
        store_until_windows_are_embedded(server, storing)
        server.send(json.dumps({"jsonrpc": "2.0", "id": searching, "method": "tools/call", "params": search}))
        answer = server.receive()
        assert (answer["id"], answer["result"]["structuredContent"]["count"]) == (searching, stored)
        cancel(server, searching)  # it was answered, and the store is another request
        assert server.receive()["id"] == storing
    server.close()


def test_a_cancelled_store_is_never_answered_and_leaves_nothing(servers: Callable[[], Server]) -> None:
    server = servers().greeted()
    server.call("store_memory", content=FOX)

    store_until_windows_are_embedded(server, 98)
    cancel(server, 98)
    assert server.call("search_graph", query=FOX)["structuredContent"]["count"] == 1, "this is the next answer"
    store_until_windows_are_embedded(server, 99)
    server.close()
    again = servers().greeted()
    count = again.call("search_graph", query=FOX)["structuredContent"]["count"]
    assert count == 2, "the end of input cancels nothing"
    again.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "environment"),
    [(["--limit", "search_weight_profiles=1"], {}), ([], {"CONTEXT_GRAPH_LIMITS": "search_weight_profiles=1"})],
)
async def test_a_person_can_limit_how_often_a_tool_is_called(
    tmp_path: Path, options: list[str], environment: dict[str, str]
) -> None:
    arguments = ["serve", "--standalone", "--data", str(tmp_path / "data"), *options]
    async with Client(StdioServerParameters(command=COMMAND, args=arguments, env=environment)) as client:
        assert not (await client.call_tool("search_weight_profiles", {})).is_error
        error = (await client.call_tool("search_weight_profiles", {})).structured_content["error"]
    assert error["code"] == -32001
    assert 0 < error["data"]["retry_after_ms"] <= 60_000


def test_a_limit_on_a_tool_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    arguments = [COMMAND, "serve", "--standalone", "--data", str(tmp_path / "data"), "--limit", "psychic=1"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "no tool is named 'psychic'" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("way", [("--standalone",), LINGER])
def test_a_client_is_shown_the_ten_core_tools_and_can_call_the_others(data: Path, way: tuple[str, ...]) -> None:
    server = Server(data, *way, "--tools", "core")
    try:
        server.initialize()
        listed = server.request("tools/list")["result"]["tools"]
        assert len(listed) == 10
        assert len(server.request("tools/list", _meta={TOOL_SET: "all"})["result"]["tools"]) > 30
        assert server.call("search_weight_profiles")["structuredContent"]["profiles"]
    finally:
        server.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no terminals of this kind")
def test_a_person_who_types_serve_is_told_what_it_waits_for(tmp_path: Path) -> None:
    controller, terminal = os.openpty()
    command = [COMMAND, "serve", "--data", str(tmp_path / "data"), *LINGER]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as own:
        os.close(terminal)
        assert own.stderr is not None
        assert "`context-graph install` makes clients start it" in own.stderr.readline()
        os.close(controller)
        own.wait(PATIENCE)
    assert subprocess.run(command, input="", capture_output=True, text=True, timeout=PATIENCE, check=True).stderr == ""
