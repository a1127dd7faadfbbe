"""The HTTP server of a router: `/mcp` for callers with a key, and `/healthz`."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import httpx2
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse

from actors.api.params.http import HttpListen
from actors.http.access.authentication import MCP_PATH, bearer
from actors.http.guard import Guard
from actors.http.listening import Uvicorn, bind, hosts_of, url_of
from actors.http.mcp_endpoint import McpSessions
from actors.router.router import TIMEOUT, Router
from actors.router.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send


def route_app(sessions: McpSessions) -> ASGIApp:
    """Return the application; the hubs check the keys."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            app: ASGIApp = PlainTextResponse("ok\n")
        elif scope["path"] != MCP_PATH:
            app = PlainTextResponse("Not found\n", 404)
        elif bearer(Headers(scope=scope)) is None:
            app = JSONResponse({"error": "invalid_token"}, 401, {"www-authenticate": 'Bearer error="invalid_token"'})
        else:
            app = sessions
        await app(scope, receive, send)

    return handle


async def serve_router(table: Table, params: HttpListen, announce: Callable[[str], object]) -> None:
    """Serve until cancelled.

    Raises:
        InvalidParamsFault: The address can't be listened on.
    """
    listener = bind(params)
    with closing(listener):
        async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
            sessions = McpSessions(Router(table, client).server())
            app = Guard(route_app(sessions), hosts_of(params), Counter(), tls=params.tls or params.behind_proxy)
            server = Uvicorn(app, params)
            announce(url_of(params, listener))
            await server.run_with(sessions, listener)
