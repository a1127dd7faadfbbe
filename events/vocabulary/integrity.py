"""Events about the log itself: its chain key, and keys that were destroyed without a request of their own."""

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


ERASURES = frozenset({"memory_erased", "derived_events_erased"})
"""Kinds, without version, of the events that say which keys were destroyed."""
