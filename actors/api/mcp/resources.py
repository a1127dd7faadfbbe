"""MCP resources: the status of the store, its weight profiles, and each memory by its id."""

import json

import mcp_types as types
from mcp.shared.exceptions import MCPError

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call

JSON = "application/json"
STATUS = "context-graph://status"
PROFILES = "context-graph://profiles"
MEMORY = "context-graph://memory/"

RESOURCES = [
    types.Resource(
        uri=STATUS,
        name="status",
        title="State of the store",
        description="Counts of memories, the size of each index, the models, the log, and latencies.",
        mime_type=JSON,
    ),
    types.Resource(
        uri=PROFILES,
        name="profiles",
        title="Weight profiles",
        description="The weight of each of the thirteen spaces in each kind of search.",
        mime_type=JSON,
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{MEMORY}{{id}}",
        name="memory",
        title="A memory",
        description="One memory in full, as memory_retrieve returns it.",
        mime_type=JSON,
    )
]


async def read(context: Context, uri: str) -> types.ReadResourceResult:
    """Read a resource as JSON; one that does not exist is an `MCPError` (-32602, as MCP 2026-07-28 requires)."""
    method, arguments = {STATUS: "store/status", PROFILES: "search/weight_profiles"}.get(uri), {}
    if uri.startswith(MEMORY):
        method, arguments = "memory/retrieve", {"id": uri.removeprefix(MEMORY)}
    if method is None:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    answer = await call(context, BY_METHOD[method], arguments)
    text = json.dumps(answer, ensure_ascii=False)
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=text)])
