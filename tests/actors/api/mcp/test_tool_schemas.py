"""The list of tools: complete, valid, true, and small enough to be paid for in every conversation."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest

from actors.api.context import Context
from actors.api.mcp import tool_schemas
from actors.api.mcp.texts import INSTRUCTIONS
from actors.api.params.fields import Reading
from actors.api.params.parsing import parse
from actors.api.tools.agent_tools import BY_METHOD, BY_NAME, TOOLS
from actors.api.tools.tool import Tool
from actors.proxy.endpoint import TOOL_SET
from actors.runtime.faults import InvalidParamsFault
from events.vocabulary.values import Modality
from tests.actors.api.telling import questions
from tests.actors.conftest import IN_EACH_ERA, Agent, store

LISTED_TOOLS = [tool for tool in TOOLS if tool.listed]
SCHEMAS = {tool.name: tool_schemas.input_schema(tool.params) for tool in LISTED_TOOLS}
ID = "00000000-0000-4000-8000-000000000001"

FULL = {
    "store_memory": {
        "content": "A fox.",
        "importance": 0.25,
        "modality": "code",
        "tags": ["animals"],
        "link_to": [ID],
        "namespace": "zoo",
        "session": "s",
        "memory_type": "episode",
        "metadata": {"keeper": {"name": "Ana"}},
        "created_at": "2026-01-01",
        "rationale": "for later",
    },
    "inject_context": {"content": "A fox.", "rationale": "for later"},
    "search_graph": {
        "query": "fox",
        "top_k": 3,
        "min_similarity": 0.5,
        "profile": "code_search",
        "modality": "text",
        "tags": ["animals"],
        "max_tokens": 2_000,
        "min_alignment": -0.5,
        "explain": True,
    },
    "memory_inject_batch": {"items": ["A fox.", {"content": "A dog."}]},
    "memory_delete": {"id": ID, "soft": False, "reason": "it was wrong"},
    "memory_batch_compare": {"reference": ID, "targets": [ID], "strategy": "euclidean"},
    "memory_similarity_matrix": {"memory_ids": [ID, ID]},
    "search_multi": {"query": {"embeddings": {}}, "query_type": "custom", "weights": [1] + [0] * 12},
    "search_single_space": {"space_index": 12, "query_embedding": [[0.5]]},
    "search_by_purpose": {"purpose_vector": [0.5] * 13},
    "discover_goals": {"namespace": "zoo", "min_confidence": 0.5, "max_goals": 20},
    "get_alignment_drift": {"namespace": "zoo", "memories": 2_000, "include_history": True},
    "trigger_drift_correction": {"namespace": "zoo"},
    "adjust_coupling": {"new_k": 10},
    "trigger_workspace_broadcast": {"id": ID, "force": True},
    "find_causal_path": {
        "start_concept": ID,
        "end_concept": "the storm",
        "max_hops": 6,
        "path_type": "causal",
        "include_alternatives": True,
        "namespace": "zoo",
    },
    "get_neighborhood": {"id": ID, "depth": 3, "limit": 100},
    "consolidate_memories": {
        "mode": "rem",
        "salience_threshold": 0.5,
        "max_memories": 100,
        "dry_run": True,
        "namespace": "zoo",
        "max_seconds": 0.5,
    },
    "audit_trail": {"memory_id": ID, "run_id": ID, "since": 1, "until": "2026-01-01", "limit": 500, "before": 9},
    "undo_consolidation": {"run_id": ID, "memory_id": ID},
    "list_consolidations": {"run_id": ID, "limit": 100},
    "get_pruning_candidates": {"limit": 5, "salience_threshold": 1, "namespace": "zoo"},
    "trigger_dream": {
        "rationale": "much was said today",
        "phase": "nrem",
        "force": True,
        "abort_on_query": False,
        "blocking": True,
        "namespace": "zoo",
    },
}

LISTED = [
    ("store_memory", {"modality": "smell"}),
    ("store_memory", {"content": "x" * 65_537}),
    ("store_memory", {"importance": "high"}),
    ("store_memory", {"tags": "one"}),
    ("store_memory", {"link_to": [7]}),
    ("inject_context", {"modality": "smell"}),
    ("inject_context", {"tags": ["one"] * 65}),
    ("search_graph", {"profile": "psychic"}),
    ("search_graph", {"modality": "smell"}),
    ("search_graph", {"min_alignment": -1.5}),
    ("search_graph", {"top_k": 101}),
    ("search_graph", {"as_of": [1]}),
    ("search_multi", {"weights": [2] + [0] * 12}),
    ("memory_inject_batch", {"items": ["A fox."] * 101}),
    ("memory_batch_compare", {"strategy": "guessing"}),
    ("memory_similarity_matrix", {"memory_ids": []}),
    ("search_single_space", {"space_index": 13}),
    ("search_by_purpose", {"purpose_vector": [0.5] * 12}),
    ("discover_goals", {"min_confidence": 1.5}),
    ("discover_goals", {"max_goals": 21}),
    ("get_alignment_drift", {"memories": "all"}),
    ("get_alignment_drift", {"memories": 0}),
    ("adjust_coupling", {"new_k": 10.5}),
    ("trigger_workspace_broadcast", {"force": "gently"}),
    ("find_causal_path", {"path_type": "psychic"}),
    ("find_causal_path", {"max_hops": 7}),
    ("get_neighborhood", {"depth": 4}),
    ("consolidate_memories", {"mode": "nap"}),
    ("consolidate_memories", {"dry_run": "yes"}),
    ("consolidate_memories", {"max_memories": -1}),
    ("consolidate_memories", {"max_seconds": 601}),
    ("list_consolidations", {"limit": 0}),
    ("audit_trail", {"limit": 501}),
    ("audit_trail", {"since": [1]}),
    ("trigger_dream", {"phase": "nap"}),
]
"""What a schema tells to be wrong."""

UNLISTED = [
    ("inject_context", {"colour": "red"}),
    ("inject_context", {"link_to": ["no id"]}),
    ("discover_goals", {"goal": "be good"}),
    ("trigger_drift_correction", {"north_star": ID}),
    ("undo_consolidation", {"run_id": "no id"}),
    ("trigger_dream", {"mode": "rem"}),
]
"""What it leaves to the error, which names the parameter: unknown parameters, and ids that are none."""

CORE = {
    *("inject_context", "memory_inject_batch", "search_graph", "memory_retrieve", "memory_delete", "memory_restore"),
    *("memory_supersede", "get_neighborhood", "discover_goals", "audit_trail"),
}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield each object in a schema, itself first."""
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(part)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_lists_every_parameter_and_nothing_else(name: str) -> None:
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    fields = msgspec.structs.fields(BY_NAME[name].params)
    assert set(schema["properties"]) == {field.name for field in fields}
    assert set(schema.get("required", [])) == {field.name for field in fields if field.required}
    assert "$ref" not in json.dumps(schema)


