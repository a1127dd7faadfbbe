"""What a router tells apart: keys, runs, projects, budgets, hubs that serve more than the table says, and dead ones."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import anyio.to_thread
import httpx2
import pytest
from context_graph import ContextGraphError, Memory
from mcp import Client

from actors.router.router import Table
from tests.actors.router.conftest import Routed, called, serve_table

pytestmark = pytest.mark.anyio

FERRY = {"content": "the ferry leaves the harbour at nine", "namespace": "harbour"}
BAKERY = {"content": "the bakery in the town opens at six", "namespace": "town"}


async def put(client: Client, memory: dict[str, Any]) -> str:
    return (await called(client, "store_memory", **memory))["fingerprintId"]


async def test_a_key_of_one_namespace_reaches_its_memories_past_the_hubs_that_it_is_not_for(routed: Routed) -> None:
    async with routed.client() as client:
        ferry, bakery = await put(client, FERRY), await put(client, BAKERY)
    async with routed.client(routed.key_of("town")) as client:
        found = await called(client, "search_graph", query="when does the bakery open")
        assert [one["fingerprintId"] for one in found["results"]] == [bakery]
        assert "unanswered" not in found
        assert (await called(client, "memory_retrieve", id=bakery))["id"] == bakery
        assert (await called(client, "memory_delete", id=bakery))["deleted"]
        assert (await called(client, "memory_restore", id=bakery))["restored"]
        assert (await called(client, "memory_retrieve", id=ferry))["error"]["code"] == -32010
        refused = await called(client, "store_memory", **FERRY)
        assert refused["error"]["code"] == -32003
        assert "the hub of harbour, island at" in refused["error"]["message"]


async def test_runs_and_audits_are_those_of_all_hubs(routed: Routed) -> None:
    async with routed.client() as client:
        await put(client, FERRY)
        copies = {await put(client, BAKERY), await put(client, BAKERY)}
        run = (await called(client, "consolidate_memories", mode="light", namespace="town"))["run_id"]
        listed = await called(client, "list_consolidations")
        assert [[one["run_id"] for one in hub["runs"]] for hub in listed["hubs"]] == [[], [run]]
        audit = await called(client, "audit_trail")
        assert [hub["namespaces"] for hub in audit["hubs"]] == [["harbour", "island"], ["town"]]
        undone = await called(client, "undo_consolidation", run_id=run)
        assert undone["run_id"] == run
        assert copies >= {*undone["restored"]} != set()
        assert "profiles" in await called(client, "search_weight_profiles"), "all hubs answer the same"


async def test_memories_of_two_hubs_that_are_named_together_are_told_with_the_hubs(routed: Routed) -> None:
    async with routed.client() as client:
        ferry, bakery = await put(client, FERRY), await put(client, BAKERY)
        compared = await called(client, "memory_compare", memory_a=ferry, memory_b=bakery)
        assert compared["error"]["code"] == -32010
        assert f"the hub of town at {routed.urls['land']}: Memory not found: {ferry}" in compared["error"]["message"]
        assert f"Memory not found: {bakery}, named by 'memory_b'" in compared["error"]["message"]
        linked = await called(client, "store_memory", **BAKERY, link_to=[ferry])
        assert linked["error"]["message"].startswith("the hub of town at")


async def test_a_merged_answer_keeps_to_max_tokens(routed: Routed) -> None:
    async with routed.client() as client:
        for namespace in ("harbour", "town"):
            for hour in ("six", "seven", "eight", "nine"):
                await put(client, {"content": f"the gate of the {namespace} opens at {hour}", "namespace": namespace})
        arguments = {"query": "when does the gate open", "max_tokens": 500}
        alone = await called(client, "search_graph", **arguments, namespace="town")
        merged = await called(client, "search_graph", **arguments)
        assert 0 < merged["count"] == len(merged["results"]) <= alone["count"] < 4


async def test_a_program_with_a_namespace_of_its_own_searches_there(routed: Routed) -> None:
    async with routed.client() as client:
        await put(client, FERRY)
        bakery = await put(client, BAKERY)

    def found(namespace: str) -> list[str]:
        with Memory(url=routed.url, key=routed.key, namespace=namespace) as memory:
            return [one.id for one in memory.search("when does the ferry leave")]

    assert await anyio.to_thread.run_sync(found, "town") == [bakery]
    with pytest.raises(ContextGraphError, match="no hub serves 'sea'"):
        await anyio.to_thread.run_sync(found, "sea")


@pytest.mark.parametrize("routed", ["all"], indirect=True)
async def test_a_hub_that_serves_more_answers_for_its_namespaces_alone(routed: Routed) -> None:
    async with routed.client() as client:
        ferry = await put(client, FERRY)
        await put(client, BAKERY)
    url, routed.url = routed.url, routed.urls["land"]
    async with routed.client() as client:
        strange = await put(client, {"content": "the ferry to the town leaves the harbour", "namespace": "harbour"})
    routed.url = url
    async with routed.client() as client:
        found = await called(client, "search_graph", query="when does the ferry leave")
        assert found["results"][0]["fingerprintId"] == ferry
        assert strange not in {one["fingerprintId"] for one in found["results"]}
        assert (await called(client, "memory_delete", id=strange))["error"]["code"] == -32010


async def test_a_request_that_is_limited_to_namespaces_stays_so(routed: Routed) -> None:
    async with routed.client(mode="auto") as client:
        ferry, _ = await put(client, FERRY), await put(client, BAKERY)
        for wanted, seen in ((["harbour", "sea"], [ferry]), (["sea"], None), ("harbour", None)):
            meta: Any = {"context-graph/namespaces": wanted}
            found = await client.call_tool("search_graph", {"query": "when does it open"}, meta=meta)
            results = (found.structured_content or {}).get("results")
            assert (results and [one["fingerprintId"] for one in results]) == seen


async def test_an_item_of_a_batch_in_a_namespace_of_no_hub_is_named(routed: Routed) -> None:
    async with routed.client() as client:
        for namespace in ("sea", "*"):
            items = [BAKERY, {"content": "a reef", "namespace": namespace}]
            told = await called(client, "memory_inject_batch", items=items)
            assert f"Invalid 'items[1].namespace': no hub serves '{namespace}'" in told["error"]["message"]


async def test_items_without_a_namespace_are_those_of_the_project(routed: Routed) -> None:
    meta: Any = {"context-graph/project": "island"}
    async with routed.client(mode="auto") as client:
        batch = {"items": [{"content": "the lighthouse has a grey cat"}]}
        answer = await client.call_tool("memory_inject_batch", batch, meta=meta)
        (one,) = (answer.structured_content or {})["results"]
        assert (await called(client, "memory_retrieve", id=one["memory_id"]))["namespace"] == "island"


async def test_a_hub_that_is_stopped_delays_the_others_and_is_named(
    routed: Routed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.router.router.TIMEOUT", httpx2.Timeout(10.0, read=0.5))
    async with routed.client() as client:
        ferry = await put(client, FERRY)
    with socket.create_server(("127.0.0.1", 0)) as stopped:
        table = [f"harbour={routed.urls['coast']}/mcp", f"sea=http://127.0.0.1:{stopped.getsockname()[1]}"]
        async with anyio.create_task_group() as group:
            routed.url = await group.start(serve_table, Table(table))
            async with routed.client() as client:
                found = await called(client, "search_graph", query="when does the ferry leave")
                assert [one["fingerprintId"] for one in found["results"]] == [ferry]
                assert "doesn't answer" in found["unanswered"][0]["error"]
            monkeypatch.setattr("actors.router.router.PATIENCE", 0.1)
            routed.url = await group.start(serve_table, Table(table[1:]))
            async with routed.client() as client:
                failed = (await called(client, "search_graph", query="when does the ferry leave"))["error"]
                assert failed["message"] == "Storage failed: no hub accepts the key at this moment"
            group.cancel_scope.cancel()


async def test_a_request_is_sent_again_to_a_hub_that_ended_before_it_answered() -> None:
    received: list[dict[str, Any]] = []

    async def fake_hub(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            head, _, body = (await stream.receive()).partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            while len(body) < length:
                body += await stream.receive()
            received.append(json.loads(body))
            if len(received) > 1:
                result = {"resultType": "complete", "content": [], "structuredContent": {"fingerprintId": "x"}}
                answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
                start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                await stream.send(start % len(answer) + answer)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, fake_hub)
        url = await group.start(serve_table, Table([f"town=http://127.0.0.1:{port}"]))

        def stored() -> str:
            with Memory(url=url, key="any") as memory:
                return memory.store(**BAKERY)

        assert await anyio.to_thread.run_sync(stored) == "x"
        group.cancel_scope.cancel()
    metas = [one["params"]["_meta"] for one in received]
    assert metas[0]["context-graph/request"] == metas[1]["context-graph/request"]
    assert [one.get("context-graph/resent") for one in metas] == [None, True]
    assert metas[0]["context-graph/namespaces"] == ["town"]


async def test_a_memory_whose_answer_was_lost_is_stored_once(routed: Routed) -> None:
    place = urlsplit(routed.urls["land"])
    answers: list[bytes] = []

    async def relay(stream: anyio.abc.SocketStream) -> None:
        """Pass a request on, and the answer too unless it is the first."""
        async with stream, await anyio.connect_tcp(str(place.hostname), place.port or 0) as hub:

            async def pass_on() -> None:
                async for data in stream:
                    await hub.send(data)

            async with anyio.create_task_group() as group:
                group.start_soon(pass_on)
                async for data in hub:
                    answers.append(data)
                    if len(answers) == 1:
                        break
                    await stream.send(data)
                group.cancel_scope.cancel()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, relay)
        url = await group.start(serve_table, Table([f"town=http://127.0.0.1:{port}"]))

        def stored() -> list[str]:
            with Memory(url=url, key=routed.key) as memory:
                return [memory.store(**BAKERY), *(one.id for one in memory.search("when does the bakery open"))]

        one, *found = await anyio.to_thread.run_sync(stored)
        assert found == [one]
        assert b"fingerprintId" in answers[0], "it was stored before the connection broke"
        group.cancel_scope.cancel()


async def test_the_key_of_a_request_is_passed_on_and_belongs_to_its_caller(routed: Routed) -> None:
    meta: Any = {"context-graph/request": str(uuid4())}
    stored = []
    for key in (routed.key, routed.key, routed.key_of("town")):
        async with routed.client(key, mode="auto") as client:
            answer = await client.call_tool("store_memory", BAKERY, meta=meta)
            stored.append((answer.structured_content or {})["fingerprintId"])
    assert stored[0] == stored[1] != stored[2]


async def test_a_hub_that_serves_other_namespaces_than_the_table_says_is_told_to_a_known_key(routed: Routed) -> None:
    async with anyio.create_task_group() as group:
        routed.url = await group.start(serve_table, Table([f"sea={routed.urls['land']}"]))
        for key, code in ((routed.key, -32602), ("cg_agent_wrong", -32003)):
            async with routed.client(key) as client:
                error = (await called(client, "search_graph", query="when does the ferry leave"))["error"]
                assert error["code"] == code
                assert ("this hub serves town, and the request is for sea" in error["message"]) == (key == routed.key)
        group.cancel_scope.cancel()
