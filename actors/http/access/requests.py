"""Rates of requests, and their counts, so that the log tells of reads and of refusals too.

One event a minute and caller: an event for each request would let anybody who reaches the server fill the log.
"""

from collections import Counter, OrderedDict
from datetime import datetime
from time import monotonic

import anyio
import msgspec

from actors.api.caller import NOBODY, Caller, Scope
from actors.api.context import Context, append, wait_until_replayed
from actors.runtime.actor import LOGGER
from actors.runtime.faults import Fault, RateLimitFault
from events.vocabulary import RequestsCounted

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
"""Replays of the log of one caller at once."""
RETRY_SECONDS = 2
"""Seconds after which a refused client may try again."""
MAX_BUCKETS = 10_000
"""Callers and addresses that are remembered; the one seen longest ago is forgotten."""
EVERY = 60.0
"""Seconds between two events of a caller."""
LAST_SECONDS = 5.0
"""That a server which stops waits for its last events."""
MAX_ADDRESSES = 8
"""That an event names."""


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
        now = monotonic()
        left, at = self._buckets.get(name, (float(burst), now))
        left = min(float(burst), left + (now - at) * rate)
        granted = left >= 1
        self._buckets[name] = (left - 1 if granted else left, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return granted


class _Count(msgspec.Struct):
    since: datetime
    calls: Counter[str] = msgspec.field(default_factory=Counter[str])
    refused: Counter[str] = msgspec.field(default_factory=Counter[str])
    addresses: dict[str, None] = msgspec.field(default_factory=dict[str, None])


class RequestCounts:
    """Requests since the last events. Callers are the owners of keys and tokens; all others share one count."""

    def __init__(self) -> None:
        self._counts: dict[str | None, _Count] = {}

    def called(self, caller: Caller, operation: str, now: datetime) -> None:
        """Count a call."""
        self._of(caller.name, now).calls[operation] += 1

    def refused(self, caller: Caller | None, what: str, now: datetime, address: str | None = None) -> None:
        """Count a refusal; without a caller nobody was recognised.

        `what` is the operation, or what is wrong: one of few texts, never one that a client chose.
        """
        count = self._of(None if caller is None else caller.name, now)
        count.refused[what] += 1
        if address and len(count.addresses) < MAX_ADDRESSES:
            count.addresses[address] = None

    def take(self) -> list[RequestsCounted]:
        """Return what was counted, and begin anew."""
        counts, self._counts = self._counts, {}
        return [
            RequestsCounted(
                caller=caller,
                since=one.since,
                calls=dict(one.calls),
                refused=dict(one.refused),
                addresses=tuple(one.addresses),
            )
            for caller, one in counts.items()
        ]

    def _of(self, caller: str | None, now: datetime) -> _Count:
        if caller not in self._counts:
            self._counts[caller] = _Count(now)
        return self._counts[caller]


async def record(context: Context, counts: RequestCounts) -> None:
    """Append what was counted, each minute and at the end. What a store that is read-only refuses is lost."""
    try:
        while True:
            await anyio.sleep(EVERY)
            with anyio.CancelScope(shield=True):  # what was taken from the counts is in none but this call
                await _append(context, counts.take())
    finally:
        with anyio.move_on_after(LAST_SECONDS, shield=True):
            await _append(context, counts.take())


async def _append(context: Context, events: list[RequestsCounted]) -> None:
    try:
        await wait_until_replayed(context)
        for event in events:
            caller = NOBODY if event.caller is None else Caller(name=event.caller, scope=Scope.READ, namespaces=None)
            await append(context.for_caller(caller), event)
    except Fault as fault:
        LOGGER.warning("the requests of a minute could not be noted: %s", fault.message)
