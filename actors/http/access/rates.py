"""Rates of requests: token buckets of requests and of replays for each caller, of failed logins for each address."""

from __future__ import annotations

from collections import OrderedDict
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
REPLAYS_PER_SECOND = 0.1
"""Replays of the log for `as_of` of one caller on average: each takes a processor for a second per 2,000 events."""
REPLAYS_AT_ONCE = 12
"""Such replays of one caller at once."""
RETRY_SECONDS = 2
"""Seconds after which a refused client may try again."""
MAX_BUCKETS = 10_000
"""Callers and addresses that are remembered; the one seen longest ago is forgotten."""


class Rates:
    """The buckets of a server."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        """Tokens left in each bucket, and the time of that count."""

    def take(self, caller: str) -> None:
        """Count a request; raise `RateLimitFault` if there are too many."""
        if not self._take(("request", caller), PER_SECOND, BURST):
            raise RateLimitFault("Too many requests; wait some seconds")

    def fail(self, address: str) -> None:
        """Count an invalid token; raise `RateLimitFault` if there are too many."""
        if not self._take(("failure", address), FAILURES_PER_SECOND, FAILURES_AT_ONCE):
            raise RateLimitFault("Too many invalid tokens; wait some seconds")

    def replay(self, caller: str) -> None:
        """Count a replay of the log; raise `RateLimitFault` if there are too many."""
        if not self._take(("replay", caller), REPLAYS_PER_SECOND, REPLAYS_AT_ONCE):
            wait = 1 / REPLAYS_PER_SECOND
            problem = f"Too many past moments: each is replayed from the log; wait {wait:.0f} s, or stay at one moment"
            raise RateLimitFault(problem, retry_after_ms=int(wait * 1e3))

    def _take(self, name: tuple[str, str], rate: float, burst: int) -> bool:
        left = self._left(name, rate, burst)
        granted = left >= 1
        self._buckets[name] = (left - 1 if granted else left, monotonic())
        self._buckets.move_to_end(name)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return granted

    def _left(self, name: tuple[str, str], rate: float, burst: int) -> float:
        left, at = self._buckets.get(name, (float(burst), monotonic()))
        return min(float(burst), left + (monotonic() - at) * rate)
