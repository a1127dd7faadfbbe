"""The routes of the HTTP server: health, login, MCP, metrics, and the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from actors.api.caller import NOBODY, Caller
from actors.http.access.sessions import SESSION_SECONDS, Sessions, cookie_name
from actors.http.guard import RefusedError, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from actors.api.context import Context

LOGIN = "/login"
PUBLIC = (LOGIN, "/healthz", "/static/", "/.well-known/")
"""Paths, or beginnings of paths, that everybody may read."""
BY_BEARER = ("/mcp", "/metrics")
"""Paths of programs: without a token they are answered 401 instead of a page."""

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Context Graph</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/style.css"></head><body><main><h1>Context Graph</h1>
<p>{text}</p></main></body></html>
"""
_LOGGED_OUT = "Run <code>context-graph ui</code> on the computer that holds the memories, and open the link it prints."
_LINK_SPENT = "This link was used before, or is older than five minutes. " + _LOGGED_OUT


class RequireCaller:
    """ASGI middleware: only public paths may be read by nobody.

    Args:
        app: Gets the requests that pass.
        metadata_url: Where a program without a token finds its authorization server; None without one.
    """

    def __init__(self, app: ASGIApp, metadata_url: str | None) -> None:
        self._app = app
        hint = f', resource_metadata="{metadata_url}"' if metadata_url else ""
        self._challenge = {"www-authenticate": f'Bearer error="invalid_token"{hint}'}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        caller: Caller = scope["state"]["caller"]
        path: str = scope["path"]
        app = self._app
        if caller is NOBODY and not path.startswith(PUBLIC):
            if path in BY_BEARER or scope["method"] != "GET":
                app = JSONResponse({"error": "invalid_token"}, 401, self._challenge)
            else:
                app = HTMLResponse(_PAGE.format(text=_LOGGED_OUT), 401)
        await app(scope, receive, send)


def build_app(
    context: Context, sessions: Sessions, routes: Sequence[BaseRoute], answers: Mapping[int, int], *, tls: bool
) -> Starlette:
    """Return the application.

    Args:
        context: Of nobody: operations need the one of a caller, `request.state.context`.
        sessions: Of browsers.
        routes: Of MCP, metrics and pages.
        answers: How many there were by their status, for `/metrics`.
        tls: Whether browsers may send the cookie by HTTPS only.
    """

    async def log_in(request: Request) -> Response:
        if request.method == "HEAD":  # Starlette adds it to GET; a preview must not use the link up
            return Response(status_code=405, headers={"allow": "GET"})
        cookie = sessions.log_in(request.query_params.get("token", ""))
        if cookie is None:
            return HTMLResponse(_PAGE.format(text=_LINK_SPENT), 403)
        answer = RedirectResponse("/", 303)
        name = cookie_name(request.scope)
        answer.set_cookie(name, cookie, int(SESSION_SECONDS), httponly=True, samesite="strict", secure=tls)
        return answer

    async def log_out(request: Request) -> Response:
        name = cookie_name(request.scope)
        sessions.log_out(request.cookies.get(name, ""))
        answer = RedirectResponse(LOGIN, 303)
        answer.delete_cookie(name)
        return answer

    app = Starlette(
        routes=[
            Route("/healthz", _health),
            Route(LOGIN, log_in),
            Route("/logout", log_out, methods=["POST"]),
            *routes,
        ],
        # Of a body that is too long or too slow; Starlette would answer it as a failure of the server.
        exception_handlers={RefusedError: _refused},
    )
    app.state.context = context
    app.state.answers = answers
    return app


async def _refused(_request: Request, refused: Exception) -> Response:
    return refusal(refused.status, refused.sentence) if isinstance(refused, RefusedError) else refusal(500, "Failed")


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")
