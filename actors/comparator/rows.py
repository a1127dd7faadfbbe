"""Resolve ids of memories to rows of the atlas, and read columns of rows."""

from collections.abc import Iterable
from uuid import UUID

import numpy as np

from actors.comparator.messages import ListMemories
from actors.comparator.messages.memories import Columns, ReadColumns
from actors.runtime.faults import NotFoundFault
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.projection import MemoryState
from projections.storage.arrays import Rows

NO_ROWS: Rows = np.empty(0, np.int64)


def rows_of(atlas: Atlas, memories: Iterable[UUID]) -> Rows:
    """Return the rows of stored memories, live or not."""
    return np.array([atlas.row_of(memory) for memory in memories], np.int64)


def live_row(atlas: Atlas, memory: UUID) -> int:
    """Return the row of a live memory (`NotFoundFault`), the survivor of a merged one."""
    try:
        row = atlas.row_of(atlas.survivor(memory))
    except KeyError:
        raise not_found(memory) from None
    state = atlas.facets.state(row)
    if state is not MemoryState.LIVE:
        raise NotFoundFault(f"Memory is {state.value}: {memory}", id=str(memory))
    return row


def not_found(memory: object) -> NotFoundFault:
    """Return the fault for an unknown memory."""
    return NotFoundFault(f"Memory not found: {memory}", id=str(memory))


def list_memories(atlas: Atlas, message: ListMemories) -> tuple[UUID, ...]:
    """Return the memories of a namespace in the order in which they were stored."""
    rows = atlas.facets.within(message.namespace)
    if not message.forgotten:
        rows = rows[atlas.facets.live[rows]]
    if message.unaligned is not None:
        rows = [row for row in rows.tolist() if atlas.purposes.goal(row) != message.unaligned]
    return tuple(atlas.ids(rows))


def read_columns(atlas: Atlas, message: ReadColumns) -> Columns:
    """Return the filter columns of memories in the order in which they were stored."""
    facets = atlas.facets
    chosen = facets.in_state(message.state)
    if message.namespaces is not None:
        chosen &= facets.in_any(message.namespaces)
    if message.tags:
        chosen &= facets.eligible(Filter(tags=message.tags))
    rows = np.flatnonzero(chosen)
    session, sessions = facets.codes("session", rows)
    namespace, namespaces = facets.codes("namespace", rows)
    return Columns(
        memories=tuple(atlas.ids(rows)),
        created=facets.created(rows),
        calendar=facets.calendar(rows),
        namespace=namespace,
        namespaces=namespaces,
        session=session,
        sessions=sessions,
        vectors=atlas.prefixes(rows) if message.vectors else None,
    )
