"""Cache of computed maps: a page, its points and their texts come from the same map."""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from time import monotonic
from typing import Final
from uuid import UUID, uuid4
from weakref import WeakValueDictionary

from actors.runtime.faults import NotFoundFault
from actors.runtime.types import JsonObject

KEPT: Final = 6
"""Maps in the cache: some 10 MB each for 100,000 memories."""

FRESH: Final = 60.0
"""Seconds for which a map is shown again instead of being computed anew."""


@dataclass(frozen=True)
class StoreMap:
    """One computed map."""

    token: str
    key: Hashable
    made: float
    ids: bytes
    """Ids of the memories, 16 bytes for each point."""
    points: bytes
    legend: JsonObject

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.ids) // 16


class Maps:
    """The latest maps, by token; the key of each includes the caller."""

    def __init__(self) -> None:
        self._maps: OrderedDict[str, StoreMap] = OrderedDict()
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        """By key, so that nobody waits for a map that takes long but who asked for it."""

    async def get(self, key: Hashable, compute: Callable[[], Awaitable[JsonObject]]) -> StoreMap:
        """Return the map of a key, computed at most once at a time."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            for known in reversed(self._maps.values()):
                if known.key == key and monotonic() - known.made < FRESH:
                    return known
            answer = await compute()
            legend = {name: answer[name] for name in ("namespaces", "goals", "total")}
            ids, points = base64.b64decode(answer["ids"]), base64.b64decode(answer["points"])
            made = StoreMap(uuid4().hex, key, monotonic(), ids, points, legend)
            self._maps[made.token] = made
            while len(self._maps) > KEPT:
                self._maps.popitem(last=False)
            return made

    def find(self, token: str, owner: str, indices: list[int]) -> list[str]:
        """Return the ids of some points of a map (`NotFoundFault` for that of another caller, or one that is gone)."""
        known = self._maps.get(token)
        if known is None or not isinstance(known.key, tuple) or known.key[0] != owner:
            raise NotFoundFault("This map is no longer known; load the page again")
        if any(not 0 <= index < known.count for index in indices):
            raise NotFoundFault("The map has no such point")
        return [str(UUID(bytes=known.ids[16 * index : 16 * index + 16])) for index in indices]
