"""The tools as MCP lists them: schemas without a word that says nothing, since every conversation pays for the list."""

from __future__ import annotations

from functools import cache
from typing import Any

import mcp_types as types
import msgspec

from actors.api.operations.as_of import AS_OF
from actors.api.params.fields import ANY, LISTED, UNLISTED
from actors.api.params.parsing import Params
from actors.api.tools.agent_tools import BY_NAME, TOOLS
from actors.api.tools.tool import Tool

SPOKEN_LENGTH = 10_000
"""Limits on the length of a text are listed from here on: nobody writes a longer name or question by chance. Shorter
limits, those of counts and of lists whose length isn't fixed are named in the error of whoever exceeds them, and so is
a parameter that a tool doesn't have."""

SHARE = (0, 1)
"""Limits of every similarity, threshold and share, which whoever names one expects."""

Schema = dict[str, Any]

THEN: Schema = {"description": "Event or time: answer as of then"}
"""Of `as_of`, which isn't listed again for every tool that reads; a number or a text, so no type is named."""


@cache
def listed() -> list[types.Tool]:
    """Return the tools as MCP lists them; making the schemas takes 50 ms, so it is done once."""
    return [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=schema_of(tool),
            output_schema=output_schema(tool.returns),
            annotations=_annotations(tool),
        )
        for tool in TOOLS
        if tool.listed
    ]


def schema_of(tool: Tool) -> Schema:
    """Return the schema of a tool's arguments, without those that its description refers to another tool for."""
    schema = input_schema(tool.params)
    if tool.lists_as_of:
        schema["properties"][AS_OF] = THEN
    if tool.as_in:
        known = input_schema(BY_NAME[tool.as_in].params)["properties"]
        schema["properties"] = {
            name: of for name, of in schema["properties"].items() if name in schema["required"] or known.get(name) != of
        }
    return schema


def input_schema(kind: type[Params]) -> Schema:
    """Return the JSON Schema of an operation's arguments, with `"type": "object"` at the root as MCP requires.

    What can be inferred is left out: titles, references, null for what may as well be left out, and short lengths.
    """
    (root,), components = msgspec.json.schema_components([kind])
    return _compact(_component(root, components), components)


def output_schema(returns: str) -> Schema:
    """Return the JSON Schema of an answer: an object, and the field of it that an agent goes on with.

    That isn't called required, since clients hold the answer of a call that failed against the same schema.
    """
    return {"type": "object"} | ({"properties": {returns: {}}} if returns else {})


def _compact(schema: Schema, components: dict[str, Schema]) -> Schema:
    """Return the same schema, references resolved, without what says nothing to an agent."""
    if schema.get("default", ...) is None:
        schema = _given(schema)
    if "$ref" in schema:
        schema = _component(schema, components) | {key: value for key, value in schema.items() if key != "$ref"}
    if ANY in schema:
        return {"description": schema[ANY]}
    if UNLISTED in schema:
        schema = {key: value for key, value in schema.items() if key not in {"enum", UNLISTED}} | {
            "type": "string",
            "description": schema[UNLISTED],
        }
    compact = {key: value for key, value in schema.items() if not _says_nothing(key, value)}
    share = (compact.get("minimum"), compact.get("maximum")) == SHARE and not compact.pop(LISTED, False)
    if compact.get("type") == "integer" or share:
        compact = {key: value for key, value in compact.items() if key not in {"minimum", "maximum"}}
    if compact.get("minItems") != compact.get("maxItems"):
        compact = {key: value for key, value in compact.items() if key not in {"minItems", "maxItems"}}
    if "properties" in compact:
        compact["properties"] = {name: _compact(of, components) for name, of in compact["properties"].items()}
    if "items" in compact:
        compact["items"] = _compact(compact["items"], components)
    if "anyOf" in compact:
        compact["anyOf"] = [_compact(of, components) for of in compact["anyOf"]]
    return compact


def _component(schema: Schema, components: dict[str, Schema]) -> Schema:
    """Return what a reference stands for, without the docstring of its class."""
    component = components[schema["$ref"].rpartition("/")[2]]
    return {key: value for key, value in component.items() if key != "description"}


def _given(schema: Schema) -> Schema:
    """Return the schema of an optional parameter for when it is given; whoever has nothing to say leaves it out."""
    rest = {key: value for key, value in schema.items() if key not in {"default", "anyOf"}}
    others = [of for of in schema.get("anyOf", ()) if of != {"type": "null"}]
    if len(others) == 1:
        return others[0] | rest
    return rest | ({"anyOf": others} if others else {})


def _says_nothing(key: str, value: Any) -> bool:
    match key:
        case "title" | "minLength" | "format":
            return True
        case "maxLength":
            return value < SPOKEN_LENGTH
        case "additionalProperties":
            return True
        case "required":
            return not value
        case "default":  # what is off, nothing or empty when left out; seed 001 lists its empty list
            return not value and value != ()
        case _:
            return False


def _annotations(tool: Tool) -> types.ToolAnnotations:
    """Return what a client may rely on, where it isn't what MCP assumes of a tool that says nothing.

    That no tool reaches beyond the store is left out: no client asks for it, and it would be said of every one.
    """
    if tool.read_only:
        return types.ToolAnnotations(read_only_hint=True)
    return types.ToolAnnotations(destructive_hint=tool.destructive, idempotent_hint=tool.idempotent or None)
