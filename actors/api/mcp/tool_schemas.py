"""JSON Schemas of the listed tools, reduced to what agents need, since the list is part of every conversation."""

from functools import cache
from typing import Any

import mcp_types as types
import msgspec

from actors.api.operations.as_of import AS_OF
from actors.api.params.fields import ANY, LISTED, UNLISTED
from actors.api.params.parsing import Params
from actors.api.tools.agent_tools import BY_NAME, TOOLS
from actors.api.tools.tool import Tool
from actors.runtime.types import JsonObject

Schema = JsonObject

MIN_LISTED_LENGTH = 10_000
"""Maximum lengths of texts are listed from here on. Errors name shorter limits, those of counts and lists, and unknown
parameters; agents rarely exceed them."""

SHARE = (0, 1)
"""The limits of similarities, thresholds and shares, which are not listed."""

AS_OF_SCHEMA: Schema = {"description": "Event or time: answer as of then"}
"""Takes a number or a text, so it has no type."""


@cache
def listed() -> list[types.Tool]:
    """Return the tools as MCP lists them; cached, since building the schemas takes 50 ms."""
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
    """Return the listed schema of a tool's parameters, without optional ones that the tool in `as_in` lists."""
    schema = input_schema(tool.params)
    if tool.lists_as_of:
        schema["properties"][AS_OF] = AS_OF_SCHEMA
    if tool.as_in:
        known = input_schema(BY_NAME[tool.as_in].params)["properties"]
        schema["properties"] = {
            name: of for name, of in schema["properties"].items() if name in schema["required"] or known.get(name) != of
        }
    return schema


def input_schema(kind: type[Params]) -> Schema:
    """Return the JSON Schema of parameters, with `"type": "object"` at the root, as MCP requires."""
    (root,), components = msgspec.json.schema_components([kind])
    return _compact(_resolve(root, components), components)


def output_schema(returns: str) -> Schema:
    """Return the JSON Schema of an answer: an object with the field that agents use next.

    The field is not required, since clients validate the answer of a failed call against the same schema.
    """
    return {"type": "object"} | ({"properties": {returns: {}}} if returns else {})


def _compact(schema: Schema, components: dict[str, Schema]) -> Schema:
    """Return a schema with resolved references, without what an agent can infer or does not need."""
    if schema.get("default", ...) is None:
        schema = _without_null(schema)
    if "$ref" in schema:
        schema = _resolve(schema, components) | {key: value for key, value in schema.items() if key != "$ref"}
    if ANY in schema:
        return {"description": schema[ANY]}
    if UNLISTED in schema:
        rest = {key: value for key, value in schema.items() if key not in {"enum", UNLISTED}}
        schema = rest | {"type": "string", "description": schema[UNLISTED]}
    compact = {key: value for key, value in schema.items() if not _is_redundant(key, value)}
    is_share = (compact.get("minimum"), compact.get("maximum")) == SHARE and not compact.pop(LISTED, False)
    if compact.get("type") == "integer" or is_share:
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


def _resolve(schema: Schema, components: dict[str, Schema]) -> Schema:
    """Return the target of a reference, without the docstring of its class."""
    component = components[schema["$ref"].rpartition("/")[2]]
    return {key: value for key, value in component.items() if key != "description"}


def _without_null(schema: Schema) -> Schema:
    """Return the schema of an optional parameter without its null default."""
    rest = {key: value for key, value in schema.items() if key not in {"default", "anyOf"}}
    others = [of for of in schema.get("anyOf", ()) if of != {"type": "null"}]
    if len(others) == 1:
        return others[0] | rest
    return rest | ({"anyOf": others} if others else {})


def _is_redundant(key: str, value: Any) -> bool:
    match key:
        case "title" | "minLength" | "format" | "additionalProperties":
            return True
        case "maxLength":
            return value < MIN_LISTED_LENGTH
        case "required":
            return not value
        case "default":  # false, 0 or ""; an empty list stays, as the published schema of store_memory lists it
            return not value and value != ()
        case _:
            return False


def _annotations(tool: Tool) -> types.ToolAnnotations:
    """Return the annotations that differ from MCP's defaults; `openWorldHint` is omitted, as no client reads it."""
    if tool.read_only:
        return types.ToolAnnotations(read_only_hint=True)
    return types.ToolAnnotations(destructive_hint=tool.destructive, idempotent_hint=tool.idempotent or None)
