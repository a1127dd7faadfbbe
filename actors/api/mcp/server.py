"""The face to agents: the handlers of MCP requests, by the official SDK's low-level server, for socket and HTTP.

Nothing but `Fault`s leaves a handler: the SDK would show an agent the text of any other exception.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias
from uuid import uuid4, uuid5

import mcp_types as types
import msgspec
from mcp.server import Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from actors.api.caller import Caller
from actors.api.confinement import limit_namespaces, refusal
from actors.api.context import Context
from actors.api.idempotency import parse_key
from actors.api.mcp import prompts, resources
from actors.api.mcp.flow_control import ResponseWriter, valid_messages
from actors.api.mcp.session_project import SessionProject
from actors.api.mcp.telemetry import measured
from actors.api.mcp.texts import INSTRUCTIONS
from actors.api.mcp.tool_schemas import listed, schema_of
from actors.api.params.parsing import Params, invalid
from actors.api.pulse import read_pulse
from actors.api.tools.agent_tools import BY_NAME, TOOLS
from actors.api.tools.dispatch import call
from actors.api.tools.rate_limits import Limits
from actors.api.tools.tool import Tool
from actors.hub.listener import Answers, Messages
from actors.proxy.endpoint import TOOL_SET
from actors.runtime.actor import CORRELATION, LOGGER
from actors.runtime.faults import Fault, InternalFault, UnknownOperationFault, truncate
from actors.runtime.settings import ToolSet
from actors.runtime.types import JsonObject
from actors.workspace.messages import Pulse

Request: TypeAlias = ServerRequestContext[Any]

PULSE = "_cognitive_pulse"
"""The field of every tool answer that holds the pulse."""


class McpHandlers:
    """The handlers of MCP requests: of one client on the hub's socket, or of all callers over HTTP.

    `tools` are those that `tools/list` lists, unless its `_meta` says otherwise; `caller_of` returns who sends a
    request over HTTP.
    """

    def __init__(
        self,
        context: Context,
        limits: Limits | None = None,
        tools: ToolSet = ToolSet.ALL,
        project: SessionProject | None = None,
        caller_of: Callable[[Request], Caller | None] = lambda _request: None,
    ) -> None:
        self._context = context
        self._caller_of = caller_of
        self._project = project or SessionProject(context.hub.folder)
        self._limits = limits or Limits()
        self._tools = tools

    def server(self) -> Server[object]:
        """Return an MCP server with our tools, the same operations as plain methods, resources and prompts."""
        server: Server[object] = Server(
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
            get_tool_input_schema=schema_of,
        )
        for tool in TOOLS:
            server.add_request_handler(tool.method, types.RequestParams, partial(self._call_method, tool))
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._on_roots_changed
        )
        server.middleware += [_with_codes, self._with_context]
        return server

    async def _with_context(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Run a request in a context of its own, one at a time of each key, and add the pulse to a tool's answer."""
        is_request = ctx.request_id is not None  # not a notification
        key, resent = parse_key(ctx.params) if is_request else (None, False)
        CORRELATION.set(str(key or uuid4()))
        caller = self._caller_of(ctx)
        context = limit_namespaces(self._context, ctx.params) if is_request else self._context
        if caller is not None:
            context = context.for_caller(caller)
            key = key and uuid5(key, caller.name)  # of two callers, neither may learn of the other's requests
        context = context.for_request(ctx.session.report_progress, key, resent=resent)
        async with self._context.process.key_locks.of(key):
            with measured(ctx):
                result = await call_next(replace(ctx, lifespan_context=context))
        if ctx.method != "tools/call" or not isinstance(result, dict):
            return result
        pulse = None
        with suppress(Fault):
            pulse = await read_pulse(context)
        return _with_pulse(result, pulse)

    async def _list_tools(self, request: Request, _params: object) -> types.ListToolsResult:
        meta = (request.params or {}).get("_meta") or {}
        try:
            wanted = ToolSet(meta.get(TOOL_SET, self._tools))
        except ValueError:
            raise invalid(TOOL_SET, f"one of {', '.join(ToolSet)}") from None
        caller = self._caller_of(request)
        return types.ListToolsResult(tools=[one for one in listed(wanted) if not refusal(caller, BY_NAME[one.name])])

    async def _call_tool(self, request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool. A failure is a readable answer that also carries its numeric code."""
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise UnknownOperationFault(f"Unknown tool: {params.name}", name=params.name)
        try:
            context = await self._in_project(request)
            answer = await call(context, tool, params.arguments or {}, self._rate_limit(tool, context))
        except Exception as error:  # the SDK would show its text to the agent
            return failure_result(_fault(error, params.name))
        return types.CallToolResult(content=[], structured_content=answer)

    async def _call_method(self, tool: Tool, request: Request, _params: types.RequestParams) -> JsonObject:
        """Run a tool as a plain JSON-RPC method: the same answer without an envelope, and errors as JSON-RPC's own."""
        arguments = {name: value for name, value in (request.params or {}).items() if name != "_meta"}
        context = await self._in_project(request)
        return await call(context, tool, arguments, self._rate_limit(tool, context))

    async def _in_project(self, request: Request) -> Context:
        """Set the session's project in the context of a request, in place: `_with_context` reads its pulse later."""
        context: Context = request.lifespan_context
        context.project = await self._project.find(request.params, request.session)
        if context.project is None and context.visible is not None and len(context.visible) == 1:
            context.project = context.own_namespace
        return context

    async def _on_roots_changed(self, _request: Request, _params: types.NotificationParams) -> None:
        self._project.forget()

    def _rate_limit(self, tool: Tool, context: Context) -> Callable[[Params], object]:
        """Return what counts a call against the limit of its tool and caller."""
        return partial(self._limits.take, tool.name, caller=context.caller.name if context.caller else "")

    async def _list_resources(self, _request: Request, _params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.RESOURCES)

    async def _list_resource_templates(self, _request: Request, _params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def _read_resource(
        self, request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await resources.read(request.lifespan_context, str(params.uri))

    async def _list_prompts(self, _request: Request, _params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.PROMPTS)

    async def _get_prompt(self, _request: Request, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompts.get(params.name, params.arguments or {})


def failure_result(error: Fault | MCPError) -> types.CallToolResult:
    """Return the answer of a tool that failed: a sentence with its code, and both with the details as fields."""
    text = types.TextContent(type="text", text=f"{error.message} (error {error.code})")
    content = {"error": {"code": error.code, "message": error.message, "data": error.data}}
    return types.CallToolResult(content=[text], structured_content=content, is_error=True)


def _with_pulse(result: JsonObject, pulse: Pulse | None) -> JsonObject:
    """Add the pulse to a tool's answer, and write the answer out as text for clients that read no structured content.

    The pulse stands beside the content too, which is added here since the SDK's type of a result drops unknown fields.
    """
    fields = None if pulse is None else msgspec.structs.asdict(pulse)
    answer = result["structuredContent"] | {PULSE: fields}
    content = result["content"] or [{"type": "text", "text": json.dumps(answer, ensure_ascii=False)}]
    return result | {"structuredContent": answer, "content": content} | ({PULSE: fields} if fields else {})


def _fault(error: Exception, what: str) -> Fault:
    """Return the fault that a client receives: details of unexpected errors go to the log alone."""
    if isinstance(error, Fault):
        return error
    LOGGER.error("%s failed", what, exc_info=error)
    return InternalFault("Internal error; the server's log has the details")


async def _with_codes(ctx: Request, call_next: CallNext) -> HandlerResult:
    """Answer each failure with its code, in both eras; in the older one the SDK would show the text of any error."""
    try:
        return await call_next(ctx)
    except ValidationError:  # of malformed parameters, which the SDK tells in its own words
        raise
    except MCPError as error:  # the SDK's own, which names a method as long as it came
        raise MCPError(error.code, truncate(error.message), truncate(error.data)) from None
    except Exception as error:
        fault = _fault(error, ctx.method)
        raise MCPError(fault.code, fault.message, fault.data) from None


async def converse(
    context: Context,
    per_minute: Mapping[str, int],
    messages: Messages,
    answers: Answers,
    tools: ToolSet = ToolSet.ALL,
    project: SessionProject | None = None,
) -> None:
    """Serve one client until it is gone: a session of its own, with limits of its own."""
    server = McpHandlers(context, Limits(per_minute), tools, project).server()
    responses = ResponseWriter(answers)
    async with valid_messages(messages, responses) as requests:
        await server.run(requests, responses, server.create_initialization_options())
