"""The door: a unix socket in the store's folder, through which other processes ask the one that has it.

Each connection is a session of its own, and speaks the same lines as a client on stdin and stdout.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import anyio
from anyio.abc import SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.stdio import stdio_server

from actors.api.mcp.flow_control import TOO_LONG
from actors.proxy.credentials import is_own
from actors.proxy.endpoint import CARD, LONGEST_LINE, SOCKET, HubInfo, reachable
from actors.runtime.actor import LOGGER

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

Messages: TypeAlias = "ReadStream[SessionMessage | Exception]"
Answers: TypeAlias = "WriteStream[SessionMessage]"
Converse: TypeAlias = Callable[[Messages, Answers], Awaitable[None]]
"""Serves one client until it is gone."""


class _Lines:
    """A connection as the SDK's transport for stdio takes it: lines to read, text to write."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._received = BufferedByteReceiveStream(stream)
        self._deaf = False
        self._mute = False

    def mute(self) -> None:
        """Say nothing more: that a request was cut off is no answer to it, and whoever asked asks the next hub."""
        self._mute = True

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        if self._deaf or self._mute:
            raise StopAsyncIteration
        try:
            return (await self._received.receive_until(b"\n", LONGEST_LINE)).decode(errors="replace")
        except anyio.DelimiterNotFound:
            self._deaf = True
            return TOO_LONG
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise StopAsyncIteration from None

    async def write(self, text: str) -> None:
        if self._mute:
            return
        try:
            await self._stream.send(text.encode())
        except anyio.BrokenResourceError:
            self._mute = True  # it went without waiting for its answer

    async def flush(self) -> None:
        """Do nothing: a socket keeps nothing back."""


class Connections:
    """Who is connected."""

    def __init__(self) -> None:
        self._lines: set[_Lines] = set()
        self._changed = anyio.Event()

    def __len__(self) -> int:
        return len(self._lines)

    async def changed(self) -> None:
        """Wait until somebody comes or goes."""
        await self._changed.wait()

    def come(self, lines: _Lines) -> None:
        """Note that somebody is there."""
        self._lines.add(lines)
        self._tell()

    def go(self, lines: _Lines) -> None:
        """Note that somebody is gone."""
        self._lines.discard(lines)
        self._tell()

    def mute(self) -> None:
        """Answer nobody any more."""
        for lines in self._lines:
            lines.mute()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


@asynccontextmanager
async def listen(folder: Path, converse: Converse, card: HubInfo) -> AsyncIterator[Connections]:
    """Listen while inside, and leave no socket behind.

    Only the process that has the store open may call this: a socket that lies there is then a dead process's.

    Args:
        folder: The store's.
        converse: Called for each connection of this process's own user; any other's is closed without a byte.
        card: Put beside the socket.

    Raises:
        OSError: no socket can be made there.
    """
    guests = Connections()

    async def attend(stream: SocketStream) -> None:
        async with stream:
            if not is_own(stream.extra(SocketAttribute.raw_socket)):  # noqa: S610 -- no Django here
                LOGGER.warning("a process of another user knocked, and was turned away")
                return
            lines = _Lines(stream)
            guests.come(lines)
            try:
                file = cast("anyio.AsyncFile[str]", lines)
                async with stdio_server(file, file) as (messages, answers):
                    await converse(messages, answers)
            except Exception:  # noqa: BLE001 -- one session's failure is no reason to end the others
                LOGGER.exception("a session at the door failed")
            finally:
                guests.go(lines)

    card.put(folder)
    try:
        try:
            with reachable(folder) as path:
                listener = await anyio.create_unix_listener(path, mode=0o600)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder / SOCKET)) from error
        try:
            async with listener, anyio.create_task_group() as group:
                group.start_soon(listener.serve, attend)
                yield guests
                guests.mute()
                group.cancel_scope.cancel()
        finally:
            (folder / SOCKET).unlink(missing_ok=True)
    finally:
        (folder / CARD).unlink(missing_ok=True)
