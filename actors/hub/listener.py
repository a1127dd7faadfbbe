"""The connection listener: a unix socket in the store's folder, on which the hub serves other processes.

Each connection is a session of its own and uses the same line protocol as stdin and stdout.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream, SocketAttribute, SocketListener
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.stdio import stdio_server

from actors.api.mcp.flow_control import TOO_LONG
from actors.proxy.endpoint import CHUNK, HUB_INFO, MAX_LINE, SOCKET, HubInfo, is_own, socket_path
from actors.runtime.actor import LOGGER
from events.storage.durable import is_in_place

if TYPE_CHECKING:
    from anyio.abc import SocketStream, TaskGroup
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

Messages: TypeAlias = "ReadStream[SessionMessage | Exception]"
Answers: TypeAlias = "WriteStream[SessionMessage]"
Converse: TypeAlias = Callable[[Messages, Answers], Awaitable[None]]
"""Serves one client until it disconnects."""

SOCKET_CHECK = 0.5
"""Seconds between two checks whether the socket was deleted, or the folder moved."""


class _Receiver(ByteReceiveStream):
    """The receiving half of a socket.

    That of anyio sets the result of a future that was cancelled, where data arrive in the turn of the event loop in
    which it is cancelled (anyio 4.16, `_wait_until_readable`); `anyio.wait_readable` takes this into account.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        await anyio.lowlevel.checkpoint()
        while True:
            try:
                data = self._socket.recv(max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
            except OSError as error:
                raise anyio.BrokenResourceError from error
            else:
                if not data:
                    raise anyio.EndOfStream
                return data

    async def aclose(self) -> None:
        """Do nothing: the stream of the connection closes the socket."""


class _Connection:
    """A connection as the text file that the SDK's stdio transport reads and writes."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._received = BufferedByteReceiveStream(_Receiver(stream.extra(SocketAttribute.raw_socket)))
        self._input_closed = False
        self._reading = anyio.CancelScope()
        self._muted = False
        self.session = anyio.CancelScope()
        """Cancelled if the client disconnects, which nobody can be answered after; not at the end of its input."""

    def mute(self) -> None:
        """Drop all further output. A request cut off by shutdown stays unanswered, so the proxy asks the next hub."""
        self._muted = True

    def end_input(self) -> None:
        """Read nothing more. What was read is answered."""
        self._input_closed = True
        self._reading.cancel()

    def __aiter__(self) -> _Connection:
        return self

    async def __anext__(self) -> str:
        if self._input_closed or self._muted:
            raise StopAsyncIteration
        try:
            with anyio.CancelScope() as self._reading:
                return (await self._received.receive_until(b"\n", MAX_LINE)).decode(errors="replace")
            raise StopAsyncIteration  # `end_input` cancelled the scope
        except anyio.DelimiterNotFound:
            self._input_closed = True
            return TOO_LONG
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if _has_disconnected(self._stream.extra(SocketAttribute.raw_socket)):
                self.session.cancel()
            raise StopAsyncIteration from None

    async def write(self, text: str) -> None:
        if self._muted:
            return
        try:
            await self._stream.send(text.encode())
        except anyio.BrokenResourceError:  # the client disconnected before its answer
            self._muted = True

    async def flush(self) -> None:
        """Do nothing: sockets are unbuffered."""


class Connections:
    """The open connections, and the HTTP requests under way."""

    def __init__(self) -> None:
        self._open: set[_Connection] = set()
        self._held = 0
        self._changed = anyio.Event()
        self.finishing = anyio.Event()
        """Set when no further connection is accepted."""

    def __len__(self) -> int:
        return self._held

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Count as a connection while inside."""
        self._held += 1
        self._notify()
        try:
            yield
        finally:
            self._held -= 1
            self._notify()

    async def changed(self) -> None:
        """Wait until a connection opens or closes."""
        await self._changed.wait()

    @contextmanager
    def include(self, connection: _Connection) -> Iterator[None]:
        """Count a connection as open while inside."""
        self._open.add(connection)
        if self.finishing.is_set():
            connection.end_input()
        with self.hold():
            try:
                yield
            finally:
                self._open.discard(connection)

    async def finish(self) -> None:
        """Accept and read nothing more, and wait until all that was read is answered."""
        self.finishing.set()
        for connection in self._open:
            connection.end_input()
        while self._open:
            await self._changed.wait()

    def mute(self) -> None:
        """Drop all further output on all connections."""
        for connection in self._open:
            connection.mute()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


@asynccontextmanager
async def listen(folder: Path, converse: Converse, info: HubInfo) -> AsyncIterator[Connections]:
    """Listen while inside; remove the socket on exit. One that was deleted is made again.

    Where the folder was moved or deleted, the process sends itself SIGTERM: its path may be that of another store.

    Requires that this process has the store open: an existing socket is then a dead process's and is replaced.
    Connections of other users are closed without a byte.

    Raises:
        OSError: The socket can't be created.
    """
    connections = Connections()
    in_place = _watch(folder)
    with ExitStack() as stack:
        info.write(folder)
        stack.callback(_remove, folder / HUB_INFO, in_place)
        listener = await _bind(folder)
        stack.callback(_remove, folder / SOCKET, in_place)
        async with listener, anyio.create_task_group() as group:
            serve = partial(_serve_connection, connections, converse)
            group.start_soon(_accept, folder, in_place, listener, connections, serve, group)
            yield connections
            connections.mute()
            group.cancel_scope.cancel()


async def _accept(
    folder: Path,
    in_place: Callable[[], bool],
    listener: SocketListener,
    connections: Connections,
    serve: Callable[[SocketStream], Awaitable[None]],
    group: TaskGroup,
) -> None:
    """Accept connections until no further one is, and serve them in a group; make a deleted socket again."""
    while True:
        async with listener, anyio.create_task_group() as accepting:
            accepting.start_soon(listener.serve, serve, group)
            while in_place() and (folder / SOCKET).exists() and not connections.finishing.is_set():
                with anyio.move_on_after(SOCKET_CHECK):
                    await connections.finishing.wait()
            accepting.cancel_scope.cancel()
        if connections.finishing.is_set():
            _remove(folder / SOCKET, in_place)
            return
        if not in_place():
            LOGGER.warning("%s was moved or deleted while it was in use; this process ends", folder)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        try:
            listener = await _bind(folder)
        except OSError as error:
            LOGGER.warning("the socket was deleted, and can't be made again: %s", error)
            return
        LOGGER.warning("%s was deleted while it was in use; it is made again", folder / SOCKET)


def _watch(folder: Path) -> Callable[[], bool]:
    """Return a function that tells whether the folder is still in its place."""
    return partial(is_in_place, folder, folder.stat())


def _remove(path: Path, in_place: Callable[[], bool]) -> None:
    """Delete a file of the folder, unless another one is in its place."""
    if in_place():
        path.unlink(missing_ok=True)


async def _serve_connection(connections: Connections, converse: Converse, stream: SocketStream) -> None:
    async with stream:
        if not is_own(stream.extra(SocketAttribute.raw_socket)):
            LOGGER.warning("a connection of another user was closed")
            return
        connection = _Connection(stream)
        file = cast("anyio.AsyncFile[str]", connection)
        try:
            with connections.include(connection), connection.session:
                async with stdio_server(file, file) as (messages, answers):
                    await converse(messages, answers)
        except Exception:  # the failure of one session must not end the others
            LOGGER.exception("a session on the socket failed")


async def _bind(folder: Path) -> SocketListener:
    try:
        with socket_path(folder) as path:
            return await anyio.create_unix_listener(path, mode=0o600)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder / SOCKET)) from error


def _has_disconnected(connection: socket.socket) -> bool:
    """Return whether the peer closed its socket, and not only its sending half."""
    if connection.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(connection, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
