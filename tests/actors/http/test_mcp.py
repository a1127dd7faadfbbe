"""MCP over HTTP: the official client does what it does over stdio."""

from contextlib import suppress

import anyio
import httpx2
import pytest

from actors.api.caller import Scope
from actors.api.mcp.tool_schemas import listed
from actors.http.access import authentication
from tests.actors.conftest import IN_EACH_ERA
from tests.actors.http.conftest import Served

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}


@IN_EACH_ERA
async def test_an_agent_stores_finds_and_forgets_over_http(served: Served, era: str) -> None:
    async with served.agent(served.key("me"), era) as agent:
        tools = await agent.client.list_tools()
        assert [one.name for one in tools.tools] == [one.name for one in listed()]
        stored = await agent.call("store_memory", content="The ferry to Amrum leaves at seven.")
        assert stored["_cognitive_pulse"]
        found = await agent.call("search_graph", query="When does the ferry leave?")
        assert [one["fingerprintId"] for one in found["results"]] == [stored["fingerprintId"]]
        await agent.call("memory_delete", id=stored["fingerprintId"])
        assert (await agent.call("search_graph", query="When does the ferry leave?"))["results"] == []
        assert (await agent.request("store/status"))["memories"]["live"] == 0
        assert await agent.client.list_resources()
        assert (await agent.refused("memory_retrieve", id="no id"))["code"] == -32602


@IN_EACH_ERA
async def test_a_key_to_read_changes_nothing_and_is_shown_no_tool_that_would(served: Served, era: str) -> None:
    async with served.agent(served.key("reader", Scope.READ), era) as agent:
        names = {one.name for one in (await agent.client.list_tools()).tools}
        assert "search_graph" in names
        assert names.isdisjoint({"store_memory", "memory_delete", "consolidate_memories"})
        refused = await agent.refused("store_memory", content="x")
        assert refused["code"] == -32003
        assert refused["message"].endswith(": that needs the scope 'write', not 'read'")
        assert (await agent.request_refused("store/verify"))["code"] == -32003


@IN_EACH_ERA
async def test_a_plain_method_says_what_is_wrong_with_a_parameter(served: Served, era: str) -> None:
    async with served.agent(served.key("me"), era) as agent:
        refused = await agent.request_refused("memory/store", content="x", namespace="*")
        assert refused["message"] == "Invalid 'namespace': '*' stands for all namespaces in a search"


async def test_what_a_key_stored_carries_its_name_in_the_audit(served: Served) -> None:
    async with served.agent(served.key("laptop")) as agent:
        await agent.call("store_memory", content="Bread is baked on Fridays.")
        await agent.call("search_graph", query="When is bread baked?")
        trail = await agent.call("audit_trail")
    by = {event["kind"]: (event["actor"], event["by"]) for event in trail["events"]}
    assert by["memory_stored"] == by["memory_recalled"] == ("http:laptop", "the key laptop")


async def test_a_request_outside_of_a_session_is_told_what_it_lacks(served: Served) -> None:
    accept = {"accept": "application/json, text/event-stream"}
    async with served.client(served.key("curl"), **accept) as client:
        answer = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, "Bad Request: Missing session ID")
        answer = await client.post("/mcp", content="{", headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, "Parse error")


async def test_a_session_belongs_to_the_key_that_began_it(served: Served) -> None:
    accept = {"accept": "application/json, text/event-stream"}
    async with served.client(served.key("one"), **accept) as client:
        begun = await client.post("/mcp", json=INITIALIZE)
        assert begun.status_code == 200
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        async with served.client(served.key("two"), **accept) as other:
            assert (await other.post("/mcp", json=ping, headers=session)).status_code == 404
        assert (await client.post("/mcp", json=ping, headers=session)).status_code == 200


async def test_a_stream_ends_when_its_key_is_revoked(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "STREAM_CHECK_SECONDS", 0.05)
    async with served.client(served.key("gone"), accept="application/json, text/event-stream") as client:
        begun = await client.post("/mcp", json=INITIALIZE)
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        with anyio.fail_after(60), suppress(httpx2.RemoteProtocolError):
            async with client.stream("GET", "/mcp", headers=session) as stream:
                assert stream.status_code == 200
                served.keys.revoke("gone")
                async for _ in stream.aiter_bytes():
                    pass
        assert (await client.get("/mcp", headers=session)).status_code == 401
