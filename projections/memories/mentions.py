"""Which memories of a namespace mention which names: what a memory is connected with beside sessions and links."""

import re
from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from events.fingerprint import Dense
from events.quantization import Float32, directions
from events.vocabulary import MemoryStored
from projections.projection import digest_of
from projections.storage.arrays import GrowableArray

RARE: Final = 8
"""Mentions up to which a name connects the memories that mention it; a commoner one says too little."""

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

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for namespace, names in self._rows.items():
            for name in names:
                self._index(namespace, name)

    def append(self, memory: UUID, stored: MemoryStored) -> None:
        """Add a memory, if it mentions a name."""
        if not stored.names:
            return
        e1 = stored.fingerprint.take("e1_semantic", Dense).levels
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
            for namespace, names in self._rows.items():
                left = {name: [one for one in rows if one != row] for name, rows in names.items()}
                self._rows[namespace] = {name: rows for name, rows in left.items() if rows}
            self._rows = {namespace: names for namespace, names in self._rows.items() if names}
            self._wholes = {}
            self.after_load()

    def other_names(self, namespace: str, names: Collection[str]) -> set[str]:
        """Return what else these names are called in a namespace: "mara" for "mara lind", and the other way round.

        A part stands for a whole name only if no other one contains it.
        """
        known, wholes = self._rows.get(namespace, {}), self._wholes.get(namespace, {})
        found: set[str] = set()
        for name in names:
            words = _WORDS.findall(name)
            if len(words) > 1:
                found |= {word for word in words if word in known and wholes.get(word, {name}) <= {name}}
            elif len(candidates := wholes.get(name, set())) == 1:
                found |= candidates
        return found.difference(names)

    def near(self, namespace: str, names: Iterable[str]) -> list[tuple[Float32, float]]:
        """Return unit E1 vectors of the memories that share a rare name, each with a weight in (0, 1].

        The memories of one name weigh 1 together; one that shares several names has the sum, at most 1.
        """
        known = self._rows.get(namespace, {})
        weights: dict[int, float] = {}
        for rows in (known[name] for name in names if name in known):
            if len(rows) <= RARE:
                for row in rows:
                    weights[row] = min(1.0, weights.get(row, 0.0) + 1 / len(rows))
        return [(directions(self._vectors.array[row]), weight) for row, weight in sorted(weights.items())]

    def digest(self) -> bytes:
        """Return the SHA-256 of all mentions by name."""
        names = [
            (namespace, name, self._memories.array[rows].tobytes())
            for namespace, names in sorted(self._rows.items())
            for name, rows in sorted(names.items())
        ]
        rows: npt.NDArray[np.int64] = np.flatnonzero(self._memories.array.any(axis=1))
        return digest_of(msgspec.msgpack.encode(names), self._memories.array[rows], self._vectors.array[rows])

    def _index(self, namespace: str, name: str) -> None:
        words = _WORDS.findall(name)
        if len(words) > 1:
            for word in words:
                self._wholes.setdefault(namespace, {}).setdefault(word, set()).add(name)
