"""The server of a router: MCP that forwards each request with the key that came with it, and `/healthz`."""

import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final, TypeAlias

import anyio
import httpx2
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from actors.api.mcp.server import failure_result
from actors.api.mcp.texts import INSTRUCTIONS
from actors.api.mcp.tool_schemas import schema_of
from actors.api.params.http import HttpListen
from actors.api.params.parsing import Params, parse
from actors.api.tools.agent_tools import BY_NAME
from actors.http.access.authentication import MCP_PATH, bearer
from actors.http.guard import Guard
from actors.http.listening import Uvicorn, bind, hosts_of, url_of
from actors.http.mcp_endpoint import McpSessions
from actors.proxy.endpoint import PROJECT
from actors.router.forwarding import RETRY_AFTER_MS, TIMEOUT, HubFailedError, forward
from actors.router.table import HubAddress, Table, merge
from actors.runtime.faults import (
    Fault,
    ForbiddenFault,
    InvalidParamsFault,
    NotFoundFault,
    StorageFault,
    UnknownOperationFault,
)
from actors.runtime.types import JsonObject

Answer: TypeAlias = JsonObject | types.CallToolResult
"""An answer of a hub as it came, or one of the router's own."""
LISTS: Final = {
    "tools/list": types.PaginatedRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
}
"""Requests that any hub answers, and their parameters."""
UNAWARE: Final = (NotFoundFault.code, ForbiddenFault.code)
"""Codes of a hub that doesn't know a memory, or serves no namespace of the key; another one may."""

PATIENCE: Final = 5.0
"""Seconds in which a hub says whether it accepts a key, which needs no model: a hub that is stopped says nothing."""


@dataclass
class Router:
    """Forwards requests."""

    table: Table
    client: httpx2.AsyncClient

    def server(self) -> Server[object]:
        """Return an MCP server with the tools, resources and prompts of the hubs."""
        server: Server[object] = Server(
            "context-graph",
            version=version("context-graph"),
            instructions=INSTRUCTIONS,
            get_tool_input_schema=schema_of,
        )
        for method, params in LISTS.items():
            server.add_request_handler(method, params, partial(self._forward, method))
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._call_tool)
        return server

    async def _forward(self, method: str, request: ServerRequestContext[Any], _params: object) -> JsonObject:
        """Return the answer of the first hub that can be reached; raise the failure of the first one if none can."""
        failures: list[HubFailedError] = []
        for hub in self.table.hubs:
            try:
                return await self._ask(hub, method, request)
            except HubFailedError as failed:
                failures.append(failed)
        raise await self._refusal(request) or failures[0]

    async def _call_tool(self, request: ServerRequestContext[Any], params: types.CallToolRequestParams) -> Answer:
        """Return the answer of a tool; an error that may name hubs only to a caller whose key one of them accepts."""
        answer = await self._answer(request, params)
        if isinstance(answer, types.CallToolResult) and answer.is_error:
            refusal = await self._refusal(request)
            return failure_result(refusal) if refusal else answer
        return answer

    async def _answer(self, request: ServerRequestContext[Any], params: types.CallToolRequestParams) -> Answer:
        """Return the answer of the hub that serves the namespace, or the merged one of several."""
        arguments: JsonObject = params.arguments or {}
        tool = BY_NAME.get(params.name)
        if tool is None:
            fault = UnknownOperationFault(f"Unknown tool: {params.name}", name=params.name)
            raise MCPError(fault.code, fault.message, fault.data)
        try:
            parsed = parse(arguments, tool.params)
            named = ((request.params or {}).get("_meta") or {}).get(PROJECT)
            project = named if isinstance(named, str) else None
            destination = self.table.choose(tool, parsed, arguments, project)
        except Fault as fault:
            return failure_result(fault)
        if destination.together:
            return await self._ask_all(destination.hubs, request, parsed)
        answers: list[tuple[HubAddress, JsonObject]] = []
        failures: list[HubFailedError] = []
        for hub in destination.hubs:
            try:
                answer = await self._ask(hub, "tools/call", request)
            except HubFailedError as failed:
                failures.append(failed)
            else:
                if _code(answer) not in UNAWARE:
                    return answer
                answers.append((hub, answer))
        # A hub that failed may know the memory.
        return failure_result(failures[0]) if failures else self._refused(answers)

    def _refused(self, answers: Sequence[tuple[HubAddress, JsonObject]]) -> Answer:
        """Return the error that hubs answered; what each of them says, where they differ or others weren't asked."""
        refused = [(hub, one) for hub, one in answers if _code(one) != ForbiddenFault.code] or answers
        errors = [one["structuredContent"]["error"] for _, one in refused]
        if len(refused) == len(self.table.hubs) and all(error["message"] == errors[0]["message"] for error in errors):
            return refused[0][1]
        said = [f"{hub.shown}: {error['message']}" for (hub, _), error in zip(refused, errors, strict=True)]
        return failure_result(MCPError(errors[0]["code"], "; ".join(said), errors[0].get("data")))

    async def _ask_all(self, hubs: Sequence[HubAddress], request: ServerRequestContext[Any], params: Params) -> Answer:
        """Ask hubs at the same time, and merge what they answer; name those that failed."""
        found: dict[HubAddress, JsonObject | HubFailedError] = {}

        async def ask(hub: HubAddress) -> None:
            try:
                found[hub] = await self._ask(hub, "tools/call", request)
            except HubFailedError as failed:
                found[hub] = failed

        async with anyio.create_task_group() as group:
            for hub in hubs:
                group.start_soon(ask, hub)
        told = [(hub, answer) for hub in hubs if not isinstance(answer := found[hub], HubFailedError)]
        answers = [(hub, answer["structuredContent"]) for hub, answer in told if not answer.get("isError")]
        failed = [one for hub in hubs if (one := _failure(hub, found[hub])) is not None]
        if answers:
            try:
                content = merge(answers, getattr(params, "top_k", None), getattr(params, "max_tokens", None))
            except Fault as fault:
                return failure_result(fault)
            content |= {"unanswered": [one.shown for one in failed]} if failed else {}
            text = types.TextContent(type="text", text=json.dumps(content, ensure_ascii=False))
            return types.CallToolResult(content=[text], structured_content=content)
        return self._refused(told) if told else failure_result(failed[0])

    async def _refusal(self, request: ServerRequestContext[Any]) -> MCPError | None:
        """Return the error for a caller whose key no hub accepts, which names none; None if one accepts it."""
        codes: list[int] = []
        is_known = False

        async def ask(hub: HubAddress) -> None:
            nonlocal is_known
            try:
                await forward(self.client, hub, "prompts/list", {}, _key(request))
            except HubFailedError as failed:
                if failed.code != InvalidParamsFault.code:  # else it knows the key, and serves others
                    codes.append(failed.code)
                    return
            is_known = True
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.cancel_scope.deadline = anyio.current_time() + PATIENCE
            for hub in self.table.hubs:
                group.start_soon(ask, hub)
        if is_known:
            return None
        if codes == [ForbiddenFault.code] * len(self.table.hubs):
            return MCPError(ForbiddenFault.code, "No hub accepts the key: it is unknown, revoked or expired")
        data = {"retry_after_ms": RETRY_AFTER_MS}
        return MCPError(StorageFault.code, "Storage failed: no hub accepts the key at this moment", data)

    async def _ask(self, hub: HubAddress, method: str, request: ServerRequestContext[Any]) -> JsonObject:
        """Send a request to a hub as it came, with its key (`HubFailedError`)."""
        return await forward(self.client, hub, method, dict(request.params or {}), _key(request))


