"""The events that each request appended, by its idempotency key: the latest requests, and every import."""

from itertools import islice
from typing import Final
from uuid import UUID

import numpy as np

from events import vocabulary as ev
from events.storage.log import Envelope
from projections.projection import digest_of, event_name, is_client, is_shredded_memory
from projections.storage.arrays import GrowableArray

LATEST: Final = 10_000
"""Requests that are kept: a proxy sends a request again within moments, and has no more than 64 under way."""

IMPORTER: Final = "import"
"""The author of imported events other than memories: links and what happened to memories. Each has a derived key."""

DERIVED: Final = 5
"""Version of a UUID that is derived from what it identifies: the key of an import, or of an item of a batch."""

COUNT_BITS: Final = 16
"""Low bits of a stretch of events that hold its length; the bits above hold the first sequence number."""


_DONE: Final = (
    ev.MemoryForgotten,
    ev.MemoryErased,
    ev.MemoryRestored,
    ev.MemoryReinstated,
    ev.MemorySuperseded,
    ev.ConsolidationUndone,
)
"""Events beside a stored memory with which the events of a request begin."""


class Requests:
    """Sequence numbers by key: of the latest requests that stored, deleted or restored something, and of imports."""

    _latest: dict[bytes, list[int]]

    def __init__(self) -> None:
        self._latest = {}
        self._derived = DerivedKeys()

    def apply(self, envelope: Envelope) -> None:
        """Apply the next event of the log."""
        key, event = envelope.correlation_id, envelope.event
        if envelope.actor == IMPORTER:
            self._derived.add(key, envelope.seq)
        if not is_client(envelope.actor):
            return
        is_memory = isinstance(event, ev.MemoryStored) or is_shredded_memory(event)
        if key.version == DERIVED and (is_memory or self._derived.is_last(key)):
            self._derived.add(key, envelope.seq)
            return
        done = is_memory or isinstance(event, _DONE) or event_name(event) == "memory_tagged"  # also if shredded
        if not (done or key.bytes in self._latest):
            return
        self._latest.setdefault(key.bytes, []).append(envelope.seq)
        if len(self._latest) > LATEST:
            del self._latest[next(islice(self._latest, 1))]

    def of(self, key: UUID) -> tuple[int, ...]:
        """Return the sequence numbers of the events that a request appended, ascending; none for an unknown key."""
        return tuple(self._latest.get(key.bytes, ())) or self._derived.of(key)

    def digest(self) -> bytes:
        """Return the SHA-256 of the state, in the order of the requests."""
        return digest_of(list(self._latest.items()), self._derived.digest())


class DerivedKeys:
    """Stretches of events by derived key: 24 bytes a key, searched one by one: 19 µs among 100,000.

    The events of one key are one stretch of the log, since an item is appended by one commit.
    """

    def __init__(self) -> None:
        self._high = GrowableArray(np.uint64)
        self._low = GrowableArray(np.uint64)
        self._stretches = GrowableArray(np.uint64)

    def is_last(self, key: UUID) -> bool:
        """Return whether the key is the one that was added last."""
        return bool(len(self._low)) and _halves(key) == (int(self._high.array[-1]), int(self._low.array[-1]))

    def add(self, key: UUID, seq: int) -> None:
        """Add an event: a new key, or the next event of the last one."""
        if self.is_last(key):
            self._stretches.array[-1] += np.uint64(1)
            return
        high, low = _halves(key)
        self._high.append(high)
        self._low.append(low)
        self._stretches.append(seq << COUNT_BITS | 1)

    def of(self, key: UUID) -> tuple[int, ...]:
        """Return the sequence numbers of a key, ascending; none for an unknown one."""
        high, low = _halves(key)
        for place in np.flatnonzero(self._high.array == np.uint64(high)).tolist():
            if int(self._low.array[place]) == low:
                first, length = divmod(int(self._stretches.array[place]), 1 << COUNT_BITS)
                return tuple(range(first, first + length))
        return ()

    def digest(self) -> bytes:
        """Return the SHA-256 of all keys in the order in which they were added."""
        return digest_of(self._high.array, self._low.array, self._stretches.array)


def _halves(key: UUID) -> tuple[int, int]:
    return divmod(key.int, 1 << 64)
