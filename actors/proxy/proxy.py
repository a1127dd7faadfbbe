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
    """Copies lines in both directions, and continues the session with the next hub when one ends.

    When the client closes its input, the hub's is closed once all is sent; the hub then answers, and ends the
    connection. When a hub ends, the next one receives the handshake and the unanswered requests, as soon as there is
    a request. When a signal stopped the hub, the requests fail, and the next ones go to the same hub.
    """

    def __init__(
        self,
        launcher: HubLauncher,
        options: ServeOptions,
        tools: ToolSet = ToolSet.ALL,
        find_project: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._find_project = find_project
        self._launcher = launcher
        self._folder = launcher.folder
        self._options = options
        self._options_compared = False
        self._pending = PendingRequests(tools)
        self._client_reader = LineReader(MAX_LINE)
        self._input_closed = False
        self._to_client = bytearray()
        self._hub: socket.socket | None = None
        self._hub_reader = LineReader(sys.maxsize)
        self._heard_at = monotonic()
        """When the hub last sent anything, or owed nothing."""
        self._to_hub = bytearray()
        self._resumption: bytes | None = None
        """What the next hub receives before `_to_hub`, in place of one that ended; None until one has ended."""

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
        """Return whether a hub has anything to do. The first one is started before, the next ones aren't."""
        return bool(self._to_hub or self._pending) or (self._resumption is None and not self._input_closed)

    def _step(self) -> None:
        timeout = IDLE_POLL
        if self._hub is None and self._needs_hub():
            self._hub = self._connect()
            timeout = LAUNCH_POLL if self._hub is None else IDLE_POLL
        hub = self._hub
        reading: list[int | socket.socket] = []
        writing: list[int | socket.socket] = [STDOUT] if self._to_client else []
        if not self._input_closed and len(self._to_hub) < MAX_BUFFER:
            reading.append(STDIN)
        if hub is not None:
            reading += [hub] if len(self._to_client) < MAX_BUFFER else []
            if self._to_hub:
                writing.append(hub)
            elif self._input_closed:
                with suppress(OSError):  # it ended, which the next read detects
                    hub.shutdown(socket.SHUT_WR)
        readable, writable, _ = select.select(reading, writing, [], timeout)
        if STDOUT in writable:
            # A writable pipe takes up to PIPE_BUF bytes without blocking.
            del self._to_client[: os.write(STDOUT, self._to_client[: select.PIPE_BUF])]
        if STDIN in readable:
            self._read_client()
        if hub is not None and hub in writable:
            with suppress(OSError):  # its buffer is full, or it ended, as above
                del self._to_hub[: hub.send(self._to_hub[:CHUNK])]
        if hub is not None and hub in readable:
            self._read_hub(hub)
        if not readable and not writable:
            self._on_idle()

    def _connect(self) -> socket.socket | None:
        """Return a connection to a hub that fits the options; None if there is none yet (`HubError`)."""
        hub = self._launcher.step()
        if hub is None:
            return None
        self._heard_at = monotonic()
        self._to_hub[:0] = self._resumption or b""
        info = read_hub_info(self._folder)
        if os.environ.get("CONTEXT_GRAPH_LOG"):
            self._check_log()
        if info is not None and (refusal := info.refusal(self._options)) is not None:
            raise HubError(refusal)
        return hub

    def _check_log(self) -> None:
        from events.postgres.address import check_remembered
        from events.storage.log import LogError

        try:
            check_remembered(self._folder)
        except LogError as error:
            raise HubError(str(error)) from error

    def _on_idle(self) -> None:
        """Do what must not delay an answer."""
        self._launcher.reap()
        if not self._pending:
            self._heard_at = monotonic()
        if self._hub is None:
            return
        if not self._options_compared:
            self._compare_options()
        if monotonic() > self._heard_at + ANSWER_TIMEOUT:
            self._give_up_stopped(self._hub)

    def _compare_options(self) -> None:
        """Tell the person in what the hub is another one than this process would start."""
        info = read_hub_info(self._folder)
        if info is None:
            return
        self._options_compared = True
        from actors.proxy.own_version import describe_other_version

        if (other := describe_other_version(self._folder)) is not None:
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
            self._on_hub_end(hub)

    def _on_hub_end(self, hub: socket.socket) -> None:
        """Prepare what the next hub receives, which is started once it has anything to do."""
        hub.close()
        self._hub = None
        self._hub_reader.rest()
        self._to_client += _lines(self._pending.fail_exhausted())
        self._to_hub.clear()
        self._resumption = _lines(self._pending.resend())

    def _give_up_stopped(self, hub: socket.socket) -> None:
        """Fail what a hub was asked that a signal stopped. Only a person can let it go on."""
        with suppress(OSError):  # the platform doesn't say which process it is
            pid = process_of(hub)
            if is_stopped(pid):
                reason = describe_silence(self._folder, pid)
                print_notice(reason)
                self._to_client += _lines(self._pending.fail_all(f"Storage failed: {reason}; this may still be done"))
                self._on_hub_end(hub)

    def _fail(self, reason: str) -> None:
        """Report to the person and the client why requests stay without a result."""
        from events.wording import with_folder

        reason = with_folder(reason, self._folder)  # a variable that names it to the client may be unknown to the shell
        print_notice(reason)
        until = monotonic() + GRACE
        with suppress(HubError):  # a line that is too long, whose answer is queued
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
