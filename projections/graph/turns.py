"""Session order: which rows follow each other in a session."""

import numpy as np
import numpy.typing as npt

from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, Rows

_NONE = -1


class Turns:
    """The rows of each session as a doubly linked list by position; neighbours of many rows are found at once."""

    _last: dict[tuple[str, str], int]

    def __init__(self) -> None:
        self._positions = GrowableArray(np.int64)
        self._before = GrowableArray(np.int64)
        self._after = GrowableArray(np.int64)
        self._last = {}

    def append(self, namespace: str | None, session: str | None, position: int) -> None:
        """Add the next row at its position in its session; without a session it has no neighbours."""
        row = len(self._positions)
        self._positions.append(position)
        self._before.append(_NONE)
        self._after.append(_NONE)
        if namespace is not None and session is not None:
            self._insert((namespace, session), row)

    def move(self, row: int, namespace: str, session: str) -> None:
        """Put a row into the session of another namespace, at its position."""
        self._unlink(row)
        self._insert((namespace, session), row)

    def clear(self, row: int) -> None:
        """Unlink a row from its session; the other rows keep their positions."""
        self._unlink(row)
        self._positions.array[row] = 0

    def around(self, rows: Rows, reach: int) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Return the neighbours of each row and their distances in positions, both of shape (rows, 2 * reach).

        Entries without a neighbour within `reach` positions are -1 in both.
        """
        found: list[Rows] = []
        for chain in (self._before.array, self._after.array):
            step = rows
            for _ in range(reach):
                step = np.where(step == _NONE, _NONE, chain[step])
                found.append(step)
        neighbours = np.stack(found, axis=1) if found else np.empty((len(rows), 0), np.int64)
        if (neighbours == _NONE).all():
            return neighbours, neighbours
        positions = self._positions.array
        distances = np.abs(positions[neighbours] - positions[rows][:, None])
        near = (neighbours != _NONE) & (distances <= reach)
        return np.where(near, neighbours, _NONE), np.where(near, distances, _NONE)

    def digest(self) -> bytes:
        """Return the SHA-256 of all lists."""
        return digest_of(self._positions.array, self._before.array, self._after.array)

    def _insert(self, key: tuple[str, str], row: int) -> None:
        """Link a row into a session, by position and then by row, so that the order of insertions doesn't matter."""
        place = (int(self._positions.array[row]), row)
        before, after = self._last.get(key, _NONE), _NONE
        while before != _NONE and (int(self._positions.array[before]), before) > place:
            before, after = int(self._before.array[before]), before
        self._join(before, row)
        self._join(row, after)
        if after == _NONE:
            self._last[key] = row

    def _unlink(self, row: int) -> None:
        before, after = int(self._before.array[row]), int(self._after.array[row])
        if after == _NONE:
            for key in [key for key, last in self._last.items() if last == row]:
                if before == _NONE:
                    del self._last[key]
                else:
                    self._last[key] = before
        self._join(before, after)
        self._before.array[row] = self._after.array[row] = _NONE

    def _join(self, before: int, after: int) -> None:
        if before != _NONE:
            self._after.array[before] = after
        if after != _NONE:
            self._before.array[after] = before
