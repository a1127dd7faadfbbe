"""Listening for HTTP: the socket, uvicorn's configuration, and the names of the server."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG

import anyio
import uvicorn
from anyio import CancelScope
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from actors.api.params.http import HttpListen
from actors.api.params.parsing import invalid
from actors.http.mcp_endpoint import McpSessions
from events.wording import reason

MAX_CONNECTIONS = 512
"""Open requests; further ones are answered 503."""
HEADER_SECONDS = 15.0
"""Interval in seconds of the check that a connection has sent its headers; it may have up to twice as long."""
KEEP_ALIVE = 30
"""Seconds that an idle connection stays open."""
GRACE = 8
"""Seconds in which requests under way may end when the server stops; `docker stop` kills it after ten."""
BACKLOG = 256
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class _Protocol(H11Protocol):
    """Uvicorn's protocol with a timeout for the headers of a request, for which it otherwise waits for ever.

    The body of an answer is sent at once. asyncio sets `TCP_NODELAY` only on sockets that were made with the protocol
    number of TCP, which `socket.create_server` leaves 0: a body waited up to 40 ms until its headers were acknowledged.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin to check."""
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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


class Uvicorn(uvicorn.Server):
    """Uvicorn without signal handlers, which are the process's, that tells when it listens."""

    def __init__(self, app: ASGIApp, params: HttpListen) -> None:
        super().__init__(_config(app, params))
        self.listening = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.listening.set()

    async def run_with(self, sessions: McpSessions, listener: socket.socket) -> None:
        """Serve until cancelled; requests under way may end."""

        async def stop_on_cancel() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                sessions.end_idle_streams()
                self.should_exit = True

        async with anyio.create_task_group() as group:
            group.start_soon(stop_on_cancel)
            with CancelScope(shield=True):  # the sessions too: they answer the requests under way
                async with sessions.run():
                    await self.serve([listener])
            group.cancel_scope.cancel()


def bind(params: HttpListen) -> socket.socket:
    """Return a socket that listens on the address (`InvalidParamsFault` if that can't be)."""
    host, port = params.endpoint
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        why = reason(error).partition(" (while")[0]  # create_server names the address once more
        raise invalid("address", f"{host}:{port} can't be listened on: {why}") from None


def url_of(params: HttpListen, listener: socket.socket) -> str:
    """Return the URL of a server that listens."""
    host, _ = params.endpoint
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if params.tls else 'http'}://{name}:{listener.getsockname()[1]}"


def hosts_of(params: HttpListen) -> frozenset[str]:
    """Return the names under which a server may be addressed."""
    host, _ = params.endpoint
    return frozenset({host.lower(), *map(str.lower, params.allow_hosts)} | LOOPBACK_NAMES)


def _config(app: ASGIApp, params: HttpListen) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
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
    try:
        if params.tls_cert is not None and params.tls_key is not None:
            _check_files(params.tls_cert, params.tls_key)
        config.load()
    except (OSError, ssl.SSLError) as error:
        problem = f"{params.tls_cert} can't be used with the key {params.tls_key}: {error}"
        raise invalid("tls_cert", problem) from None
    return config


def _check_files(certificate: str, key: str) -> None:
    """Raise `InvalidParamsFault` for what `ssl` would refuse without naming the file, or ask a terminal for."""
    for name, file in (("tls_cert", certificate), ("tls_key", key)):
        try:
            is_file = S_ISREG(Path(file).stat().st_mode)
            content = Path(file).read_bytes() if is_file else b""  # a pipe can be read only once
        except OSError as error:
            raise invalid(name, reason(error)) from None
        if name == "tls_key" and b"ENCRYPTED" in content:
            problem = f"{file} has a passphrase; `openssl pkey -in FILE` writes the key without"
            raise invalid(name, problem)
