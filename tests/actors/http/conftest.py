"""An HTTP server on a store in memory, on a port of its own, and clients of it."""

import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.http.access.keys import Keys
from actors.http.server import HttpServer
from tests.actors.conftest import Agent

ANY_PORT = HttpListen(address="127.0.0.1:0")


@contextmanager
def _unheld() -> Iterator[None]:
    yield


class Served:
    """A server that listens."""

    def __init__(self, server: HttpServer, context: Context, url: str) -> None:
        self.server = server
        self.context = context
        self.url = url
        self.keys = Keys(context.hub.folder)

    def key(self, name: str, scope: Scope = Scope.ADMIN, namespaces: tuple[str, ...] | None = None) -> str:
        """Return a new key."""
        return self.keys.create(name, scope, namespaces)

    @asynccontextmanager
    async def client(self, key: str | None = None, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        """Yield an HTTP client that follows no redirects, with a key or without."""
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=60) as client:
            yield client

    @asynccontextmanager
    async def agent(
        self, key: str, mode: str = "legacy", *, verify: ssl.SSLContext | bool = False
    ) -> AsyncIterator[Agent]:
        """Yield the official MCP client, with a key."""
        async with (
            # Reading the machine's certificates takes longer than a request.
            httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60, verify=verify) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield Agent(client)

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Yield a client that followed a login link."""
        async with self.client() as client:
            answer = await client.get(await self.server.login_link())
            assert answer.status_code == 303
            yield client


Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Serve a context over HTTP; requests are noted at the end alone, however long a test takes."""
    monkeypatch.setattr("actors.http.access.requests.EVERY", 3_600.0)

    @asynccontextmanager
    async def on(context: Context, params: HttpListen = ANY_PORT) -> AsyncIterator[Served]:
        async with anyio.create_task_group() as group:
            server = HttpServer(context, {}, group, _unheld, lambda _url: None)
            yield Served(server, context, await server.listen(params))
            group.cancel_scope.cancel()

    return on


@pytest.fixture
async def served(context: Context, serve: Serve) -> AsyncIterator[Served]:
    """A server of the empty store."""
    async with serve(context) as served:
        yield served
