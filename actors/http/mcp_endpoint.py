"""MCP at `/mcp`: the SDK's Streamable HTTP transport in front of the server that also speaks over stdio."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers, MutableHeaders

from actors.api.caller import NOBODY, Caller
from actors.api.mcp.server import McpHandlers
from actors.api.mcp.session_project import SessionProject
from actors.api.tools.rate_limits import Limits
from actors.http.guard import MAX_BODY
from actors.http.replay_buffer import ReplayBuffer

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from starlette.types import Message, Receive, Scope, Send

    from actors.api.context import Context

MAX_SESSIONS = 1_000
RETRY_MS = 1_000
"""Milliseconds after which a client reconnects to a broken stream."""


class McpSessions(StreamableHTTPSessionManager):
    """The SDK's sessions, each with its own `ReplayBuffer`: from a shared one, a client could read others' messages."""

    def __init__(self, server: Server[object]) -> None:
        super().__init__(server, max_request_body_size=MAX_BODY, max_sessions=MAX_SESSIONS, retry_interval=RETRY_MS)

    @property
    def event_store(self) -> ReplayBuffer:  # pyright: ignore[reportIncompatibleVariableOverride]
        """A new buffer at each access; the manager reads the attribute once for each session."""
        return ReplayBuffer()

    @event_store.setter
    def event_store(self, value: object) -> None:
        """Ignore the manager's default."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; the text of an exception is cut from the SDK's answer to an invalid message."""
        await self.handle_request(scope, receive, _Sanitized(send))


def mcp_sessions(context: Context, per_minute: Mapping[str, int]) -> McpSessions:
    """Return MCP for the callers of requests, each with `per_minute` calls of a tool."""
    project = SessionProject(context.hub.folder, asks=False)
    return McpSessions(McpHandlers(context, Limits(per_minute), project=project, caller_of=_caller_of).server())


def _caller_of(request: ServerRequestContext[Any]) -> Caller:
    http = request.request
    return NOBODY if http is None else http.state.caller


class _Sanitized:
    """A `send` that cuts the error message of an answer with status 400 at its first colon."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 400 and _is_json(message):
            self._start = message
            return
        if self._start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            body = _cut(self._body)
            MutableHeaders(raw=self._start["headers"])["content-length"] = str(len(body))
            await self._send(self._start)
            await self._send({"type": "http.response.body", "body": body})


def _is_json(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("application/json")


def _cut(body: bytes) -> bytes:
    answer = json.loads(body)
    error = answer.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error["message"] = error["message"].partition(":")[0]
    return json.dumps(answer).encode()
