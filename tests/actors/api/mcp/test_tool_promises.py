"""What the list of tools promises holds when they are called."""

from typing import Any
from uuid import uuid4

import pytest
from mcp import MCPError

from actors.api.context import Context
from actors.runtime.ask import ask
from actors.store.messages import ReadStatus
from actors.workspace.messages import ReadAttention
from tests.actors.conftest import Agent, store

pytestmark = pytest.mark.anyio

FERRY = "The ferry to Skagen leaves at seven, and the ticket office closes at six."
SAUNA = "Runa wants the sauna booked for the first weekend of October."
PUMP = "def restart(pump):\n    pump.stop()\n    pump.start()"


async def head(context: Context) -> int:
    """Return the number of the last event, once the workspace has said what it has to say."""
    await ask(context.hub.workspace, ReadAttention())
    return (await ask(context.hub.store, ReadStatus())).head.seq


async def calls(agent: Agent) -> dict[str, dict[str, Any]]:
    """Return arguments for every tool that only reads or searches."""
    first, other = [
        (await agent.call("store_memory", content=content, session="autumn"))["fingerprintId"]
        for content in (FERRY, SAUNA)
    ]
    await agent.call("discover_goals")
    return {
        "search_graph": {"query": "When does the boat leave?"},
        "memory_search": {"query": "When does the boat leave?"},
        "search_multi": {"query": "When does the boat leave?", "min_similarity": 0},
        "search_single_space": {"query": "When does the boat leave?", "space_index": 0},
        "memory_search_multi_perspective": {"query": "When does the boat leave?"},
        "memory_retrieve": {"id": first},
        "memory_compare": {"memory_a": first, "memory_b": other},
        "memory_batch_compare": {"reference": first, "targets": [other]},
        "memory_similarity_matrix": {"memory_ids": [first, other]},
        "search_by_purpose": {"memory_id": first},
        "get_neighborhood": {"id": first},
    }


async def test_a_tool_that_is_marked_read_only_appends_nothing_and_a_search_is_not_marked(
    context: Context, agent: Agent
) -> None:
    arguments = await calls(agent)
    listed = (await agent.client.list_tools()).tools
    read_only = {tool.name for tool in listed if tool.annotations.read_only_hint}
    for name in sorted(read_only):
        before = await head(context)
        await agent.call(name, **arguments.get(name, {}))
        assert await head(context) == before, name
    for name in [name for name in arguments if name not in read_only]:
        before = await head(context)
        await agent.call(name, **arguments[name])
        assert await head(context) > before, f"{name} notes what it found"
    assert {"search_graph", "memory_search", "search_multi"}.isdisjoint(read_only)


@pytest.mark.requirement("INTEG-001/inject/parameters")
async def test_memory_inject_stores_all_that_store_memory_takes(agent: Agent) -> None:
    pump = (await agent.call("store_memory", content="The pump in the cellar stops twice a week."))["fingerprintId"]
    asked = {
        "content": PUMP,
        "importance": 0.9,
        "modality": "code",
        "tags": ["cellar"],
        "link_to": [pump],
        "namespace": "house",
        "session": "repairs",
        "memory_type": "procedure",
        "metadata": {"speaker": "Runa"},
        "created_at": "2026-03-01T08:00:00+00:00",
        "rationale": "It will stop again.",
    }
    stored = await agent.call("memory_inject", **asked)
    batch = await agent.call("memory_inject_batch", items=[asked | {"content": SAUNA}])
    read = [
        await agent.call("memory_retrieve", id=one) for one in (stored["memory_id"], batch["results"][0]["memory_id"])
    ]
    for memory in read:
        assert [edge["id"] for edge in memory["edges"] if edge["relation"] == "link_to"] == [pump]
        assert memory["createdAt"] == asked["created_at"]
        for name in ("importance", "modality", "tags", "namespace", "session", "metadata", "rationale"):
            assert memory[name] == asked[name], name


@pytest.mark.requirement("INTEG-001/search/ranked")
async def test_memory_search_takes_the_options_of_search_graph(context: Context, agent: Agent) -> None:
    await store(context, FERRY, tags=["travel"], metadata={"speaker": "Ole"}, created_at="2026-05-02")
    await store(context, SAUNA, tags=["travel"], metadata={"speaker": "Runa"}, created_at="2026-05-03")
    await store(context, PUMP, modality="code", created_at="2026-05-04")
    asked = {"query": "What has to be booked?"}

    async def found(**options: Any) -> set[str]:
        answer = await agent.call("memory_search", **asked, **options)
        assert all(len(result["embedderScores"]) == 13 for result in answer["results"])
        return {result["content"] for result in answer["results"]}

    assert await found(tags=["travel"]) == {FERRY, SAUNA}
    assert await found(speaker="Ole") == {FERRY}
    assert await found(modality="code", profile="code_search") == {PUMP}
    assert await found(since="2026-05-03", until="2026-05-03T23:59:59") == {SAUNA}
    page = await agent.call("memory_search", **asked, top_k=2, max_tokens=2_000)
    rest = await agent.call("memory_search", **asked, top_k=2, max_tokens=2_000, cursor=page["next_cursor"])
    assert len(page["results"]) + len(rest["results"]) == 3


@pytest.mark.parametrize(
    ("tool", "arguments", "parameter"),
    [
        ("store_memory", {"content": FERRY, "created_at": "yesterday"}, "created_at"),
        ("inject_context", {"content": FERRY, "rationale": "r", "created_at": "2026-02-30"}, "created_at"),
        ("search_graph", {"query": "ferry", "since": "spring"}, "since"),
        ("search_multi", {"query": "ferry", "asked_at": "now"}, "asked_at"),
    ],
)
async def test_a_wrong_time_is_refused_before_the_models_are_loaded(
    context: Context, agent: Agent, tool: str, arguments: dict[str, Any], parameter: str
) -> None:
    error = await agent.refused(tool, **arguments)
    assert (error["code"], error["data"]["parameter"]) == (-32602, parameter)
    assert not context.state.ready


async def test_a_tool_set_that_does_not_exist_is_refused_by_name(agent: Agent) -> None:
    with pytest.raises(MCPError, match=r"context-graph/tools.*core, all"):
        await agent.client.list_tools(meta={"context-graph/tools": "some"})


@pytest.mark.requirement("INTEG-001/matrix/symmetric")
async def test_the_matrix_of_one_memory_is_its_similarity_to_itself(context: Context, agent: Agent) -> None:
    memory = await store(context, FERRY)
    answer = await agent.call("memory_similarity_matrix", memory_ids=[memory])
    missing = await agent.refused("memory_similarity_matrix", memory_ids=[str(uuid4())])
    assert answer["matrix"] == [[pytest.approx(1.0, abs=1e-6)]]
    assert (answer["memory_ids"], answer["dimensions"]) == ([memory], 1)
    assert missing["code"] == -32010
