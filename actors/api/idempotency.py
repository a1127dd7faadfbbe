"""Idempotency keys: a request that is sent again, since its hub ended before it answered, isn't done twice."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from uuid import UUID

import anyio

from actors.proxy.endpoint import REQUEST_KEY, RESENT
from actors.runtime.faults import InvalidParamsFault


class KeyLocks:
    """One lock a key, so that of two requests with the same key the second finds the events of the first."""

    def __init__(self) -> None:
        self._locks: dict[UUID, anyio.Lock] = {}

    @asynccontextmanager
    async def hold(self, key: UUID | None) -> AsyncIterator[None]:
        """Hold the lock of a key; no-op without one."""
        if key is None:
            yield
            return
        lock = self._locks.setdefault(key, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._locks.pop(key, None)


def parse_key(params: Mapping[str, object] | None) -> tuple[UUID | None, bool]:
    """Return the key in the `_meta` of a request, and whether it was sent before (`InvalidParamsFault` for no UUID)."""
    meta = (params or {}).get("_meta")
    if not isinstance(meta, dict) or meta.get(REQUEST_KEY) is None:
        return None, False
    try:
        return UUID(meta[REQUEST_KEY]), meta.get(RESENT) is True
    except (ValueError, AttributeError, TypeError):
        raise InvalidParamsFault(f"Invalid {REQUEST_KEY}: not a UUID", parameter=REQUEST_KEY) from None


def key_conflict() -> InvalidParamsFault:
    """Return the fault for a request that differs from the first one with its key."""
    return InvalidParamsFault(
        f"Invalid {REQUEST_KEY}: another request had it; give each request a key of its own", parameter=REQUEST_KEY
    )
