"""The proxy that `context-graph serve` runs: it copies lines between a client's standard streams and the hub.

One thread and one `select`. Neither side can make it buffer more than `MAX_BUFFER` bytes and one line.
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import NoReturn

from actors.proxy.endpoint import (
    CHUNK,
    MAX_LINE,
    LineReader,
    LineTooLongError,
    ServeOptions,
    print_notice,
    process_of,
    read_hub_info,
)
from actors.proxy.launcher import ANSWER_TIMEOUT, HubError, HubLauncher, describe_silence, is_stopped
from actors.proxy.pending_requests import PendingRequests, invalid_request
from actors.proxy.project import ProjectError
from actors.runtime.settings import ToolSet

MAX_BUFFER = 1 << 20
"""Bytes queued for one side above which the other side isn't read."""

LAUNCH_POLL = 0.01
"""Seconds between two attempts to reach a hub."""
IDLE_POLL = 1.0
"""Seconds between two checks whether the parent process lives."""
GRACE = 1.0
"""Seconds in which a client can still send a request whose answer gives the reason of a failure."""

STDIN, STDOUT = 0, 1


class Proxy:
    """Copies lines in both directions, and continues the session with the next hub when one ends."""

    def __init__(
        self,
        launcher: HubLauncher,
        options: ServeOptions,
        tools: ToolSet = ToolSet.ALL,
        find_project: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._find_project = find_project
        self._launcher = launcher
        self._options = options
        self._pending = PendingRequests(tools)
        self._hub: socket.socket | None = None
        self._client_reader = LineReader(MAX_LINE)
        self._hub_reader = LineReader(sys.maxsize)
        self._to_client = bytearray()
        self._to_hub = bytearray()
        self._input_closed = False
        self._hub_input_closed = False
        self._hub_lost = False
        self._resumption = b""
        """What the next hub receives first once one was lost."""
        self._heard_at = monotonic()
        """When the hub last sent anything, or owed nothing."""
        self._options_checked = False

    def run(self) -> int:
        """Run until the client is done or gone; return the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _exit)
        parent = os.getppid()
        try:
            self._pending.project = self._find_project()
            while not self._done() and os.getppid() == parent:
                self._step()
        except (HubError, ProjectError) as error:
            self._fail(str(error))
            return 1
        except BrokenPipeError:  # the client closed its output
            return 0
        return 0

    def _done(self) -> bool:
        return self._input_closed and self._hub is None and not (self._to_client or self._to_hub or self._pending)

    def _needs_hub(self) -> bool:
        """Return whether there is anything to send, or no hub was started yet. One that ended isn't replaced before."""
        return bool(self._to_hub or self._pending) or not (self._input_closed or self._hub_lost)

    def _step(self) -> None:
        connecting = self._hub is None and self._needs_hub()
        if connecting:
            self._hub = self._connect()
        hub = self._hub
        reading: list[int | socket.socket] = []
        writing: list[int | socket.socket] = [STDOUT] if self._to_client else []
        if not self._input_closed and len(self._to_hub) < MAX_BUFFER:
            reading.append(STDIN)
        if hub is not None:
            reading += [hub] if len(self._to_client) < MAX_BUFFER else []
            writing += [hub] if self._to_hub else []
        timeout = LAUNCH_POLL if connecting and hub is None else IDLE_POLL
        readable, writable, _ = select.select(reading, writing, [], timeout)
        if STDOUT in writable:
            # A writable pipe takes up to PIPE_BUF bytes without blocking.
            del self._to_client[: os.write(STDOUT, self._to_client[: select.PIPE_BUF])]
        if STDIN in readable:
            self._read_client()
        if hub is not None and hub in readable:
            self._read_hub(hub)
        if self._hub is not None and self._hub in writable:
            with suppress(OSError):  # its buffer is full, or it ended, which the next read detects
                del self._to_hub[: self._hub.send(self._to_hub[:CHUNK])]
        if self._hub is not None and self._input_closed and not self._to_hub and not self._hub_input_closed:
            self._hub_input_closed = True
            with suppress(OSError):  # as above
                self._hub.shutdown(socket.SHUT_WR)
        if not readable and not writable:
            self._on_idle()

    def _connect(self) -> socket.socket | None:
        """Return a connection to a hub that fits the options; None if there is none yet (`HubError`)."""
        hub = self._launcher.step()
        if hub is None:
            return None
        self._hub_input_closed = False
        self._heard_at = monotonic()
        if self._hub_lost:
            self._hub_lost = False
            self._to_hub[:0] = self._resumption
        info = read_hub_info(self._launcher.folder)
        if os.environ.get("CONTEXT_GRAPH_LOG"):
            self._check_log()
        if info is not None and (refusal := info.refusal(self._options)) is not None:
            raise HubError(refusal)
        return hub

    def _check_log(self) -> None:
        """Raise `HubError` if the hub works on another log than the chosen one."""
        from events.postgres.address import check_remembered
        from events.storage.log import LogError

        try:
            check_remembered(self._launcher.folder)
        except LogError as error:
            raise HubError(str(error)) from error

    def _on_idle(self) -> None:
        """Do what must not delay a first answer: reap a hub that ended, and compare options once."""
        self._launcher.reap()
        if not self._pending:
            self._heard_at = monotonic()
        elif self._hub is not None and monotonic() > self._heard_at + ANSWER_TIMEOUT:
            self._give_up_stopped(self._hub)
        info = read_hub_info(self._launcher.folder) if self._hub is not None and not self._options_checked else None
        if info is None:
            return
        self._options_checked = True
        from actors.proxy.own_version import describe_other_version

        if (other := describe_other_version(self._launcher.folder)) is not None:
            print_notice(other)
        for name in ("limits", "priming", "sleep"):
            actual, wanted = getattr(info.options, name), getattr(self._options, name)
            if actual != wanted:
                print_notice(f"the hub was started with other options, which hold: {name} {actual} instead of {wanted}")

    def _read_client(self) -> None:
        data = os.read(STDIN, CHUNK)
        try:
            lines = [*self._client_reader.feed(data)]
        except LineTooLongError as error:
            self._input_closed = True
            self._to_client += invalid_request(str(error)) + b"\n"
            raise HubError(str(error)) from error
        if not data:
            self._input_closed = True
            rest = self._client_reader.rest()
            lines = [rest] if rest else []
        self._to_hub += _lines(map(self._pending.add, lines))

    def _read_hub(self, hub: socket.socket) -> None:
        try:
            data = hub.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._heard_at = monotonic()
        self._to_client += _lines(filter(self._pending.settle, self._hub_reader.feed(data)))
        if not data:
            self._on_hub_lost(hub)

    def _on_hub_lost(self, hub: socket.socket) -> None:
        """Queue the unanswered requests for the next hub."""
        hub.close()
        self._hub = None
        self._hub_reader.rest()
        self._to_client += _lines(self._pending.fail_exhausted())
        self._to_hub.clear()
        self._hub_lost = True
        self._resumption = _lines(self._pending.resend())

    def _give_up_stopped(self, hub: socket.socket) -> None:
        """Fail what a hub was asked that a signal stopped. Only a person can let it go on."""
        with suppress(OSError):  # the platform doesn't say which process it is
            pid = process_of(hub)
            if is_stopped(pid):
                reason = describe_silence(self._launcher.folder, pid)
                print_notice(reason)
                self._to_client += _lines(self._pending.fail_all(f"Storage failed: {reason}; this may still be done"))
                self._on_hub_lost(hub)

    def _fail(self, reason: str) -> None:
        """Report to the person and the client why requests stay without a result."""
        print_notice(reason)
        until = monotonic() + GRACE
        while not self._input_closed and _input_ready(0 if self._pending else max(0.0, until - monotonic())):
            self._read_client()
        self._to_client += _lines(self._pending.fail_all(f"Storage failed: {reason}"))
        while self._to_client:
            del self._to_client[: os.write(STDOUT, self._to_client)]


def _lines(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _input_ready(timeout_s: float) -> bool:
    return bool(select.select([STDIN], [], [], timeout_s)[0])


def _exit(_number: int, _frame: object) -> NoReturn:
    """Exit at once: a proxy holds nothing that could be lost, and the hub detects the closed connection."""
    raise SystemExit(0)