@pytest.mark.requirement("TOOL-INJECT-001/schema", "STORE-001/schema")
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_parameter_is_listed_with_its_meaning_type_range_and_default(name: str) -> None:
    for field in msgspec.structs.fields(BY_NAME[name].params):
        listed, parameter = SCHEMAS[name]["properties"][field.name], field.name
        assert listed["description"], parameter
        if not field.required:
            default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            shown = None if parameter == "namespace" else default  # left out, it is the project's
            assert listed.get("default") == shown, parameter
        for part in parts({key: value for key, value in listed.items() if key != "default"}):
            kind = part.get("type")
            assert kind or part.keys() & {"enum", "anyOf"}, f"{parameter} has no type"
            if kind in ("integer", "number"):
                assert part.keys() & {"minimum", "exclusiveMinimum"}, f"{parameter} has no lower limit"
                assert "maximum" in part or parameter in {"max_tokens", "before"}, f"{parameter} has no upper limit"
            if kind == "array" and parameter != "query_embedding":
                assert "maxItems" in part, f"{parameter} has no limit"


@pytest.mark.requirement("TOOL-INJECT-001/schema")
def test_tools_that_name_another_as_their_like_take_and_list_what_that_one_does() -> None:
    for name, like in (("memory_inject", "store_memory"), ("inject_context", "store_memory")):
        assert SCHEMAS[name]["properties"].keys() == SCHEMAS[like]["properties"].keys()
    assert SCHEMAS["memory_search"]["properties"].keys() == SCHEMAS["search_graph"]["properties"].keys()


@pytest.mark.parametrize("name", FULL)
def test_what_a_schema_describes_is_accepted(name: str) -> None:
    jsonschema.validate(FULL[name], SCHEMAS[name])
    (params,) = (tool.params for tool in TOOLS if tool.name == name)
    assert parse(FULL[name], params)


@pytest.mark.parametrize("tool", LISTED_TOOLS, ids=lambda tool: tool.name)
def test_the_output_schema_lists_the_field_that_agents_use_next(tool: Tool) -> None:
    schema = tool_schemas.output_schema(tool.returns)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert [*schema.get("properties", {})] == ([tool.returns] if tool.returns else [])
    jsonschema.validate({"error": {"code": -32602}}, schema)  # as clients do with the answer of a call that failed


