"""A connection to the real server over streams in memory, through the SDK's transport for stdio."""

import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import cast

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server

from actors.api.context import Context
from actors.api.mcp.server import converse


@asynccontextmanager
async def connect(
    context: Context, fail: Callable[[str, str], object]
) -> AsyncIterator[tuple[MemoryObjectSendStream[str], MemoryObjectReceiveStream[str]]]:
    """Yield the client's streams of a connection; an exception of the session is reported with `fail`."""
    sending, lines = anyio.create_memory_object_stream[str](float("inf"))
    answering, answers = anyio.create_memory_object_stream[str](float("inf"))
    # The transport iterates over one file, and calls two methods of the other.
    read = cast("anyio.AsyncFile[str]", lines)
    written = cast("anyio.AsyncFile[str]", SimpleNamespace(write=answering.send, flush=anyio.lowlevel.checkpoint))

    async def serve() -> None:
        with lines, answering:
            try:
                async with stdio_server(read, written) as streams:
                    await converse(context, {}, *streams)
            except Exception:
                fail("an exception ended the session", traceback.format_exc())

    with answers:
        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            with sending:
                yield sending, answers
