"""Short histories: events wrapped as a log would wrap them."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import msgspec
import numpy as np

from events.fingerprint import Passage
from events.quantization import pack
from events.storage.log import Envelope
from events.vocabulary import Event, MemoryErased, Shredded
from projections.projection import Projection
from tests.events.samples import DIMENSIONS, NOON, draft, unit

P = TypeVar("P", bound=Projection)


def memory_id(number: int) -> UUID:
    """Return the id of the n-th event of a history, counted from 1."""
    return UUID(int=number)


def history(*events: Event) -> list[Envelope]:
    """Wrap events: the n-th has n as its sequence number and as its id, and happens n minutes after noon."""
    envelopes: list[Envelope] = []
    for seq, event in enumerate(events, start=1):
        wrapped = draft(event, id=memory_id(seq), at=NOON + timedelta(minutes=seq))
        envelopes.append(Envelope(seq=seq, **msgspec.structs.asdict(wrapped)))
    return envelopes


def folded(projection: P, log: Iterable[Envelope]) -> P:
    """Return a projection that has applied all of a log."""
    for envelope in log:
        projection.apply(envelope)
    return projection


def read_later(log: Iterable[Envelope]) -> list[Envelope]:
    """Return what a later reader of the same log gets: the bodies of erased memories can't be read any more."""
    log = list(log)
    erased = {envelope.event.memory for envelope in log if isinstance(envelope.event, MemoryErased)}
    shredded = Shredded(kind="memory_stored.1")
    return [
        msgspec.structs.replace(envelope, event=shredded) if envelope.id in erased else envelope for envelope in log
    ]


def passage(seed: int, start: int, end: int) -> Passage:
    """Return a passage with a random E1 vector."""
    return Passage(start, end, pack(unit(np.random.default_rng(seed), DIMENSIONS["e1_semantic"])))
