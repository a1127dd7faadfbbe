"""Storing and searching through the official client, over stdio and over HTTP: one hub, one store, by turns."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from actors.api.caller import Scope
from actors.http.access.keys import Keys
from benchmarks.latency.ratios import QUERY_WORDS
from benchmarks.processes import COMMAND, serving
from benchmarks.report import Times
from benchmarks.serve_client import SETTINGS
from benchmarks.synthetic import first_words


@asynccontextmanager
async def _clients(folder: Path, url: str) -> AsyncIterator[dict[str, Client]]:
    """Yield connected clients by the name of their way."""
    key = Keys(folder).create(f"bench-{os.getpid()}", Scope.WRITE, None)
    bearer = {"authorization": f"Bearer {key}"}
    command = ["serve", "--data", str(folder), "--namespace", "default"]
    async with AsyncExitStack() as stack:
        http = [await stack.enter_async_context(httpx2.AsyncClient(headers=bearer, timeout=60)) for _ in range(2)]
        ways = {
            "stdio": Client(StdioServerParameters(command=COMMAND, args=command, env=dict(os.environ) | SETTINGS)),
            "HTTP": Client(streamable_http_client(f"{url}/mcp", http_client=http[0]), mode="legacy"),
            "HTTP, 2026-07-28": Client(streamable_http_client(f"{url}/mcp", http_client=http[1]), mode="2026-07-28"),
        }
        yield {name: await stack.enter_async_context(client) for name, client in ways.items()}


async def compare_transports(folder: Path, texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return milliseconds of each way and operation; each text is stored, and searched for, once by one way."""
    times = Times()

    async def call(client: Client, tool: str, **arguments: Any) -> None:
        answer = await client.call_tool(tool, arguments)
        if answer.is_error:
            raise RuntimeError(str(answer.content))

    command = ("serve", "--http", "127.0.0.1:0", "--data", str(folder))
    with serving(*command, settings=SETTINGS) as url:
        async with _clients(folder, url) as clients:
            for client in clients.values():  # the models load, and connections are made
                await call(client, "search_graph", query="warm up")
            names = list(clients)
            for number, text in enumerate(texts):
                name = names[number % len(names)]
                with times.timed(f"{name}, store"):
                    await call(clients[name], "store_memory", content=text)
                query = first_words(text, QUERY_WORDS)
                with times.timed(f"{name}, search"):
                    await call(clients[name], "search_graph", query=query)
    taken = times.quantiles()
    return {name: {operation: taken[f"{name}, {operation}"] for operation in ("store", "search")} for name in names}
