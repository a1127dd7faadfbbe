"""Filter columns: the metadata of each row by which a search filters, and its state."""

from datetime import datetime
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from events.local_time import calendar_time
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from events.vocabulary.values import Modality, Quadrant
from projections.atlas.code_detection import looks_like_code
from projections.graph.turns import Turns
from projections.projection import MemoryState, digest_of
from projections.storage.arrays import GrowableArray, Mask, Rows, top_k
from projections.storage.microseconds import microseconds, time_of, within_limits

_STATES: Final = tuple(MemoryState)
_CODES: Final = {state: code for code, state in enumerate(_STATES)}
_LIVE, _ERASED = _CODES[MemoryState.LIVE], _CODES[MemoryState.ERASED]
_COLUMNS: Final = ("namespace", "session", "speaker", "modality", "quadrant")
"""Fields of a `Filter` that a memory must equal."""


class Filter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions that an eligible memory meets; a field that is None or empty sets no condition."""

    namespace: str | None = None
    shared: tuple[str, ...] = ()
    """Further namespaces, beside the one above."""
    session: str | None = None
    speaker: str | None = None
    """Compared without regard to case."""
    modality: Modality | None = None
    quadrant: Quadrant | None = None
    """In E1."""
    tags: tuple[str, ...] = ()
    """All of them are required."""
    since: datetime | None = None
    """Earliest `created_at`, inclusive; without a zone it is calendar time."""
    until: datetime | None = None
    """Latest `created_at`, as `since`."""


class _Column:
    """One optional string for each row, dictionary-encoded, so that a comparison is one numpy call."""

    _numbers: dict[str, int]
    _next: int

    def __init__(self) -> None:
        self._codes = GrowableArray(np.int32)
        self._numbers = {}
        self._next = 0

    def append(self, value: str | None) -> None:
        self._codes.append(-1 if value is None else self._number(value))

    def put(self, rows: Rows, value: str) -> None:
        self._codes.array[rows] = self._number(value)

    def _number(self, value: str) -> int:
        if value not in self._numbers:
            self._numbers[value] = self._next
            self._next += 1
        return self._numbers[value]

    def equals(self, value: str) -> Mask:
        return self._codes.array == self._numbers.get(value, self._next)

    def present(self, rows: Rows) -> Mask:
        return self._codes.take(rows) >= 0

    def clear(self, row: int) -> None:
        code = self._codes.array[row]
        self._codes.array[row] = -1
        if not (self._codes.array == code).any():  # erasure leaves no unused value behind
            self._numbers = {value: number for value, number in self._numbers.items() if number != code}

    def codes(self, rows: Rows) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
        return self._codes.array[rows], {number: value for value, number in self._numbers.items()}

    def values(self) -> list[str | None]:
        names = {number: value for value, number in self._numbers.items()}
        return [names.get(code) for code in self._codes.array.tolist()]


class Facets:
    """Filter columns of all rows, and the order of rows in their sessions."""

    _tagged: dict[str, GrowableArray[np.int32]]

    def __init__(self) -> None:
        self._columns = {name: _Column() for name in _COLUMNS}
        self._created = GrowableArray(np.int64)
        self._calendar = GrowableArray(np.int64)
        """The same as calendar time."""
        self._code = GrowableArray(np.bool_)
        """Whether the content is source code: by its modality, or by its lines."""
        self._tagged = {}
        self._states = GrowableArray(np.int8)
        self._survivors = GrowableArray(np.int64)
        """The row that absorbed each row, or the row itself."""
        self._turns = Turns()

    def __len__(self) -> int:
        return len(self._states)

    def append(self, memory: MemoryStored | None) -> None:
        """Add the next row: live with a memory, erased without."""
        values: dict[str, str | None] = {}
        if memory is not None:
            speaker = memory.metadata.get("speaker")
            values = {
                "namespace": memory.namespace,
                "session": memory.session,
                "speaker": speaker.casefold() if isinstance(speaker, str) else None,
                "modality": memory.modality,
                "quadrant": memory.johari[0].quadrant,
            }
            self._tag(len(self), memory.tags)
        for name, column in self._columns.items():
            column.append(values.get(name))
        self._code.append(memory is not None and _is_code(memory))
        self._created.append(0 if memory is None else microseconds(memory.created_at))
        self._calendar.append(0 if memory is None else microseconds(calendar_time(memory.said_at)))
        self._turns.append(values.get("namespace"), values.get("session"), 0 if memory is None else memory.position)
        self._survivors.append(len(self))
        self._states.append(_ERASED if memory is None else _LIVE)

    @property
    def erased(self) -> Mask:
        """Which rows are erased, shape (rows,)."""
        return self._states.array == _ERASED

    def is_erased(self, rows: Rows) -> Mask:
        """Return which of these rows are erased, shape (rows,)."""
        return self._states.take(rows) == _ERASED

    @property
    def live(self) -> Mask:
        """Which rows are live, shape (rows,)."""
        return self._states.array == _LIVE

    def state(self, row: int) -> MemoryState:
        """Return the state of a row."""
        return _STATES[int(self._states.array[row])]

    def hide(self, row: int, state: MemoryState = MemoryState.FORGOTTEN, survivor: int | None = None) -> None:
        """Exclude a row from search; its tags then count for the row of its survivor, if there is one."""
        self._states.array[row] = _CODES[state]
        self._survivors.array[row] = row if survivor is None else survivor

    def show(self, row: int) -> None:
        """Make a hidden row live again."""
        self._states.array[row] = _LIVE
        self._survivors.array[row] = row

    def move(self, rows: Rows, namespace: str) -> None:
        """Put rows that aren't erased into another namespace, with their places in their sessions."""
        self._columns["namespace"].put(rows, namespace)
        sessions = self._columns["session"].values()
        for row in map(int, rows):
            if (session := sessions[row]) is not None:
                self._turns.move(row, namespace, session)

    def retag(self, row: int, tags: tuple[str, ...]) -> None:
        """Replace the tags of a row, unless it is erased."""
        if self.state(row) is not MemoryState.ERASED:
            self._untag(row)
            self._tag(row, tags)

    def _tag(self, row: int, tags: tuple[str, ...]) -> None:
        for tag in dict.fromkeys(tags):
            self._tagged.setdefault(tag, GrowableArray(np.int32)).append(row)

    def _untag(self, row: int) -> None:
        for tag, rows in list(self._tagged.items()):
            for index in np.flatnonzero(rows.array == row).tolist():
                rows.remove(index)
            if not len(rows):
                del self._tagged[tag]

    def clear(self, row: int) -> None:
        """Make a row erased, and delete its values."""
        for column in self._columns.values():
            column.clear(row)
        self._untag(row)
        self._code.array[row] = False
        self._created.array[row] = self._calendar.array[row] = 0
        self._turns.clear(row)
        self._survivors.array[row] = row
        self._states.array[row] = _ERASED

    def in_state(self, state: MemoryState) -> Mask:
        """Return which rows are in a state, shape (rows,)."""
        return self._states.array == _CODES[state]

    def codes(self, column: str, rows: Rows) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
        """Return a filter column of these rows as codes, shape (rows,), -1 for none, and the value of each code."""
        return self._columns[column].codes(rows)

    def created(self, rows: Rows) -> npt.NDArray[np.int64]:
        """Return the `created_at` of these rows in microseconds since 1970, shape (rows,)."""
        return self._created.array[rows]

    def calendar(self, rows: Rows) -> npt.NDArray[np.int64]:
        """Return the `created_at` of these rows as calendar time, in microseconds since 1970, shape (rows,)."""
        return self._calendar.array[rows]

    def in_any(self, namespaces: tuple[str, ...]) -> Mask:
        """Return which rows are in one of these namespaces, shape (rows,)."""
        return np.logical_or.reduce([self._columns["namespace"].equals(name) for name in namespaces])

    def within(self, namespace: str) -> Rows:
        """Return the rows of a namespace that aren't erased, ascending."""
        return np.flatnonzero(self._columns["namespace"].equals(namespace) & ~self.erased)

    def eligible(self, wanted: Filter) -> Mask:
        """Return which live rows pass the filter, shape (rows,).

        A survivor also passes if a row that it absorbed does, and has the tags of all of these.
        """
        mask = np.ones(len(self), np.bool_)
        for name, column in self._columns.items():
            value: str | None = getattr(wanted, name)
            if value is not None:
                mask &= column.equals(value.casefold() if name == "speaker" else value)
            if name == "namespace" and wanted.shared:
                mask |= self.in_any(wanted.shared)
        mask &= within_limits(self._created.array, self._calendar.array, wanted.since, wanted.until)
        mask[self._roots(np.flatnonzero(mask & (self._states.array == _CODES[MemoryState.MERGED])))] = True
        for tag in wanted.tags:
            holders = np.zeros(len(self), np.bool_)
            if tag in self._tagged:
                holders[self._roots(self._tagged[tag].array)] = True
            mask &= holders
        return mask & self.live

    @property
    def images(self) -> Mask:
        """Which rows are images, shape (rows,)."""
        return self._columns["modality"].equals(Modality.IMAGE)

    def in_session(self, rows: Rows) -> Mask:
        """Return which of these rows are turns of a session, shape (rows,)."""
        return self._columns["session"].present(rows)

    def created_between(self, start: datetime, end: datetime, rows: Rows) -> Mask:
        """Return which of these rows have a `created_at` after one moment and not after another, shape (rows,)."""
        created = self._created.array[rows]
        return (created > microseconds(start)) & (created <= microseconds(end))

    def created_at(self, row: int) -> datetime:
        """Return the `created_at` of a row; the epoch for an erased one."""
        return time_of(int(self._created.array[row]))

    def is_code(self, rows: Rows) -> Mask:
        """Return which of these rows are source code, shape (rows,)."""
        return self._code.array[rows]

    def nearest_in_time(self, moment: datetime, count: int, eligible: Mask) -> Rows:
        """Return the `count` eligible rows whose `created_at` is nearest to a moment, nearest first."""
        rows = np.flatnonzero(eligible)
        apart = np.abs(self._created.array[rows] - microseconds(moment))
        return rows[top_k(-apart.astype(np.float32), count)]

    def turns(self, rows: Rows, reach: int) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Return the live neighbours of each row in its session, and their distances, both (rows, 2 * reach).

        Neighbours are at most `reach` positions away, before or after; entries without one are -1 in both.
        """
        neighbours, distances = self._turns.around(rows, reach)
        live = (neighbours >= 0) & (self._states.array[neighbours] == _LIVE)
        return np.where(live, neighbours, -1), np.where(live, distances, -1)

    def around(self, rows: Rows, reach: int) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Return what `turns` returns, also of neighbours that aren't live."""
        return self._turns.around(rows, reach)

    def digest(self) -> bytes:
        """Return the SHA-256 of all columns as values, independent of the codes that encode them."""
        columns = [column.values() for column in self._columns.values()]
        tagged = {tag: rows.array.tolist() for tag, rows in self._tagged.items()}
        arrays = (self._code, self._created, self._calendar, self._states, self._survivors)
        return digest_of(columns, tagged, *(one.array for one in arrays), self._turns.digest())

    def _roots(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        while not np.array_equal(above := self._survivors.array[rows], rows):
            rows = above
        return rows


def _is_code(memory: MemoryStored) -> bool:
    return memory.modality is Modality.CODE or looks_like_code(decompress(memory.content))
