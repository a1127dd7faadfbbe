"""What memories are filtered by, column by column, and which of them can be found at all."""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from events.vocabulary import MemoryStored
from events.vocabulary.values import Modality, Quadrant
from projections.memories.turns import Turns
from projections.projection import MemoryState, digest_of
from projections.storage.arrays import Growing, Mask, Rows, best

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STATES: Final = tuple(MemoryState)
_CODES: Final = {state: code for code, state in enumerate(_STATES)}
_LIVE, _ERASED = _CODES[MemoryState.LIVE], _CODES[MemoryState.ERASED]


class Filter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a memory must be to be eligible; whatever is None or empty excludes nothing."""

    namespace: str | None = None
    session: str | None = None
    speaker: str | None = None
    modality: Modality | None = None
    quadrant: Quadrant | None = None
    """Of the first space (E1)."""
    tags: tuple[str, ...] = ()
    """All of these must be there."""
    since: datetime | None = None
    """Earliest `created_at`, inclusive."""
    until: datetime | None = None
    """Latest `created_at`, exclusive."""


class _Column:
    """One optional string per row, kept as a number so that a comparison with all rows is one numpy call."""

    _numbers: dict[str, int]
    _next: int

    def __init__(self) -> None:
        self._codes = Growing(np.int32)
        self._numbers = {}
        self._next = 0

    def append(self, value: str | None) -> None:
        if value is not None and value not in self._numbers:
            self._numbers[value] = self._next
            self._next += 1
        self._codes.append(-1 if value is None else self._numbers[value])

    def equals(self, value: str) -> Mask:
        return self._codes.array == self._numbers.get(value, self._next)

    def clear(self, row: int) -> None:
        code = self._codes.array[row]
        self._codes.array[row] = -1
        if not (self._codes.array == code).any():  # nothing of an erased memory may stay behind
            self._numbers = {value: number for value, number in self._numbers.items() if number != code}

    def values(self) -> list[str | None]:
        names = {number: value for value, number in self._numbers.items()}
        return [names.get(code) for code in self._codes.array.tolist()]


class Facets:
    """The columns of all rows, and the turns of their sessions."""

    _tagged: dict[str, Growing[np.int32]]

    def __init__(self) -> None:
        self._columns = {name: _Column() for name in ("namespace", "session", "speaker", "modality", "quadrant")}
        self._created = Growing(np.int64)
        self._tagged = {}
        self._states = Growing(np.int8)
        self._survivors = Growing(np.int64)
        """Of each row, the one that absorbed it, or itself."""
        self._turns = Turns()

    def __len__(self) -> int:
        return len(self._states)

    def append(self, memory: MemoryStored | None) -> None:
        """Add the next row: live with its memory, erased without."""
        values: dict[str, str | None] = {}
        if memory is not None:
            speaker = memory.metadata.get("speaker")
            values = {
                "namespace": memory.namespace,
                "session": memory.session,
                "speaker": speaker if isinstance(speaker, str) else None,
                "modality": memory.modality,
                "quadrant": memory.johari[0].quadrant,
            }
            for tag in dict.fromkeys(memory.tags):
                self._tagged.setdefault(tag, Growing(np.int32)).append(len(self))
        for name, column in self._columns.items():
            column.append(values.get(name))
        self._created.append(0 if memory is None else _microseconds(memory.created_at))
        self._turns.append(values.get("namespace"), values.get("session"), 0 if memory is None else memory.position)
        self._survivors.append(len(self))
        self._states.append(_ERASED if memory is None else _LIVE)

    @property
    def erased(self) -> Mask:
        """Which rows are empty, shape (rows,)."""
        return self._states.array == _ERASED

    def state(self, row: int) -> MemoryState:
        """Return whether this row can be found."""
        return _STATES[int(self._states.array[row])]

    def hide(self, row: int, state: MemoryState = MemoryState.FORGOTTEN, survivor: int | None = None) -> None:
        """Put a row in a state in which it can't be found; the row of a survivor, if there is one, gets its tags."""
        self._states.array[row] = _CODES[state]
        self._survivors.array[row] = row if survivor is None else survivor

    def show(self, row: int) -> None:
        """Make a hidden row live, with no tags but its own and those of what it absorbed."""
        self._states.array[row] = _LIVE
        self._survivors.array[row] = row

    def clear(self, row: int) -> None:
        """Make a row erased, and drop what it held."""
        for column in self._columns.values():
            column.clear(row)
        for tag, rows in list(self._tagged.items()):
            for index in np.flatnonzero(rows.array == row).tolist():
                rows.remove(index)
            if not len(rows):
                del self._tagged[tag]
        self._created.array[row] = 0
        self._turns.clear(row)
        self._survivors.array[row] = row
        self._states.array[row] = _ERASED

    def within(self, namespace: str) -> Rows:
        """Return the rows of a namespace, ascending, that aren't erased."""
        return np.flatnonzero(self._columns["namespace"].equals(namespace) & ~self.erased)

    @property
    def live(self) -> Mask:
        """Which rows can be found, shape (rows,)."""
        return self._states.array == _LIVE

    def eligible(self, wanted: Filter) -> Mask:
        """Return which live rows pass the filter, shape (rows,).

        A survivor passes if anything that it absorbed does, and has the tags of all that.
        """
        mask = np.ones(len(self), np.bool_)
        values = {
            "namespace": wanted.namespace,
            "session": wanted.session,
            "speaker": wanted.speaker,
            "modality": wanted.modality,
            "quadrant": wanted.quadrant,
        }
        for name, value in values.items():
            if value is not None:
                mask &= self._columns[name].equals(value)
        if wanted.since is not None:
            mask &= self._created.array >= _microseconds(wanted.since)
        if wanted.until is not None:
            mask &= self._created.array < _microseconds(wanted.until)
        mask[self._roots(np.flatnonzero(mask & (self._states.array == _CODES[MemoryState.MERGED])))] = True
        for tag in wanted.tags:
            holders = np.zeros(len(self), np.bool_)
            if tag in self._tagged:
                holders[self._roots(self._tagged[tag].array)] = True
            mask &= holders
        return mask & self.live

    def mostly(self, modality: Modality, eligible: Mask) -> bool:
        """Tell whether most of these rows are of a modality."""
        told = self._columns["modality"].equals(modality) & eligible
        return 2 * int(np.count_nonzero(told)) > int(np.count_nonzero(eligible))

    def created_at(self, row: int) -> datetime:
        """Return when what a row tells happened or was said; the epoch for an erased one."""
        return _EPOCH + timedelta(microseconds=int(self._created.array[row]))

    def nearest_in_time(self, moment: datetime, count: int, eligible: Mask) -> Rows:
        """Return the `count` eligible rows, best first, that were created nearest to a moment."""
        rows = np.flatnonzero(eligible)
        apart = np.abs(self._created.array[rows] - _microseconds(moment))
        return rows[best(-apart.astype(np.float32), count)]

    def turns(self, rows: Rows, reach: int) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Return the live neighbours of each row in its session, and their distances, both (rows, 2 * reach).

        A neighbour stands in the same namespace and session at most `reach` positions away, before or after;
        places without one hold -1 in both.
        """
        neighbours, distances = self._turns.around(rows, reach)
        live = (neighbours >= 0) & self.live[neighbours]
        return np.where(live, neighbours, -1), np.where(live, distances, -1)

    def digest(self) -> bytes:
        """Return the SHA-256 of all columns, as values, so that the order of their first use doesn't count."""
        columns = [column.values() for column in self._columns.values()]
        tagged = sorted((tag, rows.array.tolist()) for tag, rows in self._tagged.items())
        named = msgspec.msgpack.encode((columns, tagged))
        return digest_of(named, self._created.array, self._states.array, self._survivors.array, self._turns.digest())

    def _roots(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        """Return the row that answers for each of these."""
        while not np.array_equal(above := self._survivors.array[rows], rows):
            rows = above
        return rows


def _microseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1)