def _key(request: ServerRequestContext[Any]) -> str:
    http = request.request
    return "" if http is None else http.headers.get("authorization", "")


def _failure(hub: HubAddress, answer: JsonObject | HubFailedError) -> HubFailedError | None:
    """Return why a hub did not answer: it failed, or its tool reports an error; None if it answered, or needn't.

    A hub that serves no namespace of the key has nothing to answer.
    """
    if isinstance(answer, HubFailedError):
        return answer
    if not answer.get("isError") or _code(answer) == ForbiddenFault.code:
        return None
    error: JsonObject = answer["structuredContent"]["error"]
    return HubFailedError(hub, error["code"], f"{hub.shown}: {error['message']}", error.get("data"))


def _code(answer: JsonObject) -> int | None:
    error = (answer.get("structuredContent") or {}).get("error") if answer.get("isError") else None
    return error.get("code") if isinstance(error, dict) else None


def route_app(sessions: McpSessions) -> ASGIApp:
    """Return the application; the hubs check the keys."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            app: ASGIApp = PlainTextResponse("ok\n")
        elif scope["path"] != MCP_PATH:
            app = PlainTextResponse("Not found\n", 404)
        elif bearer(Headers(scope=scope)) is None:
            app = JSONResponse({"error": "invalid_token"}, 401, {"www-authenticate": 'Bearer error="invalid_token"'})
        else:
            app = sessions
        await app(scope, receive, send)

    return handle


async def serve_router(table: Table, params: HttpListen, announce: Callable[[str], object]) -> None:
    """Serve until cancelled, or until SIGTERM or SIGINT (`InvalidParamsFault` if the address can't be listened on)."""
    listener = bind(params)
    with closing(listener):
        async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
            sessions = McpSessions(Router(table, client).server())
            app = Guard(route_app(sessions), hosts_of(params), Counter(), tls=params.tls or params.behind_proxy)
            server = Uvicorn(app, params)
            announce(url_of(params, listener))
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_on_signal, group.cancel_scope)
                await server.run_with(sessions, listener)


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    if sys.platform == "win32":
        return  # its event loop receives no signals
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        await anext(signals)
    scope.cancel()
