"""The official client, over stdio and over HTTP: every listed tool, resource and prompt answers alike."""

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from actors.api.caller import Scope
from actors.http.access.keys import Keys
from tests.acceptance.conftest import COMMAND, PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name != "posix", reason="the hub's socket is a unix socket"),
]

FACTS = ("The ferry to Amrum leaves at seven.", "The ferry was late because fog closed the port.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("both")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    command = [COMMAND, "serve", "--http", "127.0.0.1:0", "--data", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        yield f"{found[0]}/mcp"
        server.terminate()
        assert server.wait(PATIENCE) == 0


@pytest.fixture(params=["legacy", "2026-07-28"])
async def clients(request: pytest.FixtureRequest, folder: Path, url: str) -> AsyncIterator[tuple[Client, Client]]:
    """A client over stdio and one over HTTP, both of the same store."""
    mode: str = request.param
    key = Keys(folder).create(f"sdk-{uuid4()}", Scope.ADMIN, None)
    command = StdioServerParameters(command=COMMAND, args=["serve", "--data", str(folder)])
    async with AsyncExitStack() as stack:
        stdio = await stack.enter_async_context(Client(command, mode=mode))
        bearer = {"authorization": f"Bearer {key}"}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=bearer, timeout=PATIENCE))
        served = streamable_http_client(url, http_client=http)
        yield stdio, await stack.enter_async_context(Client(served, mode=mode))


def alike(one: Any, other: Any) -> bool:
    """Return whether two answers have the same fields; what is None or empty by chance fits anything."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return not one or not other or alike(one[0], other[0])
    return None in (one, other) or isinstance(one, dict | list) is isinstance(other, dict | list)


def calls(namespace: str, one: str, other: str) -> list[tuple[str, dict[str, Any]]]:
    """Return calls of every listed tool, in an order in which each finds what it needs."""
    within = {"namespace": namespace}
    text = {"content": "Bread is baked on Fridays.", "rationale": "as told", **within}
    return [
        ("store_memory", text | {"content": "The oven is lit at four."}),
        ("inject_context", text | {"content": "The rye dough rests overnight."}),
        ("memory_inject", text),
        ("memory_inject_batch", {"items": [text | {"content": "Salt is bought in Husum."}, {"content": ""}]}),
        ("search_graph", {"query": "When does the ferry leave?", "explain": True, **within}),
        ("memory_retrieve", {"id": one, "include_embeddings": True}),
        ("memory_search", {"query": "ferry", **within}),
        ("memory_search_multi_perspective", {"query": "ferry", **within}),
        ("memory_compare", {"memory_a": one, "memory_b": other}),
        ("memory_batch_compare", {"reference": one, "targets": [other]}),
        ("memory_similarity_matrix", {"memory_ids": [one, other]}),
        ("search_multi", {"query": "ferry", "query_type": "balanced", **within}),
        ("search_single_space", {"query": "ferry", "space_index": 0, **within}),
        ("search_by_purpose", {"memory_id": one, **within}),
        ("discover_goals", within),
        ("get_alignment_drift", within),
        ("trigger_drift_correction", within),
        ("consolidate_memories", {"mode": "light", **within}),
        ("list_consolidations", {"limit": 1}),
        ("undo_consolidation", {"run_id": one}),
        ("get_pruning_candidates", within),
        ("trigger_dream", {"rationale": "a test", "force": True, "phase": "nrem", **within}),
        ("get_dream_status", {}),
        ("get_consciousness_state", within),
        ("get_workspace_status", within),
        ("adjust_coupling", {"new_k": 3.0}),
        ("trigger_workspace_broadcast", {"id": one, "force": True}),
        ("find_causal_path", {"start_concept": one, "end_concept": other, **within}),
        ("get_neighborhood", {"id": one}),
        ("audit_trail", {"memory_id": one}),
        ("search_weight_profiles", {}),
        ("memory_delete", {"id": other}),
        ("memory_restore", {"id": other}),
    ]


async def sweep(client: Client, namespace: str) -> dict[str, Any]:
    """Call everything, and return each answer, or the code of its error."""
    ids: list[str] = []
    for fact in FACTS:
        stored = await client.call_tool("store_memory", {"content": fact, "namespace": namespace, "session": "talk"})
        assert not stored.is_error, stored.content
        ids.append(stored.structured_content["fingerprintId"])
    found: dict[str, Any] = {}
    for tool, arguments in calls(namespace, *ids):
        answer = await client.call_tool(tool, arguments)
        said = answer.structured_content
        found[tool] = said["error"]["code"] if answer.is_error else said
    tools = (await client.list_tools()).tools
    assert {one.name for one in tools} == found.keys(), "a listed tool isn't called here"
    found["tools"] = [one.model_dump() for one in tools]
    found["prompts"] = [one.name for one in (await client.list_prompts()).prompts]
    resources = (await client.list_resources()).resources
    found["resources"] = []
    for one in resources:
        (content,) = (await client.read_resource(one.uri)).contents
        found["resources"].append((one.model_dump(), sorted(json.loads(content.text))))
    return found


async def test_every_tool_answers_over_http_as_over_stdio(clients: tuple[Client, Client]) -> None:
    stdio, http = clients
    over_stdio, over_http = await sweep(stdio, "stdio"), await sweep(http, "http")
    assert over_http.keys() == over_stdio.keys()
    assert [name for name, answer in over_stdio.items() if not alike(answer, over_http[name])] == []
    assert [over_http[name] for name in ("tools", "prompts", "resources")] == [
        over_stdio[name] for name in ("tools", "prompts", "resources")
    ]
    refused = {name for name, answer in over_stdio.items() if isinstance(answer, int)}
    assert refused == {"undo_consolidation"}  # of a run that doesn't exist


async def test_a_repeated_request_stores_once_over_both(clients: tuple[Client, Client]) -> None:
    for client in clients:
        meta: Any = {"context-graph/request": str(uuid4()), "context-graph/resent": True}
        arguments = {"content": "The tide table hangs in the harbour office.", "namespace": "repeated"}
        answers = [await client.call_tool("store_memory", arguments, meta=meta) for _ in range(2)]
        first, second = (one.structured_content["fingerprintId"] for one in answers)
        assert first == second
