"""The connection that appends: it takes turns with those of other processes by locking the row of the head."""

from contextlib import suppress
from time import monotonic
from typing import Final

import psycopg

from events.postgres.address import without_password
from events.postgres.connection import Connection, connect, translated
from events.postgres.rows import select_head
from events.storage.log import Head, LogAwayError, LogUncertainError

_PAUSE: Final = 1.0
"""Seconds after a failed attempt to connect in which every other one fails at once."""


class Writer:
    """A connection that is opened by `open` or `lock`, and again after it was lost. Only one thread may use it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._away_until = 0.0
        self._connection: Connection | None = None
        self.in_turn = False
        """Whether this process holds the lock on the head."""

    @property
    def connection(self) -> Connection:
        """The connection (`LogAwayError` before it was opened)."""
        if self._connection is None:
            raise LogAwayError(f"{without_password(self._url)} wasn't reached yet")
        return self._connection

    def lock(self) -> Head:
        """Begin a transaction, lock the head and return it; other processes wait.

        Raises:
            LogAwayError: the server can't be reached, or another process keeps the lock for ten seconds.
        """
        self.open()
        with translated():
            self.connection.autocommit = False
            head = select_head(self.connection, lock=True)
        self.in_turn = True
        return head

    def give_back(self) -> None:
        """Roll the transaction back, if there is one."""
        self.in_turn = False
        if self._connection is None:
            return
        with suppress(psycopg.Error):  # the server ends the transaction of a lost connection
            self.connection.rollback()
            self.connection.autocommit = True

    def commit(self) -> None:
        """Commit on the server's disk (`LogUncertainError`: only the log can tell whether that was done)."""
        self.in_turn = False
        try:
            self.connection.commit()
            self.connection.autocommit = True
        except psycopg.Error as error:
            self.connection.close()
            raise LogUncertainError(f"the connection was lost during a commit: {error}") from error

    def close(self) -> None:
        """Close the connection, which ends its transaction; a second call does nothing."""
        if self._connection is not None:
            self._connection.close()

    def open(self) -> Connection:
        """Return the connection, a new one if there is none (`LogAwayError`, `LogError`)."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if monotonic() < self._away_until:
            raise LogAwayError(f"{without_password(self._url)} can't be reached at present")
        try:
            self._connection = connect(self._url)
        except LogAwayError:
            self._away_until = monotonic() + _PAUSE
            raise
        return self._connection
