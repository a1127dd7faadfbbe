"""The port that every projection implements: a deterministic fold over the log."""

import hashlib
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from events.storage.log import Envelope
from events.vocabulary import Event, EventLost, Shredded
from events.vocabulary.codec import is_memory, kind_of, name_of


class MemoryState(StrEnum):
    """Life cycle state of a memory."""

    LIVE = "live"
    FORGOTTEN = "forgotten"
    """Soft-deleted: excluded from search, restorable."""
    PRUNED = "pruned"
    """Excluded from search by a consolidation run, restorable."""
    MERGED = "merged"
    """Absorbed by another memory until the run that merged them is undone."""
    ERASED = "erased"
    """Hard-deleted."""


class Projection(Protocol):
    """A deterministic fold: the same events in the same order give the same digest.

    One actor owns a projection and is its only caller. A projection reads no clock, no file and no random generator.
    """

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log; event kinds that don't concern the projection change nothing."""
        ...

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state in a canonical order."""
        ...


def is_client(actor: str) -> bool:
    """Return whether the author of an event is an agent or a command, here or over HTTP."""
    return actor == "front" or actor.startswith("http:")


def is_shredded_memory(event: object) -> bool:
    """Tell whether this event takes the place of a `MemoryStored` whose key is destroyed or that is lost."""
    return isinstance(event, Shredded | EventLost) and is_memory(event.kind)


def event_name(event: Event) -> str:
    """Return the tag of an event without its version, such as `memory_stored`; a shredded event keeps its own."""
    return name_of(event.kind if isinstance(event, Shredded) else kind_of(event))


def digest_of(*parts: bytes | npt.NDArray[Any]) -> bytes:
    """Return the SHA-256 of byte strings and arrays; length prefixes keep different lists of parts distinct."""
    state = hashlib.sha256()
    for part in parts:
        data = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()
