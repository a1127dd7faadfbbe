"""The list of tools: complete, valid, and small enough to be paid for in every conversation."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest

from actors.faults import InvalidParamsFault
from actors.front import listing
from actors.front.operations import Operations
from actors.front.parsing import parse
from actors.front.tools import TOOLS
from tests.actors.conftest import Connect, store

SCHEMAS = {tool.name: listing.input_schema(tool.params) for tool in TOOLS}
ID = "00000000-0000-4000-8000-000000000001"

FULL = {
    "inject_context": {
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
}

WRONG = [
    ("inject_context", {"modality": "smell"}),
    ("inject_context", {"content": "x" * 65_537}),
    ("inject_context", {"importance": "high"}),
    ("inject_context", {"tags": "one"}),
    ("inject_context", {"link_to": [7]}),
    ("inject_context", {"colour": "red"}),
    ("search_graph", {"top_k": 101}),
    ("search_graph", {"profile": "psychic"}),
    ("search_graph", {"modality": "smell"}),
    ("memory_inject_batch", {"items": ["A fox."] * 101}),
    ("memory_similarity_matrix", {"memory_ids": [ID]}),
    ("memory_batch_compare", {"strategy": "guessing"}),
    ("search_multi", {"weights": [2] + [0] * 12}),
    ("search_by_purpose", {"purpose_vector": [0.5] * 12}),
]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_valid_and_complete(name: str) -> None:
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    (params,) = (tool.params for tool in TOOLS if tool.name == name)
    assert set(schema["properties"]) == set(params.__struct_fields__)
    assert schema.get("required", []) == [field.name for field in msgspec.structs.fields(params) if field.required]
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)


@pytest.mark.parametrize("name", FULL)
def test_what_a_schema_describes_is_accepted(name: str) -> None:
    jsonschema.validate(FULL[name], SCHEMAS[name])
    (params,) = (tool.params for tool in TOOLS if tool.name == name)
    assert parse(FULL[name], params)


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_what_is_refused_is_no_instance_of_the_schema_either(name: str, wrong: dict[str, Any]) -> None:
    arguments = FULL[name] | wrong
    assert not jsonschema.Draft202012Validator(SCHEMAS[name]).is_valid(arguments)
    (params,) = (tool.params for tool in TOOLS if tool.name == name)
    with pytest.raises(InvalidParamsFault, match=next(iter(wrong))):
        parse(arguments, params)


def test_what_may_be_left_out_is_listed_with_its_plain_type() -> None:
    properties = SCHEMAS["search_graph"]["properties"]
    assert properties["session"] == {"type": "string"}
    assert properties["modality"]["type"] == "string"
    assert "text" in properties["modality"]["enum"]
    assert "default" not in properties["modality"]
    assert properties["profile"]["default"] == "auto"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_list_leaves_most_of_a_context_to_others(operations: Operations, connect: Connect, mode: str) -> None:
    async with connect(operations, mode=mode) as agent:
        listed = await agent.client.list_tools()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < 16_384


@pytest.mark.anyio
async def test_the_official_client_finds_every_answer_as_its_schema_says(
    operations: Operations, connect: Connect
) -> None:
    """It validates each answer of a tool whose output schema it has seen, and raises if one doesn't fit."""
    fox, dog = await store(operations, "A fox jumps."), await store(operations, "A dog sleeps.")
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
        "search_weight_profiles": {},
        "memory_delete": {"id": fox},
        "memory_restore": {"id": fox},
    }
    async with connect(operations) as agent:
        listed = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert set(calls) == set(listed), "a tool is listed that this test doesn't call"
        for name, arguments in calls.items():
            answer = await agent.call(name, **arguments)
            jsonschema.validate(answer, listed[name].output_schema)
            assert answer["_cognitive_pulse"]["suggested_action"]
