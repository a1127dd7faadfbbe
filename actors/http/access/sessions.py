"""Browser sessions: a one-time link from the command line becomes a cookie, and each session has a CSRF token."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from actors.api.caller import Caller

if TYPE_CHECKING:
    from starlette.types import Scope

LINK_SECONDS = 300.0
"""Seconds for which a login link is valid; it works once."""
SESSION_SECONDS = 12 * 3600.0
"""Lifetime of a browser session in seconds."""
IN_USE_SECONDS = 3600.0
"""Seconds for which the hub keeps running after a login link was made or a session was used."""
MAX_OPEN = 256
"""Links and sessions at once; the oldest ones end first."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A browser that followed a link."""

    caller: Caller
    csrf: str
    """Token that every change of this session must carry."""
    ends_at: float
    """Expiry by the monotonic clock, in seconds."""


class Sessions:
    """Login links and sessions, in the memory of this process only."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._links: dict[str, tuple[Caller, float]] = {}
        self._sessions: dict[str, Session] = {}

    def link(self, caller: Caller) -> str:
        """Return the secret of a link that logs a browser in as a caller."""
        token = secrets.token_urlsafe(32)
        self._links[token] = (caller, self._clock() + LINK_SECONDS)
        _limit(self._links)
        return token

    def log_in(self, token: str) -> str | None:
        """Use up a link, and return the cookie of a new session; None if the link is unknown, used or too old."""
        caller, ends_at = self._links.pop(token, (None, 0.0))
        if caller is None or self._clock() > ends_at:
            return None
        cookie = secrets.token_urlsafe(32)
        ends_at = self._clock() + SESSION_SECONDS
        self._sessions[cookie] = Session(caller=caller, csrf=secrets.token_urlsafe(32), ends_at=ends_at)
        _limit(self._sessions)
        return cookie

    def get(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None for an unknown or expired one."""
        session = self._sessions.get(cookie)
        if session is not None and self._clock() > session.ends_at:
            self.log_out(cookie)
            return None
        return session

    def log_out(self, cookie: str) -> None:
        """End a session."""
        self._sessions.pop(cookie, None)


def cookie_name(scope: Scope) -> str:
    """Return the cookie's name, which contains the port: browsers send cookies to every port of a host."""
    _, port = scope["server"]
    return f"context_graph_{port}"


def _limit(entries: dict[str, object] | dict[str, Session] | dict[str, tuple[Caller, float]]) -> None:
    while len(entries) > MAX_OPEN:
        entries.pop(next(iter(entries)))
