"""The HTTP server in the hub's event loop: it starts on request, and ends with the hub.

Pages, OAuth and the listener are imported when it starts: that takes some 40 ms and 4 MB, and most hubs serve no HTTP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio import CancelScope
from mcp.server.auth.provider import TokenVerifier
from starlette.routing import BaseRoute, Route

from actors.api.caller import NOBODY, Caller
from actors.api.caller import Scope as Permission
from actors.api.params.http import DEFAULT_ADDRESS, HttpListen, is_loopback
from actors.api.params.parsing import invalid
from actors.http.access.authentication import IN_USE_SECONDS, MCP_PATH, Authentication, KeyVerifier, Sessions
from actors.http.access.keys import Keys
from actors.http.access.requests import Rates, RequestCounts, record
from actors.http.guard import Guard
from actors.runtime.faults import InvalidParamsFault
from events.storage.durable import replace_file

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from starlette.types import ASGIApp

    from actors.api.context import Context
    from actors.http.mcp_endpoint import McpSessions

PORT = "hub.port"
"""File beside the store with the port on which pages were served last."""
UI = Caller(name="ui", scope=Permission.ADMIN, namespaces=None)
"""The person who runs `context-graph ui`: the owner of the store's folder."""


class HttpServer:
    """The HTTP server of a hub, in a group of tasks.

    `per_minute` limits the calls of each caller, by tool; `hold` keeps the hub running while a request is under way;
    `announce` is called with the URL once the server listens.
    """

    def __init__(
        self,
        context: Context,
        per_minute: Mapping[str, int],
        group: TaskGroup,
        hold: Callable[[], AbstractContextManager[None]],
        announce: Callable[[str], object],
    ) -> None:
        context.process.web = self
        self._context = context.for_caller(NOBODY)
        self._per_minute = per_minute
        self._group = group
        self._hold = hold
        self._announce = announce
        self._keys = Keys(context.hub.folder)
        self._sessions = Sessions()
        self._rates = Rates()
        self._counts = RequestCounts()
        self._starting = anyio.Lock()
        self._url: str | None = None
        self._params = HttpListen()
        self._staying = CancelScope()

    async def listen(self, params: HttpListen) -> str:
        """Start the server unless it runs; return its URL. Without an address, any running one will do.

        Raises:
            InvalidParamsFault: The address can't be listened on, a certificate can't be read, there is no key for an
                address that others reach, or the server runs with other options.
        """
        async with self._starting:
            if self._url is not None:
                if msgspec.structs.replace(params, address=params.address or self._params.address) != self._params:
                    problem = f"the hub serves {self._url} already; to serve another address, run: context-graph stop"
                    raise invalid("address", problem)
                return self._url
            return await self._start(params)

    async def login_link(self) -> str:
        """Return a link that logs a browser in once, as the owner of the store's folder."""
        async with self._starting:
            url = self._url or await self._start_anywhere()
            self._stay()
        from actors.http.app import LOGIN

        here = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
        return f"{here}{LOGIN}?token={self._sessions.link(UI)}"

    def count(self, caller: Caller, operation: str, *, refused: bool) -> None:
        """Count a call for the audit, unless it is a page's: the pages of a browser call several operations each."""
        if refused:
            self._counts.refused(caller, operation, self._context.now())
        elif caller != UI:
            self._counts.called(caller, operation, self._context.now())

    def take_replay(self, caller: Caller) -> None:
        """Count a replay of the log for `as_of`; raise `RateLimitFault` if there are too many of the caller."""
        self._rates.replay(caller.name)

    def _refused(self, what: str, token: str | None, address: str) -> None:
        name = None if token is None else self._keys.name_in(token)
        self._counts.refused(None, what if name is None else f"key {name}", self._context.now(), address)

    def _logged_in(self, address: str, *, refused: bool) -> None:
        if refused:
            self._refused("login", None, address)
        else:
            self._counts.called(UI, "login", self._context.now())

    def _stay(self) -> None:
        """Keep the hub running for `IN_USE_SECONDS` from now on."""

        async def hold(scope: CancelScope) -> None:
            with scope, self._hold():
                await anyio.sleep(IN_USE_SECONDS)

        self._staying.cancel()
        self._staying = CancelScope()
        self._group.start_soon(hold, self._staying)

    async def _start_anywhere(self) -> str:
        """Start on the port of the last time, so that pages that are open since then find the server; else on any."""
        last = self._context.hub.folder / PORT
        addresses = [DEFAULT_ADDRESS]
        with suppress(OSError, ValueError):
            addresses.insert(0, f"127.0.0.1:{int(last.read_text())}")
        for address in addresses:
            with suppress(InvalidParamsFault):  # another program has the port, such as the hub of another store
                return await self._start(HttpListen(address=address))
        url = await self._start(HttpListen(address="127.0.0.1:0"))
        with suppress(OSError):  # a full disk is no reason to show no pages
            replace_file(last, url.rpartition(":")[2].encode())
        return url

    async def _start(self, params: HttpListen) -> str:
        host, _ = params.endpoint
        has_key = any(key.is_valid(self._context.now()) for key in self._keys.all())
        if not (is_loopback(host) or params.oauth_issuer or has_key):
            problem = f"others can reach {host}, and nobody has a key; run: context-graph key create NAME -n PROJECT"
            raise invalid("address", problem)
        from actors.http.listening import Uvicorn, bind, url_of
        from actors.http.mcp_endpoint import mcp_sessions

        listener = bind(params)
        try:
            sessions = mcp_sessions(self._context, self._per_minute)
            server = Uvicorn(self._app(params, sessions), params)
        except InvalidParamsFault:
            listener.close()
            raise
        self._url = url_of(params, listener)
        self._params = msgspec.structs.replace(params, address=params.address or DEFAULT_ADDRESS)
        self._group.start_soon(server.run_with, sessions, listener)
        self._group.start_soon(record, self._context, self._counts)
        await server.listening.wait()
        self._announce(self._url)
        return self._url

    def _app(self, params: HttpListen, sessions: McpSessions) -> ASGIApp:
        from actors.dashboard.routes import routes as pages
        from actors.http.access.oauth import IssuerVerifier, resource_metadata
        from actors.http.app import build_app, for_caller, metrics
        from actors.http.listening import hosts_of

        secure = params.tls or params.behind_proxy
        verifiers: list[TokenVerifier] = [KeyVerifier(self._keys)]
        routes: list[BaseRoute] = [Route(MCP_PATH, sessions), Route("/metrics", metrics), *pages()]
        answers: Counter[int] = Counter()
        metadata_url = None
        if params.oauth_issuer is not None and params.oauth_audience is not None:
            verifiers.append(IssuerVerifier(params.oauth_issuer, params.oauth_audience))
            metadata_url, published = resource_metadata(params.oauth_issuer, params.oauth_audience)
            routes += published
        app: ASGIApp = build_app(self._sessions, routes, answers, self._logged_in, tls=secure)
        app = for_caller(app, self._context, self._hold, metadata_url)
        app = Authentication(app, verifiers, self._sessions, self._rates, self._stay, self._refused)
        return Guard(app, hosts_of(params), answers, tls=secure)
