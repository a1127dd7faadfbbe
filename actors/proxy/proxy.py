"""What `context-graph serve` is: a thin pipe between a client's standard streams and the hub.

One thread and one `select`: neither side can make it hold more than `MOST_BUFFERED` bytes and a line of the other's.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress
from time import monotonic
from typing import NoReturn

from actors.proxy.credentials import is_own
from actors.proxy.endpoint import LONGEST_LINE, Options, hub_info
from actors.proxy.framing import LineReader, LineTooLongError
from actors.proxy.launcher import HubError, HubLauncher
from actors.proxy.pending_requests import PendingRequests, too_long

CHUNK = 1 << 16
MOST_BUFFERED = 1 << 20
"""Bytes that wait for one side before nothing more is read from the other."""

AGAIN = 0.01
"""Seconds until a hub is looked for again."""
TICK = 1.0
"""Seconds until it is looked whether the parent still lives."""
HEARING = 1.0
"""Seconds that a client has to ask something, so that it can be told why nothing will be answered."""

STDIN, STDOUT = 0, 1


class Proxy:
    """Copies lines both ways, and takes the conversation up with the next hub when one goes away.

    Args:
        election: Finds or starts the hub.
        options: With what the store is to be served.
    """

    def __init__(self, election: HubLauncher, options: Options) -> None:
        self._election = election
        self._options = options
        self._ledger = PendingRequests()
        self._hub: socket.socket | None = None
        self._from_client = LineReader(LONGEST_LINE)
        self._from_hub = LineReader(sys.maxsize)
        self._to_client = bytearray()
        self._to_hub = bytearray()
        self._input_over = False
        self._told_hub = False
        self._checked = False

    def run(self) -> int:
        """Go on until the client is done, or gone; return the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _leave)
        parent = os.getppid()
        try:
            while not self._done() and os.getppid() == parent:
                self._turn()
        except HubError as error:
            self._give_up(str(error))
            return 1
        except BrokenPipeError:  # the client reads no more
            return 0
        return 0

    def _done(self) -> bool:
        """Tell whether the client has closed its side and was told all that it can be told."""
        return self._input_over and self._hub is None and not (self._to_client or self._to_hub or self._ledger)

    def _turn(self) -> None:
        """Move what can be moved, or wait a little."""
        if self._hub is None and not (self._input_over and not self._to_hub):
            self._hub = self._met()
        hub = self._hub
        reading: list[int | socket.socket] = []
        writing: list[int | socket.socket] = [STDOUT] if self._to_client else []
        if not self._input_over and len(self._to_hub) < MOST_BUFFERED:
            reading.append(STDIN)
        if hub is not None and len(self._to_client) < MOST_BUFFERED:
            reading.append(hub)
        if hub is not None and self._to_hub:
            writing.append(hub)
        readable, writable, _ = select.select(reading, writing, [], TICK if hub is not None else AGAIN)
        if STDOUT in writable:
            # So much goes into a pipe without blocking when `select` calls it writable.
            del self._to_client[: os.write(STDOUT, self._to_client[: select.PIPE_BUF])]
        if STDIN in readable:
            self._hear_client()
        if hub is not None and hub in readable:
            self._hear_hub(hub)
        if self._hub is not None and self._hub in writable:
            self._tell_hub(self._hub)
        if self._hub is not None and self._input_over and not self._to_hub and not self._told_hub:
            self._told_hub = True
            with suppress(OSError):  # it went away just now, which reading finds out
                self._hub.shutdown(socket.SHUT_WR)
        if not readable and not writable:
            self._idle()

    def _met(self) -> socket.socket | None:
        """Return a connection to a hub that serves what was asked for; None if there is none yet.

        Raises:
            HubError: there is none to be had.
        """
        hub = self._election.step()
        if hub is None:
            return None
        self._told_hub = False
        card = hub_info(self._election.folder)
        if not is_own(hub):
            raise HubError(f"another user listens in {self._election.folder}")
        if card is None:
            return hub
        theirs, ours = card.options, self._options
        if (theirs.embedder, theirs.models) != (ours.embedder, ours.models):
            raise HubError(
                f"process {card.pid} serves this store with the models '{_models(theirs)}', not '{_models(ours)}'; "
                "serve with the same ones, or end its clients first"
            )
        return hub

    def _idle(self) -> None:
        """Do what has time: nothing here may keep a first answer waiting."""
        self._election.reap()
        card = hub_info(self._election.folder) if self._hub is not None and not self._checked else None
        if card is None:
            return
        self._checked = True
        from importlib.metadata import version  # noqa: PLC0415 -- takes 12 ms

        ours = version("context-graph")
        if card.version != ours:
            _warn(f"the hub is of version {card.version}, not {ours}; it is replaced once all its clients have ended")
        for name in ("limits", "priming", "sleep"):
            theirs, wanted = getattr(card.options, name), getattr(self._options, name)
            if theirs != wanted:
                _warn(f"the hub was started with other options, which hold: {name} {theirs} instead of {wanted}")

    def _hear_client(self) -> None:
        data = os.read(STDIN, CHUNK)
        try:
            lines = [*self._from_client.feed(data)]
        except LineTooLongError as error:
            self._input_over = True
            self._to_client += too_long(str(error)) + b"\n"
            raise HubError(str(error)) from error
        if not data:
            self._input_over = True
            rest = self._from_client.rest()
            lines = [rest] if rest else []
        for line in lines:
            self._to_hub += self._ledger.take(line) + b"\n"

    def _hear_hub(self, hub: socket.socket) -> None:
        try:
            data = hub.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        for line in self._from_hub.feed(data):
            if self._ledger.settle(line):
                self._to_client += line + b"\n"
        if not data:
            self._lose(hub)

    def _tell_hub(self, hub: socket.socket) -> None:
        with suppress(OSError):  # it takes no more just now, or went away, which reading finds out
            del self._to_hub[: hub.send(self._to_hub[:CHUNK])]

    def _lose(self, hub: socket.socket) -> None:
        """Get ready for the next hub."""
        hub.close()
        self._hub = None
        self._from_hub.rest()
        for answer in self._ledger.in_vain():
            self._to_client += answer + b"\n"
        self._to_hub.clear()
        if self._ledger or not self._input_over:
            for line in self._ledger.again():
                self._to_hub += line + b"\n"

    def _give_up(self, why: str) -> None:
        """Tell the person and the client why nothing will be answered."""
        _warn(why)
        until = monotonic() + HEARING
        while not self._input_over and _asks(0 if self._ledger else max(0.0, until - monotonic())):
            self._hear_client()
        for answer in self._ledger.refused(f"Storage failed: {why}"):
            self._to_client += answer + b"\n"
        while self._to_client:
            del self._to_client[: os.write(STDOUT, self._to_client)]


def _asks(seconds: float) -> bool:
    """Tell whether the client says anything within so many seconds."""
    return bool(select.select([STDIN], [], [], seconds)[0])


def _models(options: Options) -> str:
    return f"{options.embedder.value} in {options.models}" if options.models else options.embedder.value


def _warn(sentence: str) -> None:
    print(f"context-graph: {sentence}", file=sys.stderr, flush=True)  # noqa: T201 -- stderr is the log of a stdio server


def _leave(_number: int, _frame: object) -> NoReturn:
    """End at once: a pipe keeps nothing that could be lost, and the hub sees that it is gone."""
    raise SystemExit(0)
