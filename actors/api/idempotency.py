"""Requests that carry a key may be sent again, by a pipe whose hub went away, without being done again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

import anyio

from actors.proxy.endpoint import REQUEST_KEY
from actors.runtime.faults import InvalidParamsFault

KEY: ContextVar[UUID | None] = ContextVar("key", default=None)
"""Of the request that is being done: the correlation id of what it appends."""


class Once:
    """Requests with the same key wait for each other, so that the second finds in the log what the first did."""

    def __init__(self) -> None:
        self._turns: dict[UUID, anyio.Lock] = {}

    @asynccontextmanager
    async def turn(self, key: UUID | None) -> AsyncIterator[None]:
        """Do a request with this key inside."""
        if key is None:
            yield
            return
        lock = self._turns.setdefault(key, anyio.Lock())
        try:
            async with lock:
                token = KEY.set(key)
                try:
                    yield
                finally:
                    KEY.reset(token)
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._turns.pop(key, None)


def key_of(params: Mapping[str, Any] | None) -> UUID | None:
    """Return the key in the `_meta` of a request, None if there is none.

    Raises:
        InvalidParamsFault: it is no UUID.
    """
    meta = (params or {}).get("_meta")
    key = meta.get(REQUEST_KEY) if isinstance(meta, dict) else None
    if key is None:
        return None
    try:
        return UUID(key)
    except (ValueError, AttributeError, TypeError):
        raise InvalidParamsFault(f"Invalid {REQUEST_KEY}: not a UUID", parameter=REQUEST_KEY) from None


def used_otherwise() -> InvalidParamsFault:
    """Return what is wrong with a request that is another one than the first with its key."""
    return InvalidParamsFault(
        f"Invalid {REQUEST_KEY}: another request had it; give each request a key of its own", parameter=REQUEST_KEY
    )