@pytest.mark.parametrize(("name", "wrong"), [*LISTED, *UNLISTED])
def test_an_error_names_the_invalid_parameter(name: str, wrong: dict[str, Any]) -> None:
    (params,) = (tool.params for tool in TOOLS if tool.name == name)
    with pytest.raises(InvalidParamsFault, match=next(iter(wrong))):
        parse(FULL[name] | wrong, params)


@pytest.mark.parametrize(("name", "wrong", "listed"), [(*one, one in LISTED) for one in (*LISTED, *UNLISTED)])
def test_a_schema_rejects_exactly_the_listed_violations(name: str, wrong: dict[str, Any], *, listed: bool) -> None:
    assert jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid(FULL[name] | wrong) is not listed


def test_optional_parameters_are_listed_without_null() -> None:
    properties = SCHEMAS["search_graph"]["properties"]
    assert {key: properties["session"][key] for key in ("type", "minLength")} == {"type": "string", "minLength": 1}
    assert properties["modality"]["enum"] == sorted(Modality)
    assert properties["profile"]["default"] == "auto"
    assert not any(part.get("type") == "null" for schema in SCHEMAS.values() for part in parts(schema))


def test_every_tool_that_searches_or_reads_lists_as_of() -> None:
    listing = {name for name, schema in SCHEMAS.items() if "as_of" in schema["properties"]}
    assert listing == {tool.name for tool in LISTED_TOOLS if issubclass(tool.params, Reading)}
    assert listing >= {tool.name for tool in LISTED_TOOLS if tool.read_only}
    assert listing >= {name for name in SCHEMAS if name.startswith(("search_", "find_"))}


def test_unlisted_operations_are_methods_and_no_tools() -> None:
    unlisted = {tool.name: tool.method for tool in TOOLS if not tool.listed}
    assert unlisted.keys() >= {"status", "diff", "replay", "schedule"}
    assert unlisted.keys().isdisjoint(BY_NAME)
    assert set(unlisted.values()) <= BY_METHOD.keys()


@pytest.mark.anyio
@IN_EACH_ERA
async def test_the_list_of_tools_is_smaller_than_32_kb_and_the_core_than_8(agent: Agent) -> None:
    listed = await agent.client.list_tools()
    core = await agent.client.list_tools(meta={TOOL_SET: "core"})
    by_name = await agent.call("store_memory", content="A fox jumps.")
    assert by_name["fingerprintId"], "a tool that is not shown can be called"
    assert [tool.name for tool in listed.tools] == [tool.name for tool in LISTED_TOOLS]
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) <= 32_768
    assert {tool.name for tool in core.tools} == CORE
    assert len(core.model_dump_json(by_alias=True, exclude_none=True).encode()) <= 8_192


@pytest.mark.anyio
async def test_the_official_client_accepts_every_answer_by_its_schema(context: Context, agent: Agent) -> None:
    """It validates each answer of a tool whose output schema it has seen, and raises if one doesn't fit."""
    fox, dog = await store(context, "A fox jumps."), await store(context, "A dog sleeps.")
    calls: dict[str, dict[str, Any]] = {
        "store_memory": {"content": "An owl."},
        "inject_context": {"content": "A hare.", "rationale": "r"},
        **questions(fox, dog),
        "memory_inject": {"content": "An elk."},
        "memory_inject_batch": {"items": ["A bat."]},
        "discover_goals": {},
        "get_alignment_drift": {},
        "trigger_drift_correction": {},
        "get_consciousness_state": {},
        "get_workspace_status": {},
        "adjust_coupling": {"new_k": 4},
        "trigger_workspace_broadcast": {"id": fox},
        "search_weight_profiles": {},
        "memory_supersede": {"id": fox, "by": dog},
        "memory_delete": {"id": fox},
        "memory_restore": {"id": fox},
        "get_pruning_candidates": {"salience_threshold": 1},
        "consolidate_memories": {"mode": "rem"},
        "list_consolidations": {},
        "undo_consolidation": {"run_id": ID},
        "trigger_dream": {"rationale": "r", "blocking": True},
        "get_dream_status": {},
    }
    listed = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
    assert set(calls) == set(listed), "a tool is listed that this test doesn't call"
    for name, arguments in calls.items():
        answer = await agent.call(name, **arguments)
        if name == "consolidate_memories":
            calls["undo_consolidation"]["run_id"] = answer["run_id"]
        jsonschema.validate(answer, listed[name].output_schema)
        assert answer["_cognitive_pulse"]["suggested_action"]


def test_the_instructions_name_tools_of_the_core_alone() -> None:
    named = {tool.name for tool in LISTED_TOOLS if re.search(rf"\b{tool.name}\b", INSTRUCTIONS)}
    assert "memory_supersede" in named
    assert named <= CORE
