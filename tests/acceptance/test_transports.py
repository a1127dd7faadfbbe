"""The official client, over stdio and over HTTP: every listed tool, resource and prompt answers alike."""

import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from actors.api.caller import Scope
from actors.http.access.keys import Keys
from tests.acceptance.conftest import COMMAND, PATIENCE, serving

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name != "posix", reason="the hub's socket is a unix socket"),
]

WITHIN = {"namespace": "harbour"}
DATED = {"created_at": "2026-03-01T12:00:00Z"}
TIMED = re.compile(r"latencies_ms|milliseconds|replayed|next_cursor|\w+(?:_ms|Ms|_secs|_seconds)")
"""Fields that measure time, or hold one: a dream replays what has faded by then."""
OWN = {"actor", "by", "folder", "hash", "position", "seq"}
"""Fields of a store and of its log; an event of the workspace may be appended before or after another."""
QUIET = {"coherence", "learning_score", "suggested_action"}
"""Fields of a pulse that follow from the workspace's latest simulation, which waits for a quiet moment."""
DEFAULT = ("--namespace", "default")
"""The namespace of requests that name none, as over HTTP, instead of the project's."""
FACTS = ("The ferry to Amrum leaves at seven.", "The ferry was late because fog closed the port.")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The store that is asked over stdio, and the one that is asked over HTTP."""
    return tmp_path_factory.mktemp("stdio"), tmp_path_factory.mktemp("http")


@pytest.fixture(scope="module")
def url(folders: tuple[Path, Path]) -> Iterator[str]:
    with serving(folders[1]) as found:
        yield f"{found}/mcp"


@pytest.fixture(params=["legacy", "2026-07-28"])
async def clients(
    request: pytest.FixtureRequest, folders: tuple[Path, Path], url: str
) -> AsyncIterator[tuple[Client, Client]]:
    """A client over stdio and one over HTTP, of two stores that are asked the same."""
    mode: str = request.param
    key = Keys(folders[1]).create(f"sdk-{uuid4().hex}", Scope.ADMIN, None)
    # The client gives its server an environment of its own; both servers must compute in the same precision.
    environment = {name: value for name, value in os.environ.items() if name.startswith("CONTEXT_GRAPH_")}
    arguments = ["serve", "--data", str(folders[0]), *DEFAULT]
    command = StdioServerParameters(command=COMMAND, args=arguments, env=environment)
    async with AsyncExitStack() as stack:
        stdio = await stack.enter_async_context(Client(command, mode=mode))
        bearer = {"authorization": f"Bearer {key}"}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=bearer, timeout=PATIENCE))
        served = streamable_http_client(url, http_client=http)
        yield stdio, await stack.enter_async_context(Client(served, mode=mode))


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield where two answers differ, numbers by more than a hundredth."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in sorted(name for name in one.keys() - OWN if not TIMED.fullmatch(name)):
            yield from differences(one[name], other[name], f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}[{index}]")
    elif isinstance(one, float) and isinstance(other, float):
        if one != pytest.approx(other, abs=0.01):
            yield f"{path}: {one}, {other}"
    elif one != other:
        yield f"{path}: {one}, {other}"


def without_ids(answers: Any) -> Any:
    """Return answers in which each id is the number of its first appearance, and the present a word."""
    numbers: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return numbers.setdefault(found[0], f"id {len(numbers)}")

    text = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", number, json.dumps(answers))
    return json.loads(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:\+00:00|Z)", "now", text))


def calls(one: str, other: str) -> list[tuple[str, dict[str, Any]]]:
    """Return calls of every listed tool, in an order in which each finds what it needs."""
    text = {"content": "Bread is baked on Fridays.", "rationale": "as told", **WITHIN, **DATED}
    return [
        ("store_memory", text | {"content": "The oven is lit at four."}),
        ("inject_context", text | {"content": "The rye dough rests overnight."}),
        ("memory_inject", text),
        ("memory_inject_batch", {"items": [text | {"content": "Salt is bought in Husum."}, {"content": ""}]}),
        ("search_graph", {"query": "When does the ferry leave?", "explain": True, **WITHIN}),
        ("memory_retrieve", {"id": one, "include_embeddings": True}),
        ("memory_search", {"query": "ferry", **WITHIN}),
        ("memory_search_multi_perspective", {"query": "ferry", **WITHIN}),
        ("memory_compare", {"memory_a": one, "memory_b": other}),
        ("memory_batch_compare", {"reference": one, "targets": [other]}),
        ("memory_similarity_matrix", {"memory_ids": [one, other]}),
        ("search_multi", {"query": "ferry", "query_type": "balanced", **WITHIN}),
        ("search_single_space", {"query": "ferry", "space_index": 0, **WITHIN}),
        ("search_by_purpose", {"memory_id": one, **WITHIN}),
        ("discover_goals", WITHIN),
        ("get_alignment_drift", WITHIN),
        ("trigger_drift_correction", WITHIN),
        ("consolidate_memories", {"mode": "light", **WITHIN}),
        ("list_consolidations", {"limit": 1}),
        ("undo_consolidation", {"run_id": one}),
        ("get_pruning_candidates", WITHIN),
        ("trigger_dream", {"rationale": "a test", "force": True, "phase": "nrem", **WITHIN}),
        ("get_dream_status", {}),
        ("get_consciousness_state", WITHIN),
        ("get_workspace_status", WITHIN),
        ("adjust_coupling", {"new_k": 3.0}),
        ("trigger_workspace_broadcast", {"id": one, "force": True}),
        ("find_causal_path", {"start_concept": one, "end_concept": other, **WITHIN}),
        ("get_neighborhood", {"id": one}),
        ("audit_trail", {"memory_id": one}),
        ("search_weight_profiles", {}),
        ("memory_supersede", {"id": other, "by": one}),
        ("memory_delete", {"id": other}),
        ("memory_restore", {"id": other}),
    ]


async def until_accessed(client: Client, memory: str) -> None:
    """Wait until the search that found a memory is written, which its answer doesn't wait for."""
    with anyio.fail_after(PATIENCE):
        while True:
            answer = await client.call_tool("memory_retrieve", {"id": memory})
            if answer.structured_content["accessCount"]:
                return


