"""A router in front of two hubs: where requests go, how answers are merged, and what it says when a hub is away."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.http.access.keys import KEYS, Keys
from actors.http.server import HttpServer
from actors.hub.composition import open_hub
from actors.router.router import serve_router
from actors.router.table import HubAddress, Table, merge
from actors.runtime.faults import InvalidParamsFault
from tests.actors.conftest import loaded

pytestmark = pytest.mark.anyio

ANY_PORT = HttpListen(address="127.0.0.1:0")
SERVED = {"coast": ("harbour", "island"), "land": ("town",)}


@contextmanager
def _unheld() -> Iterator[None]:
    yield


class Routed:
    """A router, and the hubs behind it, each of which can be ended."""

    def __init__(self, url: str, key: str, hubs: dict[str, anyio.CancelScope], urls: dict[str, str]) -> None:
        self.url = url
        self.key = key
        self.hubs = hubs
        self.urls = urls

    async def end(self, name: str) -> None:
        """End a hub, and wait until nothing listens any more."""
        self.hubs[name].cancel()
        with anyio.fail_after(60):
            async with httpx2.AsyncClient(timeout=2) as http:
                while True:
                    try:
                        await http.get(f"{self.urls[name]}/healthz")
                    except httpx2.ConnectError:
                        return
                    except httpx2.HTTPError:  # accepted, and not answered: the server is about to end
                        continue

    @asynccontextmanager
    async def client(self, key: str | None = None, mode: str = "legacy") -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {key or self.key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, verify=False) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture
async def routed(tmp_path: Path, profile: Any) -> AsyncIterator[Routed]:
    """Two stores with the same key; one serves two namespaces, the other one."""
    with ExitStack() as stack:
        contexts = {
            name: Context(
                stack.enter_context(open_hub(tmp_path / name, load=loaded(profile), namespaces=frozenset(namespaces)))
            )
            for name, namespaces in SERVED.items()
        }
        key = Keys(tmp_path / "coast").create("agent", Scope.ADMIN, None)
        (tmp_path / "land" / KEYS).write_bytes((tmp_path / "coast" / KEYS).read_bytes())
        async with anyio.create_task_group() as group:
            urls: dict[str, str] = {}
            scopes: dict[str, anyio.CancelScope] = {}
            for name, context in contexts.items():
                urls[name], scopes[name] = await group.start(_serve_hub, context)
            table = Table([f"{','.join(SERVED[name])}={url}" for name, url in urls.items()])
            url = await group.start(_serve_router, table)
            yield Routed(url, key, scopes, urls)
            group.cancel_scope.cancel()


async def _serve_hub(context: Context, *, task_status: anyio.abc.TaskStatus[Any]) -> None:
    async with anyio.create_task_group() as group:
        server = HttpServer(context, {}, group, _unheld, lambda _url: None)
        task_status.started((await server.listen(ANY_PORT), group.cancel_scope))


async def _serve_router(table: Table, *, task_status: anyio.abc.TaskStatus[Any]) -> None:
    await serve_router(table, ANY_PORT, task_status.started)


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    content = answer.structured_content
    assert content is not None
    assert answer.is_error or json.loads(answer.content[0].text) == content
    return content


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_requests_go_to_the_hub_of_their_namespace_and_searches_to_all(routed: Routed, mode: str) -> None:
    async with routed.client(mode=mode) as client:
        assert {"search_graph", "store_memory"} <= {tool.name for tool in (await client.list_tools()).tools}
        stored = {}
        for namespace, content in (
            ("harbour", "the ferry leaves the harbour at nine"),
            ("island", "the lighthouse on the island has a grey cat"),
            ("town", "the bakery in the town opens at six"),
        ):
            answer = await called(client, "store_memory", content=content, namespace=namespace)
            stored[namespace] = answer["fingerprintId"]
        for question, namespace in (("when does the ferry leave", "harbour"), ("when does the bakery open", "town")):
            found = await called(client, "search_graph", query=question)
            assert {one["fingerprintId"] for one in found["results"]} == set(stored.values())
            assert found["results"][0]["fingerprintId"] == stored[namespace]
            assert found["count"] == 3
            best = await called(client, "search_graph", query=question, top_k=1)
            assert [one["fingerprintId"] for one in best["results"]] == [stored[namespace]]
        only = await called(client, "search_graph", query="when does the bakery open", namespace="island")
        assert [one["fingerprintId"] for one in only["results"]] == [stored["island"]]
        for namespace, memory in stored.items():
            assert (await called(client, "memory_retrieve", id=memory))["namespace"] == namespace
        status = await called(client, "get_workspace_status")
        assert [one["namespaces"] for one in status["hubs"]] == [["harbour", "island"], ["town"]]


async def test_what_no_hub_can_answer_is_refused_with_the_names_of_those_served(routed: Routed) -> None:
    async with routed.client() as client:
        for tool, arguments, said in (
            ("store_memory", {"content": "a reef", "namespace": "sea"}, "no hub serves 'sea'; served are harbour"),
            ("store_memory", {"content": "a reef"}, "no hub serves 'default'"),
            ("memory_consolidate", {}, "Unknown tool"),
            ("consolidate_memories", {"mode": "light"}, "name one of harbour, island, town"),
            ("search_graph", {"query": "a reef", "top_k": 0}, "top_k"),
            ("memory_retrieve", {"id": "00000000-0000-4000-8000-000000000000"}, "Memory not found"),
            (
                "memory_inject_batch",
                {"items": [{"content": "a", "namespace": "town"}, {"content": "b", "namespace": "island"}]},
                "belong to several hubs",
            ),
        ):
            try:
                told = str((await called(client, tool, **arguments))["error"]["message"])
            except MCPError as error:
                told = str(error)
            assert said in told


async def test_a_key_that_the_hubs_do_not_know_gets_nothing(routed: Routed) -> None:
    async with httpx2.AsyncClient() as http:
        assert (await http.post(f"{routed.url}/mcp", json={})).status_code == 401
        assert (await http.get(f"{routed.url}/memories")).status_code == 404
        assert (await http.get(f"{routed.url}/healthz", headers={"host": "evil.example"})).status_code == 421
    async with routed.client(key="cg_agent_wrong") as client:
        answer = await called(client, "search_graph", query="when does the ferry leave")
        assert "the key is unknown, revoked or expired" in answer["error"]["message"]
        assert "the hub of harbour, island at" in answer["error"]["message"]


async def test_a_hub_that_is_away_is_named_and_the_others_go_on(routed: Routed) -> None:
    async with routed.client() as client:
        memory = (await called(client, "store_memory", content="the bakery opens at six", namespace="town"))[
            "fingerprintId"
        ]
        await routed.end("coast")
        found = await called(client, "search_graph", query="when does the bakery open")
        assert [one["fingerprintId"] for one in found["results"]] == [memory]
        assert [one["namespaces"] for one in found["unanswered"]] == [["harbour", "island"]]
        assert "can't be reached" in found["unanswered"][0]["error"]
        assert (await called(client, "memory_retrieve", id=memory))["id"] == memory
        failed = await called(client, "store_memory", content="a reef", namespace="island")
        assert failed["error"]["code"] == -32004
        assert failed["error"]["data"]["retry_after_ms"] > 0
        assert routed.urls["coast"] in failed["error"]["message"]
        await routed.end("land")
        assert (await called(client, "search_graph", query="when"))["error"]["code"] == -32004


async def test_the_good_answer_of_a_hub_stays_when_the_tool_of_another_fails(routed: Routed) -> None:
    async with routed.client() as client:
        await called(client, "store_memory", content="the bakery opens at six", namespace="town")
        barge = await called(client, "store_memory", content="the barge is moored at pier two", namespace="harbour")
        arguments = {"memory_id": barge["fingerprintId"], "min_similarity": -1}
        found = await called(client, "search_by_purpose", **arguments)
        assert "results" in found
        assert [one["namespaces"] for one in found["unanswered"]] == [["town"]]
        assert "Memory not found" in found["unanswered"][0]["error"]
        unknown = await called(client, "search_by_purpose", memory_id="00000000-0000-4000-8000-000000000000")
        assert "Memory not found" in unknown["error"]["message"]


async def test_a_correction_stays_above_what_it_corrects_in_a_merged_answer(routed: Routed) -> None:
    async with routed.client() as client:
        old = await called(
            client, "store_memory", content="The choir rehearses in the old mill on Elm Street.", namespace="town"
        )
        new = await called(
            client,
            "store_memory",
            content="Since the roof leaks, the singers gather at the library.",
            namespace="town",
            supersedes=[old["fingerprintId"]],
        )
        await called(client, "store_memory", content="the barge is moored at pier two", namespace="harbour")
        found = await called(client, "search_graph", query="Where does the choir rehearse?", explain=True)
        order = {one["fingerprintId"]: place for place, one in enumerate(found["results"])}
        similar = {one["fingerprintId"]: one["similarity"] for one in found["results"]}
        assert similar[new["fingerprintId"]] < similar[old["fingerprintId"]], "a test of nothing otherwise"
        assert order[new["fingerprintId"]] < order[old["fingerprintId"]]


def test_a_result_counts_as_much_as_its_answer_is_relevant() -> None:
    one, other = HubAddress(("a",), "http://a"), HubAddress(("b",), "http://b")

    def answer(relevance: float, **similarities: float) -> dict[str, Any]:
        results = [{"id": name, "similarity": similarity} for name, similarity in similarities.items()]
        return {"results": results, "count": len(results), "relevance": relevance, "next_cursor": "x"}

    merged = merge([(one, answer(0.2, p=0.9, q=0.8)), (other, answer(0.9, r=0.6, s=0.3, t=0.1))], 4)
    assert [result["id"] for result in merged["results"]] == ["r", "s", "p", "q"]
    assert (merged["count"], merged["relevance"]) == (4, 0.9)
    assert "next_cursor" not in merged
    alone = answer(0.2, p=0.9)
    assert merge([(one, alone)], 10) == alone


@pytest.mark.parametrize(
    ("hubs", "said"),
    [
        (["town"], "expected NAMESPACE"),
        (["town=ftp://a"], "expected NAMESPACE"),
        (["=http://a:1"], "expected NAMESPACE"),
        (["*=http://a:1"], "expected NAMESPACE"),
        (["town=http://a:x"], "expected NAMESPACE"),
        (["a,town=http://a:1", "town=http://b:1"], "two hubs serve 'town'"),
    ],
)
def test_a_malformed_table_is_refused(hubs: list[str], said: str) -> None:
    with pytest.raises(InvalidParamsFault, match=said.replace("*", r"\*")):
        Table(hubs)
