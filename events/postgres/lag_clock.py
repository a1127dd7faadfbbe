"""Since when a process may lack events of a log that it shares, and why."""

from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic

from events.storage.log import Lag, LogAwayError


class LagClock:
    """Notes when the process last knew all events of the log, and whether the server answers.

    Args:
        limit: Seconds from which on a lag is exceeded.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._current_at = monotonic()
        self._away: str | None = None

    def start_behind(self, seconds: float, reason: str) -> None:
        """Note that the process knows the log as it was so many seconds ago, and why the server can't be used."""
        self._current_at = monotonic() - seconds
        self._away = reason

    def reset(self) -> None:
        """Note that the process knows all events of the log."""
        self._current_at = monotonic()

    @contextmanager
    def noting_absence(self) -> Generator[None, None, None]:
        """Note whether the server answers what is asked inside."""
        try:
            yield
        except LogAwayError as error:
            self._away = str(error)
            raise
        self._away = None

    def lag(self, events: int) -> Lag:
        """Return the lag of a process that knows to lack so many events; any thread may call this."""
        seconds = monotonic() - self._current_at
        return Lag(events, seconds, self._away, seconds > self._limit)
