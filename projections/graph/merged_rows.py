"""Rows that are one memory since they were merged."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from projections.memories.lifecycle import Lifecycle


class MergedRows:
    """The merge sets of a life cycle by row, as they are at present."""

    def __init__(self, ids: Sequence[UUID], rows: dict[UUID, int], lifecycle: Lifecycle) -> None:
        self._ids = ids
        self._rows = rows
        self._lifecycle = lifecycle

    def root(self, row: int) -> int:
        """Return the row of the last survivor; the row itself unless it is merged."""
        if not self._lifecycle.has_merges:
            return row
        memory = self._ids[row]
        root = self._lifecycle.root(memory)
        return row if root is memory else self._rows[root]

    def members(self, row: int) -> list[int]:
        """Return all rows of a row's merge set, the last survivor last."""
        root = self.root(row)
        return [*(self._rows[memory] for memory in self._lifecycle.absorbed(self._ids[root])), root]

    def expanded(self, rows: Iterable[int]) -> set[int]:
        """Return these rows, and all of their merge sets."""
        return {member for row in rows for member in self.members(row)}
