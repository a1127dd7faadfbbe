"""Serving a store: to one client on stdin and stdout, or to all clients that connect to its socket."""

import gc
import os
import select
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Self, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import msgspec
from anyio.lowlevel import EventLoopToken, current_token
from mcp.server.stdio import stdio_server

from actors.api.context import Context, wait_until_ready
from actors.api.mcp.flow_control import TOO_LONG
from actors.api.mcp.server import converse
from actors.api.mcp.session_project import SessionProject
from actors.api.mcp.telemetry import configure_export
from actors.api.params.http import HttpListen
from actors.http.server import HttpServer
from actors.hub.hub import Hub
from actors.hub.listener import Connections, listen
from actors.proxy.endpoint import CHUNK, MAX_LINE, PROJECT, HubInfo, LineReader, LineTooLongError, print_notice
from actors.proxy.launcher import LOG, truncate_log
from actors.runtime.ask import ask
from actors.runtime.faults import Fault
from actors.runtime.settings import ToolSet
from actors.scheduler.messages import ReadSchedule
from events.vocabulary.values import Mode

WARM_UP_DELAY = 1.0
"""Seconds from the start until the models load unasked: loading them delays other threads, and `initialize` and
`tools/list` come first."""

MIN_FIRST_WAIT = 5.0
"""Seconds that a hub waits for its first client at least."""

FINISH_TIMEOUT = 30.0
"""Seconds in which a hub that is told to end answers the requests under way; the proxies send what is left to the next
hub, for which they wait for a minute."""

LOG_CHECK_INTERVAL = 60.0
"""Seconds between two checks of the log's size."""

SLEEP_CHECK_INTERVAL = 60.0
"""Seconds between two checks whether a deep sleep has ended since the last backup."""


async def serve_stdio(
    hub: Hub, per_minute: Mapping[str, int], info: HubInfo, tools: ToolSet, project: str | None
) -> None:
    """Serve one client on stdin and stdout, and others on the socket meanwhile.

    Ends when the client closes stdin, or on SIGTERM or SIGINT. Without a socket, a notice goes to stderr.
    `project` is the namespace of the client on stdin; None where only the client can know it.
    """
    context = Context(hub)
    serve_client = partial(converse, context, per_minute)
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(_cancel_on_signal, group.cancel_scope)
        try:
            await stack.enter_async_context(listen(hub.folder, serve_client, info))
        except OSError as error:
            print_notice(f"nobody else can ask this server: {error}")
        group.start_soon(_warm_up, context)
        group.start_soon(_back_up_after_sleep, hub)
        stdin = _Stdin()
        stack.callback(stdin.close)
        async with stdio_server(cast("anyio.AsyncFile[str]", stdin)) as (messages, answers):
            await serve_client(messages, answers, tools, SessionProject(hub.folder, {PROJECT: project}))
        group.cancel_scope.cancel()


async def serve_socket(
    hub: Hub, per_minute: Mapping[str, int], info: HubInfo, linger: float, http: HttpListen | None
) -> None:
    """Serve the clients that connect to the socket; arguments as in `serve_stdio`.

    Ends `linger` seconds after the last client disconnected, or on SIGTERM or SIGINT: once the requests under way are
    answered, on a second signal at once.
    Serves HTTP from the start on where `http` says, or once a client asks for it.

    Raises:
        OSError: The socket can't be created.
        InvalidParamsFault: HTTP can't be served there.
    """
    configure_export()
    context = Context(hub)
    refused: Fault | None = None
    async with (
        listen(hub.folder, partial(converse, context, per_minute), info) as connections,
        anyio.create_task_group() as group,  # inside: outside it would wrap the OSError in an ExceptionGroup
    ):
        group.start_soon(_cancel_on_signal, group.cancel_scope, connections)
        group.start_soon(_warm_up, context)
        group.start_soon(_back_up_after_sleep, hub)
        group.start_soon(_limit_log, hub.folder)
        web = HttpServer(context, per_minute, group, connections.hold, partial(_announce, hub.folder, info))
        try:
            if http is not None:
                await web.listen(http)
            await _wait_until_idle(connections, linger)
        except Fault as fault:
            refused = fault
        group.cancel_scope.cancel()
    if refused is not None:
        raise refused  # outside: the task group would wrap it in an ExceptionGroup


async def _back_up_after_sleep(hub: Hub) -> None:
    """Write each anchor and make each backup that is due, for as long as the store is served."""
    while True:
        await anyio.sleep(SLEEP_CHECK_INTERVAL)
        with suppress(Fault):  # every request tells it
            await back_up_if_due(hub)


