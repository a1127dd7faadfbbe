"""The list of tools: complete, valid, and small enough to be paid for in every conversation."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest

from actors.api.context import Context
from actors.api.mcp import tool_schemas
from actors.api.params.parsing import parse
from actors.api.tools.agent_tools import BY_METHOD, BY_NAME, INSTRUCTIONS, TOOLS
from actors.api.tools.tool import Tool
from actors.runtime.faults import InvalidParamsFault
from events.vocabulary.values import Modality
from tests.actors.conftest import Connect, store

LISTED_TOOLS = [tool for tool in TOOLS if tool.listed]
SCHEMAS = {tool.name: tool_schemas.schema_of(tool) for tool in LISTED_TOOLS}
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
    ("search_graph", {"profile": "psychic"}),
    ("search_graph", {"modality": "smell"}),
    ("search_graph", {"min_alignment": -1.5}),
    ("search_by_purpose", {"purpose_vector": [0.5] * 12}),
    ("get_alignment_drift", {"memories": "all"}),
    ("adjust_coupling", {"new_k": 10.5}),
    ("trigger_workspace_broadcast", {"force": "gently"}),
    ("find_causal_path", {"path_type": "psychic"}),
    ("consolidate_memories", {"mode": "nap"}),
    ("consolidate_memories", {"dry_run": "yes"}),
    ("trigger_dream", {"phase": "nap"}),
]
"""What a schema tells to be wrong."""

UNLISTED = [
    ("discover_goals", {"min_confidence": 1.5}),
    ("inject_context", {"modality": "smell"}),
    ("consolidate_memories", {"max_memories": -1}),
    ("inject_context", {"colour": "red"}),
    ("inject_context", {"link_to": ["no id"]}),
    ("inject_context", {"tags": ["one"] * 65}),
    ("search_multi", {"weights": [2] + [0] * 12}),
    ("search_graph", {"top_k": 101}),
    ("memory_inject_batch", {"items": ["A fox."] * 101}),
    ("memory_similarity_matrix", {"memory_ids": [ID]}),
    ("memory_batch_compare", {"strategy": "guessing"}),
    ("search_single_space", {"space_index": 13}),
    ("discover_goals", {"max_goals": 21}),
    ("discover_goals", {"goal": "be good"}),
    ("get_alignment_drift", {"memories": 0}),
    ("trigger_drift_correction", {"north_star": ID}),
    ("find_causal_path", {"max_hops": 7}),
    ("get_neighborhood", {"depth": 4}),
    ("consolidate_memories", {"max_memories": -1}),
    ("undo_consolidation", {"run_id": "no id"}),
    ("list_consolidations", {"limit": 0}),
    ("audit_trail", {"limit": 501}),
    ("audit_trail", {"since": [1]}),
    ("trigger_dream", {"mode": "rem"}),
]
"""What it leaves to the error, which names the parameter."""


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_valid_and_complete(name: str) -> None:
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    (tool,) = (tool for tool in TOOLS if tool.name == name)
    params = tool.params
    elsewhere = SCHEMAS[tool.as_in]["properties"] if tool.as_in else {}
    taken = {*params.__struct_fields__, *(["as_of"] if tool.lists_as_of else [])}
    assert set(schema["properties"]) | set(elsewhere) == taken | set(elsewhere)
    assert tool.as_in in tool.description
    assert schema.get("required", []) == [field.name for field in msgspec.structs.fields(params) if field.required]
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("name", FULL)
def test_what_a_schema_describes_is_accepted(name: str) -> None:
    jsonschema.validate(FULL[name], SCHEMAS[name])
    (params,) = (tool.params for tool in TOOLS if tool.name == name)
    assert parse(FULL[name], params)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_omit_limits_that_errors_name(name: str) -> None:
    def parts(schema: Any) -> Iterator[dict[str, Any]]:
        if isinstance(schema, dict):
            yield schema
            for part in schema.values():
                yield from parts(part)

    for part in parts(SCHEMAS[name]):
        assert part.keys().isdisjoint({"additionalProperties", "format", "title", "minLength", "x-unlisted"})
        assert part.get("minItems") == part.get("maxItems")
        if part.get("type") == "integer":
            assert part.keys().isdisjoint({"minimum", "maximum"})


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
    assert properties["session"] == {"type": "string"}
    assert properties["modality"] == {"enum": sorted(Modality)}, "a list of strings says that it is one"
    assert properties["profile"]["default"] == "auto"


def test_as_of_is_listed_by_two_read_only_tools_and_in_the_instructions() -> None:
    assert [name for name, schema in SCHEMAS.items() if "as_of" in schema["properties"]] == [
        "search_graph",
        "memory_retrieve",
    ]
    assert "All tools that only read take as_of" in INSTRUCTIONS
    assert all(tool.read_only for tool in TOOLS if tool.lists_as_of)


def test_unlisted_operations_are_methods_and_no_tools() -> None:
    unlisted = {tool.name: tool.method for tool in TOOLS if not tool.listed}
    assert unlisted.keys() >= {"status", "diff", "replay", "schedule"}
    assert unlisted.keys().isdisjoint(BY_NAME)
    assert set(unlisted.values()) <= BY_METHOD.keys()


def test_the_strategies_are_listed_once() -> None:
    listed = [name for name, schema in SCHEMAS.items() if "enum" in schema["properties"].get("strategy", {})]
    assert listed == ["memory_compare"]
    for name in ("memory_batch_compare", "memory_similarity_matrix"):
        assert SCHEMAS[name]["properties"]["strategy"] == {
            "type": "string",
            "description": "As in memory_compare",
            "default": "graded",
        }


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_list_of_tools_is_smaller_than_32_kb(context: Context, connect: Connect, mode: str) -> None:
    async with connect(context, mode=mode) as agent:
        listed = await agent.client.list_tools()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in LISTED_TOOLS]
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < 32_768


@pytest.mark.anyio
async def test_the_official_client_accepts_every_answer_by_its_schema(context: Context, connect: Connect) -> None:
    """It validates each answer of a tool whose output schema it has seen, and raises if one doesn't fit."""
    fox, dog = await store(context, "A fox jumps."), await store(context, "A dog sleeps.")
    calls = {
        "store_memory": {"content": "An owl."},
        "inject_context": {"content": "A hare.", "rationale": "r"},
        "search_graph": {"query": "fox"},
        "memory_inject": {"content": "An elk."},
        "memory_inject_batch": {"items": ["A bat."]},
        "memory_retrieve": {"id": fox},
        "memory_search": {"query": "fox"},
        "memory_search_multi_perspective": {"query": "fox"},
        "memory_compare": {"memory_a": fox, "memory_b": dog},
        "memory_batch_compare": {"reference": fox, "targets": [dog]},
        "memory_similarity_matrix": {"memory_ids": [fox, dog]},
        "search_multi": {"query": "fox"},
        "search_single_space": {"space_index": 0, "query": "fox"},
        "search_by_purpose": {"memory_id": fox},
        "discover_goals": {},
        "get_alignment_drift": {},
        "trigger_drift_correction": {},
        "get_consciousness_state": {},
        "get_workspace_status": {},
        "adjust_coupling": {"new_k": 4},
        "trigger_workspace_broadcast": {"id": fox},
        "find_causal_path": {"start_concept": fox, "end_concept": "A dog sleeps."},
        "get_neighborhood": {"id": fox},
        "audit_trail": {"memory_id": fox},
        "search_weight_profiles": {},
        "memory_delete": {"id": fox},
        "memory_restore": {"id": fox},
        "get_pruning_candidates": {"salience_threshold": 1},
        "consolidate_memories": {"mode": "rem"},
        "list_consolidations": {},
        "undo_consolidation": {"run_id": ID},
        "trigger_dream": {"rationale": "r", "blocking": True},
        "get_dream_status": {},
    }
    async with connect(context) as agent:
        listed = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert set(calls) == set(listed), "a tool is listed that this test doesn't call"
        for name, arguments in calls.items():
            answer = await agent.call(name, **arguments)
            if name == "consolidate_memories":
                calls["undo_consolidation"]["run_id"] = answer["run_id"]
            jsonschema.validate(answer, listed[name].output_schema)
            assert answer["_cognitive_pulse"]["suggested_action"]
