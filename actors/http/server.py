"""The HTTP server in the hub's event loop: it listens when it is asked to, and ends with the hub."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import anyio
import msgspec
import uvicorn
from anyio import CancelScope
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.routing import BaseRoute, Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from actors.api.caller import NOBODY, Caller
from actors.api.caller import Scope as Permission
from actors.api.params.http import DEFAULT_ADDRESS, HttpListen, is_loopback
from actors.api.params.parsing import invalid
from actors.dashboard.routes import routes as pages
from actors.http.access.authentication import MCP_PATH, Authentication, KeyVerifier
from actors.http.access.keys import Keys
from actors.http.access.oauth import IssuerVerifier
from actors.http.access.rates import Rates
from actors.http.access.sessions import IN_USE_SECONDS, Sessions
from actors.http.app import LOGIN, RequireCaller, build_app
from actors.http.guard import Guard
from actors.http.mcp_endpoint import McpSessions, mcp_sessions
from actors.http.metrics import metrics
from actors.runtime.faults import InvalidParamsFault

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from starlette.types import ASGIApp, Receive, Scope, Send

    from actors.api.context import Context

UI = Caller(name="ui", scope=Permission.ADMIN, namespaces=None)
"""The person who runs `context-graph ui`: the owner of the store's folder."""
MAX_CONNECTIONS = 512
"""Open requests; further ones are answered 503."""
HEADER_SECONDS = 15.0
"""In which the headers of a request must have arrived; twice as many for one that begins just after a check."""
KEEP_ALIVE = 30
"""Seconds that an idle connection stays open."""
GRACE = 2
"""Seconds in which requests under way may end when the server stops."""
BACKLOG = 256
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class _Protocol(H11Protocol):
    """Uvicorn's protocol, which waits for ever for the headers of a request: this one gives such a connection up."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin to check."""
        super().connection_made(transport)
        self._check = self.loop.call_later(HEADER_SECONDS, self._close_unless_used)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the checks."""
        self._check.cancel()
        super().connection_lost(exc)

    def _close_unless_used(self) -> None:
        answers = self.cycle is not None and not self.cycle.response_complete
        if answers or self.timeout_keep_alive_task is not None:
            self._check = self.loop.call_later(HEADER_SECONDS, self._close_unless_used)
        else:
            self.transport.close()


class _Uvicorn(uvicorn.Server):
    """Uvicorn without signal handlers, which are the hub's, that tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class HttpServer:
    """The HTTP server of a hub.

    Args:
        context: Of requests on the hub's own socket.
        per_minute: Calls per minute that each caller may make, by tool.
        group: Runs the server; its end is the server's.
        hold: Keeps the hub running while a request is under way.
        announce: Told the URL.
    """

    def __init__(
        self,
        context: Context,
        per_minute: Mapping[str, int],
        group: TaskGroup,
        hold: Callable[[], AbstractContextManager[None]],
        announce: Callable[[str], object],
    ) -> None:
        self._context = context.for_caller(NOBODY)
        self._per_minute = per_minute
        self._group = group
        self._hold = hold
        self._announce = announce
        self._keys = Keys(context.hub.folder)
        self._sessions = Sessions()
        self._starting = anyio.Lock()
        self._url: str | None = None
        self._params = HttpListen()
        self._staying = CancelScope()

    async def listen(self, params: HttpListen) -> str:
        """Start the server unless it runs; return its URL. Without an address, one that runs anywhere will do.

        Raises:
            InvalidParamsFault: The address can't be listened on, a certificate can't be read, there is no key for an
                address that others reach, or the server runs with other options.
        """
        async with self._starting:
            if self._url is not None:
                if msgspec.structs.replace(params, address=params.address or self._params.address) != self._params:
                    raise invalid("address", f"the hub serves {self._url} already; it can't be changed while it runs")
                return self._url
            return await self._start(params)

    async def login_link(self) -> str:
        """Return a link that logs a browser in once, as the owner of the store's folder."""
        async with self._starting:
            url = self._url or await self._start_anywhere()
            self._stay()
        here = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
        return f"{here}{LOGIN}?token={self._sessions.link(UI)}"

    def _stay(self) -> None:
        """Keep the hub running for `IN_USE_SECONDS` from now on."""

        async def hold(scope: CancelScope) -> None:
            with scope, self._hold():
                await anyio.sleep(IN_USE_SECONDS)

        self._staying.cancel()
        self._staying = CancelScope()
        self._group.start_soon(hold, self._staying)

    async def _start_anywhere(self) -> str:
        try:
            return await self._start(HttpListen())
        except InvalidParamsFault:  # the hub of another store has the port
            return await self._start(HttpListen(address="127.0.0.1:0"))

    async def _start(self, params: HttpListen) -> str:
        host, _ = params.endpoint
        has_key = any(key.is_valid(self._context.now()) for key in self._keys.all())
        if not (is_loopback(host) or params.oauth_issuer or has_key):
            problem = f"other machines can reach {host}, and nobody has a key; run: context-graph key create NAME"
            raise invalid("address", problem)
        listener = bind(params)
        try:
            sessions = mcp_sessions(self._context, self._per_minute)
            server = _Uvicorn(self._config(params, sessions))
        except (OSError, ssl.SSLError) as error:
            listener.close()
            raise invalid("tls_cert", f"the certificate or its key can't be used: {error}") from None
        port = listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        self._url = f"{'https' if params.tls else 'http'}://{name}:{port}"
        self._params = msgspec.structs.replace(params, address=params.address or DEFAULT_ADDRESS)
        self._group.start_soon(self._run, server, listener, sessions)
        await server.listening.wait()
        self._announce(self._url)
        return self._url

    def _config(self, params: HttpListen, sessions: McpSessions) -> uvicorn.Config:
        config = uvicorn.Config(
            self._app(params, sessions),
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=params.behind_proxy,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
            ssl_certfile=params.tls_cert,
            ssl_keyfile=params.tls_key,
        )
        config.load()
        return config

    def _app(self, params: HttpListen, sessions: McpSessions) -> ASGIApp:
        host, _ = params.endpoint
        hosts = frozenset({host.lower(), *map(str.lower, params.allow_hosts)} | LOOPBACK_NAMES)
        secure = params.tls or params.behind_proxy
        verifiers: list[TokenVerifier] = [KeyVerifier(self._keys)]
        routes: list[BaseRoute] = [Route(MCP_PATH, sessions), Route("/metrics", metrics), *pages()]
        answers: Counter[int] = Counter()
        metadata_url = None
        if params.oauth_issuer is not None and params.oauth_audience is not None:
            verifiers.append(IssuerVerifier(params.oauth_issuer, params.oauth_audience))
            resource = AnyHttpUrl(params.oauth_audience)
            metadata_url = str(build_resource_metadata_url(resource))
            routes += create_protected_resource_routes(resource, [AnyHttpUrl(params.oauth_issuer)], list(Permission))
        app: ASGIApp = build_app(self._context, self._sessions, routes, answers, tls=secure)
        app = RequireCaller(app, metadata_url)
        app = _with_context(app, self._context, self._hold)
        app = Authentication(app, verifiers, self._sessions, Rates(), self._stay)
        return Guard(app, hosts, answers, tls=secure)

    async def _run(self, server: _Uvicorn, listener: socket.socket, sessions: McpSessions) -> None:
        async def stop_on_cancel() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                server.should_exit = True

        async with sessions.run(), anyio.create_task_group() as group:
            group.start_soon(stop_on_cancel)
            with CancelScope(shield=True):
                await server.serve([listener])
            group.cancel_scope.cancel()


def _with_context(app: ASGIApp, context: Context, hold: Callable[[], AbstractContextManager[None]]) -> ASGIApp:
    """Return an application whose requests find their caller's context in `request.state.context`."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["context"] = context.for_caller(scope["state"]["caller"])
        with hold():
            await app(scope, receive, send)

    return handle


def bind(params: HttpListen) -> socket.socket:
    """Return a socket that listens on the address.

    Raises:
        InvalidParamsFault: It can't be listened on.
    """
    host, port = params.endpoint
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        raise invalid("address", f"{host}:{port} can't be listened on: {error}") from None
