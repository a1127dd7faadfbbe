"""Who sends a request: the owner of a bearer token, or of a browser session with its CSRF token on every change."""

import hmac
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
import msgspec
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken, TokenVerifier
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as HttpScope

from actors.api.caller import NOBODY, Caller, Scope, highest
from actors.http.access.keys import Keys
from actors.http.access.requests import RETRY_SECONDS, Rates
from actors.http.guard import RefusedError
from actors.runtime.actor import LOGGER
from actors.runtime.faults import RateLimitFault

LINK_SECONDS = 300.0
"""Seconds for which a login link is valid; it works once."""
SESSION_SECONDS = 12 * 3600.0
IN_USE_SECONDS = 3600.0
"""Seconds for which the hub keeps running after a login link was made or a session was used."""
MAX_OPEN = 256
"""Links and sessions at once; the oldest ones end first."""
NAMESPACES = "namespaces"
"""Claim of a token with the namespaces that its owner sees; `*` means all, no claim means none."""
CSRF_HEADER = "x-csrf-token"
CSRF_FIELD = "csrf"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
MCP_PATH = "/mcp"
"""Path that accepts bearer tokens only, no browser session."""
STREAM_CHECK_SECONDS = 30.0
"""Seconds between the checks of the token of a stream that stays open."""
HASHING_AT_ONCE = 1
"""Limit of concurrent hashes of unknown keys: a flood of guesses takes one processor and 16 MB."""


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

    def log_in(self, token: str, before: str = "") -> str | None:
        """Use up a link, and return the cookie of a new session; None if the link is unknown, used or too old.

        `before` is the browser's cookie until now: pages of the same caller that are still open stay usable.
        """
        caller, ends_at = self._links.pop(token, (None, 0.0))
        if caller is None or self._clock() > ends_at:
            return None
        cookie = secrets.token_urlsafe(32)
        ends_at = self._clock() + SESSION_SECONDS
        earlier = self.get(before)
        csrf = earlier.csrf if earlier and earlier.caller == caller else secrets.token_urlsafe(32)
        self._sessions[cookie] = Session(caller=caller, csrf=csrf, ends_at=ends_at)
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


def cookie_name(scope: HttpScope) -> str:
    """Return the cookie's name, which contains the port: browsers send cookies to every port of a host."""
    _, port = scope["server"]
    return f"context_graph_{port}"


def _limit(entries: dict[str, Any]) -> None:
    while len(entries) > MAX_OPEN:
        entries.pop(next(iter(entries)))


class KeyVerifier(TokenVerifier):
    """Verifies the store's own keys."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._hashing = anyio.CapacityLimiter(HASHING_AT_ONCE)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a key permits; None for an unknown, revoked or expired key."""
        limiter = None if self._keys.is_known(token) else self._hashing
        key = await anyio.to_thread.run_sync(self._keys.verify, token, limiter=limiter)
        if key is None:
            return None
        return AccessToken(
            token=token,
            client_id=key.name,
            scopes=[scope for scope in Scope if key.scope.covers(scope)],
            expires_at=int(key.expires_at.timestamp()) if key.expires_at else None,
            claims={NAMESPACES: ["*"] if key.namespaces is None else list(key.namespaces)},
        )


