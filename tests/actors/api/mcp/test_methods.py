"""The operations as plain JSON-RPC methods: the same answers as the tools, and the seeds' codes as JSON-RPC errors."""

from typing import Any
from uuid import uuid4

import pytest
from mcp import MCPError
from pydantic import TypeAdapter

from actors.api.context import Context
from actors.api.operations.administration import maintenance
from actors.api.operations.lifecycle import retrieval
from actors.api.tools.agent_tools import BY_NAME, TOOLS
from tests.actors.conftest import IN_EACH_ERA, Agent, Request, store

pytestmark = pytest.mark.anyio


@IN_EACH_ERA
@pytest.mark.requirement("INTEG-001/methods/plain-json-rpc")
async def test_every_tool_is_also_a_method(agent: Agent) -> None:
    for tool in TOOLS:
        error = await agent.request_refused(tool.method, colour="red")
        assert error["code"] == -32602, "it isn't unknown (-32601), and its parameters are parsed"
    assert (await agent.request_refused("memory/psychic"))["code"] == -32601


@IN_EACH_ERA
@pytest.mark.requirement("INTEG-001/methods/plain-json-rpc")
async def test_a_method_answers_as_its_tool_does(context: Context, agent: Agent) -> None:
    fox, dog = await store(context, "A fox jumps."), await store(context, "A dog sleeps.")
    for name, arguments in (
        ("memory_compare", {"memory_a": fox, "memory_b": dog}),
        ("memory_similarity_matrix", {"memoryIds": [fox, dog]}),
        ("search_weight_profiles", {}),
    ):
        by_method = await agent.request(BY_NAME[name].method, **arguments)
        by_tool = await agent.call(name, **arguments)
        steady = {field for field in by_tool if not field.endswith("Ms")} - {"_cognitive_pulse"}
        assert {field: by_method[field] for field in steady} == {field: by_tool[field] for field in steady}
        assert set(by_method) == set(by_tool) - {"_cognitive_pulse"}


@IN_EACH_ERA
async def test_errors_carry_the_seeds_codes_and_what_helps(agent: Agent) -> None:
    unknown = str(uuid4())
    missing = await agent.request_refused("memory/store")
    assert missing == {
        "code": -32602,
        "message": "Missing 'content' parameter",
        "data": {"parameter": "content"},
    }
    assert (await agent.request_refused("memory/store", content=" "))["message"] == "Content cannot be empty"
    lost = await agent.request_refused("memory/retrieve", id=unknown)
    assert lost["code"] == -32010
    assert unknown in lost["message"]
    image = await agent.request_refused("memory/store", content="iVBORw0KGgo=", modality="image")
    assert image["code"] == -32005
    assert await agent.request("memory/store", content="A fox."), "the session lives on"


@IN_EACH_ERA
async def test_an_internal_error_shows_no_exception_text(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> Any:
        raise RuntimeError("secret: the attic")

    monkeypatch.setattr(retrieval, "describe", broken)
    monkeypatch.setattr(maintenance, "ask", broken)
    memory = str(uuid4())
    refused = [await agent.request_refused("memory/retrieve", id=memory)]
    refused.append(await agent.refused("memory_retrieve", id=memory))
    with pytest.raises(MCPError) as caught:
        await agent.client.read_resource("context-graph://status")
    refused.append(caught.value.error.model_dump())
    for error in refused:
        assert error["code"] == -32603
        assert "attic" not in str(error)
    assert caplog.text.count("RuntimeError: secret: the attic") == len(refused)


@IN_EACH_ERA
@pytest.mark.parametrize("as_method", [True, False])
async def test_a_method_reports_progress_as_a_tool_does(agent: Agent, *, as_method: bool) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    items = {"items": [f"Fox number {n} jumps." for n in range(5)]}
    if as_method:
        request = Request(method="memory/inject_batch", params=items)
        answer = await agent.client.session.send_request(request, TypeAdapter(dict), progress_callback=report)
    else:
        answer = (
            await agent.client.call_tool("memory_inject_batch", items, progress_callback=report)
        ).structured_content
    assert answer["succeeded"] == 5
    assert {message for _, _, message in told} >= {"loading the models", "memories stored"}
    assert [value for value, _, _ in told] == sorted(value for value, _, _ in told)
    assert told[-1][:2] == (5, 5)
