"""Events of the snapshot in place of those that a damaged log can't prove any more (`events.recovery.salvage`)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID, uuid5

from actors.store.snapshot_files import ASIDE, Loaded, Snapshots
from events.crypto.keys import KeyRing
from events.recovery.salvage import SPARE, Spare, memory_of
from events.storage.log import Envelope, Head
from events.vocabulary import MemoryForgotten, MemoryStored, SpacesDeclared
from events.vocabulary.codec import kind_of
from projections.projection import MemoryState
from projections.registry import ComparatorProjections, StoreProjections

_NOWHERE = UUID(int=0)
"""Correlation of an event whose request is unknown."""


def snapshot_head(folder: Path, keys: KeyRing) -> Head | None:
    """Return where the log ended when the newest snapshot was taken, of this schema or not; None without one."""
    return max(Snapshots(folder, keys).heads(), key=lambda head: head.seq, default=None)


def spare_memories(folder: Path, keys: KeyRing) -> Mapping[int, Envelope]:
    """Return the memories of a store's snapshot by the numbers of their events, and the declaration of its spaces.

    A memory whose key was destroyed is left out. The names that it mentions are not in the snapshot. A forgotten memory
    has its forgetting at the number of each of its later events, since the snapshot doesn't tell which one it was.
    """
    loaded = next(Snapshots(folder, keys).recover(), None)
    found = {} if loaded is None else _events(loaded)
    return {seq: one for seq, one in found.items() if not _is_erased(one, keys)}


def stray_memories(folder: Path, keys: KeyRing) -> Iterator[Envelope]:
    """Yield the memories of the snapshots that were set aside, each once, and which of them were forgotten.

    One whose key was destroyed is left out.
    """
    found: dict[UUID, Envelope] = {}
    for loaded in Snapshots(folder, keys).recover(ASIDE):
        older = {one.id: one for one in _events(loaded).values() if memory_of(one) not in found}
        found = older | found
    return (one for one in found.values() if not isinstance(one.event, SpacesDeclared) and not _is_erased(one, keys))


def _is_erased(envelope: Envelope, keys: KeyRing) -> bool:
    return keys.is_destroyed(memory_of(envelope))


def _events(loaded: Loaded) -> dict[int, Envelope]:
    """Return what a snapshot knows of the log, by sequence number: memories, forgettings and the declaration."""
    owners = {type(one): one for one in loaded.projections.values()}
    store, comparator = owners.get(StoreProjections), owners.get(ComparatorProjections)
    if not isinstance(store, StoreProjections) or not isinstance(comparator, ComparatorProjections):
        return {}
    declared, atlas = comparator.atlas.declared, comparator.atlas.atlas
    if declared is None or atlas is None:
        return {}
    found: dict[int, Envelope] = {}
    forgotten: dict[int, Envelope] = {}
    for entry, body in store.catalog.as_stored():
        row = atlas.row_of(entry.id)
        fingerprint, passages = atlas.as_stored(row)
        fields = {name: getattr(body, name) for name in body.__struct_fields__ if name != "passages"}
        stored = MemoryStored(
            **fields,
            passages=passages,
            fingerprint=fingerprint,
            purpose=entry.purpose,
            north_star=atlas.purposes.goal(row),
        )
        found[entry.seq] = _event(entry.seq, entry.id, entry.stored_at, stored)
        if entry.state is MemoryState.FORGOTTEN and entry.state_since is not None:
            change = MemoryForgotten(memory=entry.id, reason=entry.reason)
            id_ = uuid5(entry.id, kind_of(change))
            forgotten |= {seq: _event(seq, id_, entry.state_since, change) for seq in entry.events if seq > entry.seq}
    first = min(found, default=0)
    if first > 1:  # a log begins with the declaration, without which no memory can be indexed
        found[1] = _event(1, UUID(int=1), found[first].at, declared)
    return found | forgotten


def _event(seq: int, id_: UUID, at: datetime, event: MemoryStored | MemoryForgotten | SpacesDeclared) -> Envelope:
    return Envelope(seq=seq, id=id_, at=at, actor=SPARE, correlation_id=_NOWHERE, causation_id=None, event=event)


SNAPSHOT: Final = Spare(snapshot_head, spare_memories, stray_memories)
