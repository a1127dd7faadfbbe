"""The traffic of one session: what is no request is answered all the same, and nobody can ask without end.

The SDK drops lines that are no message in silence, whose sender would wait for ever, and takes any number of requests.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from actors.proxy.endpoint import MAX_LINE

if TYPE_CHECKING:
    from types import TracebackType

    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream

IN_FLIGHT = 64
"""Requests of a session that may wait for their answers; then nothing more of it is read, so its sender has to wait."""

_OVERLONG = "context-graph/too-long"
TOO_LONG = json.dumps({"jsonrpc": "2.0", "method": _OVERLONG})
"""Stands for a line that was too long to be read; nothing comes after it."""


class CountedAnswers:
    """What is written to a client, and so how many of its requests wait.

    Args:
        answers: Where to.
    """

    def __init__(self, answers: WriteStream[SessionMessage]) -> None:
        self._answers = answers
        self._waiting: set[str] = set()
        self._answered = anyio.Event()

    async def admit(self, request: types.RequestId) -> bool:
        """Wait until one more request may wait, and count it; False if one of that id waits already."""
        while len(self._waiting) >= IN_FLIGHT:
            await self._answered.wait()
        if str(request) in self._waiting:
            return False
        self._waiting.add(str(request))
        return True

    def release(self, request: types.RequestId | None) -> None:
        """Count a request no more: it was answered, or cancelled and never will be."""
        self._waiting.discard(str(request))
        self._answered.set()
        self._answered = anyio.Event()

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message; returns once the client takes it."""
        try:
            await self._answers.send(item)
        finally:
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                self.release(item.message.id)

    async def aclose(self) -> None:
        """Write nothing more."""
        await self._answers.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


@asynccontextmanager
async def in_order(
    messages: ReadStream[SessionMessage | Exception], answers: CountedAnswers
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """Pass messages on as long as not too many wait, and answer each line that can't be passed on."""
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def sort() -> None:
        async with send, messages:
            async for message in messages:
                refused = refusal(message) if isinstance(message, Exception) else await _unfit(message, answers)
                if refused is None:
                    await send.send(message)
                    continue
                await answers.send(SessionMessage(refused))

    async with receive, anyio.create_task_group() as group:
        group.start_soon(sort)
        yield receive
        group.cancel_scope.cancel()


async def _unfit(message: SessionMessage, answers: CountedAnswers) -> types.JSONRPCError | None:
    """Count a request, or the end of one; return why it can't be passed on, if it can't."""
    match message.message:
        case types.JSONRPCRequest() as request:
            if not await answers.admit(request.id):
                text = "Invalid request: one of this id waits for its answer"
                return types.JSONRPCError(
                    jsonrpc="2.0", id=None, error=types.ErrorData(code=types.INVALID_REQUEST, message=text)
                )
        case types.JSONRPCNotification(method="notifications/cancelled", params=params):
            answers.release((params or {}).get("requestId"))
        case types.JSONRPCNotification(method=method) if method == _OVERLONG:
            return _answer(None, types.INVALID_REQUEST, f"Invalid request: a line is longer than {MAX_LINE} bytes")
        case _:
            pass
    return None


def refusal(error: Exception) -> types.JSONRPCError:
    """Tell bad JSON (-32700) from JSON that is no request (-32600) and a request with bad parameters (-32602)."""
    details = error.errors() if isinstance(error, ValidationError) else []
    if any(detail["type"] == "json_invalid" for detail in details):
        deep = "recursion" in str(details[0]["msg"])
        try:
            request = json.loads(details[0]["input"])  # Python takes half a surrogate pair for text, and nests deeper
        except (ValueError, RecursionError):
            return _answer(None, types.PARSE_ERROR, f"Parse error: {'nested too deep' if deep else 'not JSON'}")
        problem = "nested too deep" if deep else "a lone surrogate is not text"
        return _answer(request, types.INVALID_PARAMS, f"Invalid params: {problem}")
    request = next((detail["input"] for detail in details if isinstance(detail["input"], dict)), None)
    if request and isinstance(request.get("method"), str) and not isinstance(request.get("params", {}), dict):
        return _answer(request, types.INVALID_PARAMS, "Invalid params: expected an object")
    return _answer(request, types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")


def _answer(request: Any, code: int, text: str) -> types.JSONRPCError:
    """Return the error under the id of a request that has one."""
    found = request.get("id") if isinstance(request, dict) else None
    known = isinstance(found, int) and not isinstance(found, bool)
    if isinstance(found, str):  # half a surrogate pair can't be written back
        known = not any("\ud800" <= letter <= "\udfff" for letter in found)
    return types.JSONRPCError(
        jsonrpc="2.0", id=found if known else None, error=types.ErrorData(code=code, message=text)
    )
