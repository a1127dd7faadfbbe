"""Which memories of a namespace mention which names: what a memory is connected with beside sessions and links."""

import re
from collections import deque
from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense
from events.quantization import Float32, Levels, directions, levels
from events.spaces import E1
from events.vocabulary import MemoryStored
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray, rows_of_ids

RARE: Final = 8
"""Mentions up to which a name connects the memories that mention it; a commoner one says too little."""

PENDING: Final = 64
"""Memories that wait for the log; one that never reaches it connects until so many others are embedded."""

_WORDS: Final = re.compile(r"[^\W\d_]{2,}")


class Mentions:
    """The memories of each name by namespace, and their E1 vectors. Names are those of `MemoryStored`.

    400 bytes for each memory that mentions a name, beside the names themselves.
    """

    _rows: dict[str, dict[str, list[int]]]
    """The rows that mention each name, ascending, by namespace."""

    def __init__(self) -> None:
        self._memories = GrowableArray(np.uint8, 16)
        self._vectors = GrowableArray(np.int8, 0)
        """As wide as the first one."""
        self._rows = {}
        self._wholes: dict[str, dict[str, set[str]]] = {}
        """The names of several words that contain each word, by namespace."""
        self._ahead: deque[tuple[str, tuple[str, ...], Levels]] = deque(maxlen=PENDING)
        """Namespace, names and E1 of memories that are embedded and not yet in the log; no part of the digest."""

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for namespace, names in self._rows.items():
            for name in names:
                self._index(namespace, name)

    def advance(self, namespace: str, names: tuple[str, ...], e1: npt.NDArray[np.floating]) -> None:
        """Note a memory that is embedded, so that the next one of the same batch sees it."""
        if names:
            self._ahead.append((namespace, names, levels(e1)))

    def append(self, memory: UUID, stored: MemoryStored) -> None:
        """Add a memory, if it mentions a name."""
        if not stored.names:
            return
        e1 = stored.fingerprint.take(E1, Dense).levels
        for place, (namespace, names, vector) in enumerate(self._ahead):
            if (namespace, names) == (stored.namespace, stored.names) and np.array_equal(vector, e1):
                del self._ahead[place]
                break
        if not self._vectors:
            self._vectors = GrowableArray(np.int8, len(e1))
        row = len(self._memories)
        self._memories.append(np.frombuffer(memory.bytes, np.uint8))
        self._vectors.append(e1)
        for name in stored.names:
            self._rows.setdefault(stored.namespace, {}).setdefault(name, []).append(row)
            self._index(stored.namespace, name)

    def erase(self, memory: UUID) -> None:
        """Forget a memory, and the names that no other one mentions."""
        for row in np.flatnonzero((self._memories.array == np.frombuffer(memory.bytes, np.uint8)).all(axis=1)).tolist():
            self._memories.array[row] = 0
            self._vectors.array[row] = 0
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
        ahead = {name for other, each, _ in self._ahead if other == namespace for name in each}
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

    def near(self, namespace: str, names: Iterable[str]) -> list[tuple[Float32, float]]:
        """Return unit E1 vectors of the memories that share a rare name, each with a weight in (0, 1].

        The memories of one name weigh 1 together; one that shares several names has the sum, at most 1.
        """
        known, stored = self._rows.get(namespace, {}), len(self._memories)
        weights: dict[int, float] = {}
        for name in names:
            ahead = (
                stored + n for n, (other, each, _) in enumerate(self._ahead) if other == namespace and name in each
            )
            rows = [*known.get(name, ()), *ahead]
            if len(rows) <= RARE:
                for row in rows:
                    weights[row] = min(1.0, weights.get(row, 0.0) + 1 / len(rows))
        vectors = self._vectors.array
        return [
            (directions(vectors[row] if row < stored else self._ahead[row - stored][2]), weight)
            for row, weight in sorted(weights.items())
        ]

    def digest(self) -> bytes:
        """Return the SHA-256 of all mentions by name."""
        names = [
            (namespace, name, self._memories.array[rows].tobytes())
            for namespace, names in sorted(self._rows.items())
            for name, rows in sorted(names.items())
        ]
        rows: npt.NDArray[np.int64] = np.flatnonzero(self._memories.array.any(axis=1))
        return digest_of(msgspec.msgpack.encode(names), self._memories.array[rows], self._vectors.array[rows])

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
