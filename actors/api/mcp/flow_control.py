"""Flow control of one session: limit the open requests, and answer lines that are no valid message.

The SDK drops invalid lines silently, which leaves the sender waiting, and accepts any number of open requests.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from actors.proxy.endpoint import MAX_LINE

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

MAX_OPEN_REQUESTS = 64
"""Open requests of a session; at this number, no further message is read."""

_TOO_LONG_METHOD = "context-graph/too-long"
TOO_LONG = json.dumps({"jsonrpc": "2.0", "method": _TOO_LONG_METHOD})
"""The listener passes this message in place of a line that exceeds `MAX_LINE`, and then closes the input."""


class ResponseWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to a client, and counts its open requests.

    Args:
        stream: The stream to the client.
    """

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream
        self._open: set[str] = set()
        self._closed_one = anyio.Event()

    async def admit(self, request: types.RequestId) -> bool:
        """Wait for a free slot, and open a request; return False if a request of this id is open already."""
        while len(self._open) >= MAX_OPEN_REQUESTS:
            await self._closed_one.wait()
        if str(request) in self._open:
            return False
        self._open.add(str(request))
        return True

    def release(self, request: types.RequestId | None) -> None:
        """Close a request, which was answered or cancelled."""
        self._open.discard(str(request))
        self._closed_one.set()
        self._closed_one = anyio.Event()

    async def wait_idle(self) -> None:
        """Wait until no request is open."""
        while self._open:
            await self._closed_one.wait()

    async def send(self, item: SessionMessage) -> None:
        """Write a message; returns once the client accepts it."""
        try:
            await self._stream.send(item)
        finally:
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                self.release(item.message.id)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


@asynccontextmanager
async def valid_messages(
    messages: ReadStream[SessionMessage | Exception], responses: ResponseWriter
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """Forward valid messages within the limit of open requests, and answer each invalid line with an error.

    The end of the input is forwarded once all requests are answered: the SDK cancels those that are open then.
    """
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def forward() -> None:
        async with send, messages:
            async for message in messages:
                error = error_of(message) if isinstance(message, Exception) else await _admit(message, responses)
                if error is None:
                    await send.send(message)
                else:
                    await responses.send(SessionMessage(error))
            await responses.wait_idle()

    async with receive, anyio.create_task_group() as group:
        group.start_soon(forward)
        yield receive
        group.cancel_scope.cancel()


async def _admit(message: SessionMessage, responses: ResponseWriter) -> types.JSONRPCError | None:
    """Open or close a request; return an error if the message is invalid."""
    match message.message:
        case types.JSONRPCRequest() as request:
            if not await responses.admit(request.id):
                return _error(None, types.INVALID_REQUEST, "Invalid request: a request of this id is still open")
        case types.JSONRPCNotification(method="notifications/cancelled", params=params):
            responses.release((params or {}).get("requestId"))
        case types.JSONRPCNotification(method=method) if method == _TOO_LONG_METHOD:
            return _error(None, types.INVALID_REQUEST, f"Invalid request: a line is longer than {MAX_LINE} bytes")
        case _:
            pass
    return None


def error_of(error: Exception) -> types.JSONRPCError:
    """Return the answer to an invalid line: no JSON (-32700), no request (-32600) or bad parameters (-32602)."""
    details = error.errors() if isinstance(error, ValidationError) else []
    if any(detail["type"] == "json_invalid" for detail in details):
        deep = "recursion" in str(details[0]["msg"])
        try:
            request = json.loads(details[0]["input"])  # accepts lone surrogates, and deeper nesting
        except (ValueError, RecursionError):
            return _error(None, types.PARSE_ERROR, f"Parse error: {'nested too deep' if deep else 'not JSON'}")
        problem = "nested too deep" if deep else "a lone surrogate is not text"
        return _error(request, types.INVALID_PARAMS, f"Invalid params: {problem}")
    request = next((detail["input"] for detail in details if isinstance(detail["input"], dict)), None)
    if request and isinstance(request.get("method"), str) and not isinstance(request.get("params", {}), dict):
        return _error(request, types.INVALID_PARAMS, "Invalid params: expected an object")
    return _error(request, types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")


def _error(request: object, code: int, text: str) -> types.JSONRPCError:
    found = request.get("id") if isinstance(request, dict) else None
    valid = isinstance(found, int) and not isinstance(found, bool)
    if isinstance(found, str):  # a lone surrogate cannot be encoded
        valid = not any("\ud800" <= letter <= "\udfff" for letter in found)
    return types.JSONRPCError(
        jsonrpc="2.0", id=found if valid else None, error=types.ErrorData(code=code, message=text)
    )
