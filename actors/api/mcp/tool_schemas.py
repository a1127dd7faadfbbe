"""JSON Schemas of the listed tools, from the types that parse their parameters."""

from functools import cache

import mcp_types as types
import msgspec

from actors.api.context import NAMESPACE
from actors.api.params.parsing import Params
from actors.api.tools.agent_tools import TOOLS
from actors.api.tools.tool import Tool
from actors.runtime.settings import ToolSet
from actors.runtime.types import JsonObject


@cache
def listed(tools: ToolSet = ToolSet.ALL) -> list[types.Tool]:
    """Return the tools as MCP lists them; cached, since building the schemas takes 50 ms."""
    return [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=input_schema(tool.params),
            output_schema=output_schema(tool.returns),
            annotations=_annotations(tool),
        )
        for tool in TOOLS
        if tool.listed and (tool.core or tools is ToolSet.ALL)
    ]


def schema_of(name: str) -> JsonObject | None:
    """Return the schema of a listed tool's parameters; None for another name."""
    return next((tool.input_schema for tool in listed() if tool.name == name), None)


def input_schema(kind: type[Params]) -> JsonObject:
    """Return the JSON Schema of parameters, with `"type": "object"` at the root, as MCP requires."""
    (root,), components = msgspec.json.schema_components([kind])
    schema = _inlined(root, components)
    required = schema.get("required", ())
    # Inherited fields come first, but agents read first what a tool can't do without, and `as_of` last.
    order = sorted(schema.get("properties", ()), key=lambda name: (name == "as_of", name not in required))
    if order:
        schema["properties"] = {name: schema["properties"][name] for name in order}
        schema["properties"].get(NAMESPACE, {}).pop("default", None)  # left out, it is the project's
    return schema


def output_schema(returns: str) -> JsonObject:
    """Return the JSON Schema of an answer: an object with the field that agents use next.

    The field is not required, since clients validate the answer of a failed call against the same schema.
    """
    return {"type": "object"} | ({"properties": {returns: {}}} if returns else {})


def _inlined(schema: JsonObject, components: dict[str, JsonObject]) -> JsonObject:
    """Return a schema without references, names of classes, and the null of a parameter that may be left out."""
    if "$ref" in schema:
        target = components[schema["$ref"].rpartition("/")[2]]
        schema = {key: value for key, value in target.items() if key != "description"} | schema
    optional = schema.get("default", ...) is None
    hidden = {"$ref", "title", "format", "additionalProperties", *(["default"] if optional else [])}
    schema = {key: value for key, value in schema.items() if key not in hidden and (key, value) != ("required", [])}
    if "anyOf" in schema:
        choices = [_inlined(one, components) for one in schema.pop("anyOf") if one != {"type": "null"} or not optional]
        if len(choices) > 1 and all(choice.keys() == {"type"} for choice in choices):
            choices = [{"type": [choice["type"] for choice in choices]}]
        # The description of a parameter replaces that of its type.
        schema = choices[0] | schema if len(choices) == 1 else {"anyOf": choices} | schema
    if "properties" in schema:
        schema["properties"] = {name: _inlined(one, components) for name, one in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = _inlined(schema["items"], components)
    return schema


def _annotations(tool: Tool) -> types.ToolAnnotations:
    """Return the annotations that differ from MCP's defaults; `openWorldHint` is omitted, as no client reads it."""
    if tool.read_only:
        return types.ToolAnnotations(read_only_hint=True)
    return types.ToolAnnotations(destructive_hint=tool.destructive, idempotent_hint=tool.idempotent or None)
