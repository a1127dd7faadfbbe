"""Checks of every HTTP request before anything else sees it, and headers of every answer.

A page of another site can make a browser send requests here, and with DNS rebinding under the site's own name. So
`Host` must be a name of this server, and `Origin`, where there is one, must match it.
"""

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.runtime.actor import LOGGER

MAX_BODY = 16 << 20
"""Bytes of a request: a hundred memories of 65,536 characters, most of them in one byte."""
BODY_SECONDS = 30.0
"""Seconds in which the whole body must arrive."""

SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'self'; style-src 'self'; script-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer a browser sends `Origin: null` for the server's own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class RefusedError(Exception):
    """A request that is answered by a status, a sentence and headers."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers or {}


class Guard:
    """ASGI middleware, the outermost one."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], answers: Counter[int], *, tls: bool) -> None:
        self._app = app
        self._hosts = hosts
        self._answers = answers
        self._headers = dict(SECURITY_HEADERS)
        if tls:
            self._headers["strict-transport-security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; no exception leaves it, and no text of one reaches a client."""
        if scope["type"] != "http":
            return
        started = False

        async def send_secured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._answers[message["status"]] += 1
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check(Headers(scope=scope))
            await self._app(scope, bounded(receive), send_secured)
        except RefusedError as refused:
            if not started:
                await refusal(refused.status, refused.sentence, refused.headers)(scope, receive, send_secured)
        except ClientDisconnect:
            LOGGER.debug("a client ended its request before its body had come")
        except Exception:
            LOGGER.exception("an HTTP request failed")
            if not started:
                await refusal(500, "Internal error; the server's log has the details")(scope, receive, send_secured)

    def _check(self, headers: Headers) -> None:
        """Raise `RefusedError` for a request to another name, from another site, or with too long a body."""
        if host_name(headers.get("host", "")) not in self._hosts:
            raise RefusedError(421, "This server has another name; see --allow-host")
        origin = headers.get("origin")
        if origin is not None and not is_same_origin(origin, headers["host"]):
            raise RefusedError(403, "A request from a page of another site")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()) or int(length) > MAX_BODY:
            raise RefusedError(413, f"The body has more than {MAX_BODY} bytes")


def bounded(receive: Receive) -> Receive:
    """Return a `receive` that refuses a body that is too long or takes too long."""
    received = 0
    complete = False
    deadline: float | None = None  # set at the first read: the check of a key may have waited before

    async def receive_bounded() -> Message:
        nonlocal received, complete, deadline
        if complete:  # waits for the disconnection, which has no deadline
            return await receive()
        deadline = deadline or anyio.current_time() + BODY_SECONDS
        try:
            with anyio.fail_after(max(deadline - anyio.current_time(), 0)):
                message = await receive()
        except TimeoutError:
            raise RefusedError(408, f"The body took more than {BODY_SECONDS:.0f} s") from None
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
        if received > MAX_BODY:
            raise RefusedError(413, f"The body has more than {MAX_BODY} bytes")
        return message

    return receive_bounded


def host_name(host: str) -> str:
    """Return the name in a `Host` header, without port, in lower case; empty for an invalid header."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    return "" if parts.path or parts.query or parts.username is not None else (parts.hostname or "")


def is_same_origin(origin: str, host: str) -> bool:
    """Return whether an `Origin` and a `Host` header name the same server."""
    scheme, separator, rest = origin.partition("://")
    return bool(separator) and scheme in {"http", "https"} and rest.lower() == host.lower()


def refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> PlainTextResponse:
    """Return the answer to a request that is refused."""
    # The rest of the body isn't read, so the connection can't be used again.
    return PlainTextResponse(sentence + "\n", status, {"connection": "close", **(headers or {})})
