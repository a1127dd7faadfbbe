"""Waiting for the events of other processes: notifications, a look at the head for lost ones, and the lag."""

import select
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Final

from events.postgres.connection import connect, translated
from events.postgres.rows import select_head
from events.postgres.schema import CHANNEL, CONSOLIDATION, LOCKS
from events.storage.log import Lag, LogAwayError, LogDamagedError

_LEAD: Final = "SELECT pg_try_advisory_lock(%s::int, %s::int)"
"""A session that has the lock gets it again; the server releases all when the session ends."""
_IDLE: Final = "SET idle_session_timeout = '10s'"
"""The server ends the session, and frees its locks, of a process that is stopped: it would never look again."""


class PostgresListener:
    """A connection that receives the notification of each commit. One thread waits; any thread may call `wake`."""

    def __init__(self, url: str) -> None:
        """Connect (`LogAwayError`)."""
        self._connection = connect(url)
        self._woken, self._wake = socket.socketpair()  # a pipe can't be waited for on Windows
        with translated():
            self._connection.execute(_IDLE)
            self._connection.execute(f"LISTEN {CHANNEL}")

    def wait(self, seconds: float) -> int:
        """Return the end of the log once events were appended, or after the time (`LogAwayError`)."""
        with translated():
            select.select([self._connection.fileno(), self._woken], [], [], seconds)
            list(self._connection.notifies(timeout=0))
            return select_head(self._connection).seq

    def lead(self) -> bool:
        """Take the one lock of all processes that follow the log, or keep it, until this is closed (`LogAwayError`)."""
        with translated():
            ((locked,),) = self._connection.execute(_LEAD, [LOCKS, CONSOLIDATION]).fetchall()
            return locked

    def wake(self) -> None:
        """End a wait of another thread."""
        with suppress(OSError):  # closed meanwhile
            self._wake.send(b"\0")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        self._woken.close()
        self._wake.close()


class LagClock:
    """Notes when the process last knew all events of the log, and whether the server answers.

    The limit is exceeded by a lag of `limit` seconds or more.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._current_at = monotonic()
        self._away: str | None = None

    def start_behind(self, seconds: float, reason: str) -> None:
        """Note that the process knows the log as it was `seconds` ago, and why the server can't be used."""
        self._current_at = monotonic() - seconds
        self._away = reason

    def reset(self) -> None:
        """Note that the process knows all events of the log."""
        self._current_at = monotonic()

    @contextmanager
    def noting_absence(self) -> Generator[None, None, None]:
        """Note whether the server answers what is asked inside, with the log that this process knows."""
        try:
            yield
        except (LogAwayError, LogDamagedError) as error:
            self._away = str(error)
            raise
        self._away = None

    def lag(self, events: int) -> Lag:
        """Return the lag of a process that is known to lack `events`; any thread may call this."""
        seconds = monotonic() - self._current_at
        return Lag(events, seconds, self._away, seconds > self._limit)
