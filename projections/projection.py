"""The port of everything that is known: a deterministic fold over the log."""

import hashlib
from enum import StrEnum
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from events.storage.log import Envelope
from events.vocabulary import Event, MemoryStored, Shredded
from events.vocabulary.codec import kind_of

STORED: Final = str(MemoryStored.__struct_config__.tag).rpartition(".")[0]
"""The name under which stored memories of all versions stand in the log, and in a `Shredded` once they are erased."""


class MemoryState(StrEnum):
    """Where a memory is in its life."""

    LIVE = "live"
    FORGOTTEN = "forgotten"
    """Found no more, but restorable."""
    PRUNED = "pruned"
    """Taken out of every search by a run of the consolidator, but restorable."""
    MERGED = "merged"
    """Absorbed by a memory that answers for it, until the run that merged them is undone."""
    ERASED = "erased"
    """Gone for good."""


class Projection(Protocol):
    """Two projections that applied the same events in the same order have the same digest.

    A projection has one owner, which alone calls it. It reads no clock, no file and no random generator.
    """

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log; kinds that don't concern the projection change nothing."""
        ...

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state in a canonical order."""
        ...


def is_shredded_memory(event: object) -> bool:
    """Tell whether this event stands for a stored memory that can't be read again."""
    return isinstance(event, Shredded) and name_of(event) == STORED


def name_of(event: Event) -> str:
    """Return the name of an event's kind without its version, such as `memory_stored`, also of a shredded one."""
    tag = event.kind if isinstance(event, Shredded) else kind_of(event)
    return tag.rpartition(".")[0]


def digest_of(*parts: bytes | npt.NDArray[Any]) -> bytes:
    """Return the SHA-256 of byte strings and arrays, each with its length, so that no two lists of parts agree."""
    state = hashlib.sha256()
    for part in parts:
        data = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()
