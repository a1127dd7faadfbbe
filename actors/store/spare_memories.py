"""Memories of the snapshot as events, for those that a damaged log can't prove any more (`events.recovery.salvage`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from uuid import UUID

from actors.store.snapshot_files import Loaded, Snapshots
from events.crypto.keys import KeyRing
from events.recovery.salvage import SPARE
from events.storage.log import Envelope
from events.vocabulary import MemoryStored, SpacesDeclared
from projections.registry import ComparatorProjections, StoreProjections

_NOWHERE = UUID(int=0)
"""Correlation of an event whose request is unknown."""


def spare_memories(folder: Path, keys: KeyRing) -> Mapping[int, Envelope]:
    """Return the memories of a store's snapshot by the numbers of their events, and the declaration of its spaces.

    A memory whose key was destroyed is left out. The names that it mentions are not in the snapshot.
    """
    loaded = Snapshots(folder, keys).recover()
    found = {} if loaded is None else _memories(loaded)
    return {seq: one for seq, one in found.items() if not keys.is_destroyed(one.id)}


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