async def sweep(client: Client) -> dict[str, Any]:
    """Call everything, and return each answer, or the code of its error."""
    ids: list[str] = []
    for fact in FACTS:
        stored = await client.call_tool("store_memory", {"content": fact, "session": "talk", **WITHIN, **DATED})
        assert not stored.is_error, stored.content
        ids.append(stored.structured_content["fingerprintId"])
    found: dict[str, Any] = {}
    for tool, arguments in calls(*ids):
        if tool == "memory_retrieve":
            await until_accessed(client, ids[0])
        answer = await client.call_tool(tool, arguments)
        said = answer.structured_content
        found[tool] = said["error"]["code"] if answer.is_error else said
        if not answer.is_error and "_cognitive_pulse" in said:
            said["_cognitive_pulse"] |= dict.fromkeys(QUIET)
        if tool == "get_dream_status":  # on a slow machine a minute passes, and a scheduled run begins
            for mode in said["scheduler"]["modes"].values():
                mode["last"] = None
    tools = (await client.list_tools()).tools
    assert {one.name for one in tools} == found.keys(), "a listed tool isn't called here"
    found["tools"] = [one.model_dump(mode="json") for one in tools]
    found["prompts"] = [one.name for one in (await client.list_prompts()).prompts]
    resources = (await client.list_resources()).resources
    found["resources"] = []
    for one in resources:
        (content,) = (await client.read_resource(one.uri)).contents
        found["resources"].append((one.model_dump(mode="json"), json.loads(content.text)))
    return found


async def test_every_tool_answers_over_http_as_over_stdio(clients: tuple[Client, Client]) -> None:
    over_stdio, over_http = [without_ids(await sweep(client)) for client in clients]
    assert list(differences(over_stdio, over_http)) == []
    refused = {name for name, answer in over_stdio.items() if isinstance(answer, int)}
    assert refused == {"undo_consolidation"}  # of a run that doesn't exist


async def test_a_repeated_request_stores_once_over_both(clients: tuple[Client, Client]) -> None:
    for client in clients:
        meta: Any = {"context-graph/request": str(uuid4()), "context-graph/resent": True}
        arguments = {"content": "The tide table hangs in the harbour office.", "namespace": "repeated"}
        answers = [await client.call_tool("store_memory", arguments, meta=meta) for _ in range(2)]
        first, second = (one.structured_content["fingerprintId"] for one in answers)
        assert first == second
