"""The port that every projection implements: a deterministic fold over the log."""

import hashlib
from enum import StrEnum
from typing import Any, Protocol, cast

import msgspec
import numpy as np

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


def digest_of(*parts: object) -> bytes:
    """Return the SHA-256 of byte strings, arrays and plain values.

    Length prefixes keep different lists of parts distinct. Dictionaries and sets have no order: where theirs is a part
    of the state, a list gives it.
    """
    state = hashlib.sha256()
    for part in parts:
        match part:
            case bytes():
                data = part
            case np.ndarray():
                data = np.ascontiguousarray(part).tobytes()
            case _:
                data = msgspec.msgpack.encode(_ordered(part))
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()


def _ordered(value: object) -> object:
    """Return a value with dictionaries, also those in dictionaries, and sets as sorted lists."""
    if isinstance(value, dict):
        entries = cast("dict[Any, object]", value)
        return [(key, _ordered(entries[key])) for key in sorted(entries)]
    return sorted(cast("set[Any]", value)) if isinstance(value, set | frozenset) else value
