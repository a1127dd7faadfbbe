"""Which memories of a namespace mention which names, and by which other names it calls the same people and things."""

import re
from collections import deque
from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from events.vocabulary import MemoryStored
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, rows_of_ids

PENDING: Final = 64
"""Memories that wait for the log; one that never reaches it counts until so many others are embedded."""

_WORDS: Final = re.compile(r"[^\W\d_]{2,}")


class Mentions:
    """The memories of each name by namespace. Names are those of `MemoryStored`."""

    _rows: dict[str, dict[str, list[int]]]
    """The rows that mention each name, ascending, by namespace."""

    def __init__(self) -> None:
        self._memories = GrowableArray(np.uint8, 16)
        self._rows = {}
        self._wholes: dict[str, dict[str, set[str]]] = {}
        """The names of several words that contain each word, by namespace."""
        self._ahead: deque[tuple[str, tuple[str, ...]]] = deque(maxlen=PENDING)
        """Namespace and names of memories that are embedded and not yet in the log; no part of the digest."""

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for namespace, names in self._rows.items():
            for name in names:
                self._index(namespace, name)

    def advance(self, namespace: str, names: tuple[str, ...]) -> None:
        """Note a memory that is embedded, so that the next one of the same batch sees it."""
        if names:
            self._ahead.append((namespace, names))

    def append(self, memory: UUID, stored: MemoryStored) -> None:
        """Add a memory, if it mentions a name."""
        if not stored.names:
            return
        if (stored.namespace, stored.names) in self._ahead:
            self._ahead.remove((stored.namespace, stored.names))
        row = len(self._memories)
        self._memories.append(np.frombuffer(memory.bytes, np.uint8))
        for name in stored.names:
            self._rows.setdefault(stored.namespace, {}).setdefault(name, []).append(row)
            self._index(stored.namespace, name)

    def erase(self, memory: UUID) -> None:
        """Forget a memory, and the names that no other one mentions."""
        for row in rows_of_ids(self._memories, [memory]).tolist():
            self._memories.array[row] = 0
            for names in self._rows.values():
                _take_out(names, {row})
            self._tidy()

    def move(self, memories: Iterable[UUID], source: str, target: str) -> None:
        """Put memories into another namespace."""
        taken = _take_out(self._rows.get(source, {}), {*rows_of_ids(self._memories, memories).tolist()})
        names = self._rows.setdefault(target, {})
        for name, rows in taken.items():
            names[name] = sorted((*names.get(name, ()), *rows))
        self._tidy()

    def other_names(self, namespace: str, names: Collection[str]) -> set[str]:
        """Return what else these names are called in a namespace: "mara" for "mara lind", and the other way round.

        A part stands for a whole name only if no other one contains it.
        """
        ahead = {name for other, each in self._ahead if other == namespace for name in each}
        known = self._rows.get(namespace, {}).keys() | ahead

        def whole_names(word: str) -> set[str]:
            found = {name for name in ahead if word in name and word in _words_of(name)}
            return self._wholes.get(namespace, {}).get(word, set()) | found

        found: set[str] = set()
        for name in names:
            if words := _words_of(name):
                found |= {word for word in words if word in known and whole_names(word) <= {name}}
            elif len(candidates := whole_names(name)) == 1:
                found |= candidates
        return found.difference(names)

    def digest(self) -> bytes:
        """Return the SHA-256 of all mentions by name."""
        names = {
            namespace: {name: self._memories.array[rows].tobytes() for name, rows in names.items()}
            for namespace, names in self._rows.items()
        }
        rows: npt.NDArray[np.int64] = np.flatnonzero(self._memories.array.any(axis=1))
        return digest_of(names, self._memories.array[rows])

    def _tidy(self) -> None:
        """Drop namespaces without a name, and derive the rest."""
        self._rows = {namespace: names for namespace, names in self._rows.items() if names}
        self._wholes = {}
        self.after_load()

    def _index(self, namespace: str, name: str) -> None:
        for word in _words_of(name):
            self._wholes.setdefault(namespace, {}).setdefault(word, set()).add(name)


def _take_out(names: dict[str, list[int]], wanted: set[int]) -> dict[str, list[int]]:
    """Remove rows, and the names that no other row mentions; return what was removed."""
    taken = {name: found for name, rows in names.items() if (found := [one for one in rows if one in wanted])}
    for name in taken:
        names[name] = [one for one in names[name] if one not in wanted]
        if not names[name]:
            del names[name]
    return taken


def _words_of(name: str) -> list[str]:
    """Return the words of a name that has several."""
    words = _WORDS.findall(name)
    return words if len(words) > 1 else []
