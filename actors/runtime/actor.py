"""The base class of all actors: one inbox, one `match` over the messages, crash-only failures, and message tracing.

An exception in the handler of an `ask` becomes its reply. A failed `tell` has no reply, and afterwards memory may
disagree with the log. Pykka would silently drop the actor and its inbox; this base ends the process instead, and the
next start replays the log.
"""

import logging
import math
import os
import queue
from contextlib import suppress
from contextvars import ContextVar
from threading import Timer
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, TypeAlias, cast

import pykka

from actors.runtime.reply import Reply

LOGGER = logging.getLogger("context-graph")

EXIT_UNCERTAIN = 70
"""Exit status (EX_SOFTWARE) when memory and log may differ."""

CORRELATION: ContextVar[str] = ContextVar("correlation", default="-")
"""Id of the request under way, for the log only. A traced inbox copies it from the sender to the receiving thread."""

ActorRef: TypeAlias = pykka.ActorRef[Any]
"""A reference to any actor; the message types the answer (`actors.runtime.ask`)."""


class ActorInbox(queue.Queue[Any]):
    """An inbox that, at debug level, copies the sender's correlation id to the receiving thread."""

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__(maxsize)
        self.traced = LOGGER.isEnabledFor(logging.DEBUG)

    def _put(self, item: object) -> None:
        """Runs in the sender's thread."""
        super()._put((item, CORRELATION.get()) if self.traced else item)

    def _get(self) -> object:
        """Runs in the actor's thread."""
        item = super()._get()
        if self.traced:
            item, correlation = item
            CORRELATION.set(correlation)
        return item


class Actor(pykka.ThreadingActor):
    """A thread with an inbox. Subclasses implement `on_receive` as one `match`."""

    use_daemon_thread = True  # an unhandled error in the main thread must not leave the process hanging

    @staticmethod
    def _create_actor_inbox() -> ActorInbox:
        return ActorInbox()

    @staticmethod
    def _create_future() -> Reply[object]:
        return Reply()

    def _handle_receive(self, message: object) -> object:
        """Handle a message; at debug level, log its type, correlation id and the time until its answer."""
        if not cast("ActorInbox", self.actor_inbox).traced:
            return super()._handle_receive(message)
        correlation, start = CORRELATION.get(), perf_counter()

        def log() -> None:
            milliseconds = (perf_counter() - start) * 1e3
            LOGGER.debug("%s %s %s %.2f ms", type(self).__name__, type(message).__name__, correlation, milliseconds)

        answer: object = None
        try:
            answer = super()._handle_receive(message)
            return answer
        finally:
            if isinstance(answer, Reply):
                answer.add_done_callback(log)
            else:
                log()

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the process after a failed `tell`. Runs in the actor's thread."""
        LOGGER.critical(
            "%s failed on a message without a reply; stopping, the next start replays the log",
            type(self).__name__,
            exc_info=(exception_type, exception_value, traceback) if exception_type and exception_value else None,
        )
        os._exit(EXIT_UNCERTAIN)


class Debounce:
    """A timer that sends a message to an actor after a quiet interval. Used from the actor's thread.

    `actor` receives the message, at most once per interval, and then asks `elapsed`.
    """

    def __init__(self, actor: ActorRef, message: object) -> None:
        self._actor = actor
        self._message = message
        self._timer: Timer | None = None
        self._first_at = 0.0
        self._due_at = 0.0

    def trigger(self, quiet: float, longest: float = math.inf) -> None:
        """Start or extend the interval.

        The timer fires after `quiet` seconds without a trigger, and after `longest` even if triggers keep coming.
        """
        now = monotonic()
        if self._timer is None:
            self._first_at = now
            self._start(quiet)
        self._due_at = max(self._due_at, min(now + quiet, self._first_at + longest))

    @property
    def running(self) -> bool:
        """Whether the interval is not over."""
        return self._timer is not None

    def elapsed(self) -> bool:
        """Return whether the interval is over; called on the message. Waits for the rest if triggers came meanwhile."""
        self.cancel()
        left = self._due_at - monotonic()
        if left > 0:
            self._start(left)
        return left <= 0

    def cancel(self) -> None:
        """Stop the timer and its thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None

    def _start(self, seconds: float) -> None:
        self._timer = tell_later(seconds, self._actor, self._message)


def tell_unless_stopped(actor: ActorRef, message: object) -> None:
    """Send a message from a thread that may outlive the actor, which happens while the process ends."""
    with suppress(pykka.ActorDeadError):
        actor.tell(message)


def tell_later(seconds: float, actor: ActorRef, message: object) -> Timer:
    """Send a message after some seconds, from a thread that is returned; nothing is sent once that is cancelled."""
    timer = Timer(seconds, tell_unless_stopped, (actor, message))
    timer.daemon = True
    timer.start()
    return timer
