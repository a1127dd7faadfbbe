"""What the tools refuse: each with the seeds' code, a message that names the field, and nothing changed."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from mcp.shared.exceptions import MCPError

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.api.tools.agent_tools import TOOLS
from actors.api.tools.tool import Tool
from actors.runtime.faults import InvalidParamsFault
from events.storage.log import Envelope, LogCorruptError, LogError
from tests.actors.conftest import Agent, Connect, store
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

GOOD = {"content": "A fox.", "rationale": "why not"}


def _without(field: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != field}


@pytest.mark.requirement(
    "INTEG-001/errors/invalid-params",
    "INTEG-001/inject/empty-content",
    "INTEG-001/inject/blank-content",
    "INTEG-001/inject/store-unchanged",
    "INTEG-001/errors/code-in-tool-answer",
    "STORE-001/content-missing",
    "STORE-001/content-empty",
    "STORE-001/content-too-long",
    "STORE-001/importance-typed",
    "STORE-001/modality-six",
    "STORE-001/tags-typed",
    "TOOL-INJECT-001/content-missing",
    "TOOL-INJECT-001/content-blank",
    "TOOL-INJECT-001/modality",
)
@pytest.mark.parametrize("tool", ["store_memory", "inject_context"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (_without("content"), "Missing 'content' parameter"),
        (_without("content") | {"text": "A fox."}, "Missing 'content' parameter; 'text' is no parameter"),
        (GOOD | {"content": ""}, "Content cannot be empty"),
        (GOOD | {"content": " \n\t\u2003"}, "Content cannot be empty"),
        (GOOD | {"content": "\u200b"}, "Content cannot be empty"),
        (GOOD | {"content": "\ufeff\u2060 \u200e\x01"}, "Content cannot be empty"),
        (GOOD | {"content": "x" * 65_537}, "Invalid 'content': longer than 65,536 characters"),
        (GOOD | {"tags": [f"tag {number}" for number in range(65)]}, "Invalid 'tags': more than 64 items"),
        (GOOD | {"content": 7}, "Invalid 'content': expected `str`, got `int`"),
        (GOOD | {"content": "half a \ud800"}, "Invalid 'content': a lone surrogate is not text"),
        (GOOD | {"importance": "high"}, "Invalid 'importance': expected `float`, got `str`"),
        (GOOD | {"modality": "smell"}, "Invalid 'modality': invalid enum value 'smell'"),
        (GOOD | {"tags": "one"}, "Invalid 'tags': expected `array`, got `str`"),
        (GOOD | {"tags": ["fine", 2]}, "Invalid 'tags[1]': expected `str`, got `int`"),
        (GOOD | {"link_to": ["no uuid"]}, "Invalid 'link_to[0]': not a full id: give all of its 36 characters"),
        (GOOD | {"created_at": "yesterday"}, "Invalid 'created_at': not an ISO 8601 time"),
        (GOOD | {"created_at": "last Monday"}, "words such as yesterday, which mean another day"),
        (GOOD | {"created_at": "2025-06-31"}, "Invalid 'created_at': no such time, day"),
        (GOOD | {"created_at": "2025-06-30T24:15"}, "Invalid 'created_at': no such time, "),
        (GOOD | {"created_at": "30.06.2025"}, "Invalid 'created_at': not an ISO 8601 time"),
        (GOOD | {"metadata": {"x": "y" * 20_000}}, "Invalid 'metadata': 20006 bytes, at most 16384"),
        (GOOD | {"metadata": {"x": 2**70}}, "Invalid 'metadata'"),
        (GOOD | {"namespace": ""}, "Invalid 'namespace'"),
        (GOOD | {"colour": "red"}, "Unknown parameter 'colour'; known are content, rationale,"),
    ],
)
async def test_bad_arguments_are_refused_by_name_and_nothing_is_stored(
    context: Context, agent: Agent, tool: str, arguments: dict[str, Any], message: str
) -> None:
    error = await agent.refused(tool, **arguments)
    assert error["code"] == -32602
    assert message in error["message"]
    assert (await store_status(context))["memories"]["live"] == 0
    assert await agent.call(tool, **GOOD), "the server lives on"


def test_an_importance_that_is_no_number_is_refused() -> None:
    """No client of ours can send it, but a line of JSON with NaN gets through."""
    with pytest.raises(InvalidParamsFault, match="'importance': not a number"):
        parse(GOOD | {"importance": float("nan")}, StoreMemory)


@pytest.mark.requirement("TOOL-INJECT-001/rationale-missing")
async def test_inject_context_asks_for_a_rationale(agent: Agent) -> None:
    error = await agent.refused("inject_context", content="A fox.")
    assert (error["code"], error["message"]) == (-32602, "Missing 'rationale' parameter")
    assert (await agent.refused("inject_context", content="A fox.", rationale=" "))["code"] == -32602


@pytest.mark.requirement("STORE-001/link-to-unknown", "INTEG-001/errors/not-found")
async def test_a_link_to_an_unknown_or_forgotten_memory_is_refused(context: Context, agent: Agent) -> None:
    gone = await store(context, "to be forgotten")
    await agent.call("memory_delete", id=gone)
    for target in (str(uuid4()), gone):
        error = await agent.refused("store_memory", content="A fox.", link_to=[target])
        assert error["code"] == -32010
        assert target in error["message"]
    assert (await store_status(context))["memories"]["live"] == 0


@pytest.mark.requirement(
    "INTEG-001/retrieve/unknown-id", "INTEG-001/retrieve/malformed-id", "INTEG-001/delete/unknown-id"
)
async def test_ids_that_are_no_memory_are_refused(context: Context, agent: Agent) -> None:
    for tool in ("memory_retrieve", "memory_delete"):
        assert (await agent.refused(tool, id=str(uuid4())))["code"] == -32010
        assert (await agent.refused(tool, id="../../etc/passwd"))["code"] == -32602
        assert (await agent.refused(tool, id="' OR 1=1 --"))["code"] == -32602
    twice = await store(context, "deleted twice")
    await agent.call("memory_delete", id=twice)
    assert (await agent.refused("memory_delete", id=twice))["code"] == -32010


NAMING_IDS = [
    (tool, field.name, "[0]" if "tuple" in str(field.type) else "")
    for tool in TOOLS
    if tool.listed
    for field in msgspec.structs.fields(tool.params)
    if "UUID" in str(field.type)
]
"""Each parameter of a tool that takes ids, and what follows its name where one of several is malformed."""


@pytest.mark.parametrize(
    ("tool", "parameter", "place"), NAMING_IDS, ids=[f"{one[0].name}-{one[1]}" for one in NAMING_IDS]
)
async def test_an_unknown_or_malformed_id_is_refused_with_its_parameter(
    context: Context, agent: Agent, tool: Tool, parameter: str, place: str
) -> None:
    known, unknown = await store(context, "A fox."), str(uuid4())
    fields = msgspec.structs.fields(tool.params)
    others: dict[str, Any] = {field.name: known for field in fields if field.required and "UUID" in str(field.type)}
    others |= {"targets": [known], "memory_ids": [known]} | GOOD
    others = {field.name: others[field.name] for field in fields if field.required}
    for given, code, message in (
        ("fox", -32602, f"Invalid '{parameter}{place}': not a full id"),
        (unknown, -32010, f"named by '{parameter}'"),
    ):
        error = await agent.refused(tool.name, **others | {parameter: [given] if place else given})
        assert error["code"] == code
        if (tool.name, parameter) != ("undo_consolidation", "memory_id") or code == -32602:  # of a run that is known
            assert message in error["message"]
            assert error["data"]["parameter"].startswith(parameter)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "query"),
        ({"query": "  "}, "Query"),
        ({"query": "x" * 4_097}, "query"),
        ({"query": "fox", "top_k": 0}, "top_k"),
        ({"query": "fox", "top_k": 101}, "top_k"),
        ({"query": "fox", "min_similarity": 1.5}, "min_similarity"),
        ({"query": "fox", "profile": "psychic"}, "profile"),
        ({"query": "fox", "profile": "psychic"}, "one of auto, semantic_search"),
        ({"query": "fox", "colour": "red"}, "colour"),
        ({"query": "fox", "since": "spring"}, "since"),
        ({"query": "fox", "since": "2031-02-01", "until": "2031-01-31"}, "'since': 2031-02-01 is after 'until'"),
        ({"query": "fox", "since": "yesterday", "until": "last year"}, "'since': yesterday is after 'until'"),
    ],
)
async def test_bad_searches_are_refused_by_name(agent: Agent, arguments: dict[str, Any], field: str) -> None:
    error = await agent.refused("search_graph", **arguments)
    assert error["code"] == -32602
    assert field in error["message"]
    assert error["data"]["parameter"]


@pytest.mark.requirement("TOOL-INJECT-001/unknown-tool")
async def test_an_unknown_tool_is_a_protocol_error(agent: Agent) -> None:
    with pytest.raises(MCPError, match="psychic") as caught:
        await agent.client.call_tool("psychic", {})
    assert caught.value.code == -32601
    assert await agent.call("store_memory", content="A fox.")


@pytest.mark.requirement(
    "STORE-001/pulse-on-every-answer",
    "INTEG-001/errors/embedding",
    "INTEG-001/ap-007/fail-fast",
    "INTEG-001/arch-01/all-or-none",
    "STORE-001/embedding-failed",
    "TOOL-INJECT-001/embedding-failed",
    "TOOL-INJECT-001/atomic",
)
async def test_when_one_of_thirteen_embeddings_fails_nothing_is_stored(
    context: Context, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_text: str) -> None:
        raise ValueError("the parser gave up")

    await agent.call("store_memory", content="before")
    monkeypatch.setattr("actors.embedder.profiles.lexical_spaces.entity_vector", broken)
    result = await agent.client.call_tool("inject_context", GOOD)
    error = result.structured_content["error"]
    assert error["code"] == -32005
    assert error["message"].startswith("Embedding failed")
    assert result.structured_content["_cognitive_pulse"]["entropy"] > 0
    monkeypatch.undo()
    assert await agent.call("inject_context", **GOOD), "the embedder lives on"
    assert (await store_status(context))["memories"]["live"] == 2


async def test_an_image_is_refused_with_what_it_would_take(agent: Agent) -> None:
    error = await agent.refused("store_memory", content="iVBORw0KGgo=", modality="image")
    assert error["code"] == -32005
    assert "--embedder sentence-transformers/clip" in error["message"]


class Forgetful(MemoryLog):
    """A log that gives back another memory than it took."""

    def get(self, seqs: Any) -> list[Envelope]:
        return super().get([2 for _ in seqs])


@pytest.mark.requirement("INTEG-001/verify/read-back", "INTEG-001/verify/mismatch", "INTEG-001/errors/storage")
async def test_a_store_that_reads_back_something_else_is_an_error(start: Callable[..., Any], connect: Connect) -> None:
    with start(Forgetful()) as hub:
        async with connect(Context(hub)) as agent:
            await agent.call("store_memory", content="the first, which stands at 2 after the declaration of spaces")
            error = await agent.refused("store_memory", content="the second")
    assert error["code"] == -32004
    assert "Storage failed: verification" in error["message"]


class Unreadable(MemoryLog):
    """A log whose reader fails."""

    def get(self, seqs: Any) -> list[Envelope]:
        raise LogError(f"the disk is gone, and {seqs} with it")


@pytest.mark.requirement("STORE-001/storage-failed", "TOOL-INJECT-001/storage-failed")
async def test_a_log_that_fails_is_a_storage_error(start: Callable[..., Any], connect: Connect) -> None:
    with start(Unreadable()) as hub:
        async with connect(Context(hub)) as agent:
            for tool in ("store_memory", "inject_context"):
                error = await agent.refused(tool, **GOOD)
                assert error["code"] == -32004
                assert "Storage failed: the disk is gone" in error["message"]


class Damaged(MemoryLog):
    """A log that can't be replayed."""

    def read(self, after: int = 0) -> Iterator[Envelope]:
        raise LogCorruptError(after + 3, "its content doesn't match its hash")


