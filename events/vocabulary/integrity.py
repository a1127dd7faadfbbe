"""Events about the log itself: its chain key, keys destroyed without a request of their own, and who reads."""

from datetime import datetime
from uuid import UUID

from events.vocabulary.event import Event


class ChainKeyed(Event, frozen=True, kw_only=True, tag="chain_keyed.1"):
    """A log that an earlier version began got a chain key: from this event on, hashes depend on it."""

    plain: int
    """How many events before this one have hashes that anybody can compute."""


class DerivedEventsErased(Event, frozen=True, kw_only=True, tag="derived_events_erased.1"):
    """Goals, patterns or clauses were erased, since all memories that they came from were."""

    events: tuple[UUID, ...]
    """Ids of the sealed events, whose keys are destroyed."""


class RequestsCounted(Event, frozen=True, kw_only=True, tag="requests_counted.1"):
    """What a caller over HTTP asked for in some minute, reads included, and what it was refused."""

    caller: str | None
    """Name of a key or token; None for requests without valid credentials."""
    since: datetime
    """Of the first request; the event's own time is that of the last one, or some seconds later."""
    calls: dict[str, int]
    """How often each operation was called."""
    refused: dict[str, int]
    """How often something was refused, by the operation or by what was wrong."""
    addresses: tuple[str, ...] = ()
    """From which requests were refused, the first few."""


ERASURES = frozenset({"memory_erased", "derived_events_erased"})
"""Kinds, without version, of the events that say which keys were destroyed."""
