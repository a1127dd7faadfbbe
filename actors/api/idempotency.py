"""Idempotency keys: a request that is sent again, since its hub ended before it answered, isn't done twice."""

from collections.abc import Hashable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from uuid import UUID
from weakref import WeakValueDictionary

import anyio

from actors.proxy.endpoint import REQUEST_KEY, RESENT
from actors.runtime.faults import InvalidParamsFault


class KeyLocks(WeakValueDictionary[Hashable, anyio.Lock]):
    """One lock a key, as long as a request holds it or waits for it."""

    def of(self, key: Hashable | None) -> AbstractAsyncContextManager[object]:
        """Return the lock of a key: of two requests with it, the second finds the events of the first."""
        return nullcontext() if key is None else self.setdefault(key, anyio.Lock())


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
