"""A router in front of two hubs: where requests go, how answers are merged, and what it says when a hub is away."""

from typing import Any

import httpx2
import pytest
from mcp import MCPError

from actors.router.table import HubAddress, Table, merge
from actors.runtime.faults import InvalidParamsFault
from tests.actors.router.conftest import Routed, called

pytestmark = pytest.mark.anyio


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
        for tool, arguments in (
            ("search_graph", {"query": "when does the ferry leave"}),
            ("store_memory", {"content": "a reef", "namespace": "sea"}),
            ("store_memory", {"content": "a reef", "namespace": "town"}),
            ("consolidate_memories", {"mode": "light"}),
            ("memory_retrieve", {"id": "00000000-0000-4000-8000-000000000000"}),
        ):
            answer = await called(client, tool, **arguments)
            assert answer["error"]["code"] == -32003
            told = answer["error"]["message"]
            assert told == "No hub accepts the key: it is unknown, revoked or expired"
        with pytest.raises(MCPError, match=f"^{told}$"):
            await client.list_tools()
        await routed.end("land")
        answer = await called(client, "search_graph", query="when does the ferry leave")
        assert answer["error"]["code"] == -32004
        assert not any(name in str(answer) for name in ("town", "harbour", *routed.urls.values()))


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
    merged = merge([(one, answer(0.95, p=0.9, q=0.8)), (other, answer(0.96, r=0.4, s=0.3))], 3)
    assert [result["id"] for result in merged["results"]] == ["p", "q", "r"], "both bear on the question"
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
