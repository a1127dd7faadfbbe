"""The door beside stdio: a unix socket in the store's folder, through which other processes ask the one that has it.

Each connection is a session of its own, and speaks the same lines as a client on stdin and stdout.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.stdio import stdio_server

from actors.base import LOGGER
from actors.pipe import SOCKET, reachable

if TYPE_CHECKING:
    from anyio.abc import Listener, SocketStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

Messages: TypeAlias = "ReadStream[SessionMessage | Exception]"
Answers: TypeAlias = "WriteStream[SessionMessage]"
Converse: TypeAlias = Callable[[Messages, Answers], Awaitable[None]]
"""Serves one client until it is gone."""

LONGEST_LINE = 64 << 20
"""Bytes: a hundred memories of 65,536 characters, each of which JSON may write in six bytes, fit in."""


class _Lines:
    """A connection as the SDK's transport for stdio takes it: lines to read, text to write."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._received = BufferedByteReceiveStream(stream)

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        try:
            return (await self._received.receive_until(b"\n", LONGEST_LINE)).decode(errors="replace")
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, anyio.BrokenResourceError):
            raise StopAsyncIteration from None

    async def write(self, text: str) -> None:
        try:
            await self._stream.send(text.encode())
        except anyio.BrokenResourceError:
            return  # it went without waiting for its answer; reading finds that out, and ends the session

    async def flush(self) -> None:
        """Do nothing: a socket keeps nothing back."""


@asynccontextmanager
async def door(folder: Path, converse: Converse) -> AsyncIterator[None]:
    """Listen while inside, and leave no socket behind; if that can't be, say so on stderr and go on without.

    Only the process that has the store open may call this: a socket that lies there is then a dead process's.

    Args:
        folder: The store's.
        converse: Called for each connection.
    """

    async def attend(stream: SocketStream) -> None:
        lines = cast("anyio.AsyncFile[str]", _Lines(stream))
        async with stream:
            try:
                async with stdio_server(lines, lines) as (messages, answers):
                    await converse(messages, answers)
            except Exception:  # noqa: BLE001 -- one session's failure is no reason to end the others
                LOGGER.exception("a session at the door failed")

    listener = await _listening(folder)
    if listener is None:
        yield
        return
    try:
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, attend)
            yield
            group.cancel_scope.cancel()
    finally:
        (folder / SOCKET).unlink(missing_ok=True)


async def _listening(folder: Path) -> Listener[SocketStream] | None:
    """Return a listener in place of whatever socket lies in the folder; None where no socket can be made."""
    try:
        with reachable(folder) as path:
            return await anyio.create_unix_listener(path, mode=0o600)
    except OSError as error:
        print(f"context-graph: hooks can't ask this server: {error}", file=sys.stderr)  # noqa: T201 -- a server's log
        return None