async def back_up_if_due(hub: Hub) -> None:
    """Write an anchor and make a backup if a deep sleep has ended since; a `Fault` if the store can't be asked."""
    schedule = await ask(hub.scheduler, ReadSchedule())
    slept_at = next(planned.last for planned in schedule.modes if planned.mode is Mode.DEEP)
    await anyio.to_thread.run_sync(hub.anchors.write_if_due, hub.log, slept_at)
    work = partial(hub.backups.make_if_due, hub.log, slept_at, anyio.from_thread.check_cancelled)
    await anyio.to_thread.run_sync(work)


def _announce(folder: Path, info: HubInfo, url: str) -> None:
    msgspec.structs.replace(info, http=url).write(folder)
    print_notice(f"INFO HTTP is served at {url}")  # `doctor` takes a line without a level for an error


async def _cancel_on_signal(scope: anyio.CancelScope, connections: Connections | None = None) -> None:
    """Cancel a scope on a signal; with connections, once they are finished, or on a second signal."""
    if sys.platform == "win32":
        return  # its event loop receives no signals
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        await anext(signals)
        if connections is not None:
            with anyio.move_on_after(FINISH_TIMEOUT):
                async with anyio.create_task_group() as group:
                    group.start_soon(_cancel_on_next, signals, group.cancel_scope)
                    await connections.finish()
                    group.cancel_scope.cancel()
        scope.cancel()


async def _cancel_on_next(signals: AsyncIterator[signal.Signals], scope: anyio.CancelScope) -> None:
    await anext(signals)
    scope.cancel()


async def _wait_until_idle(connections: Connections, linger: float) -> None:
    """Wait until no client was connected for `linger` seconds, and for at least `MIN_FIRST_WAIT` at the start."""
    with anyio.move_on_after(max(MIN_FIRST_WAIT - linger, 0)):
        await connections.changed()
    while True:
        while connections:
            await connections.changed()
        with anyio.move_on_after(linger) as idle:
            await connections.changed()
        if idle.cancelled_caught:
            return


async def _warm_up(context: Context) -> None:
    await anyio.sleep(WARM_UP_DELAY)
    try:
        await wait_until_ready(context)
    except Fault as fault:  # also the answer to each tool call
        print_notice(fault.message)
        return
    # Models and projections live as long as the process. Unfrozen, each full collection scans them: 0.1 s with a
    # thousand memories, 0.2 s with 100,000, in which every thread waits.
    gc.freeze()


async def _limit_log(folder: Path) -> None:
    try:
        is_log = os.path.samestat(os.fstat(2), (folder / LOG).stat())
    except FileNotFoundError:
        return
    while is_log:
        truncate_log(2)
        await anyio.sleep(LOG_CHECK_INTERVAL)


class _Stdin:
    """Standard input as the text file that the SDK's stdio transport reads, with bounded lines.

    A thread reads it. A pipe wakes the thread on `close`; nothing can interrupt a blocking read.
    """

    def __init__(self) -> None:
        self._sender, self._receiver = anyio.create_memory_object_stream[str](0)
        self._closed, self._close = os.pipe()
        # Windows can't wait for two files at once, so the thread outlives `close` there.
        Thread(target=self._read, args=(current_token(),), name="stdin", daemon=sys.platform == "win32").start()

    def close(self) -> None:
        """Stop reading."""
        os.close(self._close)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        return await anext(self._receiver)

    def _read(self, token: EventLoopToken) -> None:
        def send(line: str) -> None:
            anyio.from_thread.run(self._sender.send, line, token=token)

        reader = LineReader(MAX_LINE)
        with suppress(anyio.BrokenResourceError, anyio.RunFinishedError, CancelledError):  # the receiver is gone
            try:
                while data := self._read_chunk():
                    for line in reader.feed(data):
                        send(line.decode(errors="replace"))
                if rest := reader.rest():
                    send(rest.decode(errors="replace"))
            except LineTooLongError:
                send(TOO_LONG)
            anyio.from_thread.run_sync(self._sender.close, token=token)

    def _read_chunk(self) -> bytes:
        """Return the next bytes; none at the end of input or after `close`."""
        stdin = sys.stdin.fileno()
        if sys.platform != "win32" and self._closed in select.select([stdin, self._closed], [], [])[0]:
            return b""
        return os.read(stdin, CHUNK)