@dataclass
class Authentication:
    """ASGI middleware: sets `request.state.caller` and `request.state.csrf`, and limits the rate of each caller.

    Without valid credentials the caller is `NOBODY`; each route says what it requires.
    """

    app: ASGIApp
    """Gets the requests, also those of nobody."""
    verifiers: Sequence[TokenVerifier]
    """Verifiers of bearer tokens; the first that knows a token decides."""
    sessions: Sessions
    rates: Rates
    stay: Callable[[], object]
    """Called for each request of a browser that is logged in."""
    refused: Callable[[str, str | None, str], object]
    """Told what is refused, the token if there is one, and the address of the client."""

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """Handle a request.

        Raises:
            RefusedError: A token is invalid, a change lacks its CSRF token, or there are too many requests.
        """
        state = scope.setdefault("state", {})
        state["caller"], state["csrf"] = NOBODY, ""
        cookie = Request(scope).cookies.get(cookie_name(scope), "")
        token = bearer(Headers(scope=scope))
        try:
            if token is not None:
                await self._admit_token(scope, token)
            elif (session := self.sessions.get(cookie)) is not None and scope["path"] != MCP_PATH:
                receive = await self._admit_session(scope, receive, session)
            else:
                self.rates.take(_address(scope))
        except RateLimitFault as fault:
            raise RefusedError(429, fault.message, {"retry-after": str(RETRY_SECONDS)}) from None
        if token is None or scope["method"] != "GET" or scope["path"] != MCP_PATH:
            await self.app(scope, receive, send)
            return
        async with anyio.create_task_group() as stream:
            stream.start_soon(self._end_when_invalid, token, stream.cancel_scope)
            await self.app(scope, receive, send)
            stream.cancel_scope.cancel()

    async def _end_when_invalid(self, token: str, stream: anyio.CancelScope) -> None:
        """Cancel a stream once its token is revoked or expired."""
        while True:
            await anyio.sleep(STREAM_CHECK_SECONDS)
            with suppress(RefusedError):  # the issuer is away, so the token isn't known to be invalid
                if await self._verify(token) is None:
                    stream.cancel()

    async def _admit_token(self, scope: HttpScope, token: str) -> None:
        access = await self._verify(token)
        caller = None if access is None else caller_of(access)
        if access is None or caller is None:
            self.refused("token", token, _address(scope))
            # Counted after the check: other clients at this address may send valid tokens.
            self.rates.fail(_address(scope))
        else:
            self.rates.take(caller.name)
            scope["user"], scope["state"]["caller"] = AuthenticatedUser(access), caller

    async def _admit_session(self, scope: HttpScope, receive: Receive, session: Session) -> Receive:
        """Set the caller of a browser that is logged in, and return what receives the request's body."""
        self.rates.take(session.caller.name)
        self.stay()
        scope["state"] |= {"caller": session.caller, "csrf": session.csrf}
        if scope["method"] in SAFE:
            return receive
        checked = await _checked(scope, receive, session.csrf)
        if checked is None:
            self.refused("form", None, _address(scope))
            raise RefusedError(
                403,
                "Nothing was changed: the form is from before this browser logged in again. "
                "Go back, copy what you typed, and load the page again",
            )
        return checked

    async def _verify(self, token: str) -> AccessToken | None:
        for verifier in self.verifiers:
            if (access := await verifier.verify_token(token)) is not None:
                return access
        return None


def _address(scope: HttpScope) -> str:
    """Return the address of the client; empty where the server doesn't know it."""
    return (scope.get("client") or ("", 0))[0]


def bearer(headers: Headers) -> str | None:
    """Return the bearer token of a request; None without one."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def caller_of(access: AccessToken) -> Caller | None:
    """Return the owner of a verified token; None if it permits nothing here."""
    scope = highest(access.scopes)
    named = (access.claims or {}).get(NAMESPACES)
    if scope is None or not isinstance(named, list) or not named or not all(isinstance(one, str) for one in named):
        problem = (
            "no scope of read, write and admin" if scope is None else f"no list of names as its claim {NAMESPACES}"
        )
        LOGGER.info("a token was refused: it has %s", problem)
        return None
    return Caller(name=access.client_id, scope=scope, namespaces=None if "*" in named else frozenset(named))


async def _checked(scope: HttpScope, receive: Receive, expected: str) -> Receive | None:
    """Return a `receive` of the same body; None for a change without the session's CSRF token."""
    headers = Headers(scope=scope)
    given = headers.get(CSRF_HEADER)
    if given is None and headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        body = await Request(scope, receive).body()
        given = parse_qs(body.decode(errors="replace")).get(CSRF_FIELD, [""])[0]
        read: Message = {"type": "http.request", "body": body, "more_body": False}
        receive = partial(_replay, iter([read]), receive)
    if not hmac.compare_digest((given or "").encode(), expected.encode()):
        return None
    return receive


async def _replay(read: Iterator[Message], receive: Receive) -> Message:
    return next(read, None) or await receive()
