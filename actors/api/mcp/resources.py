"""What can be read without calling a tool: the store's state, its weight profiles, and each memory by its id."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from actors.api.operations.facade import Operations
from actors.api.params.memories import MemoryRetrieve, SearchWeightProfiles
from actors.api.params.parsing import parse

JSON = "application/json"
STATUS = "context-graph://status"
PROFILES = "context-graph://profiles"
MEMORY = "context-graph://memory/"

RESOURCES = [
    types.Resource(
        uri=STATUS,
        name="status",
        title="State of the store",
        description="Counts of memories, the size of each index, the models, the log, and how long things take.",
        mime_type=JSON,
    ),
    types.Resource(
        uri=PROFILES,
        name="profiles",
        title="Weight profiles",
        description="How much each of the thirteen spaces weighs in each kind of search.",
        mime_type=JSON,
    ),
]

TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{MEMORY}{{id}}",
        name="memory",
        title="A memory",
        description="All that is known of one memory, as memory_retrieve answers.",
        mime_type=JSON,
    )
]


async def read(operations: Operations, uri: str) -> types.ReadResourceResult:
    """Read a resource as JSON.

    Raises:
        Fault: as the operation of the same content.
        MCPError: there is no such resource (-32602, as MCP 2026-07-28 asks).
    """
    content = types.TextResourceContents(
        uri=uri, mime_type=JSON, text=json.dumps(await _content(operations, uri), ensure_ascii=False)
    )
    return types.ReadResourceResult(contents=[content])


async def _content(operations: Operations, uri: str) -> dict[str, Any]:
    if uri == STATUS:
        return await operations.status()
    if uri == PROFILES:
        return await operations.search_weight_profiles(SearchWeightProfiles())
    if uri.startswith(MEMORY):
        return await operations.memory_retrieve(parse({"id": uri.removeprefix(MEMORY)}, MemoryRetrieve))
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
