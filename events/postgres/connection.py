"""Connections to the PostgreSQL server of a log, and its errors in words."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from events.postgres.address import check_encoded, no_url, without_password
from events.storage.log import LogAwayError, LogError, LogFullError

R = TypeVar("R")

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

MIN_VERSION: Final = 140_000
"""The oldest server, as libpq counts: 14 brought `idle_session_timeout`, which frees the locks of a stopped process."""

_CONNECT: Final = {
    "connect_timeout": 3,
    # A server that vanished without closing its connections is noticed within these times.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "context-graph",
}
_SETTINGS: Final = """
    SET TIME ZONE 'UTC';
    SET client_min_messages = 'error';
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '5s'
"""
"""A process that is stopped while it holds the head of the log delays the others by at most five seconds."""
_DURABLE: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
"""An acknowledged event is on the disk, whatever the server's default is."""

_IDLE: Final = 4
"""Connections that are kept for the next reader."""

SILENCE: Final = 20.0
"""Seconds in which a server that owes an answer must say something; a lock is waited for ten seconds.

A stopped server, a disk that hangs, or a proxy that passes nothing on keeps the connection open, so that nothing else
would end the wait, and with it that of all searches.
"""


class _BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is closed when the server is silent for too long (`psycopg.OperationalError`)."""

    def wait(self, gen: Generator[Any, Any, R], *arguments: Any, **more: Any) -> R:
        """Wait for what is going on at the connection."""
        return super().wait(self._bounded(gen), *arguments, **more)

    def _bounded(self, gen: Generator[Any, Any, R]) -> Generator[Any, Any, R]:
        heard_at = monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    heard_at = monotonic()
                elif monotonic() > heard_at + SILENCE:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server was silent for {SILENCE:.0f} s")
                state = gen.send(ready)
        except StopIteration as end:
            return end.value


def connect(url: str) -> Connection:
    """Open a connection in autocommit mode.

    Raises:
        LogAwayError: the server can't be reached, or refuses the connection; the message says why.
        LogError: the URL is invalid, or the server is older than `MIN_VERSION`.
    """
    check_encoded(url)
    shown = without_password(url)
    try:
        chosen = make_conninfo("", **{**_CONNECT, **conninfo_to_dict(url)})
    except psycopg.ProgrammingError as error:
        what = reason(error).partition(': "')[0]  # then libpq repeats what it didn't understand, also a password
        raise no_url(what) from None
    try:
        connection = _BoundedConnection.connect(chosen, autocommit=True)
    except psycopg.Error as error:
        raise LogAwayError(f"{shown} can't be opened: {reason(error)}") from None
    with ExitStack() as stack, translated():
        stack.callback(connection.close)
        if connection.info.server_version < MIN_VERSION:
            version = connection.info.parameter_status("server_version")
            raise LogError(f"{shown} is PostgreSQL {version}; version {MIN_VERSION // 10_000} is the oldest that works")
        connection.execute(_SETTINGS)
        connection.execute(_DURABLE)
        stack.pop_all()
    return connection


def reason(error: psycopg.Error) -> str:
    """Return the line of an error that says what is wrong."""
    if error.diag.message_primary:
        return error.diag.message_primary
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0] if lines else type(error).__name__
    return said.rpartition("FATAL: ")[2].strip()


@contextmanager
def translated() -> Generator[None, None, None]:
    """Turn errors of the server into those of the log port: `LogFullError` if its disk is full, else `LogAwayError`."""
    try:
        yield
    except errors.DiskFull as error:
        raise LogFullError(f"the disk of the PostgreSQL server is full: {reason(error)}") from error
    except psycopg.Error as error:
        raise LogAwayError(f"PostgreSQL doesn't serve the log: {reason(error)}") from error


class ReaderPool:
    """Connections for reading, lent to one thread at a time; a broken one is replaced."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._closed = False

    @contextmanager
    def borrow(self) -> Generator[Connection, None, None]:
        """Lend a connection that answers (`LogAwayError`)."""
        connection = self._take() or connect(self._url)
        try:
            with translated():
                yield connection
        finally:
            with self._lock:
                keeps = not self._closed and not connection.broken and len(self._idle) < _IDLE
                if keeps:
                    self._idle.append(connection)
            if not keeps:
                connection.close()

    def close(self) -> None:
        """Close all connections; those that are lent are closed when they come back."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for connection in idle:
            connection.close()

    def _take(self) -> Connection | None:
        """Return an idle connection that the server hasn't closed meanwhile; without an answer, none is kept."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            return None
        with suppress(psycopg.Error):
            connection.execute("")
            return connection
        connection.close()
        with self._lock:
            idle, self._idle = self._idle, []
        for other in idle:
            other.close()
        return None
