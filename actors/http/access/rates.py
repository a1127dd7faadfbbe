"""Rates of requests: a token bucket for each caller, and one of failed logins for each address."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

from actors.runtime.faults import RateLimitFault

PER_SECOND = 100.0
"""Requests of one caller on average."""
BURST = 1_000
"""Requests of one caller at once."""
FAILURES_PER_SECOND = 0.5
"""Invalid tokens from one address on average."""
FAILURES_AT_ONCE = 20
"""Invalid tokens from one address at once."""
RETRY_SECONDS = 2
"""After which a request or an invalid token is granted again."""
MAX_BUCKETS = 10_000
"""Callers and addresses that are remembered; the one seen longest ago is forgotten."""


class Rates:
    """The buckets of a server.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        """What is left, and the time when it was."""

    def take(self, caller: str) -> None:
        """Count a request; raise `RateLimitFault` if there are too many."""
        if not self._take(("request", caller), PER_SECOND, BURST):
            raise RateLimitFault("Too many requests; wait some seconds")

    def fail(self, address: str) -> None:
        """Count an invalid token; raise `RateLimitFault` if there are too many."""
        if not self._take(("failure", address), FAILURES_PER_SECOND, FAILURES_AT_ONCE):
            raise RateLimitFault("Too many invalid tokens; wait some seconds")

    def _take(self, name: tuple[str, str], rate: float, burst: int) -> bool:
        left = self._left(name, rate, burst)
        granted = left >= 1
        self._buckets[name] = (left - 1 if granted else left, self._clock())
        self._buckets.move_to_end(name)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return granted

    def _left(self, name: tuple[str, str], rate: float, burst: int) -> float:
        left, at = self._buckets.get(name, (float(burst), self._clock()))
        return min(float(burst), left + (self._clock() - at) * rate)
