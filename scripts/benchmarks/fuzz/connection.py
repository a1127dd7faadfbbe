"""A connection to the real server over streams in memory, through the SDK's transport for stdio."""

import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self, cast

import anyio
from mcp.server.stdio import stdio_server

from actors.api.context import Context
from actors.api.mcp.server import converse


class Connection:
    """Both ends of the connection: what the transport reads and writes as files, and the client's side."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[str](float("inf"))
        self._answers, self.answers = anyio.create_memory_object_stream[str](float("inf"))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        """Return the next line that the client sent."""
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def write(self, text: str) -> None:
        """Send an answer to the client."""
        await self._answers.send(text)

    async def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    async def send(self, line: bytes) -> None:
        """Send a line to the server; invalid UTF-8 is replaced as in a pipe."""
        await self._send.send((line + b"\n").decode(errors="replace"))

    def end_input(self) -> None:
        """Close the client's side."""
        self._send.close()

    def end_output(self) -> None:
        """Close the server's side."""
        self._answers.close()

    def close(self) -> None:
        """Close all streams."""
        for stream in (self._send, self._receive, self._answers, self.answers):
            stream.close()


@asynccontextmanager
async def connect(context: Context, fail: Callable[[str, str], object]) -> AsyncIterator[Connection]:
    """Connect a client to the server; an exception of the session is reported with `fail`."""
    connection = Connection()
    lines = cast("anyio.AsyncFile[str]", connection)

    async def serve() -> None:
        try:
            async with stdio_server(lines, lines) as (messages, answers):
                await converse(context, {}, messages, answers)
        except Exception:
            fail("an exception ended the session", traceback.format_exc())
        finally:
            connection.end_output()

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        yield connection
        connection.end_input()
    connection.close()
