"""The face to agents: MCP over stdio, by the official SDK's low-level server.

Nothing but `Fault`s leaves a handler: the SDK would show an agent the text of any other exception.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from actors.api.idempotency import key_of
from actors.api.mcp import prompts, resources
from actors.api.mcp.flow_control import CountedAnswers, in_order
from actors.api.mcp.tool_schemas import listed
from actors.api.operations.facade import Operations
from actors.api.tools.agent_tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool
from actors.api.tools.dispatch import call
from actors.api.tools.rate_limits import Limits
from actors.hub.listener import Answers, Messages
from actors.runtime.actor import CORRELATION, LOGGER
from actors.runtime.faults import Fault, InternalFault, UnknownOperationFault, truncate

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult

Context: TypeAlias = ServerRequestContext[Any]

PULSE = "_cognitive_pulse"
"""The field that goes with every answer of a tool (seeds 001 and 004)."""


class Front:
    """One client's conversation with the store."""

    def __init__(self, operations: Operations, limits: Limits | None = None) -> None:
        self._operations = operations
        self._limits = limits or Limits()

    def server(self) -> Server[Any]:
        """Return an MCP server with our tools, the same operations as plain methods, resources and prompts."""
        server: Server[Any] = Server(
            "context-graph",
            version=version("context-graph"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_resource_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        for tool in TOOLS:
            server.add_request_handler(tool.method, types.RequestParams, partial(self._call_method, tool))
        server.middleware += [_with_codes, self._once, _with_pulse]
        return server

    async def _once(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Do a request under its key, if it has one."""
        key = None if ctx.request_id is None else key_of(ctx.params)  # a notification does nothing of ours
        CORRELATION.set(str(key or uuid4()))
        async with self._operations.once.turn(key):
            return await call_next(ctx)

    async def _list_tools(self, _ctx: Context, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed())

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool. A failure is a readable answer that also carries its numeric code."""
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise UnknownOperationFault(f"Unknown tool: {params.name}", name=params.name)
        try:
            answer = await self._perform(tool, params.arguments or {}, ctx)
        except Exception as error:  # noqa: BLE001 -- the SDK would show its text to the agent
            return await self._failed(_told(error, params.name))
        answer[PULSE] = await self._pulse()
        return types.CallToolResult(content=[_text(answer)], structured_content=answer)

    async def _call_method(self, tool: Tool, ctx: Context, _params: types.RequestParams) -> dict[str, Any]:
        """Run a tool as a plain JSON-RPC method: the same answer without an envelope, and errors as JSON-RPC's own."""
        arguments = {name: value for name, value in (ctx.params or {}).items() if name != "_meta"}
        return await self._perform(tool, arguments, ctx)

    async def _perform(self, tool: Tool, arguments: dict[str, Any], ctx: Context) -> dict[str, Any]:
        taken = partial(self._limits.take, tool.name)
        return await call(self._operations, tool, arguments, ctx.session.report_progress, taken)

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

    async def _list_resources(self, _ctx: Context, _params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.RESOURCES)

    async def _list_resource_templates(self, _ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def _read_resource(self, _ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await resources.read(self._operations, str(params.uri))

    async def _list_prompts(self, _ctx: Context, _params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.listed())

    async def _get_prompt(self, _ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompts.get(params.name, params.arguments or {})


def _text(answer: dict[str, Any]) -> types.TextContent:
    return types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))


def _told(error: Exception, what: str) -> Fault:
    """Return what a caller is told of an error: a fault as it is, of any other only that it happened."""
    if isinstance(error, Fault):
        return error
    LOGGER.error("%s failed", what, exc_info=error)
    return InternalFault("Internal error; the server's log has the details")


async def _with_codes(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Answer each failure with its code, in both eras; in the older one the SDK would show the text of any error."""
    try:
        return await call_next(ctx)
    except ValidationError:  # of malformed parameters, which the SDK tells in its own words
        raise
    except MCPError as error:  # the SDK's own, which names a method as long as it came
        raise MCPError(error.code, truncate(error.message), truncate(error.data)) from None
    except Exception as error:  # noqa: BLE001 -- told by its code, and logged
        fault = _told(error, ctx.method)
        raise MCPError(fault.code, fault.message, fault.data) from None


async def _with_pulse(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Show the pulse beside the content too, as seed 001 does: behind the point where the SDK drops unknown fields."""
    result = await call_next(ctx)
    if ctx.method == "tools/call" and isinstance(result, dict):
        pulse = (result.get("structuredContent") or {}).get(PULSE)
        return result | {PULSE: pulse} if pulse else result
    return result


async def converse(operations: Operations, per_minute: Mapping[str, int], messages: Messages, answers: Answers) -> None:
    """Serve one client until it is gone: a session of its own, with limits of its own."""
    server = Front(operations, Limits(per_minute)).server()
    counted = CountedAnswers(answers)
    async with in_order(messages, counted) as sorted_messages:
        await server.run(sorted_messages, counted, server.create_initialization_options())
