"""Both eras of MCP through the real process: the handshake (to 2025-11-25), and requests that stand alone (2026-07-28).

`scripts/conformance` shows the same with the official Inspector and the public conformance suite.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import TextContent

from tests.acceptance.conftest import COMMAND, PATIENCE

KEY = "The boathouse key hangs behind the red canoe."

ERAS = pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")])


@asynccontextmanager
async def connected(data: Path, mode: str) -> AsyncIterator[Client]:
    command = StdioServerParameters(command=COMMAND, args=["serve", "--standalone", "--data", str(data)])
    async with Client(command, mode=mode, read_timeout_seconds=PATIENCE) as client:
        yield client


@pytest.mark.anyio
@pytest.mark.requirement("INTEG-001/protocol/official-client")
@ERAS
async def test_the_official_client_lists_and_calls_tools_in_both_eras(tmp_path: Path, mode: str, revision: str) -> None:
    async with connected(tmp_path, mode) as client:
        assert client.protocol_version == revision
        assert {"store_memory", "search_graph"} <= {tool.name for tool in (await client.list_tools()).tools}
        stored = await client.call_tool("store_memory", {"content": KEY})
        assert not stored.is_error
        found = await client.call_tool("search_graph", {"query": "Where is the key to the boathouse?"})
        memory = stored.structured_content["fingerprintId"]
        assert [hit["fingerprintId"] for hit in found.structured_content["results"]] == [memory]
        refused = await client.call_tool("store_memory", {"content": ""})
        assert refused.is_error
        assert refused.structured_content["error"]["code"] == -32602
        (sentence,) = refused.content
        assert isinstance(sentence, TextContent)
        assert "Content cannot be empty" in sentence.text
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("psychic", {})
        assert unknown.value.error.code == -32601
        assert not (await client.call_tool("search_graph", {"query": "canoe"})).is_error, "the session lives on"
