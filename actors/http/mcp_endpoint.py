"""MCP at `/mcp`: the SDK's Streamable HTTP transport in front of the server that also speaks over stdio."""

import json
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp.server import Server, ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from actors.api.caller import NOBODY, Caller
from actors.api.context import Context
from actors.api.mcp.server import McpHandlers
from actors.api.mcp.session_project import SessionProject
from actors.api.tools.rate_limits import Limits
from actors.http.guard import MAX_BODY
from actors.runtime.actor import LOGGER

MAX_MESSAGES = 256
"""Number of messages in a buffer."""
MAX_BYTES = 4 << 20
"""Bytes of all messages in a buffer; the latest message is kept whatever its size."""
MAX_SESSIONS = 1_000
MAX_SESSIONS_OF_ONE = 250
"""Open sessions of one caller: a program that never ends its own locks no other caller out."""
RETRY_MS = 1_000
"""Milliseconds after which a client reconnects to a broken stream."""


class _Kept(NamedTuple):
    """A message in a buffer."""

    number: int
    stream: str
    message: JSONRPCMessage | None
    """None where the stream begins."""
    size: int


class ReplayBuffer(EventStore):
    """The numbered messages of all streams of one session; stream names are unique within a session only."""

    def __init__(self) -> None:
        self._kept: deque[_Kept] = deque()
        self._last = 0
        self._bytes = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message, or None where a stream begins; return its number."""
        size = len(message.model_dump_json()) if message is not None else 0
        self._last += 1
        self._bytes += size
        self._kept.append(_Kept(self._last, stream_id, message, size))
        while len(self._kept) > 1 and (len(self._kept) > MAX_MESSAGES or self._bytes > MAX_BYTES):
            self._bytes -= self._kept.popleft().size
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send the later messages of the same stream; return the stream, or None if the message isn't kept."""
        kept = list(self._kept)
        place = next((place for place, one in enumerate(kept) if str(one.number) == last_event_id), None)
        if place is None:
            return None
        stream = kept[place].stream
        for one in kept[place + 1 :]:
            if one.stream == stream and one.message is not None:
                await send_callback(EventMessage(one.message, str(one.number)))
        return stream


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

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        """Register a new session; None if there are too many, or too many of its owner."""
        if sum(owner == requestor for owner in self._session_owners.values()) >= MAX_SESSIONS_OF_ONE:
            LOGGER.warning("%s has %d open sessions", requestor and requestor["client_id"], MAX_SESSIONS_OF_ONE)
            return None
        return super()._admit_session(requestor)

    def end_idle_streams(self) -> None:
        """End each session's stream of notifications, which no answer ends: a server that stops would wait for it."""
        for transport in self._server_instances.values():
            transport.close_standalone_sse_stream()

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
    """A `send` that cuts the SDK's error message in an answer with status 400 at its first colon: an exception follows.

    After "Bad Request" follows what the SDK itself misses, such as the id of a session. Faults, whose data are an
    object, stay as they are.
    """

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
    if isinstance(error, dict) and isinstance(error.get("message"), str) and not isinstance(error.get("data"), dict):
        kind, colon, reason = error["message"].partition(":")
        error["message"] = kind + colon + reason if kind == "Bad Request" else kind
    return json.dumps(answer).encode()
