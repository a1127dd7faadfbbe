"""Who sends a request over HTTP: a name, what it may do, and the namespaces that it sees."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Scope(StrEnum):
    """What a caller may do. Each scope includes those before it."""

    READ = "read"
    WRITE = "write"
    """Also store, link, forget, erase and restore memories, and find goals."""
    ADMIN = "admin"
    """Also consolidate and correct drift; with all namespaces, set the schedule, import, scan, verify and move."""

    def covers(self, other: Scope) -> bool:
        """Return whether this scope includes another one."""
        return _ORDER[self] >= _ORDER[other]


_ORDER = {scope: place for place, scope in enumerate(Scope)}


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a key, of a token or of a browser session. A request on the hub's own socket has none."""

    name: str
    """Stands in the audit."""
    scope: Scope
    namespaces: frozenset[str] | None
    """The namespaces that it sees; None for all."""

    @property
    def is_limited(self) -> bool:
        """Whether it may know nothing that depends on other namespaces."""
        return self.namespaces is not None

    @property
    def actor(self) -> str:
        """The author of the events that its requests append."""
        return f"http:{self.name}"


NOBODY = Caller(name="nobody", scope=Scope.READ, namespaces=frozenset())
"""The caller of a request that wasn't authenticated: it sees no namespace."""


def highest(scopes: Iterable[str]) -> Scope | None:
    """Return the highest scope among names, of which others may mean other things; None without one."""
    return max((Scope(name) for name in scopes if name in set(Scope)), key=_ORDER.__getitem__, default=None)
