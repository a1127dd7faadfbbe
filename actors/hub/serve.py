"""Serving a store: to the one client of this process, or to all who come to its door."""

from __future__ import annotations

import atexit
import gc
import os
import select
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, cast

import anyio
import anyio.from_thread
from anyio.lowlevel import EventLoopToken, current_token
from mcp.server.stdio import stdio_server

from actors.api.context import Context, wait_until_ready
from actors.api.mcp.flow_control import TOO_LONG
from actors.api.mcp.server import converse
from actors.hub.listener import Connections, listen
from actors.proxy.endpoint import LONGEST_LINE, HubInfo
from actors.proxy.framing import LineReader, LineTooLongError
from actors.proxy.launcher import LOG, trim
from actors.runtime.faults import Fault

if TYPE_CHECKING:
    from actors.hub.composition import Hub

WARM_UP_AFTER = 1.0
"""Seconds from the start after which the models load without having been asked for: `initialize` and `tools/list`
come first, and importing torch holds up every other thread for most of a second."""

ARRIVAL = 5.0
"""Seconds that a hub waits for its first client at least."""

CHUNK = 1 << 16

LOOKED_AFTER = 60.0
"""Seconds between two looks at how long the hub's log has grown."""


async def serve(hub: Hub, per_minute: Mapping[str, int], card: HubInfo) -> None:
    """Serve one client over stdin and stdout, and meanwhile whoever comes to the door.

    Ends once the client closes stdin, or on SIGTERM or SIGINT.

    Args:
        hub: The running store.
        per_minute: How often each client may call some tools.
        card: Put beside the door's socket. Where none can be made, that is said on stderr.
    """
    context = Context(hub)
    attend = partial(converse, context, per_minute)
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(_stop_when_told, group.cancel_scope)
        try:
            await stack.enter_async_context(listen(hub.folder, attend, card))
        except OSError as error:
            _tell(f"nobody else can ask this server: {error}")
        group.start_soon(_warm_up, context)
        stdin = _Stdin()
        stack.callback(stdin.close)
        async with stdio_server(cast("anyio.AsyncFile[str]", stdin)) as (messages, answers):
            await attend(messages, answers)
        group.cancel_scope.cancel()


async def serve_windows(hub: Hub, per_minute: Mapping[str, int], card: HubInfo, linger: float) -> None:
    """Serve whoever comes to the door, until nobody has been there for so many seconds, or SIGTERM or SIGINT.

    Args:
        hub: The running store.
        per_minute: How often each client may call some tools.
        card: Put beside the socket.
        linger: Seconds.

    Raises:
        OSError: no socket can be made in the store's folder.
    """
    context = Context(hub)
    async with (
        listen(hub.folder, partial(converse, context, per_minute), card) as guests,
        anyio.create_task_group() as group,  # inside, or what keeps the door shut would be raised as an ExceptionGroup
    ):
        group.start_soon(_stop_when_told, group.cancel_scope)
        group.start_soon(_warm_up, context)
        group.start_soon(_keep_short, hub.folder)
        await _deserted(guests, linger)
        group.cancel_scope.cancel()


async def _stop_when_told(scope: anyio.CancelScope) -> None:
    """End what is served on SIGTERM or SIGINT."""
    if sys.platform == "win32":
        return  # its event loop hears no signals
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


async def _deserted(guests: Connections, linger: float) -> None:
    """Wait until nobody has been there for so many seconds; whoever started the hub has some more to come."""
    with anyio.move_on_after(max(ARRIVAL - linger, 0)):
        await guests.changed()
    while True:
        while guests:
            await guests.changed()
        with anyio.move_on_after(linger):
            await guests.changed()
            continue
        return


async def _warm_up(context: Context) -> None:
    await anyio.sleep(WARM_UP_AFTER)
    try:
        await wait_until_ready(context)
    except Fault as fault:  # whoever calls a tool is told the same
        _tell(fault.message)
        return
    # What was loaded and replayed is no garbage, and to look through it held everybody up: .1 s with a thousand
    # memories, .2 s with 100,000, whenever enough had come about since the last time.
    gc.freeze()
    atexit.register(gc.unfreeze)  # or what the last collection doesn't find would count as leaked


async def _keep_short(folder: Path) -> None:
    """See to it that the log of a hub which lives for months doesn't grow for months, if stderr leads there."""
    try:
        ours = os.path.samestat(os.fstat(2), (folder / LOG).stat())
    except FileNotFoundError:
        return
    while ours:
        trim(2)
        await anyio.sleep(LOOKED_AFTER)


class _Stdin:
    """Standard input as the SDK's transport takes it, in lines of which none is endless.

    A thread of its own reads it, which `close` ends: nothing would wake up one that just reads.
    """

    def __init__(self) -> None:
        self._heard, self._lines = anyio.create_memory_object_stream[str](0)
        self._closed, self._close = os.pipe()
        # Windows can't wait for two files at once; there the thread is left behind.
        Thread(target=self._read, args=(current_token(),), name="stdin", daemon=sys.platform == "win32").start()

    def close(self) -> None:
        """Read no more."""
        os.close(self._close)

    def __aiter__(self) -> _Stdin:
        return self

    async def __anext__(self) -> str:
        return await anext(self._lines)

    def _read(self, token: EventLoopToken) -> None:
        lines = LineReader(LONGEST_LINE)
        with suppress(anyio.BrokenResourceError, anyio.RunFinishedError, CancelledError):  # nobody listens any more
            try:
                while data := self._more():
                    for line in lines.feed(data):
                        anyio.from_thread.run(self._heard.send, line.decode(errors="replace"), token=token)
                if rest := lines.rest():
                    anyio.from_thread.run(self._heard.send, rest.decode(errors="replace"), token=token)
            except LineTooLongError:
                anyio.from_thread.run(self._heard.send, TOO_LONG, token=token)
            anyio.from_thread.run_sync(self._heard.close, token=token)

    def _more(self) -> bytes:
        """Wait for more of it; nothing means that it is over, or to be read no more."""
        stdin = sys.stdin.fileno()
        if sys.platform != "win32" and self._closed in select.select([stdin, self._closed], [], [])[0]:
            return b""
        return os.read(stdin, CHUNK)


def _tell(sentence: str) -> None:
    print(f"context-graph: {sentence}", file=sys.stderr)  # noqa: T201 -- stderr is the log of a stdio server