async def test_a_log_that_cannot_be_trusted_is_named_with_its_first_bad_event(
    start: Callable[..., Any], connect: Connect
) -> None:
    with start(Damaged()) as hub:
        async with connect(Context(hub)) as agent:
            for tool, arguments in (("inject_context", GOOD), ("search_graph", {"query": "fox"})):
                error = await agent.refused(tool, **arguments)
                assert error["code"] == -32004
                assert "damaged at event 3" in error["message"]


@pytest.mark.requirement("INTEG-001/errors/internal")
async def test_an_internal_error_shows_no_exception_text(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret: the attic")

    await agent.call("store_memory", content="before")
    monkeypatch.setattr("actors.comparator.search.pipeline.search", broken)
    error = await agent.refused("search_graph", query="fox")
    assert error["code"] == -32603
    assert "secret" not in str(error)
    assert "secret" in caplog.text, "the details are on the server's log"


@pytest.mark.requirement("STORE-001/schema", "TOOL-INJECT-001/schema", "INTEG-001/arch-03/no-goal-by-hand")
async def test_the_tools_are_listed_with_schemas_that_fit_a_context(agent: Agent) -> None:
    listed = await agent.client.list_tools()
    tools = {tool.name: tool for tool in listed.tools}
    store_schema, inject_schema = tools["store_memory"].input_schema, tools["inject_context"].input_schema
    assert store_schema["type"] == "object"
    assert store_schema["required"] == ["content"]
    assert set(inject_schema["required"]) == {"content", "rationale"}
    assert store_schema["properties"]["importance"] | {"description": ""} == {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": 0.5,
        "description": "",
    }
    assert store_schema["properties"]["modality"]["default"] == "text"
    assert store_schema["properties"]["tags"]["default"] == []
    assert all(tool.description and tool.annotations for tool in tools.values())
    assert tools["memory_delete"].annotations.destructive_hint
    assert tools["memory_retrieve"].annotations.read_only_hint
    assert {"content", "rationale", "modality", "importance"} <= set(inject_schema["properties"])
    names = {name for tool in tools.values() for name in tool.input_schema["properties"]}
    assert {name for name in names if "goal" in name or "north" in name} == {"max_goals"}, "how many, and not which"
    assert set(tools["discover_goals"].input_schema["properties"]) == {"namespace", "min_confidence", "max_goals"}
    assert set(tools["trigger_drift_correction"].input_schema["properties"]) == {"namespace"}


@pytest.mark.requirement("STORE-001/guidance")
async def test_the_instructions_teach_when_to_store_search_and_link(agent: Agent) -> None:
    instructions = agent.client.instructions or ""
    assert all(word in instructions for word in ("search_graph", "inject_context", "link_to", "Don't store"))
    assert "never an instruction" in instructions


class Scratched(MemoryLog):
    """A log that can't read its third event."""

    def get(self, seqs: Any) -> list[Envelope]:
        if 3 in seqs:
            raise LogCorruptError(3, "it can't be decrypted")
        return super().get(seqs)


async def test_of_a_batch_only_what_cannot_be_read_back_fails(start: Callable[..., Any], connect: Connect) -> None:
    texts = ["the declaration of spaces is first", "the third event of all", "what comes after it"]
    with start(Scratched()) as hub:
        async with connect(Context(hub)) as agent:
            answer = await agent.request("memory/inject_batch", items=texts)
            found = await agent.call("search_graph", query=texts[2])
    assert [one["success"] for one in answer["results"]] == [True, False, True]
    assert "can't be decrypted" in answer["results"][1]["error"]["message"]
    assert found["results"][0]["content"] == texts[2]
