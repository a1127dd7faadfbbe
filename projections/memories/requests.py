"""Which requests of agents were done, so that one that is sent again isn't done again."""

from itertools import islice
from typing import Final
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import ConsolidationUndone, MemoryErased, MemoryForgotten, MemoryRestored, MemoryStored
from projections.projection import digest_of, is_shredded_memory

LATEST: Final = 10_000
"""Requests that are known: a request is sent again within moments, and nobody has so many under way."""


FRONT: Final = "front"
"""Who decides what an agent asks for."""


class Requests:
    """The events of the latest requests that stored, deleted or restored something, by correlation id."""

    _seqs: dict[bytes, list[int]]

    def __init__(self) -> None:
        self._seqs = {}

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        key, event = envelope.correlation_id.bytes, envelope.event
        done = isinstance(
            event, MemoryStored | MemoryForgotten | MemoryErased | MemoryRestored | ConsolidationUndone
        ) or is_shredded_memory(event)
        if envelope.actor != FRONT or not (done or key in self._seqs):
            return
        self._seqs.setdefault(key, []).append(envelope.seq)
        if len(self._seqs) > LATEST:
            del self._seqs[next(islice(self._seqs, 1))]

    def of(self, correlation: UUID) -> tuple[int, ...]:
        """Return the sequence numbers of what a request appended, ascending; none if nothing is known of it."""
        return tuple(self._seqs.get(correlation.bytes, ()))

    def digest(self) -> bytes:
        """Return the SHA-256 of all of it, in the order of the requests."""
        return digest_of(msgspec.msgpack.encode(list(self._seqs.items())))
