"""A router in front of two hubs."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.http.access.keys import KEYS, Keys
from actors.http.server import HttpServer
from actors.hub.composition import open_hub
from actors.router.router import serve_router
from actors.router.table import Table
from tests.actors.conftest import loaded

ANY_PORT = HttpListen(address="127.0.0.1:0")
SERVED = {"coast": ("harbour", "island"), "land": ("town",)}


@contextmanager
def _unheld() -> Iterator[None]:
    yield


class Routed:
    """A router, and the hubs behind it, each of which can be ended."""

    def __init__(
        self, url: str, key: str, folder: Path, hubs: dict[str, anyio.CancelScope], urls: dict[str, str]
    ) -> None:
        self.url = url
        self.key = key
        self.folder = folder
        self.hubs = hubs
        self.urls = urls

    def key_of(self, namespace: str) -> str:
        """Return a key for one namespace, which both hubs know."""
        key = Keys(self.folder / "coast").create(namespace, Scope.WRITE, [namespace])
        (self.folder / "land" / KEYS).write_bytes((self.folder / "coast" / KEYS).read_bytes())
        return key

    async def end(self, name: str) -> None:
        """End a hub, and wait until nothing listens any more."""
        self.hubs[name].cancel()
        with anyio.fail_after(60):
            async with httpx2.AsyncClient(timeout=2) as http:
                while True:
                    try:
                        await http.get(f"{self.urls[name]}/healthz")
                    except httpx2.ConnectError:
                        return
                    except httpx2.HTTPError:  # accepted, and not answered: the server is about to end
                        continue

    @asynccontextmanager
    async def client(self, key: str | None = None, mode: str = "legacy") -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {key or self.key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, verify=False) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture
async def routed(tmp_path: Path, profile: Any, request: pytest.FixtureRequest) -> AsyncIterator[Routed]:
    """Two stores with the same key; one serves two namespaces, the other one, or all if the parameter says so."""
    serves_all = getattr(request, "param", None) == "all"
    with ExitStack() as stack:
        contexts = {
            name: Context(
                stack.enter_context(
                    open_hub(
                        tmp_path / name,
                        load=loaded(profile),
                        namespaces=None if serves_all else frozenset(namespaces),
                    )
                )
            )
            for name, namespaces in SERVED.items()
        }
        key = Keys(tmp_path / "coast").create("agent", Scope.ADMIN, None)
        (tmp_path / "land" / KEYS).write_bytes((tmp_path / "coast" / KEYS).read_bytes())
        async with anyio.create_task_group() as group:
            urls: dict[str, str] = {}
            scopes: dict[str, anyio.CancelScope] = {}
            for name, context in contexts.items():
                urls[name], scopes[name] = await group.start(_serve_hub, context)
            table = Table([f"{','.join(SERVED[name])}={url}" for name, url in urls.items()])
            url = await group.start(serve_table, table)
            yield Routed(url, key, tmp_path, scopes, urls)
            group.cancel_scope.cancel()


async def _serve_hub(context: Context, *, task_status: anyio.abc.TaskStatus[Any]) -> None:
    async with anyio.create_task_group() as group:
        server = HttpServer(context, {}, group, _unheld, lambda _url: None)
        task_status.started((await server.listen(ANY_PORT), group.cancel_scope))


async def serve_table(table: Table, *, task_status: anyio.abc.TaskStatus[Any]) -> None:
    await serve_router(table, ANY_PORT, task_status.started)


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    content = answer.structured_content
    assert content is not None
    assert answer.is_error or json.loads(answer.content[0].text) == content
    return content
