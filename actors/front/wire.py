"""Lines that are no request: the SDK drops them in silence, and whoever waits for an answer would wait for ever."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream


@asynccontextmanager
async def answering_unreadable(
    messages: ReadStream[SessionMessage | Exception],
    answers: WriteStream[SessionMessage],
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """Pass messages on, and answer each line that isn't a JSON-RPC message, by its id where it has one."""
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def sort() -> None:
        async with send, messages:
            async for message in messages:
                if isinstance(message, Exception):
                    await answers.send(SessionMessage(refusal(message)))
                else:
                    await send.send(message)

    async with anyio.create_task_group() as group:
        group.start_soon(sort)
        yield receive
        group.cancel_scope.cancel()


def refusal(error: Exception) -> types.JSONRPCError:
    """Tell bad JSON (-32700) from JSON that is no request (-32600) and a request with bad parameters (-32602)."""
    details = error.errors() if isinstance(error, ValidationError) else []
    if any(detail["type"] == "json_invalid" for detail in details):
        try:
            request = json.loads(details[0]["input"])  # Python takes half a surrogate pair for text
        except ValueError:
            return _answer(None, types.PARSE_ERROR, "Parse error: not JSON")
        return _answer(request, types.INVALID_PARAMS, "Invalid params: a lone surrogate is not text")
    request = next((detail["input"] for detail in details if isinstance(detail["input"], dict)), None)
    if request and isinstance(request.get("method"), str) and not isinstance(request.get("params", {}), dict):
        return _answer(request, types.INVALID_PARAMS, "Invalid params: expected an object")
    return _answer(request, types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")


def _answer(request: Any, code: int, text: str) -> types.JSONRPCError:
    """Return the error under the id of a request that has one."""
    found = request.get("id") if isinstance(request, dict) else None
    known = isinstance(found, str | int) and not isinstance(found, bool)
    return types.JSONRPCError(
        jsonrpc="2.0", id=found if known else None, error=types.ErrorData(code=code, message=text)
    )
