"""Flow control of one session: limit the open requests, and answer lines that are no valid message.

The SDK drops invalid lines silently, which leaves the sender waiting, and accepts any number of open requests.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import mcp_types as types
from anyio.abc import ObjectSendStream
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from actors.proxy.endpoint import MAX_LINE

MAX_OPEN_REQUESTS = 64
"""Open requests of a session; at this number, no further message is read."""

_TOO_LONG_METHOD = "context-graph/too-long"
TOO_LONG = json.dumps({"jsonrpc": "2.0", "method": _TOO_LONG_METHOD})
"""The listener passes this message in place of a line that exceeds `MAX_LINE`, and then closes the input."""


class ResponseWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to a client, and counts and numbers its open requests.

    The SDK takes the ids 7 and "7" for one, so it sees numbers of ours instead of the client's ids.
    """

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream
        self._ids: dict[int, types.RequestId] = {}
        """The client's ids of the open requests, by number."""
        self._last = 0
        self._closed_one = anyio.Event()

    async def admit(self, request: types.RequestId) -> int | None:
        """Wait for a free slot, and open a request; return its number, None if one of this id is open already."""
        while len(self._ids) >= MAX_OPEN_REQUESTS:
            await self._closed_one.wait()
        if request in self._ids.values():
            return None
        self._last += 1
        self._ids[self._last] = request
        return self._last

    def cancel(self, request: object) -> int | None:
        """Close a request that the client cancelled, which isn't answered; return its number, None if it isn't open."""
        # `true` equals 1.
        number = next((one for one, id_ in self._ids.items() if id_ == request and type(id_) is type(request)), None)
        if number is not None:
            self._close(number)
        return number

    async def wait_idle(self) -> None:
        """Wait until no request is open."""
        while self._ids:
            await self._closed_one.wait()

    async def send(self, item: SessionMessage) -> None:
        """Write a message of the SDK; returns once the client accepts it. Answers to cancelled requests are dropped."""
        match item.message:
            case types.JSONRPCResponse(id=int(number)) | types.JSONRPCError(id=int(number)):
                if number not in self._ids:
                    return
                item.message.id = self._ids[number]
                try:
                    await self._stream.send(item)
                finally:
                    self._close(number)
            case _:
                await self._stream.send(item)

    async def reject(self, error: types.JSONRPCError) -> None:
        """Answer a line that the SDK doesn't receive."""
        await self._stream.send(SessionMessage(error))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def _close(self, number: int) -> None:
        self._ids.pop(number, None)  # a request can be cancelled while its answer is written
        self._closed_one.set()
        self._closed_one = anyio.Event()


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
                found = error_of(message) if isinstance(message, Exception) else await _admit(message, responses)
                if isinstance(found, SessionMessage):
                    await send.send(found)
                else:
                    await responses.reject(found)
            await responses.wait_idle()

    async with receive, anyio.create_task_group() as group:
        group.start_soon(forward)
        yield receive
        group.cancel_scope.cancel()


async def _admit(message: SessionMessage, responses: ResponseWriter) -> SessionMessage | types.JSONRPCError:
    """Open or close a request; return the message as the SDK receives it, or an error if it is invalid."""
    match message.message:
        case types.JSONRPCRequest() as request:
            number = await responses.admit(request.id)
            if number is None:
                return _error(None, types.INVALID_REQUEST, "Invalid request: a request of this id is still open")
            request.id = number
            return message
        case types.JSONRPCNotification(method="notifications/cancelled", params=params) as notification:
            number = responses.cancel((params or {}).get("requestId"))
            numbered = {**(params or {}), "requestId": number}
            return replace(message, message=notification.model_copy(update={"params": numbered}))
        case types.JSONRPCNotification(method=method) if method == _TOO_LONG_METHOD:
            return _error(None, types.INVALID_REQUEST, f"Invalid request: a line is longer than {MAX_LINE} bytes")
        case _:
            return message


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
