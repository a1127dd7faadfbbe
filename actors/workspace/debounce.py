"""A debounce timer that sends a message to an actor after a quiet interval."""

from __future__ import annotations

from contextlib import suppress
from threading import Timer
from time import monotonic

import pykka

from actors.runtime.actor import ActorRef

INTERVAL = 0.12
"""Seconds without a trigger before the timer fires, so that the answer leaves first and a series of stores or queries
does not wait for the workspace. Commits of a batch are 60 to 90 ms apart: processing each took 5 % more CPU time."""

MAX_DELAY = 0.5
"""Seconds after which the timer fires even if triggers keep coming."""


class Debounce:
    """Sends `message` to `actor` at most once per interval. Used from the actor's thread."""

    def __init__(self, actor: ActorRef, message: object) -> None:
        self._actor = actor
        self._message = message
        self._timer: Timer | None = None
        self._first_at = self._last_at = 0.0

    def trigger(self) -> None:
        """Start or extend the interval."""
        self._last_at = monotonic()
        if self._timer is None:
            self._first_at = self._last_at
            self._start(INTERVAL)

    def elapsed(self) -> bool:
        """Return whether the interval is over; called on the message. Waits for the rest if triggers came meanwhile."""
        self._timer = None
        left = min(self._last_at + INTERVAL, self._first_at + MAX_DELAY) - monotonic()
        if left > 0:
            self._start(left)
        return left <= 0

    def cancel(self) -> None:
        """Stop the timer and its thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()

    def _start(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._send)
        self._timer.daemon = True
        self._timer.start()

    def _send(self) -> None:
        with suppress(pykka.ActorDeadError):
            self._actor.tell(self._message)
