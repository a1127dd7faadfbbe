"""Records of the catalog: what is stored of a memory, and what happened to it since."""

from datetime import datetime
from math import isnan
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from events.local_time import at_offset
from events.spaces import SPACES
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from events.vocabulary.values import Image, JohariRow, Learning, Modality
from projections.projection import MemoryState
from projections.storage.arrays import GrowableArray
from projections.storage.microseconds import microseconds, time_of

IMPORTED_FROM: Final = "imported_from"
"""The field of a memory's metadata that says which file it was imported from and where in it: `FILE/PLACE`."""


def imported_file(metadata: dict[str, Any]) -> str | None:
    """Return the file that a memory was imported from, as its importer names it; None for another memory."""
    origin = metadata.get(IMPORTED_FROM)
    return origin.partition("/")[0] if isinstance(origin, str) else None


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """The immutable part of a memory, without its embeddings."""

    sha256: bytes
    created_at: datetime
    utc_offset: int | UnsetType = UNSET
    namespace: str
    session: str | None
    position: int
    modality: Modality
    image: Image | None
    importance: float
    tags: tuple[str, ...]
    rationale: str | None
    memory_type: str | None
    metadata: dict[str, Any]
    content: bytes
    """Compressed."""
    passages: tuple[tuple[int, int], ...]
    """Character spans [start, end) of the passages."""
    johari: tuple[JohariRow, ...]
    learning: Learning

    @classmethod
    def of(cls, stored: MemoryStored) -> Self:
        """Take the body from an event."""
        passages = tuple((passage.start, passage.end) for passage in stored.passages)
        fields = {name: getattr(stored, name) for name in cls.__struct_fields__ if name != "passages"}
        return cls(**fields, passages=passages)

    @property
    def text(self) -> str:
        """The content, decompressed."""
        return decompress(self.content)

    @property
    def said_at(self) -> datetime:
        """`created_at` in the time zone in which it was said."""
        return at_offset(self.created_at, self.utc_offset)


class Worth(msgspec.Struct, frozen=True):
    """The fields of a `Body` that its salience depends on."""

    importance: float
    created_at: datetime


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as of the last applied event."""

    id: UUID
    seq: int
    stored_at: datetime
    body: Body | None
    """None once the memory is erased."""
    state: MemoryState = MemoryState.LIVE
    state_since: datetime | None = None
    """Time of the last state change."""
    reason: str | None = None
    """Why it is excluded from search."""
    run: UUID | None = None
    """The consolidation run that pruned or merged it."""
    merged_into: UUID | None = None
    lineage: tuple[UUID, ...] = ()
    """Memories that it absorbed, the oldest first; it includes their tags and accesses."""
    protected: bool = False
    """Whether it was restored by itself; consolidation runs then leave it live."""
    superseded_by: UUID | None = None
    """The latest live memory that took its place; None if it holds."""
    reinstated: bool = False
    """Whether it got its place back from what superseded it."""
    supersedes: tuple[UUID, ...] = ()
    """Memories whose place it took, in the order in which they were stored, without erased ones."""
    purpose: tuple[float, ...] = ()
    """Latest alignment with the North Star, one value for each space; empty once the memory is erased."""
    access_count: int = 0
    last_accessed: datetime | None = None
    events: tuple[int, ...]
    """Sequence numbers of the events that concern it, ascending."""

    @property
    def is_lost(self) -> bool:
        """Whether its event was damaged on the disk (`EventLost`); only an erasure has a time."""
        return self.body is None and self.state_since is None and self.reason is not None


class StoredEntries:
    """Entries as they were when their memories were stored, by row, in a tenth of the memory of such objects."""

    def __init__(self) -> None:
        self._seqs = GrowableArray(np.int64)
        self._times = GrowableArray(np.int64)
        """In microseconds since 1970."""
        self._purposes = GrowableArray(np.float64, len(SPACES))
        """NaN for none."""

    def append(self, entry: Entry) -> None:
        """Add the next row."""
        self._seqs.append(entry.seq)
        self._times.append(microseconds(entry.stored_at))
        self._purposes.append(entry.purpose or np.nan)

    def clear(self, row: int) -> None:
        """Forget the purpose of an erased memory; the rest is known of it for ever."""
        self._purposes.array[row] = np.nan

    def at(self, row: int, memory: UUID) -> Entry:
        """Return the entry of a row, given the id of its memory."""
        seq = int(self._seqs.array[row])
        purpose = tuple(self._purposes.array[row].tolist())
        return Entry(
            id=memory,
            seq=seq,
            stored_at=time_of(int(self._times.array[row])),
            body=None,
            purpose=() if isnan(purpose[0]) else purpose,
            events=(seq,),
        )


class Usage(NamedTuple):
    """What the salience of a memory depends on, with what it absorbed."""

    importance: float
    created_at: datetime
    stored_at: datetime
    accesses: int
    alignment: float
    """With the North Star; 0 without one."""
    memories: tuple[UUID, ...]
    """Itself and those that it absorbed."""


def erased_entry(memory: UUID, seq: int, stored_at: datetime, events: tuple[int, ...]) -> Entry:
    """Return what may be known of an erased memory, equal for a live process and for a replay after the erasure."""
    return Entry(id=memory, seq=seq, stored_at=stored_at, body=None, state=MemoryState.ERASED, events=events)


def merged_entry(entry: Entry, absorbed: list[Entry]) -> Entry:
    """Return a survivor's entry that includes the tags and accesses of what it absorbed, given the oldest first."""
    parts = (entry, *absorbed)
    tags = dict.fromkeys(tag for one in parts if one.body is not None for tag in one.body.tags)
    return msgspec.structs.replace(
        entry,
        body=None if entry.body is None else msgspec.structs.replace(entry.body, tags=tuple(tags)),
        access_count=sum(one.access_count for one in parts),
        last_accessed=max((one.last_accessed for one in parts if one.last_accessed is not None), default=None),
        lineage=tuple(one.id for one in absorbed),
    )
