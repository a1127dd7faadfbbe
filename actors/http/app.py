"""The routes of the HTTP server: health, login, MCP, the pages, and `/metrics` in Prometheus' text format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from actors.api.caller import NOBODY, Caller
from actors.api.context import Context, wait_until_replayed
from actors.comparator.messages import ReadIndexes
from actors.dashboard.page import missing
from actors.http.access.authentication import MCP_PATH, SAFE, SESSION_SECONDS, Sessions, cookie_name
from actors.http.guard import RefusedError, refusal
from actors.hub.hub import Hub
from actors.runtime.ask import ask
from actors.runtime.metrics import BUCKETS, Histogram
from actors.store.messages import ReadStatus

CONTENT_TYPE = "text/plain; version=0.0.4"
ACTORS = ("store", "comparator", "workspace", "consolidator", "scheduler", "embedder", "linker")
LOGIN = "/login"
PUBLIC = (LOGIN, "/healthz", "/static/", "/.well-known/")
"""Paths, or prefixes of paths, that need no login."""
BY_BEARER = (MCP_PATH, "/metrics")
"""Paths of programs: without a token they are answered 401 instead of a page."""

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Context Graph</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/style.css"></head><body><main><h1>Context Graph</h1>
<p role="alert">{text}</p></main></body></html>
"""
_LOGGED_OUT = "Run <code>context-graph ui</code> on the computer that holds the memories, and open the link it prints."
_NOTHING_DONE = "Nothing was changed, because this browser is not logged in. " + _LOGGED_OUT
_LINK_SPENT = "This link was used before, or is older than five minutes. " + _LOGGED_OUT


def for_caller(
    app: ASGIApp, context: Context, hold: Callable[[], AbstractContextManager[None]], metadata_url: str | None
) -> ASGIApp:
    """Return an application whose paths need a caller unless they are public, and whose requests keep the hub running.

    They find the context of the caller in `request.state.context`. `metadata_url` tells a program without a token where
    it finds its authorization server.
    """
    hint = f', resource_metadata="{metadata_url}"' if metadata_url else ""
    challenge = {"www-authenticate": f'Bearer error="invalid_token"{hint}'}

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope["state"]["caller"]
        path: str = scope["path"]
        scope["state"]["context"] = context.for_caller(caller)
        answer = app
        if caller is NOBODY and not path.startswith(PUBLIC):
            if path.rstrip("/") in BY_BEARER:
                answer = JSONResponse({"error": "invalid_token"}, 401, challenge)
            else:
                text = _LOGGED_OUT if scope["method"] in SAFE else _NOTHING_DONE
                answer = HTMLResponse(_PAGE.format(text=text), 401)
        with hold():
            await answer(scope, receive, send)

    return handle


def build_app(
    sessions: Sessions,
    routes: Sequence[BaseRoute],
    answers: Mapping[int, int],
    logged_in: Callable[..., object],
    *,
    tls: bool,
) -> Starlette:
    """Return the application that answers the routes, and logs browsers in.

    `answers` counts answers by status; `logged_in` is called with the address of who follows a login link, and
    `refused` if that was in vain; with `tls` browsers send the cookie by HTTPS only.
    """

    async def log_in(request: Request) -> Response:
        # Starlette accepts HEAD wherever GET is; a link preview must not use up the login link.
        if request.method == "HEAD":
            return Response(status_code=405, headers={"allow": "GET"})
        name = cookie_name(request.scope)
        before = request.cookies.get(name, "")
        cookie = sessions.log_in(request.query_params.get("token", ""), before)
        logged_in(request.client.host if request.client else "", refused=cookie is None)
        answer = RedirectResponse("/", 303)
        if cookie is None:  # opened twice by a browser, a link still leads to the pages
            return answer if sessions.get(before) else HTMLResponse(_PAGE.format(text=_LINK_SPENT), 403)
        answer.set_cookie(name, cookie, int(SESSION_SECONDS), httponly=True, samesite="strict", secure=tls)
        return answer

    async def log_out(request: Request) -> Response:
        name = cookie_name(request.scope)
        sessions.log_out(request.cookies.get(name, ""))
        answer = RedirectResponse("/", 303)  # which tells how to log in again
        answer.delete_cookie(name)
        return answer

    app = Starlette(
        routes=[Route("/healthz", _health), Route(LOGIN, log_in), Route("/logout", log_out, methods=["POST"]), *routes],
        # Raised for a body that is too long or too slow; Starlette would answer it with 500.
        exception_handlers={RefusedError: _refused, 404: _missing},
    )
    app.state.answers = answers
    return app


async def _refused(_request: Request, refused: Any) -> Response:
    return refusal(refused.status, refused.sentence)


async def _missing(request: Request, _error: Exception) -> Response:
    """Answer a request for an address without a route: a caller gets a page, others a word."""
    if request.state.caller is NOBODY or request.url.path.startswith(PUBLIC):
        return PlainTextResponse("Not found\n", 404)
    return missing(request)


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def metrics(request: Request) -> Response:
    """Answer with the figures of the whole store, to a caller that sees all namespaces."""
    context: Context = request.state.context
    if context.caller is not None and context.caller.is_limited:
        return PlainTextResponse("Metrics need a key for all namespaces\n", 403)
    await wait_until_replayed(context)
    status = await ask(context.hub.store, ReadStatus())
    states = {f'{{state="{name}"}}': count for name, count in status.memories.items()}
    indexes = await ask(context.hub.comparator, ReadIndexes())
    lags = {f'{{space="{space}"}}': state.lag for space, state in indexes.states.items()}
    answers: Mapping[int, int] = request.app.state.answers
    lines = [
        *_family("memories", "gauge", "Memories by their state.", states),
        *_family("log_events", "counter", "Events in the log.", {"": status.head.seq}),
        *_family("read_only", "gauge", "1 if nothing can be written.", {"": int(status.read_only is not None)}),
        *_family("index_lag", "gauge", "Vectors that a search scans, since they aren't in the graph yet.", lags),
        *_family("actor_inbox", "gauge", "Messages that wait for each actor.", _inboxes(context.hub)),
        *_family(
            "http_answers_total",
            "counter",
            "HTTP answers by their status.",
            {f'{{status="{code}"}}': count for code, count in sorted(answers.items())},
        ),
        *_histograms(context.hub.latencies.histograms()),
    ]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=CONTENT_TYPE)


def _inboxes(hub: Hub) -> dict[str, int]:
    refs = {name: getattr(hub, name) for name in ACTORS}
    return {f'{{actor="{name}"}}': ref.actor_inbox.qsize() for name, ref in refs.items() if ref is not None}


def _family(name: str, kind: str, what: str, samples: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP context_graph_{name} {what}"
    yield f"# TYPE context_graph_{name} {kind}"
    for labels, value in samples.items():
        yield f"context_graph_{name}{labels} {value}"


def _histograms(found: Mapping[str, Histogram]) -> Iterator[str]:
    name = "context_graph_latency_seconds"
    yield f"# HELP {name} Duration of each kind of work."
    yield f"# TYPE {name} histogram"
    bounds = [*(f"{bound / 1e3:g}" for bound in BUCKETS), "+Inf"]
    for work, one in found.items():
        for bound, count in zip(bounds, accumulate(one.counts), strict=True):
            yield f'{name}_bucket{{work="{work}",le="{bound}"}} {count}'
        yield f'{name}_sum{{work="{work}"}} {one.total / 1e3:.6f}'
        yield f'{name}_count{{work="{work}"}} {sum(one.counts)}'
