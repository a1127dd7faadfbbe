"""Many clients at once, and a client that was cut off."""

import asyncio
import socket

import anyio
import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification

from actors.api.caller import Scope
from actors.api.context import Context
from actors.http import listening
from actors.http.mcp_endpoint import MAX_MESSAGES, ReplayBuffer
from tests.actors.conftest import Agent
from tests.actors.http.conftest import Serve, Served

pytestmark = pytest.mark.anyio

CLIENTS = 20


async def test_twenty_clients_at_once_lose_and_mix_up_nothing(served: Served) -> None:
    """Half of them speak each era; every four share a namespace, and each stores and finds its own memory."""
    found: dict[int, list[tuple[str, str]]] = {}
    mine: dict[int, str] = {}

    async def work(agent: Agent, number: int) -> None:
        text = f"Locker {number} of hall {number % 5} belongs to guest {number * 7919}."
        stored = await agent.call("store_memory", content=text)
        answer = await agent.call("memory_retrieve", id=stored["fingerprintId"])
        results = (await agent.call("search_graph", query=text, top_k=50))["results"]
        mine[number] = answer["content"]
        found[number] = [(one["fingerprintId"], one["content"]) for one in results]
        assert answer["content"] == text

    keys = [served.key(f"hall-{hall}", Scope.WRITE, (f"hall-{hall}",)) for hall in range(5)]

    async def visit(number: int) -> None:
        async with served.agent(keys[number % 5], "legacy" if number % 2 else "2026-07-28") as agent:
            await work(agent, number)

    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(visit, number)
    async with served.agent(served.key("all")) as agent:
        counts = (await agent.request("store/status"))["namespaces"]
    assert len(mine) == CLIENTS
    assert counts == {f"hall-{hall}": CLIENTS // 5 for hall in range(5)}
    for number, results in found.items():
        assert mine[number] in [content for _, content in results]
        assert all(f"of hall {number % 5} belongs" in content for _, content in results)


async def test_a_key_whose_sessions_never_end_locks_no_other_key_out(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.http.mcp_endpoint.MAX_SESSIONS_OF_ONE", 3)
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    begin["params"] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    accept = {"accept": "application/json, text/event-stream"}
    async with (
        served.client(served.key("runaway"), **accept) as runaway,
        served.client(served.key("other"), **accept) as other,
    ):
        begun = [await runaway.post("/mcp", json=begin) for _ in range(4)]
        assert [one.status_code for one in begun] == [200, 200, 200, 503]
        assert (await other.post("/mcp", json=begin)).status_code == 200
        await runaway.delete("/mcp", headers={"mcp-session-id": begun[0].headers["mcp-session-id"]})
        assert (await runaway.post("/mcp", json=begin)).status_code == 200


async def test_a_reconnecting_client_gets_the_later_messages_of_its_own_stream() -> None:

    buffer = ReplayBuffer()
    numbers = [
        await buffer.store_event(stream, JSONRPCNotification(jsonrpc="2.0", method=f"notifications/{stream}/{place}"))
        for place in range(3)
        for stream in ("one", "two")
    ]
    sent: list[EventMessage] = []

    async def send(message: EventMessage) -> None:
        sent.append(message)

    assert await buffer.replay_events_after(numbers[0], send) == "one"
    assert [one.message.method for one in sent] == ["notifications/one/1", "notifications/one/2"]
    for _ in range(MAX_MESSAGES):
        await buffer.store_event("three", None)
    assert await buffer.replay_events_after(numbers[0], send) is None
    assert await buffer.replay_events_after("no number", send) is None


async def test_an_answer_does_not_wait_until_its_headers_are_acknowledged(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted: list[int] = []

    class Noting(listening._Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            connection = transport.get_extra_info("socket")
            accepted.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(listening, "_Protocol", Noting)
    async with serve(context) as served, served.client() as client:
        assert (await client.get("/healthz")).status_code == 200
    assert accepted
    assert all(accepted)
