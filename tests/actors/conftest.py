"""A whole store in memory, with the real models, which load once for all tests."""

import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from pydantic import TypeAdapter

from actors.api.context import Context, Progress, ignore_progress
from actors.api.mcp.server import McpHandlers
from actors.api.operations.lifecycle.memories import store_memory
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.api.tools.rate_limits import Limits
from actors.embedder.pool.local import ThreadPool
from actors.embedder.pool.prepared import BulkEmbedding
from actors.embedder.pool.worker import Batch, WorkerSettings
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.hub.hub import Hub
from actors.hub.reembed import ReembedCounts, reembed
from actors.runtime.metrics import Latencies
from events.storage.log import Log
from tests.events.memory_log import MemoryLog


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def profile() -> EmbeddedProfile:
    return EmbeddedProfile(Latencies())


@pytest.fixture(scope="session", autouse=True)
def _unlinked() -> Iterator[None]:
    """Keep the linker of a hub in this process from working unasked: its events would fall into any test's counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("actors.linker.actor.QUIET", 600.0)
        patch.setattr("actors.linker.actor.LONGEST", 600.0)
        yield


@pytest.fixture(autouse=True)
def _rested(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the one profile that all tests share leave no thread behind either."""
    profile: object = request.getfixturevalue("profile") if "profile" in request.fixturenames else None
    yield
    if isinstance(profile, EmbeddedProfile):  # and no parameter of that name
        profile.stop_threads()


class Borrowed:
    """The profile that all tests share, for a test that watches or delays its forward passes."""

    def __init__(self, profile: EmbeddedProfile) -> None:
        self.profile = profile
        self.models = profile.models

    def plan_content(self, *arguments: Any) -> Any:
        return self.profile.plan_content(*arguments)

    def complete(self, *arguments: Any) -> Any:
        return self.profile.complete(*arguments)

    def plan_query(self, *arguments: Any) -> Any:
        return self.profile.plan_query(*arguments)

    def stop_threads(self) -> None: ...


def loaded(profile: EmbeddedProfile) -> Callable[..., EmbeddedProfile]:
    """Return a function that takes the place of `load_profile`, with models that are loaded already."""

    def load(latencies: Latencies, **_: Any) -> EmbeddedProfile:
        profile.latencies = latencies
        return profile

    return load


class WithoutPool(BulkEmbedding):
    """Embeds nothing ahead, so that the hub embeds all of it."""

    def __init__(self) -> None:
        super().__init__(lambda _: ThreadPool(WorkerSettings("embedded")))

    def start(self) -> Any:
        """Start nothing."""

    def prepare(self, batches: Iterable[Batch]) -> Generator[None, None, None]:
        """Yield for each batch."""
        for _ in batches:
            yield


async def reembedded(old: Path, hub: Hub, progress: Progress = ignore_progress) -> ReembedCounts:
    """Store the memories of a folder again, embedded by the hub itself."""
    with WithoutPool() as bulk:
        return await reembed(old, hub, progress, bulk)


@pytest.fixture
def start(profile: EmbeddedProfile, tmp_path: Path) -> Callable[[Log], Any]:
    """Start the actors on a log."""

    @contextmanager
    def on(log: Log) -> Iterator[Hub]:
        with start_hub(log, tmp_path, loaded(profile)) as hub:
            yield hub

    return on


@pytest.fixture
def hub(start: Callable[[Log], Any]) -> Iterator[Hub]:
    with start(MemoryLog()) as hub:
        yield hub


@pytest.fixture
def context(hub: Hub) -> Context:
    return Context(hub)


class Request(types.Request[dict[str, Any], str]):
    """A JSON-RPC request of any method."""


class Agent:
    """A client that calls tools by name and returns their structured answers."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that is expected to succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that is expected to fail, and return the error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        return result.structured_content["error"]

    async def request(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Call a plain JSON-RPC method that is expected to succeed."""
        result = await self.client.session.send_request(Request(method=method, params=params), TypeAdapter(dict))
        # What the newer era puts around every result.
        return {field: value for field, value in result.items() if field not in {"resultType", "_meta"}}

    async def request_refused(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Call a plain JSON-RPC method that is expected to fail, and return the error."""
        with pytest.raises(MCPError) as caught:
            await self.request(method, **params)
        error = caught.value.error
        return {"code": error.code, "message": error.message, "data": error.data}


Connect = Callable[..., AbstractAsyncContextManager[Agent]]


@pytest.fixture
def connect() -> Connect:
    """Connect the official client to a context, through the server's own JSON-RPC in either era of the protocol."""

    @asynccontextmanager
    async def to(context: Context, limits: Limits | None = None, mode: str = "legacy") -> AsyncIterator[Agent]:
        async with Client(McpHandlers(context, limits).server(), mode=mode) as client:
            yield Agent(client)

    return to


IN_EACH_ERA = pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
"""Runs a test that asks for `agent` once in each era of the protocol."""


@pytest.fixture
def era() -> str:
    return "legacy"


@pytest.fixture
async def agent(context: Context, connect: Connect, era: str) -> AsyncIterator[Agent]:
    """A client of the empty store."""
    async with connect(context, mode=era) as agent:
        yield agent


Place = Callable[..., None]
"""Moves this machine into a time zone, and sets the clock there to a local time, if one is given."""


@pytest.fixture
def place() -> Iterator[Place]:
    with pytest.MonkeyPatch.context() as patch:

        def put(zone: str, local: str | None = None) -> None:
            patch.setenv("TZ", zone)
            time.tzset()
            if local is not None:
                now = datetime.fromisoformat(local).astimezone()
                patch.setattr("actors.api.context.datetime", SimpleNamespace(now=now.astimezone))

        yield put
    time.tzset()


async def store(context: Context, content: str, **more: Any) -> str:
    """Store a memory and return its id."""
    answer = await store_memory(context, parse({"content": content, **more}, StoreMemory))
    return answer["fingerprintId"]


async def search(context: Context, query: str, **more: Any) -> list[dict[str, Any]]:
    """Return the results of a search with all explanations."""
    answer = await search_graph(context, parse({"query": query, "explain": True, **more}, SearchGraph))
    return answer["results"]
