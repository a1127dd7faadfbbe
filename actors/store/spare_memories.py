"""Memories of the snapshot as events, for those that a damaged log can't prove any more (`events.recovery.salvage`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from actors.store.snapshot_files import ASIDE, Loaded, Snapshots
from events.crypto.keys import KeyRing
from events.recovery.salvage import SPARE, Spare
from events.storage.log import Envelope, Head
from events.vocabulary import MemoryStored, SpacesDeclared
from projections.registry import ComparatorProjections, StoreProjections

_NOWHERE = UUID(int=0)
"""Correlation of an event whose request is unknown."""


def snapshot_head(folder: Path, keys: KeyRing) -> Head | None:
    """Return where the log ended when the newest snapshot was taken, of this schema or not; None without one."""
    return max(Snapshots(folder, keys).heads(), key=lambda head: head.seq, default=None)


def spare_memories(folder: Path, keys: KeyRing) -> Mapping[int, Envelope]:
    """Return the memories of a store's snapshot by the numbers of their events, and the declaration of its spaces.

    A memory whose key was destroyed is left out. The names that it mentions are not in the snapshot.
    """
    loaded = next(Snapshots(folder, keys).recover(), None)
    found = {} if loaded is None else _memories(loaded)
    return {seq: one for seq, one in found.items() if not keys.is_destroyed(one.id)}


def stray_memories(folder: Path, keys: KeyRing) -> Iterator[Envelope]:
    """Yield the memories of the snapshots that were set aside, each once; one whose key was destroyed is left out."""
    found: dict[UUID, Envelope] = {}
    for loaded in Snapshots(folder, keys).recover(ASIDE):
        found = {one.id: one for one in _memories(loaded).values()} | found
    return (one for one in found.values() if isinstance(one.event, MemoryStored) and not keys.is_destroyed(one.id))


def _memories(loaded: Loaded) -> dict[int, Envelope]:
    owners = {type(one): one for one in loaded.projections.values()}
    store, comparator = owners.get(StoreProjections), owners.get(ComparatorProjections)
    if not isinstance(store, StoreProjections) or not isinstance(comparator, ComparatorProjections):
        return {}
    declared, atlas = comparator.atlas.declared, comparator.atlas.atlas
    if declared is None or atlas is None:
        return {}
    found: dict[int, Envelope] = {}
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
    first = min(found, default=0)
    if first > 1:  # a log begins with the declaration, without which no memory can be indexed
        found[1] = _event(1, UUID(int=1), found[first].at, declared)
    return found


def _event(seq: int, id_: UUID, at: datetime, event: MemoryStored | SpacesDeclared) -> Envelope:
    return Envelope(seq=seq, id=id_, at=at, actor=SPARE, correlation_id=_NOWHERE, causation_id=None, event=event)


SNAPSHOT: Final = Spare(snapshot_head, spare_memories, stray_memories)
