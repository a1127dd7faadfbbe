"""Every operation can be called in two ways: as a tool, and as a plain JSON-RPC method."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_NAME
from actors.embedder.profiles.embedded import EmbeddedProfile
from tests.actors.api.sleeper import Planted, Sleeper, asleep, copy_of, plant
from tests.actors.api.stream import Lasting, Mind, awake
from tests.actors.conftest import Agent, Connect


class Way:
    """One of the two ways, by the name of the tool."""

    def __init__(self, agent: Agent, *, as_method: bool) -> None:
        self.agent = agent
        self._as_method = as_method

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call an operation that is expected to succeed."""
        if self._as_method:
            return await self.agent.request(BY_NAME[tool].method, **arguments)
        return await self.agent.call(tool, **arguments)

    async def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call an operation that is expected to fail, and return code, message and data."""
        if self._as_method:
            return await self.agent.request_refused(BY_NAME[tool].method, **arguments)
        return await self.agent.refused(tool, **arguments)


Ways = Callable[[Context], AbstractAsyncContextManager[Way]]


@pytest.fixture(params=["tool", "method"])
def ways(request: pytest.FixtureRequest, connect: Connect) -> Ways:
    """Connect a client; a test that asks for this runs once each way."""

    @asynccontextmanager
    async def to(context: Context) -> AsyncIterator[Way]:
        async with connect(context) as agent:
            yield Way(agent, as_method=request.param == "method")

    return to


@pytest.fixture
async def way(context: Context, ways: Ways) -> AsyncIterator[Way]:
    """A client of the empty store; a test that asks for this runs once each way."""
    async with ways(context) as way:
        yield way


@pytest.fixture
async def mind(profile: EmbeddedProfile, tmp_path: Path) -> AsyncIterator[Mind]:
    """A store that a test begins empty, with its models."""
    with awake(profile, tmp_path, Lasting()) as mind:
        yield mind


@pytest.fixture(scope="session")
async def planted(
    anyio_backend: str,
    profile: EmbeddedProfile,
    tmp_path_factory: pytest.TempPathFactory,
) -> Planted:
    """The small store of duplicates and trivia, told once for all tests."""
    log = Lasting()
    with asleep(profile, tmp_path_factory.mktemp("planted"), log) as mind:
        return await plant(mind, log)


Bed = Callable[..., AbstractContextManager[Sleeper]]


@pytest.fixture
def bed(profile: EmbeddedProfile, tmp_path: Path, planted: Planted) -> Bed:
    """Start a mind on a copy of the planted store, or on another log."""

    @contextmanager
    def on(log: Lasting | None = None) -> Iterator[Sleeper]:
        log = copy_of(planted.log) if log is None else log
        with asleep(profile, tmp_path, log) as mind:
            yield Sleeper(mind, log, planted)

    return on


@pytest.fixture
def sleeper(bed: Bed) -> Iterator[Sleeper]:
    """A mind on a copy of the planted store."""
    with bed() as sleeper:
        yield sleeper
