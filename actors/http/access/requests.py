"""Requests of each caller, counted, so that the log tells of reads and of refusals too, one event a minute and caller.

An event for each request would let anybody who reaches the server fill the log.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

import anyio
import msgspec

from actors.api.caller import NOBODY, Caller, Scope
from actors.api.context import append, wait_until_replayed
from actors.runtime.actor import LOGGER
from actors.runtime.faults import Fault
from events.vocabulary import RequestsCounted

if TYPE_CHECKING:
    from actors.api.context import Context

EVERY = 60.0
"""Seconds between two events of a caller."""
LAST_SECONDS = 5.0
"""That a server which stops waits for its last events."""
MAX_ADDRESSES = 8
"""That an event names."""


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
