"""The face to agents: MCP over stdio, by the official SDK's low-level server.

Nothing but `Fault`s leaves a handler: the SDK would show an agent the text of any other exception.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from actors.base import LOGGER
from actors.faults import Fault, InternalFault, UnknownOperationFault
from actors.front.operations import Operations
from actors.front.schemas import json_schema, parse
from actors.front.tools import BY_NAME, INSTRUCTIONS, TOOLS

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.server.context import CallNext, HandlerResult
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    from actors.hub import Hub

WARM_UP_AFTER = 1.0
"""Seconds from the start after which the models load without having been asked for: `initialize` and `tools/list`
come first, and importing torch holds up every other thread for most of a second."""

PULSE = "_cognitive_pulse"
"""The field that goes with every answer of a tool (seeds 001 and 004)."""


def listed() -> list[types.Tool]:
    """Return the tools as MCP lists them."""
    return [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=json_schema(tool.params),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.read_only,
                destructive_hint=tool.destructive,
                idempotent_hint=tool.idempotent,
                open_world_hint=False,
            ),
        )
        for tool in TOOLS
    ]


class Front:
    """One client's conversation with the store."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    def server(self) -> Server[Any]:
        """Return an MCP server with our tools."""
        server: Server[Any] = Server(
            "context-graph",
            version=version("context-graph"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        server.middleware.append(_with_pulse)
        return server

    async def _list_tools(self, _ctx: ServerRequestContext[Any], _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed())

    async def _call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Run a tool. A failure is a readable answer that also carries its numeric code."""
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(UnknownOperationFault.code, f"Unknown tool: {params.name}", {"name": params.name})
        try:
            answer = await tool.run(
                self._operations, parse(params.arguments or {}, tool.params), ctx.session.report_progress
            )
        except Fault as fault:
            return await self._failed(fault)
        except Exception:  # noqa: BLE001 -- the SDK would show its text to the agent
            LOGGER.exception("%s failed", params.name)
            return await self._failed(InternalFault("Internal error; the server's log has the details"))
        answer[PULSE] = await self._pulse()
        return types.CallToolResult(content=[_text(answer)], structured_content=answer)

    async def _failed(self, fault: Fault) -> types.CallToolResult:
        error = {"code": fault.code, "message": fault.message, "data": fault.data}
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=f"{fault.message} (error {fault.code})")],
            structured_content={"error": error, PULSE: await self._pulse()},
            is_error=True,
        )

    async def _pulse(self) -> dict[str, Any] | None:
        """Return the pulse, or None while the store itself is what failed."""
        try:
            pulse = await self._operations.pulse()
        except Fault:
            return None
        return {field: getattr(pulse, field) for field in pulse.__struct_fields__}


def _text(answer: dict[str, Any]) -> types.TextContent:
    return types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))


async def _with_pulse(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Show the pulse beside the content too, as seed 001 does: behind the point where the SDK drops unknown fields."""
    result = await call_next(ctx)
    if ctx.method == "tools/call" and isinstance(result, dict):
        pulse = (result.get("structuredContent") or {}).get(PULSE)
        return result | {PULSE: pulse} if pulse else result
    return result


@asynccontextmanager
async def _answering_garbage(
    messages: ReadStream[SessionMessage | Exception],
    answers: WriteStream[SessionMessage],
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """Pass messages on, and answer each line that isn't a JSON-RPC message; the SDK would drop it in silence."""
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def sort() -> None:
        async with send, messages:
            async for message in messages:
                if isinstance(message, Exception):
                    await answers.send(SessionMessage(_refusal(message)))
                else:
                    await send.send(message)

    async with anyio.create_task_group() as group:
        group.start_soon(sort)
        yield receive
        group.cancel_scope.cancel()


def _refusal(error: Exception) -> types.JSONRPCError:
    """Tell bad JSON (-32700) from JSON that is no request (-32600)."""
    kinds = {detail["type"] for detail in error.errors()} if isinstance(error, ValidationError) else set()
    code, text = (
        (types.PARSE_ERROR, "Parse error: not JSON")
        if "json_invalid" in kinds
        else (types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")
    )
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=text))


async def serve(hub: Hub) -> None:
    """Serve one client over stdin and stdout until it closes them."""
    operations = Operations(hub)
    server = Front(operations).server()

    async def warm_up() -> None:
        await anyio.sleep(WARM_UP_AFTER)
        try:
            await operations.ready()
        except Fault as fault:  # whoever calls a tool is told the same
            print(f"context-graph: {fault.message}", file=sys.stderr)  # noqa: T201 -- stderr is the log of a stdio server

    async with anyio.create_task_group() as group:
        group.start_soon(warm_up)
        async with stdio_server() as (messages, answers), _answering_garbage(messages, answers) as sorted_messages:
            await server.run(sorted_messages, answers, server.create_initialization_options())
        group.cancel_scope.cancel()
