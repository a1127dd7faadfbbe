"""Which keys an event destroys, and the events whose keys go with those of others."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID, uuid4

from actors.runtime.actor import LOGGER
from events.storage.log import Draft, Envelope, Log, LogFullError
from events.vocabulary import DerivedEventsErased, Event, MemoryErased
from projections.memories.derived_events import DerivedEvents


def erased_by(event: Event) -> tuple[UUID, ...]:
    """Return the events whose keys an event says are destroyed."""
    match event:
        case MemoryErased(memory=memory):
            return (memory,)
        case DerivedEventsErased(events=events):
            return events
        case _:
            return ()


def erase_derived(log: Log, derived: DerivedEvents, clock: Callable[[], datetime]) -> tuple[Envelope, ...]:
    """Append which events were derived from erased memories alone, if there are any.

    `verify` compares destroyed keys with such events; a key without one was destroyed by somebody else.
    """
    orphans = derived.orphans()
    if not orphans:
        return ()
    event = DerivedEventsErased(events=orphans)
    try:
        return log.append([Draft(id=uuid4(), at=clock(), actor="store", correlation_id=uuid4(), event=event)])
    except LogFullError as error:
        LOGGER.warning("%s goals, patterns or clauses are erased with the next append: %s", len(orphans), error)
        return ()
